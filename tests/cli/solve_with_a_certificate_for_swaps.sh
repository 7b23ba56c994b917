# exit: 0
sed 's/"alignment_bytes"/"d2h_bytes_per_s":50000000,"h2d_bytes_per_s":200000000,&/' \
    data/certificate/loop.json >g.json &&
    remat-plan solve --ignore-clock g.json -b 32 --no-addresses -q -o p.json --certificate c.json &&
    remat-plan verify --certificate c.json g.json p.json
