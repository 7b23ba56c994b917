# exit: 1
# Characters that turn text around or take no room are in the names of the graph, its ops and
# tensors, and of files. None reaches the terminal, a picture or a page; nor do bytes that are
# no text.
mark=$(printf '\342\200\256') space=$(printf '\342\200\213') byte=$(printf '\377') line='
'
sed 's/"name": "\(chain\|[fab][0-9]\)"/"name": "\1\\u202e\\u200b\\u2066\\ufeff\\u061c"/' data/graph/good/chain.json >g.json
bad="x${mark}y${space}z${byte}${line}w"
remat-plan solve g.json -b 100% --ignore-clock -q -o "$bad.json"
cp g.json "g$bad.json"
{
    remat-plan solve g.json -b 30% --ignore-clock
    remat-plan solve g.json -b 80% --ignore-clock --json
    remat-plan compare --ignore-clock --no-seconds g.json -b 100%,30% -p keep-all,remat
    remat-plan compare --ignore-clock --no-seconds g.json -b 100% -p keep-all --json
    remat-plan sweep --ignore-clock "g$bad.json" -n 2 -o "$bad" --html
    remat-plan sweep --jobs --ignore-clock "g$bad.json" -n 2 -o e
    remat-plan show --steps --width 40 g.json "$bad.json"
    remat-plan show --svg - g.json "$bad.json"
    remat-plan show --html - g.json "$bad.json"
    remat-plan verify g.json "$bad.json"
    remat-plan verify g.json "$bad.json" --json
    remat-plan verify g.json "missing$bad"
    remat-plan emit g.json "$bad.json" --target c -o "e$bad"
    remat-plan zoo resnet18 --tiny -o "$bad.zoo"
    remat-plan profile "$bad.zoo" --device p100-16g -o "$bad.prof"
    cat "$bad"/*/curve.svg "$bad"/*/curve.html "$bad"/sweep.json
} >out 2>&1
sed -n '/^chain/p;/^valid/p;/^graph/p;/No such/p;/line break/p' out
LC_ALL=C grep -c "$mark\|$space\|$byte\|$(printf '\342\201\246\|\357\273\277\|\330\234')" out
