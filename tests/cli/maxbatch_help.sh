# exit: 0
remat-plan maxbatch --help | sed -n '1,/^policies/p'
