#include "solve/incremental/incremental_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"
#include "solve/incremental/incremental_internal.h"

struct check {
    const struct rp_incremental *s;
    const struct rp_instance *p;
    struct rp_schedule now; /* what the state holds and swaps in */
    struct rp_stage_work work;
    bool *mark;      /* per tensor: false between uses */
    uint32_t *local; /* per tensor of the graph: its number in the instance; of a source,
                        that of its present version */
    struct rp_incremental_fault *fault;
};

static bool fail(struct check *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool fail(struct check *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(c->fault->text, sizeof c->fault->text, format, args);
    va_end(args);
    return false;
}

static const char *op_name(const struct check *c, uint32_t j) {
    return j >= c->p->n_ops       ? "the end"
           : rp_is_begin(c->p, j) ? "the beginning"
           : rp_is_end(c->p, j)   ? "the end of the step"
                                  : c->p->graph->ops[c->p->op_of[j]].name;
}

static const char *tensor_name(const struct check *c, uint32_t x) {
    return c->p->graph->tensors[c->p->tensor_of[x]].name;
}

static bool fail_stage(struct check *c, uint32_t t, const char *what, double is,
                       double should) {
    return fail(c, "stage %u ('%s'): %s is %.17g, should be %.17g", t, op_name(c, t), what,
                is, should);
}

static bool fail_tensor(struct check *c, uint32_t t, uint32_t x, const char *what) {
    return fail(c, "stage %u ('%s'), tensor '%s': %s", t, op_name(c, t), tensor_name(c, x),
                what);
}

static bool same_at_stage(struct check *c, uint32_t t, const char *what, double is,
                          double should) {
    return is == should || fail_stage(c, t, what, is, should);
}

static bool same_total(struct check *c, const char *what, double is, double should) {
    return is == should || fail(c, "%s is %.17g, should be %.17g", what, is, should);
}

/* ---- holds ---- */

/* `list` has each x with S[t] == !value and S[t + 1] == value once, and nothing else. */
static bool check_changes(struct check *c, uint32_t t, const struct rp_id_list *list,
                          bool value) {
    const char *name = value ? "opens" : "closes";
    uint32_t n = 0;
    bool right = true;
    for (uint32_t k = 0; k < list->n && right; k++) {
        uint32_t x = list->at[k];
        right = x < c->p->n_tensors && !c->mark[x] && rp_held(&c->now, t, x) != value &&
                rp_held(&c->now, t + 1, x) == value;
        if (right)
            c->mark[x] = true;
        else
            fail(c, "stage %u ('%s'), tensor '%s': wrongly listed in %s", t, op_name(c, t),
                 x < c->p->n_tensors ? tensor_name(c, x) : "?", name);
    }
    for (uint32_t x = 0; x < c->p->n_tensors; x++) {
        bool changes =
            rp_held(&c->now, t, x) != value && rp_held(&c->now, t + 1, x) == value;
        if (right && changes && !c->mark[x])
            right = fail(c, "stage %u ('%s'), tensor '%s': not listed in %s", t,
                         op_name(c, t), tensor_name(c, x), name);
        n += changes;
        c->mark[x] = false;
    }
    return right && same_at_stage(c, t, name, list->n, n);
}

static bool check_base(struct check *c, uint32_t t) {
    int64_t bytes = 0;
    for (uint32_t x = c->p->n_tensors; x-- > 0;)
        bytes += rp_held(&c->now, t, x) ? (int64_t)c->p->bytes[x] : 0;
    return same_at_stage(c, t, "base_bytes", (double)c->s->base_bytes[t], (double)bytes);
}

static bool check_holds(struct check *c) {
    bool right = check_base(c, c->p->n_ops);
    for (uint32_t t = 0; t < c->p->n_ops && right; t++)
        right = check_base(c, t) && check_changes(c, t, &c->s->opens[t], true) &&
                check_changes(c, t, &c->s->closes[t], false);
    return right;
}

/* ---- runs and memory ---- */

static bool check_runs(struct check *c, uint32_t t) {
    const struct rp_incremental *s = c->s;
    const struct rp_stage *stage = &c->work.stage;
    if (!same_at_stage(c, t, "the number of runs", s->stage_runs[t].n, stage->n_runs))
        return false;
    for (uint32_t a = 0; a < stage->n_runs; a++) {
        uint32_t j = stage->runs[a];
        if (s->stage_runs[t].at[a] != j)
            return fail(c, "stage %u ('%s'): run %u is op %u, should be op %u ('%s')", t,
                        op_name(c, t), a, s->stage_runs[t].at[a], j, op_name(c, j));
        if (!rp_incremental_runs(s, t, j))
            return fail(c, "stage %u ('%s'): no bit for the run of '%s'", t, op_name(c, t),
                        op_name(c, j));
    }
    return true;
}

static bool check_stages(struct check *c) {
    const struct rp_incremental *s = c->s;
    uint64_t n_runs = 0, n_bits = 0;
    double time = 0, overflow = 0;
    for (uint32_t t = 0; t < c->p->n_ops; t++) {
        if (!rp_stage_eval(c->p, &c->now, t, &c->work))
            return fail(c, "stage %u ('%s'): not sound", t, op_name(c, t));
        double over = (double)c->work.stage.peak_bytes - (double)c->p->limit_bytes;
        if (!check_runs(c, t) ||
            !same_at_stage(c, t, "stage_ns", s->stage_ns[t],
                           (double)c->work.stage.time_ns) ||
            !same_at_stage(c, t, "over_bytes", s->over_bytes[t], over))
            return false;
        n_runs += c->work.stage.n_runs;
        time += s->stage_ns[t];
        overflow += rp_max_double(over, 0);
    }
    for (size_t i = 0; i < c->p->n_ops * s->words; i++)
        n_bits += (uint64_t)__builtin_popcountll(s->runs[i]);
    return same_total(c, "the number of bits of runs", (double)n_bits, (double)n_runs) &&
           same_total(c, "time_ns", s->time_ns, time + s->swaps.stall_ns) &&
           same_total(c, "overflow_bytes", s->overflow_bytes, overflow);
}

/* ---- swaps ---- */

static bool check_swap_ins(struct check *c, uint32_t t) {
    const struct rp_incremental *s = c->s;
    const struct rp_swap_ins *l = &s->swaps.swap_ins[t];
    uint32_t n = 0;
    for (uint32_t k = 0; k < l->n; k++) {
        if (k > 0 && l->at[k - 1].x <= l->at[k].x)
            return fail_tensor(c, t, l->at[k].x, "swapped in out of order");
        if (!rp_incremental_swapped_in(s, t, l->at[k].x))
            return fail_tensor(c, t, l->at[k].x, "swapped in, but without its bit");
    }
    for (uint32_t x = 0; x < c->p->n_tensors; x++)
        n += rp_incremental_swapped_in(s, t, x);
    return same_at_stage(c, t, "the number of swap-ins", l->n, n);
}

/* Counters of swaps, per tensor and per stage, and what they take on the host. */
static bool check_swap_counts(struct check *c) {
    const struct rp_incremental_swaps *w = &c->s->swaps;
    uint64_t host_bytes = rp_schedule_host_bytes(c->p, &c->now);
    uint64_t *out = rp_schedule_copied_out(c->p, &c->now);
    uint32_t n_copies = 0;
    bool right = true;
    for (uint32_t j = 0; j < c->p->n_ops && right; j++) {
        uint32_t n_outs = 0;
        for (uint32_t x = c->p->output_start[j]; x < c->p->output_start[j + 1]; x++) {
            uint32_t n_ins = 0;
            for (uint32_t t = c->p->n_ops; t-- > 0;)
                n_ins += rp_swapped_in(&c->now, t, x);
            if (right && w->n_swap_ins[x] != n_ins)
                right = fail_tensor(c, j, x, "n_swap_ins is wrong");
            n_outs += out[x / 64] >> (x % 64) & 1;
            n_copies += n_ins;
        }
        right = right && same_at_stage(c, j, "n_swap_outs", w->n_swap_outs[j], n_outs);
        n_copies += n_outs;
    }
    free(out);
    return right && same_total(c, "n_copies", w->n_copies, n_copies) &&
           same_total(c, "host_bytes", (double)w->host_bytes, (double)host_bytes);
}

/* The time line of all steps, stage by stage. */
struct line {
    struct rp_timeline clock;
    uint32_t t;
    bool last_run;   /* op t has run: the next run or swap-in begins another stage */
    double begin_ns; /* of stage t */
    double stall_ns; /* of all stages before it */
};

static bool check_backlogs(struct check *c, const struct line *l) {
    const struct rp_incremental_swaps *w = &c->s->swaps;
    double now = (double)l->clock.compute_ns;
    return same_at_stage(c, l->t, "d2h_backlog_ns", w->d2h_backlog_ns[l->t],
                         rp_max_double((double)l->clock.d2h_ns - now, 0)) &&
           same_at_stage(c, l->t, "h2d_backlog_ns", w->h2d_backlog_ns[l->t],
                         rp_max_double((double)l->clock.h2d_ns - now, 0));
}

static bool end_stage(struct check *c, struct line *l) {
    double now = (double)l->clock.compute_ns;
    double stall_ns = now - l->begin_ns - c->s->stage_ns[l->t];
    if (!same_at_stage(c, l->t, "stage_stall_ns", c->s->swaps.stage_stall_ns[l->t],
                       stall_ns))
        return false;
    l->stall_ns += stall_ns;
    l->begin_ns = now;
    l->last_run = false;
    l->t++;
    return check_backlogs(c, l);
}

/* Frees after op t has run belong to its stage unless the next one still holds the tensor.
 */
static bool begins_stage(const struct check *c, const struct line *l,
                         const struct rp_step *step) {
    return l->last_run &&
           (step->kind == RP_RUN || step->kind == RP_SWAP_IN ||
            (step->kind == RP_FREE && rp_held(&c->now, l->t + 1, c->local[step->id])));
}

static bool check_copy_end(struct check *c, const struct line *l,
                           const struct rp_step *step) {
    const struct rp_incremental_swaps *w = &c->s->swaps;
    if (step->kind != RP_SWAP_OUT && step->kind != RP_SWAP_IN)
        return true; /* its id may be that of an op */
    uint32_t x = c->local[step->id];
    if (step->kind == RP_SWAP_OUT &&
        (double)l->clock.host_ready_ns[step->id] - l->begin_ns != w->swap_out_end_ns[x])
        return fail_tensor(c, l->t, x, "swap_out_end_ns is wrong");
    for (uint32_t k = 0; step->kind == RP_SWAP_IN && k < w->swap_ins[l->t].n; k++)
        if (w->swap_ins[l->t].at[k].x == x &&
            (double)l->clock.ready_ns[step->id] - l->begin_ns !=
                w->swap_ins[l->t].at[k].end_ns)
            return fail_tensor(c, l->t, x, "the end of its swap-in is wrong");
    return true;
}

/* Where an update is run, the next versions are present. */
static void replace_versions(struct check *c, uint32_t j) {
    for (uint32_t x = c->p->output_start[j]; x < c->p->output_start[j + 1]; x++)
        c->local[c->p->tensor_of[x]] = x;
}

/* `end` is no step: it runs once all that is kept has come in. */
static void wait_for_kept(struct check *c, struct line *l) {
    for (uint32_t x = 0; x < c->p->n_tensors; x++)
        if (c->p->kept[x])
            rp_timeline_wait(&l->clock, c->p->tensor_of[x]);
}

static bool queue_clocks(struct check *c) {
    struct rp_plan plan = {0};
    struct line l = {.t = c->p->n_homes > 0};
    rp_schedule_steps(c->p, &c->now, NULL, &plan);
    rp_timeline_init(&l.clock, c->p->graph);
    bool right = check_backlogs(c, &l);
    for (size_t i = 0; i < plan.steps.n && right; i++) {
        const struct rp_step *step = &plan.steps.at[i];
        if (begins_stage(c, &l, step))
            right = end_stage(c, &l);
        rp_timeline_step(&l.clock, step);
        if (step->kind == RP_RUN && step->id == c->p->op_of[l.t]) {
            l.last_run = true;
            replace_versions(c, l.t);
        }
        right = right && check_copy_end(c, &l, step);
    }
    if (right && c->p->has_end) {
        right = !l.last_run || end_stage(c, &l);
        wait_for_kept(c, &l);
    }
    right = right && end_stage(c, &l);
    double after = (double)rp_timeline_end(&l.clock) - (double)l.clock.compute_ns;
    right = right && same_total(c, "stall_ns", c->s->swaps.stall_ns, l.stall_ns + after);
    rp_timeline_fini(&l.clock);
    rp_plan_fini(&plan);
    return right;
}

static bool check_swaps(struct check *c) {
    bool right = check_swap_counts(c);
    for (uint32_t t = 0; t < c->p->n_ops && right; t++)
        right = check_swap_ins(c, t);
    return right && queue_clocks(c);
}

/* ---- the whole ---- */

/* The totals by the function that evaluates finished schedules. */
static bool check_cost(struct check *c) {
    struct rp_cost cost = rp_schedule_cost(c->p, &c->now);
    double time = (double)cost.time_ns;
    return (cost.sound || fail(c, "the schedule is not sound")) &&
           same_total(c, "time_ns", c->s->time_ns, time) &&
           ((cost.peak_bytes > c->p->limit_bytes) == (c->s->overflow_bytes > 0) ||
            fail(c, "overflow_bytes is %.17g, but the peak is %.17g bytes of %.17g",
                 c->s->overflow_bytes, (double)cost.peak_bytes, (double)c->p->limit_bytes));
}

static bool check_memory_of_moves(struct check *c) {
    const struct rp_incremental_move *m = c->s->move;
    for (uint32_t t = 0; t < c->p->n_ops; t++)
        if (m->dirty_of[t] != 0)
            return fail(c, "stage %u ('%s'): still dirty", t, op_name(c, t));
    for (size_t i = 0; i < c->s->words; i++)
        if (m->op_bits[i] != 0)
            return fail(c, "op_bits are not all 0");
    return true;
}

bool rp_incremental_check(const struct rp_incremental *s,
                          struct rp_incremental_fault *fault) {
    struct check c = {.s = s, .p = s->p, .fault = fault};
    fault->text[0] = '\0';
    if (s->n_stages == 0)
        return true;
    c.mark = rp_calloc(s->n_tensors, sizeof *c.mark);
    c.local = rp_calloc(s->p->graph->n_tensors, sizeof *c.local);
    for (uint32_t x = s->n_tensors; x-- > 0;)
        c.local[s->p->tensor_of[x]] = x;
    rp_schedule_empty(s->p, &c.now);
    rp_incremental_store(s, &c.now);
    rp_stage_work_init(s->p, &c.work);
    bool right = check_holds(&c) && check_stages(&c) &&
                 (s->p->out_ns == NULL || check_swaps(&c)) && check_cost(&c) &&
                 check_memory_of_moves(&c);
    rp_stage_work_fini(&c.work);
    rp_schedule_fini(&c.now);
    free(c.mark);
    free(c.local);
    return right;
}
