# exit: 130
# A second interrupt, after some seconds, ends the program at once.
mkfifo graph
remat-plan compare graph -p keep-all &
exec 3>graph
taken() { while grep -qs '^ShdPnd:.*[1-9a-f]' /proc/$1/status; do sleep 0.01; done; }
kill -INT $!
taken $!
sleep 3
kill -INT $!
taken $!
cat data/graph/good/chain.json >&3 2>/dev/null
exec 3>&-
wait $!
