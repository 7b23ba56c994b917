# exit: 2
remat-plan solve --ignore-clock data/certificate/loop.json -b 32 --no-recompute --certificate c.json
