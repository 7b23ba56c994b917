#include "solve/placement.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"
#include "pack/addresses.h"
#include "solve/construct/construct.h"
#include "solve/core/keep_all_schedule.h"
#include "solve/core/params.h"
#include "solve/core/warm_start.h"
#include "solve/local/drop_swaps.h"
#include "solve/local/shrink_lifetimes.h"
#include "solve/search/run_annealing.h"

struct packing {
    uint64_t work;          /* of the packer: the most; afterwards what it took */
    bool near;              /* it may end early with an arena little above the limit */
    uint64_t missing_bytes; /* the arena is so much larger than the limit, */
    uint64_t wasted_bytes;  /* and so much larger than the peak */
};

/* What urgent attempts may leave above the limit: a tighter schedule soon takes it off. */
#define NEAR_LIMIT_SHARE 512

/* An attempt to place a schedule of a space. */
struct attempt {
    struct rp_context *w;
    enum rp_space_id space;
    struct rp_instance p; /* the space's; ops get more workspace */
    const struct rp_instance *space_p;
    bool is_urgent;
    uint64_t *workspace; /* of p */
    uint64_t *room;      /* per op: what it can leave unused */
    /* To be placed next: the space's incumbent, or a tighter one, which is in `own`. */
    const struct rp_schedule *best;
    struct rp_schedule own;
    struct rp_schedule *scratch;
    uint64_t pack_work;     /* the most for one packing */
    double tighten_seconds; /* of the first search for a tighter schedule */
    uint64_t seed;
    struct packing last;
};

/* ---- one packing ---- */

static bool has_plan(const struct rp_context *w) {
    return w->placed_ns < UINT64_MAX;
}

/* Is there no plan, or one that takes much longer than the space's incumbent? Then nothing
 * matters as much as addresses, unless much faster schedules are to come. */
static bool is_urgent(struct rp_context *w, enum rp_space_id space) {
    const struct rp_incumbent *best = rp_context_incumbent(w, space);
    if (rp_sequence_will_round(&w->turns, SCHEDULE_SHARE * w->o->time_limit))
        return false;
    return !has_plan(w) || (best->found && (double)w->placed_ns >
                                               (1 + MAX_PLAN_LAG) * (double)best->time_ns);
}

static void begin_plan(const struct rp_context *w, struct rp_plan *plan) {
    *plan = (struct rp_plan){0};
    plan->graph_name = rp_strdup(w->g->name);
    plan->graph_sha256 = rp_strdup(w->g->sha256);
    plan->budget_bytes = w->o->budget_bytes;
}

static void assign_addresses(struct rp_context *w, struct rp_plan *plan, uint64_t limit,
                             bool squeeze, struct packing *p) {
    struct rp_pack_options o = {
        .capacity = limit,
        .near_capacity = p->near ? limit + limit / NEAR_LIMIT_SHARE : 0,
        .work_limit = p->work,
        .squeeze = squeeze,
        .stop = &w->stop,
    };
    double begin = rp_thread_seconds();
    uint64_t before = w->statistics.pack.work;
    p->wasted_bytes = rp_assign_addresses(w->g, plan, &o, &w->statistics.pack);
    w->statistics.pack_seconds += rp_thread_seconds() - begin;
    w->statistics.placements++;
    p->work = w->statistics.pack.work - before;
}

/* What the sources that stay on the device leave for the arena. */
static uint64_t arena_limit(const struct rp_context *w, const struct rp_plan *plan) {
    return w->o->budget_bytes - rp_plan_fixed_bytes(plan, w->g);
}

/* Packs the steps of a plan that takes time_ns, if addresses are wanted. If they fit, it
 * becomes the fastest plan. Else it is freed. */
static bool pack(struct rp_context *w, struct rp_plan *plan, uint64_t time_ns,
                 struct packing *p) {
    uint64_t limit = arena_limit(w, plan);
    rp_shrink_lifetimes(w->g, plan);
    if (w->o->addressed)
        assign_addresses(w, plan, limit, false, p);
    else
        p->work = 0;
    p->missing_bytes = plan->arena_bytes - rp_min_u64(plan->arena_bytes, limit);
    if (p->missing_bytes > 0) {
        rp_plan_fini(plan);
        return false;
    }
    rp_plan_fini(&w->placed);
    w->placed = *plan;
    w->placed_ns = time_ns;
    return true;
}

/* What urgent attempts take beyond their share is taken from the turns. */
static void spend(struct attempt *a, double seconds) {
    double *left = &a->w->spaces[a->space].placing_seconds;
    *left -= seconds;
    if (a->is_urgent && *left < 0) {
        a->w->turns.done -= *left;
        *left = 0;
    }
}

static bool pack_schedule(struct attempt *a, const struct rp_schedule *s, uint64_t work) {
    struct rp_plan plan;
    begin_plan(a->w, &plan);
    rp_schedule_steps(&a->p, s, NULL, &plan);
    uint64_t time_ns = rp_steps_time_ns(a->w->g, plan.steps.at, plan.steps.n);
    a->last = (struct packing){.work = work, .near = a->is_urgent};
    bool placed = pack(a->w, &plan, time_ns, &a->last);
    spend(a, (double)a->last.work / PACK_WORK_PER_S);
    return placed;
}

/* Packs the schedule with as few copies as possible. It drops all copies that the schedule
 * can do without; if that cannot be placed, only those of small tensors; then only those of
 * very small ones; then none. The first two leave time for the last two: of most copies
 * that a schedule can do without, the tensors are very small. */
static bool pack_best(struct attempt *a) {
    static const unsigned share_log2[] = {0, 8, 12};
    enum { N = sizeof share_log2 / sizeof *share_log2 };
    struct rp_context *w = a->w;
    struct rp_schedule fewer;
    struct rp_instance p = a->p;
    bool placed = false, changed = rp_schedule_swaps(a->best);
    rp_schedule_empty(&p, &fewer);
    for (size_t k = 0; k < N && changed && !placed; k++) {
        struct rp_stop stop = w->stop;
        if (k + 1 < N)
            stop.deadline -= w->reserve_s;
        else
            p = *a->space_p; /* very small ones fit into gaps */
        if (rp_stop_now(&stop))
            continue;
        changed = rp_drop_swaps(&p, p.limit_bytes >> share_log2[k], &stop, a->best, &fewer);
        placed = changed && pack_schedule(a, &fewer, a->pack_work);
    }
    rp_schedule_fini(&fewer);
    return placed || pack_schedule(a, a->best, a->pack_work);
}

bool rp_place_keep_all(struct rp_context *w) {
    struct rp_plan plan;
    struct packing p = {.work = rp_most_pack_work(w->o->time_limit)};
    begin_plan(w, &plan);
    rp_keep_all_steps(&w->p, &plan);
    rp_stop_until(&w->stop, w->end);
    return pack(w, &plan, w->g->total_time_ns, &p);
}

/* ---- tighter schedules ---- */

/* Leaves so many bytes unused while an op runs, but no more than half of what its working
 * set leaves of the limit. So there are such schedules also little above the floor. */
static void leave_unused(struct attempt *a, uint64_t bytes) {
    for (uint32_t j = 0; j < a->p.n_ops; j++)
        a->workspace[j] =
            a->space_p->workspace_bytes[j] + rp_min_u64(bytes, a->room[j] / 2);
}

static struct rp_cost cost_of_scratch(const struct attempt *a) {
    return rp_schedule_cost_until(&a->p, a->scratch, &a->w->stop);
}

static bool fits_faster(const struct attempt *a, const struct rp_cost *c) {
    return rp_cost_fits(&a->p, c) && c->time_ns < a->w->placed_ns;
}

/* The scratch schedule is to be placed next. */
static void place_scratch_next(struct attempt *a) {
    rp_schedule_copy(&a->own, a->scratch);
    a->best = &a->own;
}

/* From the scratch schedule, with a first temperature `times` the usual one. */
static void search_for(struct attempt *a, double seconds, double times, uint64_t k) {
    spend(a, seconds);
    rp_run_annealing_alone(a->w, &a->p, seconds * ANNEAL_WORK_PER_S, times, a->seed + k,
                           a->scratch);
}

/* A short, cool search from the best schedule, whether that fits or not. */
static void search_near(struct attempt *a, double seconds, uint64_t k) {
    if (rp_context_stopped(a->w))
        return;
    rp_schedule_copy(a->scratch, a->best);
    search_for(a, seconds, 0.1, k);
}

/* From a schedule made in one pass, or from keep-all. */
static void search_anew(struct attempt *a, double seconds, uint64_t k) {
    struct rp_constructed made;
    bool constructed = rp_construct(a->w, a->space, &a->p, a->scratch, &made);
    if (constructed && fits_faster(a, &made.cost))
        return;
    if (!constructed) {
        rp_schedule_fini(a->scratch);
        rp_schedule_keep_all(&a->p, a->scratch);
    }
    search_for(a, 2 * seconds, constructed ? 0.1 : 1, k);
}

/* A schedule that leaves enough unused: from the best one, or anew. False if there is none
 * that is faster than the fastest plan. */
static bool tighten(struct attempt *a, uint64_t k) {
    double seconds = a->tighten_seconds * (k == 0 ? 1 : LATER_TIGHTEN_SHARE);
    a->w->statistics.tightenings++;
    search_near(a, seconds, k);
    struct rp_cost cost = cost_of_scratch(a);
    if (!fits_faster(a, &cost) && !rp_context_stopped(a->w)) {
        search_anew(a, seconds, k);
        cost = cost_of_scratch(a);
    }
    if (!fits_faster(a, &cost))
        return false;
    place_scratch_next(a);
    return true;
}

/* ---- attempts ---- */

/* Of the sequence so far: twice as much each time that it is twice as long. */
static double seconds_so_far(const struct rp_turn *turn) {
    return exp2(floor(log2(turn->begin + turn->run_seconds)));
}

static uint64_t pack_work(const struct rp_turn *turn) {
    return rp_most_pack_work(seconds_so_far(turn)) + 1;
}

/* No more than one packing may take of the whole time limit, so that there is time for
 * tighter schedules. */
static uint64_t urgent_pack_work(const struct rp_context *w, const struct rp_turn *turn) {
    double seconds = URGENT_TIMES * (turn->begin + turn->run_seconds);
    return rp_most_pack_work(fmin(seconds, w->o->time_limit)) + 1;
}

/* Of the first search for a tighter schedule. */
static double tighten_seconds(const struct rp_turn *turn, bool urgent) {
    double normal = TIGHTEN_SHARE * turn->run_seconds;
    return urgent ? fmax(URGENT_TIMES * normal, TIGHTEN_SHARE * seconds_so_far(turn))
                  : normal;
}

/* What each op can leave unused. Without `end`, what is kept comes back from the host
 * while the last op runs, at the latest, so that op can leave no more than the kept tensors
 * do. */
static uint64_t *rooms(const struct rp_instance *p) {
    uint64_t *room = rp_instance_working_sets(p), kept = rp_instance_kept_bytes(p);
    for (uint32_t j = 0; j < p->n_ops; j++) {
        uint64_t need = room[j] + (j + 1 == p->n_ops && !p->has_end ? kept : 0);
        room[j] = p->limit_bytes - rp_min_u64(need, p->limit_bytes);
    }
    return room;
}

static struct attempt begin_attempt(struct rp_context *w, const struct rp_turn *turn,
                                    struct rp_schedule *scratch) {
    bool urgent = is_urgent(w, turn->space);
    struct attempt a = {
        .w = w,
        .space = turn->space,
        .p = w->spaces[turn->space].p,
        .space_p = &w->spaces[turn->space].p,
        .is_urgent = urgent,
        .scratch = scratch,
        .pack_work = urgent ? urgent_pack_work(w, turn) : pack_work(turn),
        .tighten_seconds = tighten_seconds(turn, urgent),
        .seed = w->o->seed + 2 * SEEDS_APART * turn->k,
    };
    a.room = rooms(&a.p);
    a.workspace = rp_calloc(a.p.n_ops, sizeof *a.workspace);
    leave_unused(&a, 0);
    a.p.workspace_bytes = a.workspace;
    return a;
}

static void end_attempt(struct attempt *a) {
    rp_schedule_fini(&a->own);
    free(a->workspace);
    free(a->room);
}

/* Of the incumbents that had to wait, the last one. It may fit where the best one does not,
 * and then soon. */
static bool place_waiting(struct attempt *a) {
    struct rp_incumbent *waiting = &a->w->spaces[a->space].waiting;
    bool may_fit =
        waiting->found && waiting->time_ns < a->w->placed_ns && !rp_context_stopped(a->w);
    struct packing of_best = a->last;
    waiting->found = false;
    bool placed = may_fit && pack_schedule(a, &waiting->s, a->pack_work / 8);
    a->last = of_best;
    return placed;
}

static void place_or_tighten(struct attempt *a) {
    struct rp_context *w = a->w;
    uint64_t unused = 0;
    for (uint64_t k = 0; !pack_best(a) && k < MAX_TIGHTENINGS; k++) {
        if (k == 0 && place_waiting(a) && !is_urgent(w, a->space))
            break;
        uint64_t missing = a->last.missing_bytes;
        if (w->placed_ns == UINT64_MAX && w->report->missing_bytes == 0)
            w->report->missing_bytes = missing;
        unused += missing + missing / 4 * k; /* somewhat more each time */
        unused = rp_max_u64(unused, a->last.wasted_bytes);
        if (unused >= a->p.limit_bytes || rp_context_stopped(w))
            break;
        rp_log(1,
               "the arena is %" PRIu64 " bytes too large: leaving %" PRIu64 " bytes unused",
               missing, unused);
        leave_unused(a, unused);
        if (!tighten(a, k))
            break;
    }
}

/* Is it worth an attempt? The same schedule is tried again with twice the work only. */
static bool is_worth_it(const struct rp_space *space, const struct rp_incumbent *best,
                        uint64_t placed_ns, uint64_t pack_work) {
    return best->found && best->time_ns < placed_ns &&
           (best->time_ns != space->tried_ns || pack_work >= 2 * space->tried_work);
}

static void place_in_space(struct rp_context *w, const struct rp_turn *turn,
                           struct rp_schedule *scratch) {
    struct rp_space *space = &w->spaces[turn->space];
    const struct rp_incumbent *best = rp_context_incumbent(w, turn->space);
    uint64_t work = pack_work(turn);
    if (!space->active || !is_worth_it(space, best, w->placed_ns, work))
        return;
    if (!is_urgent(w, turn->space) && space->placing_seconds < 0) {
        rp_schedule_copy(&space->waiting.s, &best->s);
        space->waiting.time_ns = best->time_ns;
        space->waiting.found = true;
        return;
    }
    struct attempt a = begin_attempt(w, turn, scratch);
    space->tried_ns = best->time_ns;
    space->tried_work = work;
    a.best = &best->s;
    place_or_tighten(&a);
    end_attempt(&a);
}

void rp_place_incumbent(struct rp_context *w, const struct rp_turn *turn,
                        struct rp_schedule *scratch) {
    if (!w->o->addressed || rp_context_stopped(w))
        return;
    rp_context_doing(w, "placing buffers");
    place_in_space(w, turn, scratch);
}

/* Schedules made in one pass, far enough below the limit for their addresses to fit. */
static void place_constructed(struct rp_context *w, const struct rp_turn *turn,
                              struct rp_schedule *scratch) {
    struct attempt a = begin_attempt(w, turn, scratch);
    struct rp_constructed made;
    for (uint64_t k = 1; k <= MAX_GREEDY_TIGHTENINGS && w->placed_ns == UINT64_MAX &&
                         !rp_context_stopped(w);
         k++) {
        leave_unused(&a, a.p.limit_bytes / 16 * k);
        if (!rp_construct(w, turn->space, &a.p, scratch, &made)) {
            /* Happens on graphs that are no training steps. */
            a.best = &w->incumbent.s;
            search_near(&a, a.tighten_seconds, k);
            made.cost = cost_of_scratch(&a);
        }
        a.best = scratch;
        if (fits_faster(&a, &made.cost))
            pack_best(&a);
    }
    leave_unused(&a, 0);
    a.best = scratch;
    if (w->placed_ns == UINT64_MAX && rp_construct_offloaded(w, &a.p, scratch, &made.cost))
        pack_best(&a);
    end_attempt(&a);
}

static struct rp_turn first_turn(const struct rp_context *w, enum rp_space_id space) {
    struct rp_sequence s = rp_sequence_begin(w->p.n_ops, false, false, false);
    struct rp_turn turn;
    rp_sequence_next(&s, 0, &turn);
    turn.space = space;
    return turn;
}

static void place_all_constructed(struct rp_context *w, struct rp_schedule *scratch) {
    for (int i = 0; i < RP_N_SPACES; i++) {
        struct rp_turn turn = first_turn(w, i);
        if (w->spaces[i].active)
            place_constructed(w, &turn, scratch);
    }
}

void rp_place_first(struct rp_context *w, struct rp_schedule *scratch) {
    for (int i = 0; i < RP_N_SPACES; i++) {
        struct rp_turn turn = first_turn(w, i);
        rp_place_incumbent(w, &turn, scratch);
    }
    if (w->o->addressed && w->incumbent.found)
        place_all_constructed(w, scratch);
}

/* ---- the end ---- */

/* Packs the fastest plan again, into the smallest arena that can be found. */
static void squeeze(struct rp_context *w) {
    struct rp_plan plan;
    struct packing p = {.work = rp_most_pack_work(w->o->time_limit)};
    rp_plan_restate(&w->placed, false, w->o->budget_bytes, &plan);
    assign_addresses(w, &plan, arena_limit(w, &plan), true, &p);
    bool smaller = plan.arena_bytes < w->placed.arena_bytes;
    struct rp_plan *worse = smaller ? &w->placed : &plan;
    rp_plan_fini(worse);
    if (smaller)
        w->placed = plan;
}

rp_rc rp_place_last(struct rp_context *w, struct rp_schedule *scratch) {
    struct rp_turn turn = first_turn(w, w->whole);
    /* What was found last has had no attempt. */
    bool untried = w->report->capped || w->unplaced;
    turn.begin = w->o->time_limit;
    rp_stop_until(&w->stop, w->end);
    w->spaces[turn.space].placing_seconds = 0; /* it waits for nothing more */
    if (untried || !w->o->addressed)
        place_in_space(w, &turn, scratch);
    if (w->placed_ns == UINT64_MAX) {
        rp_stop_until(&w->stop, rp_context_last_resort(w));
        place_all_constructed(w, scratch);
    }
    if (w->placed_ns < UINT64_MAX)
        return RP_OK;
    snprintf(w->report->reason, sizeof w->report->reason,
             "schedules within %s were found, but no addresses for them before the %s",
             rp_show_exactly(w->o->budget_bytes).s, rp_context_limit_word(w));
    return RP_LIMIT;
}

void rp_place_take(struct rp_context *w, struct rp_plan *plan) {
    rp_stop_until(&w->stop, w->end);
    if (w->o->addressed)
        squeeze(w);
    *plan = w->placed;
    w->placed = (struct rp_plan){0};
}
