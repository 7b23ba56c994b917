/* curve: what must hold of the plans of a sweep. */
#ifndef RP_CAMPAIGN_CURVE_H
#define RP_CAMPAIGN_CURVE_H

#include "planning.h"

enum { CAM_MOST_POINTS = 5 };

/* Every point's plan, in this folder, is valid, time never rises with the budget, and no
 * bound is above the time of a plan that it speaks of. `o`: the report of `sweep`. */
void cam_check_curve(struct cam_case *c, const struct cam_subject *s, const char *folder,
                     uint64_t host_budget, const json_t *o);

#endif
