# exit: 0
# The picture of the curve, and the data of the page.
remat-plan sweep data/graph/good/chain.json -o dir -b 20%,65%,80%,100% -p libra --html -q
cat dir/chain/curve.svg
grep 'id="data"' dir/chain/curve.html | tr , '\n' | uniq -c
