# exit: 0
small=data/graph/good/small.json
# With these changes to small.json, and a plan that runs every op once.
try() { # WHAT CHANGES SHOW-OPTIONS...
    echo "-- $1"
    sed "$2" $small >g.json
    shift 2
    remat-plan solve -p keep-all -b 100% -q -o plan.json g.json && remat-plan show g.json plan.json "$@"
}
try "tensors without bytes" 's/"bytes": [0-9]*/"bytes": 0/; s/"workspace_bytes": 16/"workspace_bytes": 0/' --width 50
try "only sources have bytes" '/activation\|gradient/s/"bytes": [0-9]*/"bytes": 0/; s/"workspace_bytes": 16/"workspace_bytes": 0/' \
    --width 50
try "more than 1024 TiB" 's/"bytes": 32/"bytes": 4503599627370496/' --width 50
remat-plan show g.json plan.json -q --svg - | grep -i 'tib'
try "the first op takes no time" 's/"time_ns": 10,/"time_ns": 0,/; s/"bytes": 16, "kind": "activation"/"bytes": 1, "kind": "activation"/;
    s/"phase": "forward"}/"phase": "forward", "workspace_bytes": 160}/; s/"workspace_bytes": 16}/"workspace_bytes": 0}/' --width 50
echo "-- a line of the grid at the upper end"
remat-plan solve -p keep-all -b 115 -q -o plan.json $small
remat-plan show $small plan.json -q --svg - | grep 'class="grid"'
echo "-- copies on the host that are never written"
remat-plan solve -b 100% --h2d 1 --d2h 1 --graph-out g.json --time-limit 0.1 --ignore-clock -q -o plan.json \
    data/graph/good/host_home.json && remat-plan show g.json plan.json | sed -n '1,/^recompute/p'
echo "-- a copy after the last op"
sed -e 's/{"run": 2/{"swap_out": 2, "host_at": 0}, &/' -e '/{"free": 2}/d' \
    -e 's/"time_ns": 60/"time_ns": 67/; s/"host_bytes": 0/"host_bytes": 32/; s/optimal/none/' \
    data/plan/good/small.json >plan.json
remat-plan show $small plan.json --width 60
remat-plan show $small plan.json -q --svg - | grep -A 3 'to host'
echo "-- curves"
remat-plan sweep $small -o none -b 1 -p keep-all --no-seconds -q
remat-plan sweep $small -o some -b 96,128 -p keep-all --no-seconds -q
for svg in $(find none some -name '*.svg' | LC_ALL=C sort); do
    echo "$svg"
    grep 'line' $svg
done
echo "-- a page whose bound holds for plans without copies"
chain=data/graph/good/chain.json
remat-plan solve -b 80% --no-swap --time-limit 0.1 --ignore-clock -q -o plan.json $chain
remat-plan show $chain plan.json -q --html page.html
grep -o '"scope":"[^"]*"' page.html
for part in style body; do
    sed -n "/<$part>/,/^<\(script\|\/style\)/p" page.html | awk -v part=$part 'END { print part, (NR > 20) }'
done
echo "-- an output that nobody reads, and the size of the program"
sed 's/"keep":\[5,6\]/"keep":[6]/' data/profile/layers.prof.json >g.json
remat-plan solve -p keep-all -b 100% -q -o plan.json g.json
size=$(remat-plan emit --json --target c -o here g.json plan.json | grep -o '"source_bytes":[0-9]*')
[ "${size#*:}" = "$(find here -type f -printf '%s\n' | awk '{ n += $1 } END { print n }')" ] && echo "the size is right"
sed -n '/keep_all_steps/,/^};/p; /keep_all_addresses/,/^};/p' here/plan.c
