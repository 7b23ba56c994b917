#include "solve/background.h"

#include <inttypes.h>
#include <math.h>

#include "base/log.h"
#include "base/numbers.h"
#include "solve/bound/pdhg_bound.h"
#include "solve/child/loss.h"
#include "solve/core/params.h"
#include "solve/core/prune.h"
#include "solve/incumbent.h"
#include "solve/milp/interval_point.h"
#include "solve/search/run_annealing.h"

void rp_mip_begin(struct rp_context *w) {
    struct rp_branch_cut_options options = {.gap = w->o->gap, .engine = w->o->engine};
    w->mip = rp_mip_worker_start(&w->spaces[RP_WITHOUT_SWAPS].p, &options);
}

void rp_mip_end(struct rp_context *w) {
    rp_mip_worker_end(w->mip);
    w->mip = NULL;
    w->mip_pending = false;
}

static void raise_bound(struct rp_context *w, uint64_t bound_ns, enum rp_method from) {
    struct rp_method_statistics *s = &w->statistics.method[from];
    s->bound_ns = rp_max_u64(s->bound_ns, bound_ns);
    if (bound_ns <= w->bound_ns)
        return;
    w->bound_ns = bound_ns;
    s->bounds++;
}

static void take_result(struct rp_context *w, enum rp_mip_worker_status status,
                        const struct rp_mip_worker_result *r) {
    if (status == RP_MIP_DEAD) {
        rp_log(1, "the process of branch and cut ended early");
        rp_mip_end(w);
        return;
    }
    bool is_whole = w->whole == RP_WITHOUT_SWAPS;
    bool solved = status == RP_MIP_FINISHED && r->state.status != RP_BRANCH_CUT_FAILED;
    if (r->state.found)
        rp_incumbent_offer_in(w, RP_WITHOUT_SWAPS, r->schedule, RP_BRANCH_CUT);
    if (is_whole && r->state.bound_ns != UINT64_MAX)
        raise_bound(w, r->state.bound_ns, RP_BRANCH_CUT);
    w->spaces[RP_WITHOUT_SWAPS].solved = solved;
    w->proved = w->proved || (is_whole && solved);
    w->statistics.branch_cut = r->state.statistics;
    w->statistics.method[RP_BRANCH_CUT].seconds = r->seconds;
    w->statistics.method[RP_BRANCH_CUT].work = r->state.statistics.work;
    rp_log(1, "branch and cut: bound %" PRIu64 " ns after %" PRIu64 " nodes",
           r->state.bound_ns, r->state.statistics.nodes);
}

void rp_mip_wait(struct rp_context *w) {
    struct rp_mip_worker_result r = {0};
    enum rp_mip_worker_status status = RP_MIP_DEADLINE;
    if (!w->mip_pending)
        return;
    while (status == RP_MIP_DEADLINE && !rp_context_stopped(w))
        status = rp_mip_worker_wait(w->mip, 0.2, &r);
    w->mip_pending = false;
    if (status != RP_MIP_DEADLINE)
        take_result(w, status, &r);
}

/* Has the PDHG bound passed that of branch and cut? */
static bool pdhg_leads(const struct rp_context *w) {
    const struct rp_method_statistics *s = w->statistics.method;
    return w->whole == RP_WITHOUT_SWAPS && s[RP_PDHG].bound_ns > s[RP_BRANCH_CUT].bound_ns;
}

void rp_mip_submit(struct rp_context *w, double work) {
    if (w->mip == NULL || w->spaces[RP_WITHOUT_SWAPS].solved)
        return;
    struct rp_incumbent *best = rp_context_incumbent(w, RP_WITHOUT_SWAPS);
    struct rp_method_statistics *s = &w->statistics.method[RP_BRANCH_CUT];
    s->calls++;
    work *= pdhg_leads(w) ? LOWER_BOUND_SHARE : 1;
    rp_mip_worker_submit(w->mip, (uint64_t)work + 1, best->found ? &best->s : NULL);
    w->mip_pending = true;
}

/* ---- the interval MILP ---- */

/* The whole model, windows of it, or both. Windows are looked for where the incumbent waits
 * and runs ops again. */
static struct rp_interval_worker *start_interval(struct rp_context *w, bool whole,
                                                 const struct rp_interval_options *o) {
    struct rp_interval_worker *worker = NULL;
    struct rp_interval_program q;
    if (w->p.n_ops < MIN_WINDOWS_OPS)
        return rp_interval_worker_start(&w->p, w->incumbent.time_ns - 1, NULL, o);
    if (rp_interval_program_of_schedule(&w->p, &w->incumbent.s, &q))
        worker = rp_interval_worker_start_proof(&w->p, q.time_ns, q.d_ns, whole, o);
    rp_interval_program_fini(&q);
    return worker;
}

static bool wants_windows(const struct rp_context *w) {
    return (double)w->incumbent.time_ns > (1 + MIN_WINDOWS_GAP) * (double)w->bound_ns;
}

bool rp_interval_milp_begin(struct rp_context *w, double work) {
    struct rp_interval_options o = {.engine = w->o->engine, .work = (uint64_t)work + 1};
    bool whole = w->p.n_ops <= MAX_INTERVAL_OPS;
    uint64_t horizon_ns = w->incumbent.time_ns - 1;
    if (w->incumbent.time_ns == w->g->total_time_ns ||
        (w->interval != NULL && horizon_ns >= w->interval_horizon_ns) ||
        (!whole && !wants_windows(w)))
        return false;
    rp_interval_worker_end(w->interval);
    w->interval = start_interval(w, whole, &o);
    w->interval_horizon_ns = horizon_ns;
    w->statistics.method[RP_INTERVAL_MILP].calls++;
    return true;
}

bool rp_interval_milp_proves(const struct rp_context *w, uint64_t ns) {
    return w->interval != NULL && *rp_interval_worker_proved_ns(w->interval) >= ns;
}

/* It may be enough while the MILP is still being solved, if it began with a worse plan. */
void rp_interval_milp_poll(struct rp_context *w) {
    uint64_t best_ns = w->o->addressed ? w->placed_ns : w->incumbent.time_ns;
    w->proved = w->proved || rp_interval_milp_proves(w, best_ns);
}

/* The bound holds for all programs, so it also replaces a bound for schedules. */
static void raise_interval_bound(struct rp_context *w, uint64_t bound_ns) {
    raise_bound(w, bound_ns, RP_INTERVAL_MILP);
    w->all_sequences = w->all_sequences || bound_ns == w->bound_ns;
}

/* The model is a relaxation: its point can take less than the schedule that it describes,
 * and be close to another schedule that takes as little. So cool runs start from there. */
static void take_point(struct rp_context *w, uint64_t bound_ns) {
    static const double times[] = {0.05, 0.3, 0.1, 1};
    double work = fmin(RUN_WORK_PER_OP_WITH_SWAPS * w->p.n_ops,
                       POINT_SHARE * w->o->time_limit * ANNEAL_WORK_PER_S);
    struct rp_schedule point, s;
    rp_schedule_empty(&w->p, &point);
    rp_schedule_empty(&w->p, &s);
    rp_interval_worker_schedule(w->interval, &point);
    w->unplaced = rp_incumbent_offer(w, &point, RP_INTERVAL_MILP);
    bool sound = rp_schedule_prune_until(&w->p, &point, &w->stop) &&
                 rp_schedule_cost_until(&w->p, &point, &w->stop).sound;
    for (size_t i = 0; i < sizeof times / sizeof *times && sound; i++) {
        if (w->incumbent.time_ns <= bound_ns || rp_context_stopped(w))
            break;
        rp_schedule_copy(&s, &point);
        rp_run_annealing_alone(w, &w->p, work, times[i], w->o->seed + i, &s);
        w->unplaced |= rp_incumbent_offer(w, &s, RP_INTERVAL_MILP);
    }
    rp_schedule_fini(&point);
    rp_schedule_fini(&s);
}

static void take_interval(struct rp_context *w, const struct rp_interval_result *r) {
    struct rp_method_statistics *m = &w->statistics.method[RP_INTERVAL_MILP];
    m->work = r->work;
    m->seconds = r->seconds;
    rp_log(1, "interval MILP: bound %" PRIu64 " ns, root %" PRIu64 " ns, %" PRIu64 " nodes",
           r->bound_ns, r->root_bound_ns, r->nodes);
    if (r->found)
        take_point(w, r->bound_ns);
    raise_interval_bound(w, r->bound_ns);
}

void rp_interval_milp_finish(struct rp_context *w) {
    struct rp_interval_result r;
    bool answered = w->interval != NULL && rp_interval_worker_wait(w->interval, 0, &r);
    while (w->interval != NULL && !answered && !w->proved && !rp_context_stopped(w)) {
        answered = rp_interval_worker_wait(w->interval, 0.2, &r);
        rp_interval_milp_poll(w);
    }
    if (answered) {
        take_interval(w, &r);
    } else if (w->interval != NULL) {
        raise_interval_bound(w, *rp_interval_worker_proved_ns(w->interval));
        w->report->capped = w->report->capped || !w->proved;
    }
    rp_interval_worker_end(w->interval);
    w->interval = NULL;
}

/* ---- the PDHG bound ---- */

static void *run_bound(void *arg) {
    struct rp_context *w = arg;
    double begin = rp_thread_seconds();
    uint64_t slice = (uint64_t)(SLICE_SECONDS * PDHG_WORK_PER_S), left = w->bound_work;
    while (left > 0 && !__atomic_load_n(&w->bound_abandoned, __ATOMIC_RELAXED)) {
        uint64_t work = rp_min_u64(left, slice);
        left = rp_pdhg_bound_run(w->bound, work, &w->bound_stop) ? left - work : 0;
    }
    w->bound_seconds = rp_thread_seconds() - begin;
    return NULL;
}

struct rp_pdhg_bound *rp_bound_new(const struct rp_context *w, uint64_t horizon_ns) {
    return w->o->certificate == NULL
               ? rp_pdhg_bound_new(&w->p, horizon_ns)
               : rp_pdhg_bound_new_for_certificate(&w->certified, horizon_ns);
}

static void lay_out_bound(struct rp_context *w, uint64_t horizon_ns) {
    double begin = rp_thread_seconds();
    w->bound = rp_bound_new(w, horizon_ns);
    w->statistics.method[RP_PDHG].seconds += rp_thread_seconds() - begin;
}

void rp_bound_begin(struct rp_context *w) {
    lay_out_bound(w, 0);
}

/* The bound is about plans no slower than the incumbent, and rises when that gets better.
 * With swaps it waits for one. */
static void tell_incumbent(struct rp_context *w) {
    if (!w->incumbent.found || w->o->reorder)
        return;
    if (w->bound != NULL) {
        rp_pdhg_bound_tighten(w->bound, w->incumbent.time_ns);
        rp_pdhg_bound_is_known(w->bound, w->bound_ns);
    } else if (w->p.out_ns != NULL) {
        lay_out_bound(w, w->incumbent.time_ns);
    }
}

void rp_bound_submit(struct rp_context *w, double work) {
    tell_incumbent(w);
    if (w->bound == NULL)
        return;
    work *= w->mip == NULL || pdhg_leads(w) ? 1 : LOWER_BOUND_SHARE;
    w->bound_work = (uint64_t)work + 1;
    w->bound_stop = w->stop;
    w->bound_abandoned = false;
    int error = pthread_create(&w->bound_thread, NULL, run_bound, w);
    w->bound_pending = error == 0;
    if (error != 0) {
        rp_lose(RP_NO_THREAD, error);
        return;
    }
    struct rp_method_statistics *s = &w->statistics.method[RP_PDHG];
    s->calls++;
}

void rp_bound_wait(struct rp_context *w) {
    if (!w->bound_pending)
        return;
    pthread_join(w->bound_thread, NULL);
    w->bound_pending = false;
    raise_bound(w, rp_pdhg_bound_ns(w->bound), RP_PDHG);
    w->statistics.pdhg = rp_pdhg_bound_statistics(w->bound);
    w->statistics.method[RP_PDHG].seconds += w->bound_seconds;
    w->statistics.method[RP_PDHG].work = w->statistics.pdhg.work;
    rp_log(1, "PDHG bound: %" PRIu64 " ns", rp_pdhg_bound_ns(w->bound));
}

void rp_bound_abandon(struct rp_context *w) {
    if (!w->bound_pending || w->o->certificate != NULL)
        return;
    __atomic_store_n(&w->bound_abandoned, true, __ATOMIC_RELAXED);
    pthread_join(w->bound_thread, NULL);
    w->bound_pending = false;
}

/* ---- narrower searches ---- */

/* Options that allow more, as bits. */
enum { SWAP = 1, RECOMPUTE = 2, REORDER = 4 };

static unsigned options_of(const struct rp_context *w) {
    return (w->p.out_ns != NULL ? SWAP : 0) | (w->o->recompute ? RECOMPUTE : 0) |
           (w->o->reorder ? REORDER : 0);
}

static bool may_find_plans(const struct rp_context *w, unsigned options) {
    return options != 0 && ((options & SWAP) != 0 || rp_context_may_stay(w));
}

static void narrow(const struct rp_context *w, unsigned options,
                   struct rp_solve_options *o) {
    *o = *w->o;
    o->narrower = true;
    o->plan_only = true;
    o->certificate = NULL;
    o->statistics = NULL;
    o->stop = NULL;
    o->spent = rp_seconds() - w->begin;
    o->swap = options & SWAP;
    o->recompute = options & RECOMPUTE;
    o->reorder = options & REORDER;
}

/* All subsets of the options, the largest first. */
void rp_narrower_begin(struct rp_context *w, rp_solve_function *solve) {
    unsigned all = options_of(w);
    struct rp_solve_options o;
    if (w->o->narrower || !rp_context_may_narrow(w))
        return;
    for (unsigned some = all; some > 0;) {
        some = (some - 1) & all;
        if (!may_find_plans(w, some))
            continue;
        narrow(w, some, &o);
        w->narrower[some] = rp_narrower_start(w->g, &o, solve);
        w->statistics.method[RP_NARROWER].calls += w->narrower[some] != NULL;
    }
}

static void end(struct rp_context *w, unsigned k) {
    rp_narrower_end(w->narrower[k]);
    w->narrower[k] = NULL;
}

/* best_ns: of the best plan so far. */
static void end_hopeless(struct rp_context *w, uint64_t best_ns) {
    for (unsigned k = 0; k < RP_MAX_NARROWER; k++) {
        if (w->narrower[k] == NULL)
            continue;
        rp_narrower_wait(w->narrower[k], 0);
        if (best_ns < rp_narrower_bound_ns(w->narrower[k]))
            end(w, k);
    }
}

void rp_narrower_poll(struct rp_context *w) {
    bool found = !w->o->addressed && w->incumbent.found;
    end_hopeless(w, found ? w->incumbent.time_ns : w->placed_ns);
}

/* Waits for the search to end. Returns whether it has a plan, which is put into `plan`. */
static bool take(struct rp_context *w, struct rp_narrower *n, struct rp_plan *plan) {
    bool ended = false;
    double end = w->end + LAST_RESORT_SECONDS;
    rp_context_doing(w, rp_method_name[RP_NARROWER]);
    while (!ended && rp_seconds() < end && !rp_stop_interrupted(&w->stop))
        ended = rp_narrower_wait(n, 0.2);
    bool capped = !ended || rp_narrower_capped(n);
    w->report->capped = w->report->capped || capped;
    return ended && rp_narrower_plan(n, plan);
}

rp_rc rp_narrower_offer(struct rp_context *w, rp_rc rc, struct rp_plan *plan) {
    for (unsigned k = 0; k < RP_MAX_NARROWER; k++) {
        struct rp_plan other = {0};
        uint64_t best_ns = rc == RP_OK ? plan->claims.time_ns : UINT64_MAX;
        end_hopeless(w, best_ns);
        if (w->narrower[k] == NULL || rp_context_gap_allows(w, (double)best_ns))
            continue;
        if (take(w, w->narrower[k], &other))
            rc = rp_incumbent_offer_plan(w, &other, rc, plan);
        if (rc == RP_OK && plan->claims.time_ns < best_ns)
            w->statistics.method[RP_NARROWER].incumbents++;
        rp_plan_fini(&other);
        end(w, k);
    }
    return rc;
}
