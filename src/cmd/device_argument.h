/* device_argument: `--device NAME`, and `--device list`. Not thread-safe: commands run in
 * one thread. */
#ifndef RP_CMD_DEVICE_ARGUMENT_H
#define RP_CMD_DEVICE_ARGUMENT_H

#include <stdbool.h>

#include "base/status.h"
#include "model/device.h"

/* The names of all devices, as an rp_names. */
const char *rp_device_name(size_t i);

/* RP_USAGE if there is no such device: the message names the nearest ones, or else all. */
rp_rc rp_parse_device(const char *command, const char *name,
                      const struct rp_device_model **device, struct rp_err *err);

/* True for "list"; false for NULL. Commands answer it before they look at their operands.
 */
bool rp_is_device_list(const char *name);

/* Prints all devices with their figures. Without `json`, nothing with -q. */
void rp_list_devices(bool json);

#endif
