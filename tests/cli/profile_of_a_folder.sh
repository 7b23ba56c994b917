# exit: 5
remat-plan profile data --device v100-16g
