# exit: 0
remat-plan zoo lstm-lm --tiny -q -o g.json
remat-plan profile --device v100-16g -q -o p.json g.json
remat-plan solve -p keep-all -b 100% -q -o plan.json p.json
remat-plan emit --target c -o here p.json plan.json | sed -E 's/[0-9.]+ KiB in/N in/'
(cd here && find . -type f | sort)
remat-plan emit --json --target cuda -o there p.json plan.json | sed -E 's/"source_bytes":[0-9]+/N/'
(cd there && find . -maxdepth 1 -type f | sort)
head -qn 1 here/*.[ch] there/*.cu here/kernels/*.[ch] | sort | uniq -c | wc -l
