# exit: 0
remat-plan solve --help | sed -n '1,/^policies/p'
