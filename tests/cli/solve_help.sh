# exit: 0
remat-plan solve --help | sed '/^policies/q'
