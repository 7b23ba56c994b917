#include "planning.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void cam_begin(const struct cam_case *c, struct cam_line *line, const char *command) {
    cam_word(line, "%s", c->o->program);
    cam_word(line, "%s", command);
}

void cam_begin_solve(const struct cam_case *c, const struct cam_subject *s,
                     const char *name, struct cam_line *line) {
    cam_begin(c, line, "solve");
    cam_word(line, "%s", s->name);
    cam_word(line, "--json");
    cam_word(line, "-o");
    cam_word(line, "%s", name);
}

void cam_draw_limit(struct cam_case *c, struct cam_line *line, double least_s,
                    double most_s) {
    uint32_t ms = cam_between(&c->r, (uint32_t)(1000 * least_s), (uint32_t)(1000 * most_s));
    if (c->o->steady)
        ms = cam_between(&c->r, 20, 60);
    line->limit_s = ms / 1000.0;
    cam_word(line, "-t");
    cam_word(line, "%u.%03u", ms / 1000, ms % 1000);
}

struct cam_wish cam_draw_wish(struct cam_case *c) {
    static const uint32_t most[] = {8, 60, 400, 2000, 5000};
    static const uint8_t shares[] = {40, 35, 20, 4, 1};
    uint32_t ticket = (uint32_t)rp_rng_below(&c->r, 100), k = 0;
    for (; ticket >= shares[k]; k++)
        ticket -= shares[k];
    if (c->o->steady && k > 1)
        k = 1;
    return (struct cam_wish){.min_ops = k > 0 ? most[k - 1] : 1, .max_ops = most[k]};
}

/* An answer: a plan, that there can be none, or that none was found. */
static bool reports(const struct cam_ended *e) {
    return e->code == 0 || e->code == 1 || (e->code == 4 && e->out_len > 0);
}

/* What `solve` says with a budget of 100%. A graph of huge numbers may be refused, and
 * where sources live on the host there may be no plan. */
void cam_measure(struct cam_case *c, struct cam_subject *s) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    cam_begin(c, &line, "solve");
    cam_word(&line, "%s", s->name);
    cam_word(&line, "--json");
    cam_word(&line,
             rp_rng_percent(&c->r, 80) ? "--budget=100%%" : "--activation-budget=100%%");
    cam_draw_limit(c, &line, 0.01, 0.05);
    cam_command(c, &line, &e);
    if (e.code == 3 && !s->graph.extreme)
        cam_fail(c, "solve refuses the graph: %.200s", e.err);
    if (reports(&e)) {
        json_t *o = cam_json(c, &e);
        s->floor_bytes = cam_member(o, "floor_bytes");
        s->keep_all_bytes = cam_member(o, "keep_all_bytes");
        s->accepted = true;
        s->solvable = e.code == 0;
        if (e.code == 1 && !s->graph.lives_on_host)
            cam_fail(c, "there is no plan at 100%%");
        json_decref(o);
    }
    cam_ended_fini(&e);
}

void cam_new_subject(struct cam_case *c, const char *name, const struct cam_wish *wish,
                     struct cam_subject *s) {
    *s = (struct cam_subject){.solvable = false};
    snprintf(s->name, sizeof s->name, "%s", name);
    cam_write_graph(c, name, wish, &s->graph);
    cam_measure(c, s);
}

static void draw_activation_budget(struct cam_case *c, const struct cam_subject *s,
                                   struct cam_line *line) {
    if (rp_rng_percent(&c->r, 50))
        cam_word(line, "--activation-budget=%u%%", cam_between(&c->r, 1, 110));
    else
        cam_word(line, "--activation-budget=%" PRIu64,
                 rp_rng_below(&c->r, s->keep_all_bytes + 1));
}

void cam_draw_budget(struct cam_case *c, const struct cam_subject *s,
                     struct cam_line *line) {
    uint64_t low = s->floor_bytes, high = s->keep_all_bytes;
    uint64_t room = high > low ? high - low : 0;
    if (!s->graph.extreme && rp_rng_percent(&c->r, 15)) {
        draw_activation_budget(c, s, line);
        return;
    }
    cam_word(line, "--budget");
    switch (rp_rng_below(&c->r, 8)) {
    case 0:
        cam_word(line, "%u.%u%%", cam_between(&c->r, 5, 110), cam_between(&c->r, 0, 9));
        break;
    case 1: /* the largest working set, or a byte less */
        cam_word(line, "%" PRIu64, low - (low > 0 && rp_rng_percent(&c->r, 30)));
        break;
    case 2: /* one byte less than keep-all */
        cam_word(line, "%" PRIu64, high - (high > 0));
        break;
    case 3:
        cam_word(line, "%.3fKiB", (double)(low + rp_rng_below(&c->r, room + 1)) / 1024);
        break;
    default: /* in the lower half more often */
        cam_word(line, "%" PRIu64,
                 low + rp_rng_below(&c->r, room / (1 + rp_rng_below(&c->r, 3)) + 1));
    }
}

void cam_draw_tight_budget(struct cam_case *c, const struct cam_subject *s,
                           struct cam_line *line) {
    uint64_t low = s->floor_bytes, high = s->keep_all_bytes;
    if (high > low && rp_rng_percent(&c->r, 60))
        cam_word(line, "--budget=%" PRIu64,
                 low + rp_rng_below(&c->r, (high - low) / 2 + 1));
    else
        cam_draw_budget(c, s, line);
}

/* ---- policies ---- */

static void draw_tflms(struct cam_case *c, char *text, size_t size) {
    size_t n = (size_t)snprintf(text, size, "tflms");
    if (rp_rng_percent(&c->r, 50))
        n +=
            (size_t)snprintf(text + n, size - n, ":n-tensors=%u", cam_between(&c->r, 1, 9));
    if (rp_rng_percent(&c->r, 50))
        n += (size_t)snprintf(text + n, size - n, ":lb=%u", cam_between(&c->r, 1, 9));
    if (rp_rng_percent(&c->r, 30))
        n += (size_t)snprintf(text + n, size - n, ":ub=%u", cam_between(&c->r, 9, 30));
    if (rp_rng_percent(&c->r, 30))
        n += (size_t)snprintf(text + n, size - n, ":ctrld=direct_order");
    if (rp_rng_percent(&c->r, 30))
        n += (size_t)snprintf(text + n, size - n, ":fuse-swapins");
    if (rp_rng_percent(&c->r, 30))
        snprintf(text + n, size - n, ":swap-branches:branch-threshold=%u",
                 cam_between(&c->r, 0, 9));
}

void cam_draw_policy(struct cam_case *c, char *text, size_t size) {
    static const char *const names[] = {
        "keep-all", "chen-sqrt",    "chen-greedy",  "revolve",      "dtr",
        "vdnn-all", "vdnn-conv",    "tflms",        "superneurons", "capuchin",
        "alibaba",  "libra",        "checkmate",    "remat",        "pytorch",
        "pytorch",  "zero-offload", "layer-stream", "offload-state"};
    size_t k = rp_rng_below(&c->r, sizeof names / sizeof *names);
    if (strcmp(names[k], "tflms") == 0)
        draw_tflms(c, text, size);
    else if (strcmp(names[k], "pytorch") == 0 && rp_rng_percent(&c->r, 60))
        snprintf(text, size, "pytorch:budget=%.2f", 0.01 * cam_between(&c->r, 0, 100));
    else
        snprintf(text, size, "%s", names[k]);
}

/* ---- solve ---- */

void cam_draw_host_budget(struct cam_case *c, const struct cam_subject *s,
                          struct cam_line *line) {
    if (rp_rng_percent(&c->r, 20))
        cam_word(line, "--host-budget=%" PRIu64,
                 rp_rng_below(&c->r, s->keep_all_bytes + 1));
}

static void draw_modes(struct cam_case *c, const struct cam_subject *s,
                       struct cam_line *line) {
    if (rp_rng_percent(&c->r, 25))
        cam_word(line, "--no-swap");
    if (rp_rng_percent(&c->r, 15))
        cam_word(line, "--no-recompute");
    if (rp_rng_percent(&c->r, 30))
        cam_word(line, "--no-addresses");
    if (rp_rng_percent(&c->r, 20))
        cam_word(line, "--reorder");
    cam_draw_host_budget(c, s, line);
}

static bool any_order(const struct cam_subject *s, const struct cam_line *line) {
    return cam_has(line, "--reorder") ||
           (s->graph.free_order && !cam_has(line, "--given-order"));
}

/* A certificate is about the given order, with recomputation. */
static void draw_certificate(struct cam_case *c, const struct cam_subject *s,
                             const char *name, struct cam_line *line) {
    char proof[64];
    bool refused = cam_has(line, "--no-recompute") || any_order(s, line);
    if (!rp_rng_percent(&c->r, refused ? 5 : 30))
        return;
    if (refused)
        line->must_exit = 2;
    snprintf(proof, sizeof proof, "%s.proof", name);
    cam_word(line, "--certificate=%s", proof);
    cam_expect(c, proof);
}

/* What a policy takes no notice of, or does not allow. */
static void draw_search_options(struct cam_case *c, const struct cam_subject *s,
                                const char *name, const struct cam_answer *start,
                                struct cam_line *line) {
    if (rp_rng_percent(&c->r, 15))
        cam_word(line, "--gap=%u.%u", cam_between(&c->r, 0, 20), cam_between(&c->r, 0, 9));
    if (c->o->steady || rp_rng_percent(&c->r, 5)) {
        cam_word(line, "--ignore-clock");
        line->limit_s = 0;
    }
    if (rp_rng_percent(&c->r, 20) && c->o->highs)
        cam_word(line, "--engine=highs");
    if (!cam_has(line, "--reorder") && rp_rng_percent(&c->r, s->graph.free_order ? 40 : 5))
        cam_word(line, "--given-order");
    if (start != NULL && !start->plan.given_order && !any_order(s, line))
        line->must_exit = 3;
    draw_certificate(c, s, name, line);
}

void cam_draw_solve(struct cam_case *c, const struct cam_subject *s, const char *name,
                    const struct cam_answer *start, struct cam_line *line) {
    cam_begin_solve(c, s, name, line);
    cam_draw_budget(c, s, line);
    cam_draw_limit(c, line, 0.02, s->graph.n_ops > 400 ? 1.5 : 0.6);
    draw_modes(c, s, line);
    if (rp_rng_percent(&c->r, 30))
        cam_word(line, "--seed=%u", cam_between(&c->r, 0, 1000));
    if (start != NULL)
        cam_word(line, "--start=%s", start->name);
    if (start == NULL && rp_rng_percent(&c->r, 10)) {
        char policy[160];
        cam_draw_policy(c, policy, sizeof policy);
        cam_word(line, "--policy=%s", policy);
        return;
    }
    draw_search_options(c, s, name, start, line);
}

/* Whether a word begins so, with its rest. */
static const char *option(const struct cam_line *line, const char *prefix) {
    for (int k = 0; k < line->n; k++)
        if (strncmp(line->words[k], prefix, strlen(prefix)) == 0)
            return line->words[k] + strlen(prefix);
    return NULL;
}

const char *cam_policy(const struct cam_line *line) {
    return option(line, "--policy=");
}

uint64_t cam_host_budget(const struct cam_line *line) {
    const char *host = option(line, "--host-budget=");
    return host == NULL ? UINT64_MAX : strtoull(host, NULL, 10);
}

static void read_class(const struct cam_subject *s, const struct cam_line *line,
                       struct cam_class *of) {
    *of = (struct cam_class){.recompute = !cam_has(line, "--no-recompute"),
                             .swap = !cam_has(line, "--no-swap") && s->graph.swappable,
                             .any_order = any_order(s, line),
                             .host_budget_bytes = cam_host_budget(line),
                             .addressed = !cam_has(line, "--no-addresses")};
}

static void check_options(struct cam_case *c, const struct cam_answer *a, bool policy) {
    const struct ck_figures *f = &a->plan;
    if (f->reruns && !a->of.recompute)
        cam_fail(c, "%s runs an op again", a->name);
    if (f->swaps && !a->of.swap)
        cam_fail(c, "%s copies", a->name);
    if (!f->given_order && !a->of.any_order && !policy)
        cam_fail(c, "%s has another order", a->name);
    if (f->host_bytes > a->of.host_budget_bytes)
        cam_fail(c, "%s needs more host memory than allowed", a->name);
    if (f->addressed != a->of.addressed)
        cam_fail(c, "%s: addresses", a->name);
    if (f->budget_bytes != a->of.budget_bytes)
        cam_fail(c, "%s: another budget", a->name);
}

static void compare_report(struct cam_case *c, const json_t *o, const struct cam_answer *a,
                           bool policy) {
    const struct ck_figures *f = &a->plan;
    bool same = cam_member(o, "time_ns") == f->time_ns &&
                cam_member(o, "baseline_time_ns") == f->baseline_time_ns &&
                cam_member(o, "recompute_ns") == f->recompute_ns &&
                cam_member(o, "stall_ns") == f->stall_ns &&
                cam_member(o, "peak_bytes") == f->peak_bytes &&
                cam_member(o, "host_bytes") == f->host_bytes;
    if (!policy)
        same = same && cam_member(o, "arena_bytes") == f->arena_bytes &&
               cam_member(o, "fixed_bytes") == f->fixed_bytes &&
               cam_member(o, "lower_bound_ns") == f->lower_bound_ns;
    if (!same)
        cam_fail(c, "the report of %s and the plan differ", a->name);
}

/* Is the plan, which the bound of its own claim is about, one that the certificate's is
 * about too? */
static bool certificate_is_for(const json_t *certificate, const struct ck_figures *p) {
    bool in_order = json_is_true(json_object_get(certificate, "in_order"));
    bool swaps = json_is_true(json_object_get(certificate, "swaps"));
    return (p->schedule || !in_order) && (!p->swaps || swaps);
}

static void check_certificate(struct cam_case *c, const struct cam_subject *s,
                              const struct cam_answer *a) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    char proof[64];
    snprintf(proof, sizeof proof, "%s.proof", a->name);
    if (!cam_exists(c, proof))
        return;
    cam_begin(c, &line, "verify");
    cam_word(&line, "%s", s->name);
    cam_word(&line, "%s", a->name);
    cam_word(&line, "--no-replay");
    cam_word(&line, "--json");
    cam_word(&line, "--certificate=%s", proof);
    cam_command(c, &line, &e);
    json_t *o = e.code == 0 ? cam_json(c, &e) : NULL;
    json_t *certificate = json_object_get(o, "certificate");
    if (o != NULL && cam_member(certificate, "bound_ns") < a->plan.lower_bound_ns)
        cam_fail(c, "%s proves less than the plan claims, and is accepted", proof);
    if (cam_member(certificate, "bound_ns") > a->plan.time_ns &&
        cam_bound_holds_for_plan(a) && certificate_is_for(certificate, &a->plan))
        cam_fail(c, "%s proves more than the plan takes", proof);
    json_decref(o);
    cam_ended_fini(&e);
}

/* An answer of yes: the plan is there, valid, and as the options want it. */
static void check_plan(struct cam_case *c, const struct cam_subject *s, const json_t *o,
                       struct cam_answer *a, bool policy) {
    if (!cam_exists(c, a->name)) {
        cam_fail(c, "%s was not written", a->name);
        return;
    }
    a->found = cam_judge(c, s->name, a->name, &a->plan);
    if (!a->found)
        return;
    compare_report(c, o, a, policy);
    check_options(c, a, policy);
    cam_read_bound(a);
    check_certificate(c, s, a);
}

/* The budget of the activations lies on top of sources and kept tensors. Where sources may
 * live on the host, fixed_bytes says which of them do not. */
static void check_activation_budget(struct cam_case *c, const struct cam_subject *s,
                                    const char *activations, const json_t *o) {
    uint64_t base = cam_member(o, "fixed_bytes") + cam_member(o, "kept_bytes");
    if (activations == NULL || strchr(activations, '%') != NULL ||
        json_object_get(o, "kept_bytes") == NULL || s->graph.lives_on_host ||
        s->graph.may_live_there)
        return;
    if (cam_member(o, "budget_bytes") != base + strtoull(activations, NULL, 10))
        cam_fail(c, "--activation-budget=%s and the budget %" PRIu64, activations,
                 cam_member(o, "budget_bytes"));
}

void cam_solve(struct cam_case *c, const struct cam_subject *s, const char *name,
               struct cam_line *line, struct cam_answer *a) {
    struct cam_ended e;
    bool policy = cam_policy(line) != NULL, refused = line->must_exit > 0;
    const char *given = option(line, "--activation-budget=");
    char *activations = given == NULL ? NULL : rp_strdup(given);
    *a = (struct cam_answer){.found = false};
    snprintf(a->name, sizeof a->name, "%s", name);
    read_class(s, line, &a->of);
    cam_expect(c, name);
    cam_command(c, line, &e);
    json_t *o = reports(&e) ? cam_json(c, &e) : NULL;
    a->of.budget_bytes = cam_member(o, "budget_bytes");
    check_activation_budget(c, s, activations, o);
    if (e.code == 2 && !policy && !refused)
        cam_fail(c, "solve: %.200s", e.err);
    if (e.code == 3 && !s->graph.extreme && !refused)
        cam_fail(c, "solve: %.200s", e.err);
    if (e.code != 0 && cam_exists(c, name))
        cam_fail(c, "exit code %d, and %s was written", e.code, name);
    a->impossible = e.code == 1 && !policy;
    a->none_found = e.code == 4 && o != NULL && !policy;
    if (o != NULL && e.code == 0)
        check_plan(c, s, o, a, policy);
    json_decref(o);
    free(activations);
    cam_ended_fini(&e);
}
