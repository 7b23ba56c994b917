# exit: 2
# A warm-up of a minute is the longest one.
graph=data/profile/layers.json
remat-plan profile $graph --program here --warm-up 60 --tf32 some
remat-plan profile $graph --program here --warm-up 60.5
remat-plan profile $graph --program here --gaps some
remat-plan profile $graph --program here --repeat 1001
remat-plan profile $graph --d2h 3e9
remat-plan profile $graph --h2d 3e9
