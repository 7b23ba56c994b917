# exit: 3
remat-plan profile - --device v100-16g
