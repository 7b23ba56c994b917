# exit: 130
# A second interrupt, after some seconds, ends the program at once.
mkfifo graph
remat-plan compare graph -p keep-all &
exec 3>graph
kill -INT $!
sleep 2.1
kill -INT $!
sleep 0.1
cat data/graph/good/chain.json >&3 2>/dev/null
exec 3>&-
wait $!
