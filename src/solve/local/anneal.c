#include "solve/local/anneal.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/local/moves.h"

/* The price starts where all overflow together costs this share of the step, */
static const double FIRST_PRICE = 0.03;
/* and over the whole run can rise or fall by e to this power. */
static const double PRICE_RATE = 18;

enum { JOURNAL_MAX = 1 << 20 };

/* Stores the best schedule: the present one with the journal undone. */
static void store_best(struct rp_anneal *a, struct rp_schedule *best) {
    if (a->best_stored)
        return;
    rp_incremental_store(&a->s, best);
    while (a->journal.n > 0) {
        const struct rp_flip *f = &a->journal.at[--a->journal.n];
        if (f->trip)
            rp_schedule_set_in(best, f->x, f->first, !f->value);
        else
            rp_schedule_set(best, f->x, f->first, f->last, !f->value);
    }
    a->best_stored = true;
}

/* Commits the move; `improves`: what results is the best so far. */
static void commit(struct rp_anneal *a, bool improves, struct rp_schedule *best) {
    if (improves) {
        a->journal.n = 0;
        a->best_stored = false;
    } else if (!a->best_stored) {
        if (a->journal.n > JOURNAL_MAX)
            store_best(a, best);
        for (uint32_t k = 0; k < a->s.n_flips && !a->best_stored; k++)
            rp_push(&a->journal, a->s.flips[k]);
    }
    rp_incremental_commit(&a->s);
}

/* Temperature and price at the share `progress` of the work. The price follows the
 * overflow: up while there is some, down while there is none. */
static void cool(struct rp_anneal *a, double progress) {
    double step = PRICE_RATE * (progress - a->progress);
    a->temperature = a->hot * pow(a->cold / a->hot, progress);
    a->price *= exp(a->s.overflow > 0 ? step : -step);
    a->progress = progress;
}

/* One move: proposed, judged, taken or not. */
static void step(struct rp_anneal *a, struct rp_schedule *best,
                 struct rp_anneal_result *r) {
    struct rp_incremental *s = &a->s;
    r->moves++;
    s->work += 8 + s->words / 4;
    s->patient = a->p->out_ns != NULL && rp_below(a, 5) > 0;
    if (!rp_propose(a) ||
        !rp_incremental_evaluate(s, a->price, -a->temperature * log(1 - rp_unit(a)))) {
        rp_incremental_undo(s);
        return;
    }
    r->accepted++;
    bool improves = s->new_overflow > 0
                        ? a->best_time == INFINITY && s->new_overflow < a->best_over
                        : s->new_time < a->best_time;
    if (improves) {
        a->best_over = s->new_overflow;
        a->best_time = s->new_overflow > 0 ? INFINITY : s->new_time;
    }
    commit(a, improves, best);
}

static void begin(struct rp_anneal *a, const struct rp_instance *p,
                  const struct rp_anneal_options *o, const struct rp_schedule *start) {
    double mean = (double)p->graph->total_time_ns / (p->n_ops + 1.0);
    a->p = p;
    a->random = o->seed * 0x9e3779b97f4a7c15u + 0x1234567;
    a->hot = mean * o->start_heat;
    a->cold = mean * 1e-3;
    rp_incremental_init(&a->s, p);
    rp_incremental_load(&a->s, start);
    a->best_over = a->s.overflow;
    a->best_time = a->s.overflow > 0 ? INFINITY : a->s.time;
    a->best_stored = true;
    a->price = FIRST_PRICE * a->s.time / (a->s.overflow + 1);
}

void rp_anneal(const struct rp_instance *p, const struct rp_anneal_options *o,
               struct rp_schedule *best, struct rp_anneal_result *r) {
    struct rp_anneal *a = rp_calloc(1, sizeof *a);
    double start = rp_seconds();
    *r = (struct rp_anneal_result){0};
    begin(a, p, o, best);
    while (p->n_ops > 1 && p->n_tensors > 0 && a->s.work < o->work) {
        if (r->moves % 256 == 0)
            cool(a, (double)a->s.work / (double)o->work);
        if (r->moves % 4096 == 0 && o->stop(o->stop_arg)) {
            r->stopped = true;
            break;
        }
        step(a, best, r);
    }
    store_best(a, best);
    r->found = a->best_time < INFINITY;
    r->time = a->best_time;
    r->work = a->s.work;
    r->seconds = rp_seconds() - start;
    rp_incremental_fini(&a->s);
    free(a->journal.at);
    free(a);
}
