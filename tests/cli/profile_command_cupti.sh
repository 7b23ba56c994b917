# exit: 0
. data/profile/lib.sh
all="traced cuda $(step 9) $(step 110)"
fake=$REMAT_CUPTI
unset REMAT_CUPTI
mkdir -p both/lib64 new/lib none cuda/extras/CUPTI/lib64
cp "$fake" both/lib64/libcupti.so.13
cp "$fake" both/lib64/libcupti.so.12
cp "$fake" new/lib/libcupti.so.13
cp "$fake" cuda/extras/CUPTI/lib64/libcupti.so.13
CUPTI_HOME=new FAKE_LIBRARY=new/lib/libcupti.so.13 try "in CUPTI_HOME" -- $all
export CUPTI_HOME=both FAKE_LIBRARY=both/lib64/libcupti.so.12
FAKE_CUPTI=old=999 try "the driver is too old for the newest: the next is taken" -- $all
FAKE_CUPTI=late=35 try "the newest does not start after it has the subscription" -- $all
CUPTI_HOME=new FAKE_CUPTI=old=999 try "it is too old for the only one" -- $all
FAKE_CUPTI=old=39 try "another profiler is active: no second copy is opened" -- $all
FAKE_LIBRARY=both/lib64/libcupti.so.13 try "the newest is taken, and no other" -- $all
CUPTI_HOME=none try "nothing in CUPTI_HOME" -- $all
export FAKE_LIBRARY=libcupti.so.12
CUPTI_HOME=none try "a copy that the process has loaded already" -- \
    env ASAN_OPTIONS=verify_asan_link_order=0 LD_LIBRARY_PATH=both/lib64 LD_PRELOAD=libcupti.so.12 $all
unset CUPTI_HOME
FAKE_LIBRARY=libcupti.so.13 try "in the loader's path" -- env LD_LIBRARY_PATH=both/lib64 $all
# The loader's path has none that can be opened, whatever is installed.
for name in 13 12 11.8 11.7 11.6; do
    touch none/libcupti.so.$name
done
touch none/libcupti.so
FAKE_LIBRARY=cuda/extras/CUPTI/lib64/libcupti.so.13 CUDA_HOME=cuda try "in CUDA_HOME" -- \
    env LD_LIBRARY_PATH=none $all
