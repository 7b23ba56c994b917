# exit: 0
. data/profile/lib.sh
all="traced cuda $(step 9) $(step 110)"
default="env --default-signal=INT --default-signal=TERM --default-signal=CHLD"

echo "-- what the command prints goes to standard error, and no folder is left"
mkdir tmp
TMPDIR=$PWD/tmp remat-plan profile -q --graph $graph -o out.json -- traced print hello $(echo $all | cut -d ' ' -f 2-) \
    >answers 2>errors
wc -c <answers
cat errors
ls tmp

echo "-- the command has the signals that it would have without us"
cat >ignored <<'EOF'
mask=0x$(sed -n 's/^SigIgn:\t//p' /proc/$$/status)
echo "INT $((mask >> 1 & 1)) QUIT $((mask >> 2 & 1)) PIPE $((mask >> 12 & 1))"
EOF
$default --ignore-signal=QUIT remat-plan profile --graph $graph -- sh ignored 2>&1 | grep INT

echo "-- a signal to us alone is handed to the command, and the traces are read"
cat >signalled <<EOF
trap 'kill \$!; echo "the command got it"; exec $all' TERM
sleep 10 &
kill -TERM \$PPID
wait
EOF
$default remat-plan profile -q --graph $graph -o out.json -- bash signalled 2>&1
echo "exit $?"

echo "-- after the command a signal ends us"
cat >later <<'EOF'
mkfifo kept/1.trace
(trap '' TERM; while kill -TERM $PPID; do sleep 0.1; done) >/dev/null 2>&1 &
EOF
$default bash -c 'remat-plan profile -q --graph data/profile/three.json --traces kept -- \
    bash -c "trap : TERM; . ./later" 2>&1; echo "exit $?"' 2>/dev/null

echo "-- nobody waits for processes, nothing can be opened"
env --ignore-signal=CHLD remat-plan profile --graph $graph -- traced 2>&1
(ulimit -n 4 && remat-plan profile --graph $graph --traces none -- traced 2>&1)
echo "exit $?"
