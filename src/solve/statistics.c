#include "solve/statistics.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/format.h"
#include "solve/local/moves.h"
#include "solve/lp/separation.h"

#define X(method, name) [method] = name,
const char *const rp_method_name[RP_N_METHODS] = {RP_METHODS(X)};
#undef X

/* Where the sections go: text, or JSON where `json` is not NULL. */
struct output {
    FILE *text;
    struct rp_json_writer *json;
};

static void begin_section(struct output *o, const char *key, const char *title) {
    if (o->json != NULL)
        rp_json_object(o->json, key);
    else
        fprintf(o->text, "\n%s\n", title);
}

static void end_section(struct output *o) {
    if (o->json != NULL)
        rp_json_end(o->json);
}

static void put_count(struct output *o, const char *key, const char *words,
                      uint64_t value) {
    if (o->json != NULL)
        rp_json_uint(o->json, key, value);
    else
        fprintf(o->text, "  %-44s %14" PRIu64 "\n", words, value);
}

static void put_seconds(struct output *o, const char *key, const char *words,
                        double value) {
    if (o->json != NULL)
        rp_json_double(o->json, key, value, 3);
    else
        fprintf(o->text, "  %-44s %14.3f\n", words, value);
}

/* ---- methods and moves are tables ---- */

static void put_method(struct output *o, const char *name,
                       const struct rp_method_statistics *m) {
    if (o->json == NULL) {
        fprintf(o->text,
                "%-18s %6" PRIu64 " %14" PRIu64 " %10.3f %11" PRIu64 " %7" PRIu64
                " %16" PRIu64 "\n",
                name, m->calls, m->work, m->seconds, m->incumbents, m->bounds, m->bound_ns);
        return;
    }
    rp_json_object(o->json, NULL);
    rp_json_string(o->json, "method", name);
    rp_json_uint(o->json, "calls", m->calls);
    rp_json_uint(o->json, "work", m->work);
    rp_json_double(o->json, "seconds", m->seconds, 3);
    rp_json_uint(o->json, "incumbents", m->incumbents);
    rp_json_uint(o->json, "bounds", m->bounds);
    rp_json_uint(o->json, "bound_ns", m->bound_ns);
    rp_json_end(o->json);
}

static void put_methods(struct output *o, const struct rp_statistics *s) {
    if (o->json != NULL)
        rp_json_array(o->json, "methods");
    else
        fprintf(o->text, "\n%-18s %6s %14s %10s %11s %7s %16s\n", "method", "calls", "work",
                "seconds", "incumbents", "bounds", "best bound, ns");
    for (int i = 0; i < RP_N_METHODS; i++)
        if (s->method[i].calls > 0)
            put_method(o, rp_method_name[i], &s->method[i]);
    if (o->json != NULL)
        rp_json_end(o->json);
}

static void put_move(struct output *o, const char *name,
                     const struct rp_move_statistics *m) {
    if (m->proposed == 0)
        return;
    if (o->json == NULL) {
        fprintf(o->text,
                "  %-26s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8s %12" PRIu64 "\n",
                name, m->proposed, m->infeasible, m->accepted,
                rp_show_percent(m->accepted, m->proposed).s, m->improving);
        return;
    }
    rp_json_object(o->json, NULL);
    rp_json_string(o->json, "move", name);
    rp_json_uint(o->json, "proposed", m->proposed);
    rp_json_uint(o->json, "infeasible", m->infeasible);
    rp_json_uint(o->json, "accepted", m->accepted);
    rp_json_uint(o->json, "improving", m->improving);
    rp_json_end(o->json);
}

static void begin_moves(struct output *o) {
    if (o->json != NULL)
        rp_json_array(o->json, "moves");
    else
        fprintf(o->text, "  %-26s %12s %12s %12s %8s %12s\n", "move", "proposed",
                "infeasible", "accepted", "", "improving");
}

static void end_moves(struct output *o) {
    if (o->json != NULL)
        rp_json_end(o->json);
}

/* ---- the parts ---- */

static void put_anneal(struct output *o, const char *key, const char *title,
                       const struct rp_anneal_statistics *a,
                       const char *(*move_name)(uint32_t)) {
    begin_section(o, key, title);
    put_count(o, "runs", "runs", a->runs);
    put_count(o, "work", "work done", a->work);
    put_count(o, "uphill", "accepted although the cost rose", a->uphill);
    put_count(o, "incumbents", "best solutions of their runs", a->incumbents);
    put_count(o, "repaired", "results made to fit by swaps", a->repaired);
    begin_moves(o);
    for (uint32_t i = 0; move_name(i) != NULL; i++)
        put_move(o, move_name(i), &a->moves[i]);
    end_moves(o);
    end_section(o);
}

struct counter {
    const char *key, *words;
    size_t offset; /* of a uint64_t in the statistics of its part */
};

static void put_counters(struct output *o, const struct counter *c, size_t n,
                         const void *statistics) {
    for (size_t i = 0; i < n; i++)
        put_count(o, c[i].key, c[i].words,
                  *(const uint64_t *)((const char *)statistics + c[i].offset));
}
#define PUT_COUNTERS(o, table, statistics)                                                 \
    put_counters(o, table, sizeof(table) / sizeof *(table), statistics)

static void put_cuts(struct output *o, const struct rp_separation_statistics *c) {
    if (o->json != NULL)
        rp_json_object(o->json, "cuts");
    for (uint32_t k = 0; rp_cut_family_name(k) != NULL; k++) {
        char words[64];
        snprintf(words, sizeof words, "%s cuts", rp_cut_family_name(k));
        put_count(o, rp_cut_family_name(k), words, c->found[k]);
    }
    put_count(o, "exact_covers", "covers of integer points", c->exact_covers);
    if (o->json != NULL)
        rp_json_end(o->json);
}

#define B(member) offsetof(struct rp_branch_cut_statistics, member)
static const struct counter branch_cut_counters[] = {
    {"nodes", "nodes", B(nodes)},
    {"lp_solves", "linear programs solved", B(lp_solves)},
    {"trial_solves", "of these for strong branching", B(trial_solves)},
    {"simplex_iterations", "simplex iterations", B(pivots)},
    {"fixed_columns", "columns fixed by reduced cost", B(fixed_columns)},
    {"restarts", "restarts", B(restarts)},
    {"cutoffs_tried", "cutoffs tried", B(cutoffs_tried)},
    {"roundings", "points rounded", B(roundings)},
    {"rounding_successes", "incumbents from rounding", B(rounding_successes)},
    {"incumbents", "incumbents", B(incumbents)},
    {"work", "work done", B(work)},
};

static void put_branch_cut(struct output *o, const struct rp_branch_cut_statistics *b) {
    begin_section(o, "branch_and_cut", "branch and cut");
    PUT_COUNTERS(o, branch_cut_counters, b);
    put_cuts(o, &b->cuts);
    end_section(o);
}

#define P(member) offsetof(struct rp_pdhg_statistics, member)
static const struct counter pdhg_counters[] = {
    {"iterations", "iterations", P(iterations)},
    {"restarts", "restarts", P(restarts)},
    {"separations", "separations", P(separations)},
    {"memory_rows", "memory rows added", P(memory_rows)},
    {"path_rows", "path cuts added", P(path_rows)},
    {"copy_rows", "rows about copies added", P(copy_rows)},
    {"cover_rows", "cover cuts added", P(cover_rows)},
    {"dropped_rows", "rows dropped", P(dropped_rows)},
    {"dual_evaluations", "dual values in floating point", P(dual_evaluations)},
    {"proofs", "dual values in integers", P(proofs)},
    {"horizon_updates", "horizon updates", P(horizon_updates)},
    {"refinements", "times with more stages", P(refinements)},
    {"cutoffs_tried", "cutoffs tried", P(cutoffs_tried)},
    {"cutoffs_proved", "cutoffs proved", P(cutoffs_proved)},
    {"restrictions", "linear programs restricted", P(restrictions)},
    {"splits", "linear programs split", P(splits)},
    {"work", "work done", P(work)},
};

#define M(member) offsetof(struct rp_moment_statistics, member)
static const struct counter moment_counters[] = {
    {"moments", "moments tried", M(moments)},
    {"simplex_iterations", "simplex iterations", M(pivots)},
    {"nodes", "nodes", M(nodes)},
    {"work", "work done", M(work)},
};

#define L(member) offsetof(struct rp_large_neighborhood_statistics, member)
static const struct counter neighborhood_counters[] = {
    {"descents", "descents", L(descents)},
    {"tries", "restricted programs", L(tries)},
    {"solved", "of these solved to the end", L(solved)},
    {"improvements", "of these with a faster schedule", L(improvements)},
    {"work", "work done", L(work)},
};

#define A(member) offsetof(struct rp_astar_statistics, member)
static const struct counter astar_counters[] = {
    {"states_added", "states added", A(states_added)},
    {"expanded", "states expanded", A(expanded)},
    {"dominated", "states dominated by another", A(dominated)},
    {"pruned_by_bound", "states pruned by the bound", A(pruned_by_bound)},
};

#define PUT_SECTION(o, key, title, table, statistics)                                      \
    do {                                                                                   \
        begin_section(o, key, title);                                                      \
        PUT_COUNTERS(o, table, statistics);                                                \
        end_section(o);                                                                    \
    } while (0)

static void put_pack(struct output *o, const struct rp_statistics *s) {
    begin_section(o, "packing", "packing");
    put_count(o, "placements", "schedules placed", s->placements);
    put_count(o, "tightenings", "tighter schedules searched", s->tightenings);
    put_seconds(o, "seconds", "seconds", s->pack_seconds);
#define X(name, words) put_count(o, #name, words, s->pack.name);
    RP_PACK_STATISTICS(X)
#undef X
    end_section(o);
}

static void put_all(struct output *o, const struct rp_statistics *s) {
    put_methods(o, s);
    if (s->anneal.runs > 0)
        put_anneal(o, "annealing", "annealing", &s->anneal, rp_move_name);
    if (s->method[RP_ANNEAL_ORDER].calls > 0)
        put_anneal(o, "order_annealing", "order annealing", &s->order, rp_order_move_name);
    if (s->method[RP_BRANCH_CUT].calls > 0)
        put_branch_cut(o, &s->branch_cut);
    if (s->method[RP_PDHG].calls > 0)
        PUT_SECTION(o, "pdhg", "PDHG bound", pdhg_counters, &s->pdhg);
    if (s->method[RP_MOMENT].calls > 0)
        PUT_SECTION(o, "moment", "moment bound", moment_counters, &s->moment);
    if (s->method[RP_NEIGHBORHOOD].calls > 0)
        PUT_SECTION(o, "neighborhoods", "neighbourhoods", neighborhood_counters,
                    &s->neighborhood);
    if (s->method[RP_ASTAR].calls > 0)
        PUT_SECTION(o, "astar", "A*", astar_counters, &s->astar);
    if (s->placements > 0)
        put_pack(o, s);
}

void rp_statistics_text(const struct rp_statistics *s, FILE *f) {
    struct output o = {.text = f};
    put_all(&o, s);
}

void rp_statistics_json(const struct rp_statistics *s, struct rp_json_writer *w) {
    struct output o = {.json = w};
    rp_json_object(w, "statistics");
    put_all(&o, s);
    rp_json_end(w);
}
