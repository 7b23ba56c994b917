# exit: 0
# No spreadsheet takes a name for a formula, and a name stays one field.
for name in =1+1 -x +x @x 'a,b' 'a"b' "$(printf '\tx')" "$(printf '\rx')" ' =x' ＝x ＠x x=1; do
    cp data/graph/good/chain.json "./$name.json"
done
remat-plan sweep ./*.json -b 100% --ignore-clock --no-seconds -q -o d
cat -v d/sweep.csv
