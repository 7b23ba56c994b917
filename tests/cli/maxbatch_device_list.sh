# exit: 0
remat-plan maxbatch -d list
remat-plan maxbatch --device list --json
