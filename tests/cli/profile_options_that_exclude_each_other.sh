# exit: 2
graph=data/profile/layers.json
remat-plan profile $graph --device v100-16g --gpu 0
remat-plan profile $graph --device v100-16g --repeat 20
remat-plan profile $graph --device v100-16g --program here
remat-plan profile --graph $graph --gpu 1 -- true
remat-plan profile --compare $graph $graph --repeat 3
remat-plan profile $graph --device v100-16g --warm-up 1
remat-plan profile $graph --device v100-16g --time-limit 1
remat-plan profile --graph $graph --gaps eager -- true
