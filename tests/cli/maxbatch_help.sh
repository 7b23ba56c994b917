# exit: 0
remat-plan maxbatch --help | sed '/^policies/q'
