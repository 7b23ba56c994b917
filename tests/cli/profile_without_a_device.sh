# exit: 5
# An empty file in place of the driver.
mkdir none && : >none/libcuda.so.1
LD_LIBRARY_PATH=$PWD/none remat-plan profile data/profile/layers.json
