#include "curve.h"

#include <inttypes.h>
#include <stdio.h>

void cam_check_curve(struct cam_case *c, const struct cam_subject *s, const char *folder,
                     uint64_t host_budget, const json_t *o) {
    uint64_t least = UINT64_MAX, budget = 0;
    struct cam_answer answers[CAM_MOST_POINTS];
    size_t n = 0;
    json_t *point;
    size_t k;
    json_t *graph = json_array_get(json_object_get(o, "graphs"), 0);
    json_array_foreach(json_object_get(graph, "points"), k, point) {
        struct ck_figures f;
        char name[64];
        const char *plan = json_string_value(json_object_get(point, "plan"));
        snprintf(name, sizeof name, "%s/%s", folder, plan != NULL ? plan : "none");
        bool found = plan != NULL;
        if (found && !cam_exists(c, name))
            cam_fail(c, "sweep: %s and its report disagree", name);
        if (cam_member(point, "budget_bytes") < budget)
            cam_fail(c, "sweep: the budgets do not rise");
        budget = cam_member(point, "budget_bytes");
        if (!found || !cam_exists(c, name) || !cam_judge(c, s->name, name, &f))
            continue;
        if (f.time_ns > least)
            cam_fail(c, "sweep: the time of point %zu rises", k);
        if (f.time_ns != cam_member(point, "time_ns") ||
            f.fixed_bytes + f.arena_bytes > budget)
            cam_fail(c, "sweep: %s is not what the report says", name);
        if (f.host_bytes > host_budget)
            cam_fail(c, "sweep: %s needs more host memory than allowed", name);
        least = f.time_ns;
        answers[n] = (struct cam_answer){.found = true, .plan = f};
        snprintf(answers[n].name, sizeof answers[n].name, "point %zu", k);
        cam_read_bound(&answers[n++]);
    }
    cam_cross_check(c, answers, n);
}
