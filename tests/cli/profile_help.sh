# exit: 0
remat-plan profile --help
