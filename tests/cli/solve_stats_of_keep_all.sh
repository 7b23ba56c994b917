# exit: 0
# Where all tensors fit, nothing is searched, and only keep-all and the packer have figures.
remat-plan solve data/graph/good/chain.json -b 100% -q -t 0.1 --ignore-clock --stats |
    sed -E 's/[0-9]+\.[0-9]{3}$/N/; s/ [0-9]+\.[0-9]{3} / N /; s/ +/ /g'
