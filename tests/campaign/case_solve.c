#include "cases.h"
#include "planning.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_RUNS = 6 };

/* A result that started from a plan which fits is never slower. */
static void check_start(struct cam_case *c, const struct cam_answer *start,
                        const struct cam_answer *a) {
    const struct ck_figures *f = &start->plan;
    bool fits = f->fixed_bytes + f->arena_bytes <= a->of.budget_bytes &&
                f->host_bytes <= a->of.host_budget_bytes &&
                (a->of.recompute || !f->reruns) && (a->of.swap || !f->swaps) &&
                (f->given_order || a->of.any_order) && f->addressed == a->of.addressed;
    if (fits && !a->found && !c->failed && a->impossible)
        cam_fail(c, "%s started from a plan that fits and found none", a->name);
    if (fits && a->found && a->plan.time_ns > f->time_ns)
        cam_fail(c, "%s takes %" PRIu64 " ns, and its start %s only %" PRIu64, a->name,
                 a->plan.time_ns, start->name, f->time_ns);
}

static size_t solve_often(struct cam_case *c, const struct cam_subject *s,
                          struct cam_answer *answers) {
    size_t n = cam_between(&c->r, 2, MOST_RUNS);
    for (size_t k = 0; k < n; k++) {
        struct cam_line line = {.n = 0};
        const struct cam_answer *start = NULL;
        char name[32];
        snprintf(name, sizeof name, "p%zu.json", k);
        if (k > 0 && answers[k - 1].found && rp_rng_percent(&c->r, 40))
            start = &answers[k - 1];
        cam_draw_solve(c, s, name, start, &line);
        cam_solve(c, s, name, &line, &answers[k]);
        if (start != NULL)
            check_start(c, start, &answers[k]);
    }
    return n;
}

void cam_case_solve(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer answers[MOST_RUNS];
    struct cam_wish wish = cam_draw_wish(c);
    cam_new_subject(c, "g.json", &wish, &s);
    if (s.solvable)
        cam_cross_check(c, answers, solve_often(c, &s, answers));
}

void cam_case_wide(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer answers[MOST_RUNS];
    struct cam_wish wish = {.min_ops = 2, .max_ops = c->o->steady ? 12 : 60, .wide = true};
    cam_new_subject(c, "g.json", &wish, &s);
    if (s.solvable)
        cam_cross_check(c, answers, solve_often(c, &s, answers));
}

/* Once more, with little memory. Without addresses, brute force knows all plans. */
static void solve_tightly(struct cam_case *c, const struct cam_subject *s,
                          struct cam_answer *a) {
    struct cam_line line = {.n = 0};
    cam_begin_solve(c, s, "tight.json", &line);
    cam_draw_tight_budget(c, s, &line);
    cam_draw_limit(c, &line, 0.02, 0.1);
    line.limit_s = 0;
    cam_word(&line, "--ignore-clock");
    cam_word(&line, "--no-addresses");
    cam_draw_host_budget(c, s, &line);
    if (rp_rng_percent(&c->r, 20))
        cam_word(&line, "--reorder");
    cam_solve(c, s, "tight.json", &line, a);
}

void cam_case_brute(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer answers[MOST_RUNS + 1];
    struct cam_wish wish = {
        .min_ops = 2, .max_ops = 7, .for_brute_force = true, .plain = true};
    wish.homes = rp_rng_percent(&c->r, 50);
    if (wish.homes) /* each source that moves is one more tensor to try */
        wish.max_ops = 5;
    if (rp_rng_percent(&c->r, 30)) {
        s = (struct cam_subject){.name = "g.json"};
        cam_new_host_graph(c, s.name, &s.graph);
        cam_measure(c, &s);
    } else {
        cam_new_subject(c, "g.json", &wish, &s);
    }
    size_t n = s.accepted ? solve_often(c, &s, answers) : 0;
    if (s.accepted)
        solve_tightly(c, &s, &answers[n++]);
    cam_cross_check(c, answers, n);
    for (size_t k = 0; k < n; k++)
        cam_brute_check(c, s.name, &answers[k]);
}

/* The same options, drawn twice from the same numbers. Without the clock, the same bytes.
 */
void cam_case_repeat(struct cam_case *c) {
    static const char *const names[] = {"p0.json", "p1.json"};
    struct cam_subject s;
    struct cam_answer a;
    struct cam_wish wish = cam_draw_wish(c);
    wish.max_ops = wish.max_ops > 400 ? 400 : wish.max_ops;
    wish.min_ops = wish.min_ops > 200 ? 200 : wish.min_ops;
    cam_new_subject(c, "g.json", &wish, &s);
    struct rp_rng begin = c->r;
    for (int k = 0; k < 2 && s.solvable; k++) {
        struct cam_line line = {.n = 0};
        c->r = begin;
        cam_draw_solve(c, &s, names[k], NULL, &line);
        if (!cam_has(&line, "--ignore-clock") && cam_policy(&line) == NULL)
            cam_word(&line, "--ignore-clock");
        line.limit_s = 0;
        cam_solve(c, &s, names[k], &line, &a);
    }
    if (s.solvable && !cam_same_bytes(c, names[0], names[1]))
        cam_fail(c, "the same options gave other bytes");
}
