# exit: 0
set -o pipefail
# The first and two others; profile_device_list_as_json has every figure of every device.
remat-plan profile --device list | grep -E '^(device|m40|p100-16g-nvlink|h200)'
