# exit: 1
. data/profile/lib.sh
remat-plan profile --graph $graph -o out.json -- traced cuda $(step 900) $(step 110) $(step 150) &&
    cat out.json
# The same with NVTX's own header, if it is installed.
other=traced_nvtx
command -v $other >/dev/null || other=traced
remat-plan profile -q --graph $graph -- $other cuda $(step 900) $(step 110) $(step 150) | cmp - out.json
# The same with small buffers, and with an older CUPTI.
FAKE_CUPTI=small,version=18 remat-plan profile -q --graph $graph -o small.json -- \
    traced cuda $(step 900) $(step 110) $(step 150) && diff out.json small.json
