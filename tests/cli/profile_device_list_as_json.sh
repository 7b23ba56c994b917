# exit: 0
remat-plan profile --device list --json
