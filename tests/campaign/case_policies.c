#include "cases.h"
#include "planning.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { POLICIES = 5 };

static void solve_by_policies(struct cam_case *c, const struct cam_subject *s,
                              struct cam_answer *answers) {
    for (size_t k = 0; k < POLICIES; k++) {
        struct cam_line line = {.n = 0};
        char name[32], policy[160];
        snprintf(name, sizeof name, "p%zu.json", k);
        cam_begin_solve(c, s, name, &line);
        cam_draw_budget(c, s, &line);
        cam_draw_limit(c, &line, 0.05, 0.5);
        if (rp_rng_percent(&c->r, 20))
            cam_word(&line, "--no-addresses");
        cam_draw_host_budget(c, s, &line);
        if (rp_rng_percent(&c->r, 10))
            cam_word(&line, rp_rng_percent(&c->r, 50) ? "--no-swap" : "--no-recompute");
        cam_draw_policy(c, policy, sizeof policy);
        cam_word(&line, "--policy=%s", policy);
        cam_solve(c, s, name, &line, &answers[k]);
    }
}

/* A row with a plan has a time of its own, and the sum of what makes it up. */
static void check_row(struct cam_case *c, const json_t *row) {
    const char *status = json_string_value(json_object_get(row, "status"));
    uint64_t time = cam_member(row, "time_ns"),
             baseline = cam_member(row, "baseline_time_ns");
    if (status == NULL || json_object_get(row, "policy") == NULL)
        cam_fail(c, "compare: a row without status or policy");
    else if (json_object_get(row, "time_ns") != NULL && time < baseline)
        cam_fail(c, "compare: %s is faster than all ops once", status);
    if (json_object_get(row, "time_ns") != NULL &&
        time < baseline + cam_member(row, "recompute_ns") + cam_member(row, "stall_ns"))
        cam_fail(c, "compare: the parts of a row are more than its time");
}

static void compare(struct cam_case *c, const struct cam_subject *s) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    cam_begin(c, &line, "compare");
    cam_word(&line, "%s", s->name);
    cam_word(&line, "--json");
    cam_draw_limit(c, &line, 0.02, 0.1);
    line.limit_s = 0; /* it is one for each search, and there are several */
    cam_word(&line, "--%sbudget=%u%%,%u%%", rp_rng_percent(&c->r, 30) ? "activation-" : "",
             cam_between(&c->r, 20, 99), cam_between(&c->r, 20, 99));
    cam_draw_host_budget(c, s, &line);
    if (c->o->steady || rp_rng_percent(&c->r, 20))
        cam_word(&line, "--ignore-clock");
    if (rp_rng_percent(&c->r, 30))
        cam_word(&line, "--no-addresses");
    if (rp_rng_percent(&c->r, 30)) {
        cam_expect(c, "table.csv");
        cam_word(&line, "--csv=table.csv");
    }
    cam_command(c, &line, &e);
    if (e.code != 0 && e.code != 1 && !s->graph.extreme)
        cam_fail(c, "compare: exit code %d: %.200s", e.code, e.err);
    json_t *o = e.code <= 1 ? cam_json(c, &e) : NULL, *row;
    size_t k;
    json_array_foreach(json_object_get(o, "rows"), k, row) {
        check_row(c, row);
    }
    json_decref(o);
    cam_ended_fini(&e);
}

void cam_case_policies(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer answers[POLICIES];
    struct cam_wish wish = cam_draw_wish(c);
    wish.max_ops = wish.max_ops > 2000 ? 2000 : wish.max_ops;
    wish.min_ops = wish.min_ops > 1000 ? 1000 : wish.min_ops;
    cam_new_subject(c, "g.json", &wish, &s);
    if (!s.solvable)
        return;
    solve_by_policies(c, &s, answers);
    cam_cross_check(c, answers, POLICIES);
    if (s.graph.n_ops <= 400 && rp_rng_percent(&c->r, 60))
        compare(c, &s);
}
