/* What passes through files to other solvers and graphs with other bandwidths. */
#include "cases.h"
#include "planning.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- solutions ---- */

static void draw_options(struct cam_case *c, struct cam_line *line) {
    if (rp_rng_percent(&c->r, 50))
        cam_word(line, "--no-swap");
    if (rp_rng_percent(&c->r, 20))
        cam_word(line, "--no-recompute");
    if (rp_rng_percent(&c->r, 50))
        cam_word(line, "--no-addresses");
    cam_word(line, "--given-order");
}

/* Writes the plan as a solution. Returns whether there is one that takes no longer. */
static bool write_solution(struct cam_case *c, const struct cam_subject *s,
                           const struct cam_answer *plan) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    cam_begin(c, &line, "solve");
    cam_word(&line, "%s", s->name);
    cam_word(&line, "--start=%s", plan->name);
    cam_word(&line, "--budget=%" PRIu64, plan->of.budget_bytes);
    draw_options(c, &line);
    cam_word(&line, "--write-solution=x.sol");
    cam_word(&line, rp_rng_percent(&c->r, 50) ? "--write-mps=m.mps" : "--write-lp=m.lp");
    cam_expect(c, "x.sol");
    cam_expect(c, "m.mps");
    cam_expect(c, "m.lp");
    cam_command(c, &line, &e);
    bool written = e.code == 0, slower = strstr(e.err, "in the model,") != NULL;
    bool must = plan->plan.schedule && !plan->plan.swaps && !s->graph.lives_on_host &&
                !s->graph.may_live_there && !s->graph.extreme && s->graph.n_ops <= 12;
    if (e.code == 2 || (must && e.code != 0))
        cam_fail(c, "--write-solution: exit code %d: %.200s", e.code, e.err);
    if (written != cam_exists(c, "x.sol"))
        cam_fail(c, "--write-solution: exit code %d, and x.sol does not fit to it", e.code);
    cam_ended_fini(&e);
    return written && !slower;
}

static void read_solution(struct cam_case *c, const struct cam_subject *s,
                          const struct cam_answer *plan, bool as_fast) {
    struct cam_line line = {.n = 0};
    struct cam_answer back;
    cam_begin_solve(c, s, "back.json", &line);
    cam_word(&line, "--budget=%" PRIu64, plan->of.budget_bytes);
    draw_options(c, &line);
    cam_word(&line, "--solution=x.sol");
    cam_solve(c, s, "back.json", &line, &back);
    if (!back.found)
        cam_fail(c, "x.sol, which is %s, gives no plan", plan->name);
    else if (as_fast && back.plan.time_ns > plan->plan.time_ns)
        cam_fail(c, "%s takes %" PRIu64 " ns, and as a solution %" PRIu64, plan->name,
                 plan->plan.time_ns, back.plan.time_ns);
}

void cam_case_exchange(struct cam_case *c) {
    struct cam_subject s;
    struct cam_answer plan;
    struct cam_line line = {.n = 0};
    struct cam_wish wish = cam_small_wish(&c->r);
    cam_new_subject(c, "g.json", &wish, &s);
    if (!s.solvable)
        return;
    cam_begin_solve(c, &s, "p.json", &line);
    cam_draw_tight_budget(c, &s, &line);
    cam_draw_limit(c, &line, 0.02, 0.1);
    line.limit_s = 0;
    cam_word(&line, "--ignore-clock");
    struct rp_rng options = c->r;
    draw_options(c, &line);
    cam_solve(c, &s, "p.json", &line, &plan);
    if (!plan.found)
        return;
    c->r = options;
    bool as_fast = write_solution(c, &s, &plan);
    c->r = options;
    if (cam_exists(c, "x.sol"))
        read_solution(c, &s, &plan, as_fast);
}

/* ---- bandwidths ---- */

static void draw_bandwidths(struct cam_case *c, bool *both, struct cam_line *line) {
    static const char *const keys[] = {"--h2d", "--d2h"};
    *both = true;
    for (int k = 0; k < 2; k++) {
        bool none = rp_rng_percent(&c->r, 10);
        *both = *both && !none;
        cam_word(line, "%s=%u.%02u", keys[k], none ? 0 : cam_between(&c->r, 1, 60),
                 none ? 0 : cam_between(&c->r, 0, 99));
    }
}

/* A plan for other bandwidths is the plan of the graph that --graph-out writes. */
void cam_case_bandwidth(struct cam_case *c) {
    static const char *const names[] = {"p0.json", "p1.json"};
    struct cam_subject s, changed;
    struct cam_answer answers[2];
    struct cam_wish wish = {.min_ops = 2, .max_ops = 60};
    cam_new_subject(c, "g.json", &wish, &s);
    changed = s;
    strcpy(changed.name, "h.json");
    cam_expect(c, "h.json");
    struct rp_rng options = c->r;
    for (int k = 0; k < 2 && s.solvable; k++) {
        struct cam_line line = {.n = 0}, given = {.n = 0};
        c->r = options;
        cam_begin_solve(c, k == 0 ? &s : &changed, names[k], &line);
        cam_draw_budget(c, &s, &line);
        cam_draw_limit(c, &line, 0.02, 0.2);
        line.limit_s = 0;
        cam_word(&line, "--ignore-clock");
        draw_bandwidths(c, &changed.graph.swappable, k == 0 ? &line : &given);
        draw_options(c, &line);
        if (k == 0)
            cam_word(&line, "--graph-out=%s", changed.name);
        cam_solve(c, &changed, names[k], &line, &answers[k]);
        cam_line_fini(&given);
        if (k == 0 && !cam_exists(c, changed.name))
            return;
    }
    if (s.solvable && !cam_same_bytes(c, names[0], names[1]))
        cam_fail(c, "the graph of --graph-out has another plan");
}
