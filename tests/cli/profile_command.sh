# exit: 1
. data/profile/lib.sh
remat-plan profile --graph $graph -o out.json -- traced cuda $(step 900) $(step 110) $(step 150) &&
    cat out.json
# The same through NVTX's own header, where it is installed.
other=traced_nvtx
command -v $other >/dev/null || other=traced
remat-plan profile -q --graph $graph -- $other cuda $(step 900) $(step 110) $(step 150) | cmp - out.json
# Other buffers, the same records; an older CUPTI.
FAKE_CUPTI=small,version=18 remat-plan profile -q --graph $graph -o small.json -- \
    traced cuda $(step 900) $(step 110) $(step 150) && diff out.json small.json
