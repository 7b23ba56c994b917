# exit: 5
# The folder of one graph cannot be made: nothing is planned, not for the other graph either.
dir=$(printf './%.0s' {1..1990})d
name=$(printf 'n%.0s' {1..200})
mkdir d
cp data/graph/good/small.json $name.json
remat-plan sweep data/graph/good/small.json $name.json -b 100% -p keep-all -o $dir 2>log
status=$?
grep -c '^remat-plan: \(./\)*' log
find d
exit $status
