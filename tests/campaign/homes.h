/* homes: plans whose sources live on the host. The program makes none, so one is made from
 * a plan of the same graph in which they stay on the device.
 */
#ifndef RP_CAMPAIGN_HOMES_H
#define RP_CAMPAIGN_HOMES_H

#include "case.h"

/* Removes all homes from a graph. */
void cam_drop_homes(json_t *graph);

/* `plan` was made for the graph without homes. It becomes one of `graph`, the file `name`:
 * each source at home on the host, and some of those that may be, comes in before its first
 * use, goes out after its last update, and is mostly freed in the end. Sizes and claims are
 * left to cam_repair. */
void cam_move_homes(struct cam_case *c, const char *name, const json_t *graph,
                    json_t *plan);

#endif
