# exit: 4
# Ctrl-C on a terminal, before anything is known.
export TERM=xterm
mkfifo keys
: >screen
script -qec "remat-plan maxbatch resnet1001 -d p100-16g" /dev/null <keys >>screen &
exec 3>keys
until grep -q "keep-all's largest batch" screen; do sleep 0.05; done
printf '\003' >&3
wait $!
status=$?
sed 's/\r$//; s/.*\r//; s/\x1b/ESC/g; s/from [0-9]* on/from N on/' screen
exit $status
