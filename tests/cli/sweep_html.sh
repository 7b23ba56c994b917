# exit: 0
remat-plan sweep data/graph/good/small.json -o dir -b 50%,100%,120% -p chen-sqrt --host-budget 1GiB --no-seconds --html
grep -o '<title>.*</title>' dir/small/curve.html
grep -c 'id="plan-' dir/small/curve.html
