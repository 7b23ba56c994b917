# exit: 5
exec 3> >(exit) # a pipe whose reader
wait $!         # is gone
remat-plan --help >&3
