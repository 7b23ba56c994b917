# exit: 5
# A driver that is none.
mkdir none && : >none/libcuda.so.1
LD_LIBRARY_PATH=$PWD/none remat-plan profile data/profile/layers.json
