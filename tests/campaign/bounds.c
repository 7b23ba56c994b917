#include "bounds.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "brute.h"
#include "brute_copies.h"
#include "model/graph.h"

/* Whether the plan is one of this class. A plan that is no schedule, as far as the second
 * checker knows, is not counted among them. */
static bool belongs(const struct ck_figures *plan, const struct cam_class *class) {
    return plan->fixed_bytes + plan->arena_bytes <= class->budget_bytes &&
           plan->host_bytes <= class->host_budget_bytes &&
           (class->recompute || !plan->reruns) && (class->swap || !plan->swaps) &&
           (class->any_order || plan->given_order) &&
           (!class->schedules || (plan->schedule && !plan->swaps)) &&
           (plan->addressed || !class->addressed);
}

void cam_read_bound(struct cam_answer *a) {
    const struct ck_bound_for *b = &a->plan.bound_for;
    a->has_bound = b->known;
    a->lower_bound_ns = a->plan.lower_bound_ns;
    a->bound_of = (struct cam_class){.budget_bytes = a->plan.budget_bytes,
                                     .host_budget_bytes = b->host_budget_bytes,
                                     .recompute = b->recompute,
                                     .swap = b->swap,
                                     .any_order = b->any_order,
                                     .schedules = b->schedules,
                                     .addressed = a->plan.addressed};
}

bool cam_bound_holds_for_plan(const struct cam_answer *a) {
    return a->has_bound && belongs(&a->plan, &a->bound_of);
}

static void check_pair(struct cam_case *c, const struct cam_answer *a,
                       const struct cam_answer *b) {
    if (!b->found)
        return;
    if (a->impossible && belongs(&b->plan, &a->of))
        cam_fail(c, "%s exists, and another run says that there is no such plan", b->name);
    if (!a->has_bound || !belongs(&b->plan, &a->bound_of))
        return;
    c->counts->bounds++;
    if (a->lower_bound_ns > b->plan.time_ns)
        cam_fail(c, "the bound of %s is %" PRIu64 ", and %s takes %" PRIu64, a->name,
                 a->lower_bound_ns, b->name, b->plan.time_ns);
}

void cam_cross_check(struct cam_case *c, const struct cam_answer *answers, size_t n) {
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            check_pair(c, &answers[a], &answers[b]);
}

/* ---- brute force ---- */

static bool may_move_sources(const struct rp_graph *g, uint64_t host_budget_bytes) {
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].home == RP_HOME_ANY && g->tensors[x].bytes <= host_budget_bytes)
            return true;
    return false;
}

/* The least time of the class. */
static enum rp_brute_result best(const struct rp_graph *g, const struct cam_class *class,
                                 uint64_t *time_ns) {
    uint64_t limit = class->budget_bytes - g->fixed_bytes;
    bool plain = class->recompute && !class->swap && !class->any_order;
    bool moves = may_move_sources(g, class->host_budget_bytes);
    if (class->budget_bytes < g->fixed_bytes && !moves)
        return RP_BRUTE_NONE;
    if (class->schedules && (moves || !plain))
        return RP_BRUTE_GAVE_UP;
    if (class->schedules)
        return rp_brute_best(g, limit, time_ns) ? RP_BRUTE_FOUND : RP_BRUTE_NONE;
    struct rp_brute_copies o = {.limit_bytes = limit,
                                .host_limit_bytes = class->host_budget_bytes,
                                .recompute = class->recompute,
                                .swap = class->swap,
                                .any_order = class->any_order,
                                .max_states = 200000};
    return rp_brute_copies_best(g, &o, time_ns);
}

static bool any_home(const struct rp_graph *g, enum rp_home home) {
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].home == home)
            return true;
    return false;
}

void cam_new_host_graph(struct cam_case *c, const char *name, struct cam_graph *graph) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    char *path = cam_path(c, name);
    rp_gen_host_graph(rp_rng_next(&c->r), cam_between(&c->r, 3, 5), &g);
    g.device.alignment_bytes = 1; /* brute force does not round sizes up */
    if (rp_graph_save(&g, path, &err) != RP_OK)
        abort();
    cam_expect(c, name);
    *graph = (struct cam_graph){.n_ops = g.n_ops,
                                .n_tensors = g.n_tensors,
                                .swappable = true,
                                .free_order = g.free_order,
                                .lives_on_host = any_home(&g, RP_HOME_HOST),
                                .may_live_there = any_home(&g, RP_HOME_ANY)};
    rp_graph_fini(&g);
    free(path);
}

static bool small_enough(const struct rp_graph *g) {
    uint32_t made = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        made += g->tensors[x].producer != RP_NONE || g->tensors[x].home != RP_HOME_DEVICE;
    return made <= RP_BRUTE_COPIED && g->n_ops <= 16;
}

static void compare(struct cam_case *c, const struct rp_graph *g,
                    const struct cam_answer *a) {
    uint64_t time_ns = 0, other_ns = 0;
    enum rp_brute_result result = best(g, &a->of, &time_ns);
    c->counts->optima += result != RP_BRUTE_GAVE_UP;
    if (result == RP_BRUTE_FOUND && a->impossible)
        cam_fail(c, "there is a plan of %" PRIu64 " ns; %s says there is none", time_ns,
                 a->name);
    /* Brute force looks for no addresses. */
    if (result == RP_BRUTE_FOUND && a->none_found && !a->of.addressed)
        cam_fail(c, "there is a plan of %" PRIu64 " ns; %s found none", time_ns, a->name);
    if (result == RP_BRUTE_NONE && a->found)
        cam_fail(c, "there is no plan, and %s is one", a->name);
    if (result == RP_BRUTE_FOUND && a->found && a->plan.time_ns < time_ns)
        cam_fail(c, "%s takes %" PRIu64 " ns, the optimum is %" PRIu64, a->name,
                 a->plan.time_ns, time_ns);
    if (a->has_bound && best(g, &a->bound_of, &other_ns) == RP_BRUTE_FOUND &&
        a->lower_bound_ns > other_ns)
        cam_fail(c, "the bound of %s is %" PRIu64 ", the optimum %" PRIu64, a->name,
                 a->lower_bound_ns, other_ns);
}

void cam_brute_check(struct cam_case *c, const char *graph, const struct cam_answer *a) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    char *path = cam_path(c, graph);
    if (rp_graph_load(path, &g, &err) == RP_OK) {
        if (small_enough(&g))
            compare(c, &g, a);
        rp_graph_fini(&g);
    }
    free(path);
}
