# exit: 0
remat-plan solve --ignore-clock data/certificate/loop.json -b 32 --no-addresses -q -o p.json --certificate c.json &&
    remat-plan verify --certificate c.json data/certificate/loop.json p.json
