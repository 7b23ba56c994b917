# exit: 0
# Everything in a page but the parts that are the same in all: the program, the style and the
# body. Its policy allows that program only.
page() {
    sed -n '1,/<style>/p; /<\/style>/,/<body>/p' $1 | sed -E "s/sha256-[^']+/sha256-DIGEST/"
    grep '^<script type' $1
    awk '/^<script>/ { on = 1; sub(/^<script>/, "") } on { sub(/<\/script>$/, "END"); print } /END$/ { exit }' $1 |
        head -c -4 >program
    head -n 2 program
    digest=$(printf "$(sha256sum program | cut -c 1-64 | sed 's/../\\x&/g')" | base64)
    grep -c -F "sha256-$digest'" $1
}
remat-plan show data/graph/good/small.json data/plan/good/small.json -q --html page.html && page page.html
remat-plan show data/verify/training.json data/verify/training_on_host.json -q --html page.html && page page.html
remat-plan compare --no-seconds -q data/profile/layers.prof.json --budget 100%,70%,10% --policy keep-all,vdnn-all,chen-sqrt --html page.html
page page.html
remat-plan sweep data/graph/good/small.json -o dir -b 50%,100%,120% -p chen-sqrt --host-budget 1GiB --no-seconds --html -q
page dir/small/curve.html
for svg in $(find dir -name '*.svg' | sort); do
    echo "-- $svg"
    cat $svg
done
