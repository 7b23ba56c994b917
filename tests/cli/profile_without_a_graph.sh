# exit: 2
remat-plan profile --device h100
