# exit: 1
sed 's/"x"/"x\\u001b[31m"/' data/verify/net.json >g.json
sha=$(sha256sum g.json | cut -d' ' -f1)
sed "s/[0-9a-f]\{64\}/$sha/; /\"free\":2/d; s/\[8\]/[0]/" data/verify/keep.json >p.json
remat-plan verify g.json p.json
