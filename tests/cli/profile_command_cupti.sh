# exit: 0
. data/profile/lib.sh
all="traced cuda $(step 9) $(step 110)"
fake=$REMAT_CUPTI
unset REMAT_CUPTI
mkdir -p both/lib64 new/lib
cp "$fake" both/lib64/libcupti.so.13
cp "$fake" both/lib64/libcupti.so.12
cp "$fake" new/lib/libcupti.so.13
CUPTI_HOME=new FAKE_LIBRARY=new/lib/libcupti.so.13 try "in CUPTI_HOME" -- $all
export CUPTI_HOME=both FAKE_LIBRARY=both/lib64/libcupti.so.12
FAKE_CUPTI=old=999 try "the driver is too old for the newest: the next is taken" -- $all
CUPTI_HOME=new FAKE_CUPTI=old=999 try "it is too old for the only one" -- $all
FAKE_CUPTI=old=39 try "another profiler is active: no second copy is opened" -- $all
CUPTI_HOME=none try "nothing in CUPTI_HOME" -- $all
