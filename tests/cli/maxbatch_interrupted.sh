# exit: 4
# Interrupted once the first plan is there; the others would take much longer.
mkfifo log
remat-plan maxbatch resnet18 --image 64 -d p100-16g -b 512MiB -t 60 -v --json >out 2>log &
exec 3<log
grep -q -m 1 '^remat-plan: batch' <&3
kill -INT $!
sed -nE 's/^remat-plan: (maxbatch.*)batches.*/\1/p' <&3
wait $!
status=$?
grep -o '"interrupted":[a-z]*' out
exit $status
