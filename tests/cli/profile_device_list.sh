# exit: 0
set -o pipefail
# Shows the header and three devices. profile_device_list_as_json shows all figures of all devices.
remat-plan profile --device list | grep -E '^(device|m40|p100-16g-nvlink|h200)'
