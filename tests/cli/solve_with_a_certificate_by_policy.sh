# exit: 2
remat-plan solve data/certificate/loop.json -b 32 --policy keep-all --certificate c.json
