#include "cmd/maxbatch_search.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/log.h"
#include "base/numbers.h"
#include "cmd/policy_outcome.h"
#include "solve/solver.h"

struct search {
    const struct rp_maxbatch_options *o;
    struct rp_maxbatch *m;
    double plans_left; /* at most, after the one under way; for the progress line */
};

static bool interrupted(const struct search *s) {
    return rp_stop_interrupted(s->o->policy_options.stop);
}

/* Keep-all's largest batch, the largest of all, and some between. Only the largest number
 * of layers or width: with fewer, each step is faster. */
enum { N_FOR_SPEED = 5 };

static uint64_t n_for_speed(const struct rp_maxbatch_options *o) {
    return o->fit_only ? 0 : o->extent == RP_EXTENT_BATCH ? N_FOR_SPEED : 1;
}

/* ---- what was found ---- */

const struct rp_size *rp_maxbatch_fastest(const struct rp_maxbatch *m) {
    const struct rp_size *best = NULL;
    bool for_speed = false;
    for (size_t i = 0; i < m->points.n; i++) {
        const struct rp_size *p = &m->points.at[i];
        if (p->verdict == RP_SIZE_FITS &&
            (best == NULL || rp_size_samples_per_s(p) > rp_size_samples_per_s(best)))
            best = p;
        for_speed = for_speed || p->for_speed;
    }
    return for_speed ? best : NULL;
}

const struct rp_size *rp_maxbatch_largest(const struct rp_maxbatch *m) {
    const struct rp_size *best = NULL;
    for (size_t i = 0; i < m->points.n; i++) {
        const struct rp_size *p = &m->points.at[i];
        if (p->verdict == RP_SIZE_FITS && p->size == m->largest &&
            (best == NULL || p->plan.claims.time_ns < best->plan.claims.time_ns))
            best = p;
    }
    return best;
}

bool rp_maxbatch_interrupted(const struct rp_maxbatch *m) {
    return m->open_to > 0 || m->n_open_for_speed > 0;
}

bool rp_maxbatch_undecided(const struct rp_maxbatch_options *o,
                           const struct rp_maxbatch *m) {
    for (size_t i = 0; i < m->points.n; i++)
        if (o->policy->record == NULL && m->points.at[i].verdict == RP_SIZE_NOT_FOUND)
            return true;
    return false;
}

void rp_maxbatch_fini(struct rp_maxbatch *m) {
    for (size_t i = 0; i < m->points.n; i++) {
        rp_plan_fini(&m->points.at[i].plan);
        free(m->points.at[i].reason);
    }
    free(m->points.at);
    *m = (struct rp_maxbatch){0};
}

/* ---- plans ---- */

/* A plan takes two searches at most. */
static void show_progress(const struct search *s, uint64_t size) {
    bool search = s->o->policy->record == NULL;
    double own_s = search ? 2 * s->o->policy_options.time_limit : NAN;
    rp_progress_task(own_s, own_s * s->plans_left,
                     "%s on %s, plan %zu, %s %" PRIu64 " (%" PRIu64 " fits)", s->o->network,
                     s->o->device->name, s->m->points.n + 1, rp_extent_word[s->o->extent],
                     size, s->m->largest);
}

/* The accepted time over keep-all, as a share. Negative: any. */
static double accepted_overhead(const struct rp_maxbatch_options *o,
                                const struct rp_graph *g) {
    uint64_t forward_ns = 0;
    if (!o->one_forward)
        return o->max_overhead;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].phase == RP_FORWARD)
            forward_ns += g->ops[i].time_ns;
    return (double)forward_ns / (double)g->total_time_ns;
}

static bool is_acceptable(const struct rp_outcome *out, double overhead) {
    const struct rp_claims *c = &out->plan.claims;
    return rp_outcome_fits(out) &&
           (overhead < 0 ||
            (double)c->time_ns <= (double)c->baseline_time_ns * (1 + overhead));
}

/* Plans by the policy. If a search with swaps finds no acceptable plan, searches without
 * swaps too: with fewer choices it gets further in the same time. */
static rp_rc plan_size(const struct rp_maxbatch_options *o, const struct rp_graph *g,
                       const struct rp_policy_options *po, double overhead,
                       struct rp_outcome *out, struct rp_err *err) {
    struct rp_outcome other;
    rp_rc rc = rp_outcome_make(g, o->policy, po, out, err);
    if (rc != RP_OK || is_acceptable(out, overhead) || o->policy->record != NULL ||
        !o->policy->may_swap || po->no_swap || rp_stop_interrupted(po->stop))
        return rc;
    rc = rp_outcome_make(g, rp_policy_find("checkmate"), po, &other, err);
    if (rc == RP_OK && is_acceptable(&other, overhead)) {
        struct rp_outcome worse = *out;
        *out = other;
        other = worse;
    }
    rp_outcome_fini(&other);
    return rc;
}

static enum rp_size_verdict verdict_of(const struct rp_maxbatch_options *o,
                                       const struct rp_outcome *out, double overhead) {
    const struct rp_claims *c = &out->plan.claims;
    bool search = o->policy->record == NULL;
    if (is_acceptable(out, overhead))
        return RP_SIZE_FITS;
    if (rp_stop_interrupted(o->policy_options.stop))
        return RP_SIZE_INTERRUPTED;
    if (rp_outcome_fits(out))
        return search && (double)c->lower_bound_ns >
                             (double)c->baseline_time_ns * (1 + overhead)
                   ? RP_SIZE_PROVED_NO
                   : RP_SIZE_TOO_SLOW;
    return search && out->rc == RP_NO ? RP_SIZE_PROVED_NO
           : o->policy->fits_budget   ? RP_SIZE_NOT_FOUND
                                      : RP_SIZE_NO;
}

/* Why the size does not fit. The caller frees the text. */
static char *reason_of(const struct rp_maxbatch_options *o, const struct rp_outcome *out) {
    const struct rp_claims *c = &out->plan.claims;
    uint64_t needed = out->report.needed_bytes;
    if (out->rc != RP_OK)
        return rp_strdup(out->report.reason);
    if (needed > o->policy_options.budget_bytes)
        return rp_format("the plan needs %s, more than the budget",
                         rp_show_exactly(needed).s);
    if (!out->report.fits)
        return rp_format("the copies of the plan take %s, more than the host memory",
                         rp_show_exactly(out->plan.host_bytes).s);
    return rp_format(
        "the plan takes %s longer than keep-all, more than accepted",
        rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s);
}

/* Appends what became of a size. Takes the plan out of `out`. */
static void add_point(struct search *s, struct rp_size p, struct rp_outcome *out,
                      double overhead) {
    p.needed_bytes = out->report.needed_bytes;
    p.verdict = verdict_of(s->o, out, overhead);
    p.reason = p.verdict == RP_SIZE_FITS ? NULL : reason_of(s->o, out);
    p.plan = out->plan;
    out->plan = (struct rp_plan){0};
    if (p.verdict == RP_SIZE_FITS)
        s->m->largest = rp_max_u64(s->m->largest, p.size);
    rp_push(&s->m->points, p);
    rp_log(1, "%s %" PRIu64 " fits: %s", rp_extent_word[s->o->extent], p.size,
           rp_size_word[p.verdict]);
}

/* Samples in a step of the graph. */
static uint64_t samples_of(const struct rp_graph *g) {
    const json_t *options = json_object_get(g->attrs, "options");
    return (uint64_t)json_integer_value(json_object_get(options, "batch"));
}

/* Plans one size and appends it to the points. With `for_speed` it uses all of the time
 * limit; otherwise it stops at the first plan that is fast enough. */
static rp_rc try_size(struct search *s, uint64_t size, bool for_speed, struct rp_err *err) {
    struct rp_graph g;
    struct rp_outcome out;
    struct rp_plan start = {0};
    const struct rp_maxbatch_options *o = s->o;
    struct rp_policy_options po = o->policy_options;
    show_progress(s, size);
    rp_rc rc = rp_maxbatch_graph(o, size, &g, err);
    if (rc != RP_OK)
        return rc;
    double overhead = accepted_overhead(o, &g);
    po.gap = for_speed ? 0.001 : overhead >= 0 ? overhead : 1e9;
    bool found = o->policy->record == NULL &&
                 rp_size_find_start(s->m->points.at, s->m->points.n, &g, size, &po, &start);
    po.start = found ? &start : NULL;
    rc = plan_size(o, &g, &po, overhead, &out, err);
    if (rc == RP_OK)
        add_point(s,
                  (struct rp_size){.size = size,
                                   .samples = samples_of(&g),
                                   .for_speed = for_speed,
                                   .keep_all_bytes = rp_keep_all_bytes(&g, po.addressed)},
                  &out, overhead);
    rp_outcome_fini(&out);
    rp_plan_fini(&start);
    rp_graph_fini(&g);
    return rc;
}

static enum rp_size_verdict last_verdict(const struct search *s) {
    return s->m->points.at[s->m->points.n - 1].verdict;
}

/* Bisects between `low`, which fits, and `high`, which does not, until they are close
 * enough. */
static rp_rc bisect(struct search *s, uint64_t low, uint64_t high, struct rp_err *err) {
    const uint64_t unit = rp_maxbatch_unit(s->o);
    rp_rc rc = RP_OK;
    while (low + unit < high && (double)(high - low) > (double)low * s->o->precision &&
           rc == RP_OK) {
        uint64_t mid = low + (high - low) / unit / 2 * unit;
        double halvings =
            log2((double)(high - low) / fmax((double)low * s->o->precision, (double)unit));
        s->plans_left = (double)n_for_speed(s->o) + fmax(ceil(halvings) - 1, 0);
        if (interrupted(s)) {
            s->m->open_from = low + unit;
            s->m->open_to = high - unit;
            break;
        }
        rc = try_size(s, mid, false, err);
        enum rp_size_verdict verdict = rc == RP_OK ? last_verdict(s) : RP_SIZE_NOT_FOUND;
        if (verdict == RP_SIZE_FITS)
            low = mid;
        else if (verdict != RP_SIZE_INTERRUPTED)
            high = mid;
    }
    return rc;
}

static bool is_planned(const struct search *s, uint64_t size) {
    for (size_t i = 0; i < s->m->points.n; i++)
        if (s->m->points.at[i].size == size)
            return true;
    return false;
}

/* Plans for speed: the largest size of all, and batches down to keep-all's largest, since a
 * plan of a larger batch also fits the smaller one. */
static rp_rc plan_for_speed(struct search *s, struct rp_err *err) {
    const uint64_t unit = rp_maxbatch_unit(s->o), n = n_for_speed(s->o);
    uint64_t a = rp_max_u64(s->m->keep_all_size, unit), b = s->m->largest, last = 0;
    rp_rc rc = RP_OK;
    for (uint64_t k = n; k-- > 0 && rc == RP_OK && b > 0;) {
        uint64_t size = k + 1 == n ? b : a + (b - a) / unit * k / (n - 1) * unit;
        s->plans_left = (double)k;
        if (size != last && interrupted(s))
            s->m->n_open_for_speed++;
        else if (size != last) {
            rc = try_size(s, size, true, err);
            s->m->n_open_for_speed += rc == RP_OK && last_verdict(s) == RP_SIZE_INTERRUPTED;
        }
        last = size;
    }
    return rc;
}

/* If nothing larger fits and keep-all's largest size has no plan yet, it gets one. */
static rp_rc plan_keep_all(struct search *s, struct rp_err *err) {
    struct rp_maxbatch *m = s->m;
    const uint64_t size = m->keep_all_size;
    rp_rc rc = RP_OK;
    if (size == 0 || is_planned(s, size) || rp_maxbatch_largest(m) != NULL)
        return RP_OK;
    if (!interrupted(s))
        rc = try_size(s, size, false, err);
    if (rc == RP_OK && interrupted(s) && rp_maxbatch_largest(m) == NULL &&
        !rp_maxbatch_interrupted(m))
        m->open_from = m->open_to = size;
    return rc;
}

/* Plans the sizes between keep-all's largest and `bound`, the largest that may fit. */
static rp_rc plan_sizes(struct search *s, uint64_t bound, struct rp_err *err) {
    struct rp_maxbatch *m = s->m;
    const uint64_t unit = rp_maxbatch_unit(s->o);
    rp_rc rc = RP_OK;
    if (m->keep_all_size == 0) /* without a bound too: the plan says why it does not fit */
        rc = try_size(s, unit, false, err);
    if (rc == RP_OK && m->largest > 0)
        rc = bisect(s, m->largest, bound + unit, err);
    else if (rc == RP_OK && bound > 0 && interrupted(s)) {
        m->open_from = unit;
        m->open_to = bound;
    }
    if (rc == RP_OK)
        rc = plan_for_speed(s, err);
    return rc == RP_OK ? plan_keep_all(s, err) : rc;
}

rp_rc rp_maxbatch_search(const struct rp_maxbatch_options *o, struct rp_maxbatch *m,
                         struct rp_err *err) {
    struct search s = {.o = o, .m = m};
    const uint64_t unit = rp_maxbatch_unit(o);
    rp_rc rc = RP_OK;
    rp_progress_task(NAN, NAN, "keep-all's largest %s", rp_extent_word[o->extent]);
    m->keep_all_size = rp_maxbatch_keep_all(o);
    m->largest = m->keep_all_size;
    uint64_t bound = rp_maxbatch_possible(o, rp_max_u64(m->keep_all_size, unit));
    if (interrupted(&s)) {
        m->open_from = m->largest + unit;
        m->open_to = UINT64_MAX;
    } else {
        rc = plan_sizes(&s, bound, err);
    }
    rp_progress_end();
    return rc;
}
