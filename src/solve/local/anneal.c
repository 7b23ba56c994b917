#include "solve/local/anneal.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/random.h"
#include "solve/core/temperature.h"
#include "solve/incremental/incremental.h"
#include "solve/incremental/incremental_check.h"
#include "solve/local/repair.h"

/* At the first price, all overflow together costs this share of the step's time. */
static const double FIRST_PRICE = 0.03;
/* Where sources may live on the host, most runs start from schedules that fit. Their first
 * price is as if each stage were over the limit by this share of it. */
static const double FIRST_OVERFLOW = 1.0 / 16;
/* Of the work of a run: what repairing its result may take on top. */
static const double REPAIR_SHARE = 0.1;
/* The last temperature, as a share of the mean op time. */
static const double FINAL_TEMPERATURE = 1e-3;

enum {
    MOVES_PER_UPDATE = 256, /* of temperature and price */
    MAX_JOURNAL = 1 << 20,  /* flips */
    /* Moves from one check of the state to the next, in debug builds. Small graphs are
     * checked more often, since that is cheap. */
    MOVES_PER_CHECK = 4096,
    MOVES_PER_SMALL_CHECK = 256,
    SMALL_OPS = 64
};

struct annealing {
    struct rp_incremental s;
    uint64_t random;
    struct rp_temperature t;
    struct rp_anneal_result *r;
    struct rp_schedule *best;
    RP_VEC(struct rp_flip) journal; /* the flips made since the best schedule */
    bool best_stored; /* in *best. If false: it is the present one, journal undone */
    double best_time_ns, best_over; /* INFINITY if the best is over the limit */
    uint64_t set_up_work;           /* of loading the first schedule */
};

/* Stores the best schedule: the present one with the journal undone. */
static void store_best(struct annealing *a) {
    if (a->best_stored)
        return;
    rp_incremental_store(&a->s, a->best);
    while (a->journal.n > 0) {
        const struct rp_flip *f = &a->journal.at[--a->journal.n];
        if (f->swap_in)
            rp_schedule_set_in(a->best, f->x, f->first, !f->value);
        else
            rp_schedule_set(a->best, f->x, f->first, f->last, !f->value);
    }
    a->best_stored = true;
}

static void add_to_journal(struct annealing *a) {
    uint32_t n;
    const struct rp_flip *flips = rp_incremental_flips(&a->s, &n);
    if (a->journal.n > MAX_JOURNAL)
        store_best(a);
    for (uint32_t k = 0; k < n && !a->best_stored; k++)
        rp_push(&a->journal, flips[k]);
}

/* True if the move makes the best schedule so far. Within the limit the faster schedule is
 * better. While none is within the limit, the one less over it is better. */
static bool is_new_best(const struct annealing *a) {
    const struct rp_incremental *s = &a->s;
    if (s->new_overflow_bytes > 0)
        return a->best_time_ns == INFINITY && s->new_overflow_bytes < a->best_over;
    return s->new_time_ns < a->best_time_ns;
}

static void set_new_best(struct annealing *a) {
    const struct rp_incremental *s = &a->s;
    a->best_over = s->new_overflow_bytes;
    a->best_time_ns = s->new_overflow_bytes > 0 ? INFINITY : s->new_time_ns;
    a->journal.n = 0;
    a->best_stored = false;
    a->r->statistics.incumbents++;
    RP_LOG("anneal: move %llu: new best, time %.0f ns, over the limit %.0f bytes",
           (unsigned long long)a->r->moves, s->new_time_ns, s->new_overflow_bytes);
}

static void count_accepted(struct annealing *a, uint32_t row) {
    const struct rp_incremental *s = &a->s;
    double rise_ns = s->new_time_ns - s->time_ns +
                     a->t.price * (s->new_overflow_bytes - s->overflow_bytes);
    a->r->accepted++;
    rp_anneal_statistics_accept(&a->r->statistics, row, rise_ns);
}

/* One move: proposed, evaluated, accepted or not. */
static void step(struct annealing *a) {
    struct rp_incremental *s = &a->s;
    uint32_t row;
    a->r->moves++;
    s->work += 1 + s->words / 4;
    bool may_shift = s->p->out_ns != NULL && rp_random_below(&a->random, 5) > 0;
    bool any = rp_propose_move(s, &a->random, &row);
    struct rp_move_statistics *m = &a->r->statistics.moves[row];
    m->proposed++;
    if (!any || !rp_incremental_evaluate(
                    s, a->t.price, rp_temperature_max_rise(&a->t, &a->random), may_shift)) {
        m->infeasible += !any || s->infeasible;
        rp_incremental_undo(s);
        return;
    }
    count_accepted(a, row);
    RP_LOG("anneal: move %llu: %s accepted, time %.0f ns, over the limit %.0f bytes",
           (unsigned long long)a->r->moves, rp_move_name(row), s->new_time_ns,
           s->new_overflow_bytes);
    if (is_new_best(a))
        set_new_best(a);
    else if (!a->best_stored)
        add_to_journal(a);
    rp_incremental_commit(s);
}

/* False if there is no time to read the schedule. */
static bool begin(struct annealing *a, const struct rp_instance *p,
                  const struct rp_anneal_options *o) {
    double mean_ns = (double)p->graph->total_time_ns / (p->n_ops + 1.0);
    double initial_ns = mean_ns * o->initial_temperature;
    rp_incremental_init(&a->s, p);
    a->best_stored = true;
    if (!rp_incremental_load_until(&a->s, a->best, o->until))
        return false;
    double overflow = a->s.overflow_bytes + 1;
    if (p->n_homes > 0)
        overflow += FIRST_OVERFLOW * (double)p->limit_bytes * p->n_ops;
    a->s.work += (uint64_t)a->s.n_stages * a->s.words;
    a->set_up_work = a->s.work;
    a->random = o->seed * RP_GOLDEN_RATIO_64 + 0x1234567;
    a->best_over = a->s.overflow_bytes;
    a->best_time_ns = a->s.overflow_bytes > 0 ? INFINITY : a->s.time_ns;
    rp_temperature_init(&a->t, initial_ns, mean_ns * FINAL_TEMPERATURE / initial_ns,
                        FIRST_PRICE * a->s.time_ns / overflow);
    RP_LOG("anneal: run with seed %llu from time %.0f ns, over the limit %.0f bytes",
           (unsigned long long)o->seed, a->s.time_ns, a->s.overflow_bytes);
    return true;
}

static void update_temperature(struct annealing *a, uint64_t work) {
    double progress =
        (double)(a->s.work - a->set_up_work) / (double)(work - a->set_up_work);
    rp_temperature_update(&a->t, progress, a->s.overflow_bytes);
    RP_LOG("anneal: move %llu: temperature %.3g ns, price %.3g ns a byte",
           (unsigned long long)a->r->moves, a->t.now_ns, a->t.price);
}

/* In debug builds, stops the program if the state is not what its schedule says. */
static void check_state(const struct annealing *a) {
#ifdef RP_DEBUG
    bool small = a->s.n_stages <= SMALL_OPS;
    struct rp_incremental_fault fault;
    if (a->r->moves % (small ? MOVES_PER_SMALL_CHECK : MOVES_PER_CHECK) != 0)
        return;
    bool right = rp_incremental_check(&a->s, &fault);
    if (!right)
        rp_log(-1, "after move %llu: %s", (unsigned long long)a->r->moves, fault.text);
    assert(right);
#else
    (void)a;
#endif
}

/* No schedule has fitted. Perhaps swaps make the one fit that is least over the limit. On
 * large graphs reading it may take more than there is for that. */
static void repair(struct annealing *a, const struct rp_anneal_options *o) {
    struct rp_incremental *s = &a->s;
    double work = REPAIR_SHARE * (double)o->work - (double)a->set_up_work;
    if (s->p->out_ns == NULL || work <= 0 ||
        !rp_incremental_load_until(s, a->best, o->until))
        return;
    s->work += a->set_up_work;
    if (!rp_repair(s, (uint64_t)work, o->until))
        return;
    rp_incremental_store(s, a->best);
    a->best_time_ns = s->time_ns;
    a->r->statistics.repaired++;
}

void rp_anneal(const struct rp_instance *p, const struct rp_anneal_options *o,
               struct rp_schedule *best, struct rp_anneal_result *r) {
    struct annealing *a = rp_calloc(1, sizeof *a);
    double start = rp_thread_seconds();
    *r = (struct rp_anneal_result){.statistics.runs = 1};
    a->r = r;
    a->best = best;
    a->best_time_ns = INFINITY;
    r->stopped = !begin(a, p, o);
    uint64_t question = 0; /* asked once there is as much work */
    while (!r->stopped && p->n_ops > 1 && p->n_tensors > 0 && a->s.work < o->work) {
        check_state(a);
        if (r->moves % MOVES_PER_UPDATE == 0)
            update_temperature(a, o->work);
        if (a->s.work >= question) {
            r->stopped = o->stop(o->stop_arg, a->best_time_ns);
            question = a->s.work + RP_ANNEAL_QUESTION;
        }
        if (r->stopped)
            break;
        step(a);
    }
    store_best(a);
    if (a->best_time_ns == INFINITY && !r->stopped)
        repair(a, o);
    r->found = a->best_time_ns < INFINITY;
    r->time_ns = a->best_time_ns;
    r->statistics.work = a->s.work;
    r->seconds = rp_thread_seconds() - start;
    rp_incremental_fini(&a->s);
    free(a->journal.at);
    free(a);
}
