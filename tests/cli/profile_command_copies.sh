# exit: 0
. data/profile/lib.sh
# The link has 1 us and 10 GB/s to the device, 2 us and 5 GB/s to the host.
sections="push rp:@h2d h2d 10000 2000 h2d 100000 11000 h2d 1000000 101000 pop
    push rp:@d2h d2h 10000 4000 d2h 100000 22000 d2h 1000000 202000 pop
    push rp:@both h2d:1 10000 2250 d2h:2 10000 4500 h2d:1 100000 13500 d2h:2 100000 27000 pop
    push rp:@compute kernel 1000 kernel 1000 pop sync push rp:@compute+h2d kernel:1 1100 pop"
remat-plan profile --graph $graph -o out.json -- traced cuda $sections $(step 9) $(step 110)
# The same if CUPTI gives no records after its own exit handlers, and says so or not.
for code in 0 999; do
    FAKE_CUPTI=exit=$code remat-plan profile -q --graph $graph -o last.json -- \
        traced cuda $(step 9) $(step 110) $sections && cmp out.json last.json
done
sed -n '/"device"/p; /^"attrs"/p' out.json
try "one size only" -- traced cuda push rp:@h2d h2d 100 100 pop $(step 9)
# What a section copied is in the trace even if the program ends without its exit handlers.
try "a command that leaves after a section" --traces kept -- traced cuda push rp:@h2d h2d 100 100 pop exit 0
grep -h '^work' kept/*.trace
try "a section without work" -- traced cuda push rp:@d2h h2d 100 100 pop $(step 9)
try "a section of another name" -- traced cuda push rp:@h2h h2d 100 100 pop $(step 9)
