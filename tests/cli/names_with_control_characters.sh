# exit: 1
# Escapes of both kinds, C0 and C1, are in the names of the graph, its ops and tensors. None
# reaches the terminal, also where an SVG file goes there.
sed 's/"name": "\(chain\|[fab][0-9]\)"/"name": "\1\\u001b[31m\\u009b31m"/' data/graph/good/chain.json >g.json
remat-plan solve --ignore-clock g.json -b 100% -o p.json -q
{
    remat-plan solve --ignore-clock g.json -b 30%
    remat-plan solve --ignore-clock g.json -b 30% -p remat
    remat-plan compare --ignore-clock --no-seconds g.json -b 100%,30% -p keep-all,remat
    remat-plan sweep --ignore-clock g.json -n 2 -o d
    remat-plan show --steps --width 40 g.json p.json
    remat-plan show --svg - g.json p.json
    remat-plan verify g.json p.json
} >out 2>&1
sed -n '1p;/^chain/p;/^plan/p;/^valid/p' out
LC_ALL=C grep -c "$(printf '\033\|\302\233')" out
