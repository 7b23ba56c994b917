#include "solve/order/anneal_order.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "solve/core/params.h"
#include "solve/core/temperature.h"
#include "solve/order/run_sequence.h"

/* At the first price, all overflow together costs this share of the step's time. */
static const double FIRST_PRICE = 0.1;
/* The first temperature as a multiple of the mean op time: HOT or WARM, or COOL from a
 * given start. The last one as a share of the first. */
static const double HOT = 10, WARM = 1, COOL[] = {0.03, 0.1, 0.3};
static const double FINAL_SHARE = 1e-3;
/* Without overflow at the start, the first price is that of this share of the limit at each
 * place. */
static const double TYPICAL_OVERFLOW = 0.1;

enum {
    MAX_EDITS = 8,             /* of one move */
    MOVES_PER_UPDATE = 64,     /* of temperature and price */
    WORK_PER_QUESTION = 100000 /* whether to stop */
};

struct edit { /* one change of the sequence, with what is needed to undo it */
    enum { MOVED, INSERTED, REMOVED } kind;
    uint32_t a, b; /* MOVED: from, to; INSERTED: run; REMOVED: op, place */
};

struct annealing {
    struct rp_run_sequence s;
    const struct rp_instance *p;
    struct edit edits[MAX_EDITS]; /* of the move in progress */
    uint32_t n_edits;
    uint64_t random;
    struct rp_temperature t;
    uint32_t *best; /* ops of the best sequence */
    uint32_t n_best;
    double best_over_bytes, best_recompute_ns, goal_ns;
    struct rp_anneal_statistics statistics;
};

/* ---- moves ---- */

static void add_edit(struct annealing *a, struct edit e) {
    a->edits[a->n_edits++] = e;
}

/* Moves a random run to a random place in its range, more often to a near one. */
static void move_run(struct annealing *a) {
    uint32_t from = rp_random_below(&a->random, a->s.n), low, high, to;
    rp_run_sequence_range(&a->s, a->s.at[from], &low, &high);
    if (rp_random_below(&a->random, 2)) {
        uint32_t distance = 1 + rp_random_below(&a->random, 16);
        low = low + distance < from ? from - distance : low;
        high = from + distance < high ? from + distance : high;
    }
    if (low >= high)
        return;
    to = low + rp_random_below(&a->random, high - low);
    to += to >= from;
    rp_run_sequence_move(&a->s, from, to);
    add_edit(a, (struct edit){MOVED, from, to});
}

/* Runs the op that makes x once more, just before or some way before place q, and by chance
 * what makes its inputs. */
static void recompute(struct annealing *a, uint32_t x, uint32_t q, uint32_t depth) {
    const struct rp_instance *p = a->p;
    uint32_t j = p->producer[x], maker = rp_run_sequence_maker(&a->s, x, q);
    if (p->last_stage[j] == j || maker == RP_NONE || a->n_edits == MAX_EDITS)
        return;
    uint32_t after = a->s.place[maker];
    q = rp_min_u32(q, rp_run_sequence_last_place(&a->s, j));
    if (q < after + 2)
        return;
    if (rp_random_below(&a->random, 2) == 0)
        q = after + 2 + rp_random_below(&a->random, q - after - 1);
    if (!rp_run_sequence_insert(&a->s, j, q))
        return;
    uint32_t r = a->s.at[q];
    add_edit(a, (struct edit){INSERTED, r, 0});
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1] && depth > 0; k++)
        if (rp_random_below(&a->random, 2))
            recompute(a, p->inputs[k], a->s.place[r], depth - 1);
}

/* Runs again what a random run reads. */
static void insert_run(struct annealing *a) {
    const struct rp_instance *p = a->p;
    uint32_t q = rp_random_below(&a->random, a->s.n), j = a->s.op[a->s.at[q]];
    uint32_t n = p->input_start[j + 1] - p->input_start[j];
    if (n == 0)
        return;
    uint32_t depth = rp_random_below(&a->random, 4);
    recompute(a, p->inputs[p->input_start[j] + rp_random_below(&a->random, n)], q, depth);
}

/* Removes a random repeat. */
static void remove_run(struct annealing *a) {
    uint32_t n = a->s.n - a->p->n_ops;
    if (n == 0)
        return;
    uint32_t r = a->s.repeats[rp_random_below(&a->random, n)];
    if (!rp_run_sequence_may_remove(&a->s, r))
        return;
    add_edit(a, (struct edit){REMOVED, a->s.op[r], a->s.place[r]});
    rp_run_sequence_remove(&a->s, r);
}

static void exchange_runs(struct annealing *a) {
    remove_run(a);
    if (rp_random_below(&a->random, 2))
        insert_run(a);
}

/* A move is drawn with probability share / ALL_SHARES. If ops may not run again, it is
 * always the first one. */
enum { ALL_SHARES = 8 };

static const struct {
    const char *name;
    uint32_t share;
    void (*propose)(struct annealing *a);
} moves[] = {
    {"move run", 4, move_run},
    {"insert run", 2, insert_run},
    {"remove run", 1, remove_run},
    {"exchange runs", 1, exchange_runs},
};

const char *rp_order_move_name(uint32_t i) {
    return i < sizeof moves / sizeof *moves ? moves[i].name : NULL;
}

/* Makes one random move and returns its row. There are no edits if the random choices left
 * nothing to do. */
static uint32_t propose(struct annealing *a, bool may_recompute) {
    uint32_t drawn = may_recompute ? rp_random_below(&a->random, ALL_SHARES) : 0, row = 0;
    a->n_edits = 0;
    a->s.work += 4;
    while (drawn >= moves[row].share)
        drawn -= moves[row++].share;
    moves[row].propose(a);
    return row;
}

static void undo(struct annealing *a) {
    while (a->n_edits > 0) {
        const struct edit *e = &a->edits[--a->n_edits];
        if (e->kind == MOVED)
            rp_run_sequence_move(&a->s, e->b, e->a);
        else if (e->kind == INSERTED)
            rp_run_sequence_remove(&a->s, e->a);
        else
            rp_run_sequence_insert(&a->s, e->a, e->b);
    }
}

/* ---- annealing ---- */

static void store_best(struct annealing *a) {
    a->best_over_bytes = a->s.overflow_bytes;
    a->best_recompute_ns = a->s.recompute_ns;
    a->n_best = rp_run_sequence_ops(&a->s, a->best);
}

static bool is_best(const struct annealing *a) {
    if (a->s.overflow_bytes != a->best_over_bytes)
        return a->s.overflow_bytes < a->best_over_bytes;
    return a->s.recompute_ns < a->best_recompute_ns;
}

/* No overflow, and little enough runs again. */
static bool is_good_enough(const struct annealing *a) {
    return a->best_over_bytes <= 0 && a->best_recompute_ns <= a->goal_ns;
}

/* Takes the present sequence as the best if it is better. */
static void update_best(struct annealing *a) {
    if (!is_best(a))
        return;
    store_best(a);
    a->statistics.incumbents++;
    RP_LOG("order: new best, %.0f ns run again, over the limit %.0f bytes",
           a->best_recompute_ns, a->best_over_bytes);
}

static void step(struct annealing *a, bool may_recompute) {
    double over = a->s.overflow_bytes, ns = a->s.recompute_ns;
    uint32_t row = propose(a, may_recompute);
    a->statistics.moves[row].proposed++;
    if (a->n_edits == 0) {
        a->statistics.moves[row].infeasible++;
        return;
    }
    double rise_ns = a->s.recompute_ns - ns + a->t.price * (a->s.overflow_bytes - over);
    if (rise_ns > rp_temperature_max_rise(&a->t, &a->random)) {
        undo(a);
        return;
    }
    rp_anneal_statistics_accept(&a->statistics, row, rise_ns);
    update_best(a);
}

static double first_price(const struct annealing *a, double mean_ns) {
    double n = a->p->n_ops, over = a->s.overflow_bytes;
    if (over <= 0)
        over = TYPICAL_OVERFLOW * n * (double)a->p->limit_bytes;
    return FIRST_PRICE * mean_ns * n / (over + 1);
}

/* One run of the search, until `work` has been done. */
static void anneal(struct annealing *a, const struct rp_anneal_order_options *o,
                   double work, double initial_temperature) {
    double mean_ns = (double)a->p->graph->total_time_ns / a->p->n_ops;
    double before = (double)a->s.work;
    uint64_t question = a->s.work; /* asked once there is as much work */
    rp_temperature_init(&a->t, initial_temperature * mean_ns, FINAL_SHARE,
                        first_price(a, mean_ns));
    for (uint64_t n = 0; a->t.progress < 1 && !is_good_enough(a); n++) {
        if (n % MOVES_PER_UPDATE == 0)
            rp_temperature_update(&a->t, ((double)a->s.work - before) / work,
                                  a->s.overflow_bytes);
        if (a->s.work >= question && o->stop(o->stop_arg))
            break;
        if (a->s.work >= question)
            question = a->s.work + WORK_PER_QUESTION;
        step(a, o->may_recompute);
    }
    a->statistics.runs++;
    a->statistics.work += (uint64_t)((double)a->s.work - before);
}

/* Anneals again and again from the instance's order. A quarter of the work goes to short
 * runs, every second one of them hotter: one such run is enough for most graphs of a few
 * hundred ops. The last run is long, as larger graphs need it. */
static void anneal_repeatedly(struct annealing *a,
                              const struct rp_anneal_order_options *o) {
    double all = (double)o->work, run = SHORT_ORDER_RUN_WORK_PER_OP * a->p->n_ops;
    uint64_t n = (uint64_t)(SHORT_ORDER_RUN_SHARE * all / run);
    for (uint64_t k = 0; k <= n && !is_good_enough(a) && !o->stop(o->stop_arg); k++) {
        bool is_short = k < n;
        RP_LOG("order: run %llu from the instance's order", (unsigned long long)k);
        rp_run_sequence_fini(&a->s);
        rp_run_sequence_init(&a->s, a->p, NULL, a->p->n_ops);
        a->random = (o->seed + 16 * k) * RP_GOLDEN_RATIO_64 + 0x1234567;
        anneal(a, o, is_short ? run : all - (double)n * run,
               is_short && k % 2 == 0 ? HOT : WARM);
    }
}

/* From the start, and then from the best so far. */
static void anneal_from_start(struct annealing *a,
                              const struct rp_anneal_order_options *o) {
    enum { N = sizeof COOL / sizeof *COOL };
    for (uint64_t k = 0; k < N && !is_good_enough(a) && !o->stop(o->stop_arg); k++) {
        rp_run_sequence_fini(&a->s);
        rp_run_sequence_init(&a->s, a->p, a->best, a->n_best);
        a->random = (o->seed + 16 * k) * RP_GOLDEN_RATIO_64 + 0x7654321;
        anneal(a, o, (double)o->work / N, COOL[k]);
    }
}

/* Makes the sequence of the plan's runs. Without the repeated ones if there are too many.
 */
static void init_from_plan(struct rp_run_sequence *s, const struct rp_instance *p,
                           const struct rp_plan *plan, bool may_recompute) {
    uint32_t n = 0, *place = rp_calloc(p->n_ops, sizeof *place);
    uint32_t *ops = rp_calloc(plan->steps.n, sizeof *ops);
    bool *ran = rp_calloc(p->n_ops, sizeof *ran);
    size_t n_runs = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        place[p->op_of[j]] = j;
    for (size_t i = 0; i < plan->steps.n; i++)
        n_runs += plan->steps.at[i].kind == RP_RUN;
    bool repeats = may_recompute && n_runs <= rp_run_sequence_capacity(p);
    for (size_t i = 0; i < plan->steps.n; i++) {
        if (plan->steps.at[i].kind != RP_RUN)
            continue;
        uint32_t j = place[plan->steps.at[i].id];
        if (repeats || !ran[j])
            ops[n++] = j;
        ran[j] = true;
    }
    rp_run_sequence_init(s, p, ops, n);
    free(ops);
    free(ran);
    free(place);
}

bool rp_anneal_order(const struct rp_instance *p, const struct rp_anneal_order_options *o,
                     struct rp_plan *plan) {
    struct annealing a = {.p = p, .goal_ns = o->goal_ns};
    if (p->n_ops < 2)
        return false;
    if (o->start != NULL)
        init_from_plan(&a.s, p, o->start, o->may_recompute);
    else
        rp_run_sequence_init(&a.s, p, NULL, p->n_ops);
    a.best = rp_calloc(a.s.capacity, sizeof *a.best);
    store_best(&a);
    double over_bytes = a.best_over_bytes, recompute_ns = a.best_recompute_ns;
    if (o->start != NULL)
        anneal_from_start(&a, o);
    else
        anneal_repeatedly(&a, o);
    bool better = a.best_over_bytes < over_bytes ||
                  (a.best_over_bytes <= over_bytes && a.best_recompute_ns < recompute_ns);
    rp_run_sequence_fini(&a.s);
    if (better) {
        rp_run_sequence_init(&a.s, p, a.best, a.n_best);
        rp_run_sequence_steps(&a.s, plan);
        rp_run_sequence_fini(&a.s);
    }
    if (o->statistics != NULL)
        rp_anneal_statistics_add(o->statistics, &a.statistics);
    free(a.best);
    return better;
}
