/* The clock counts, and other programs take the processors. Any plan may come of it, but
 * what is said of it must be true. */
#include "cases.h"
#include "planning.h"

#include <stdio.h>

enum { RUNS = 3 };

static void solve_beside(struct cam_case *c, const struct cam_subject *s, bool tiny) {
    struct cam_answer answers[RUNS];
    for (int k = 0; k < RUNS; k++) {
        struct cam_line line = {.n = 0};
        char name[32];
        snprintf(name, sizeof name, "p%d.json", k);
        cam_begin_solve(c, s, name, &line);
        cam_draw_budget(c, s, &line);
        cam_draw_limit(c, &line, 0.02, 0.6);
        line.limit_s = 0; /* how long it takes beside others says nothing */
        if (rp_rng_percent(&c->r, 30))
            cam_word(&line, "--no-swap");
        if (rp_rng_percent(&c->r, 30))
            cam_word(&line, "--reorder");
        cam_solve(c, s, name, &line, &answers[k]);
        if (tiny)
            cam_brute_check(c, s->name, &answers[k]);
    }
    cam_cross_check(c, answers, RUNS);
}

void cam_case_busy(struct cam_case *c) {
    struct cam_subject s;
    struct cam_load load;
    bool tiny = rp_rng_percent(&c->r, 60);
    struct cam_wish wish = cam_draw_wish(c);
    if (tiny)
        wish = (struct cam_wish){
            .min_ops = 2, .max_ops = 7, .for_brute_force = true, .plain = true};
    cam_load_begin(&load, (int)cam_between(&c->r, 2, CAM_MOST_LOOPS));
    cam_new_subject(c, "g.json", &wish, &s);
    if (s.solvable)
        solve_beside(c, &s, tiny);
    cam_load_end(&load);
}
