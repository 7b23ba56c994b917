# exit: 2
remat-plan solve data/certificate/loop.json -b 32 --no-recompute --certificate c.json
