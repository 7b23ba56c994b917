# exit: 0
# The same bytes, however long it takes.
remat-plan zoo resnet18 -b 8 -o g.json -q && remat-plan profile g.json --device p100-16g -o p.json -q
for k in 1 2; do
    remat-plan compare --no-seconds p.json -b 80% -p remat -t 0.05 --ignore-clock --json >compare$k
    remat-plan sweep p.json -n 3 -t 0.05 --ignore-clock --no-seconds -q -o d$k
    remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 256MiB -t 0.01 \
        --fit-only --precision 20 --json >maxbatch$k
done
cmp compare1 compare2 && cmp maxbatch1 maxbatch2 && diff -r -x '*.point.json' d1 d2 && wc -l <maxbatch1
