# exit: 0
# The same buffers are placed in the same way, with the same work: see data/search.sh.
buffers() { # SEED N SPAN LENGTH SIZES
    awk -v seed="$1" -v n="$2" -v span="$3" -v length_="$4" -v sizes="$5" '
    function below(limit) {
        seed = (seed * 16807) % 2147483647
        return seed % limit
    }
    BEGIN {
        print "id,lower,upper,size"
        for (i = 0; i < n; i++) {
            from = sizes > 0 ? below(span) : i
            to = sizes > 0 ? from + 1 + below(length_) : 2 * n - i + below(length_)
            print i "," from "," to "," 1 + (sizes > 0 ? below(sizes) : below(3) * 40 + below(-sizes))
        }
    }'
}
place() { # SEED N SPAN LENGTH SIZES
    buffers "$@" >b.csv
    echo "$* $(remat-plan pack b.csv --json --work-limit 2000000 -o placed.csv)"
    cksum <placed.csv
}
for seed in 1 2 3 4 5; do
    place $seed 14 8 6 20
    place $seed 30 20 12 1000
    place $seed 60 30 20 9
    place $seed 100 60 30 1000
    place $seed 40 0 6 -30
    place $seed 120 0 40 -500
    place $seed 150 60 9 50
done
