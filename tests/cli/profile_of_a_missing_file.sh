# exit: 5
remat-plan profile missing.json --device v100-16g
