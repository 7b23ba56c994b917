#include "solve/core/warm_start.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solve/core/prune.h"

void rp_plan_first_runs(const struct rp_graph *g, const struct rp_plan *plan,
                        uint32_t *order) {
    bool *ran = rp_calloc(g->n_ops, sizeof *ran);
    uint32_t n = 0;
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *step = &plan->steps.at[i];
        if (step->kind != RP_RUN || ran[step->id])
            continue;
        ran[step->id] = true;
        order[n++] = step->id;
    }
    free(ran);
}

/* The steps of a plan, read one by one into a schedule. */
struct reading {
    const struct rp_instance *p;
    struct rp_schedule *s;
    uint32_t *op; /* per op of the graph: its number in the instance */
    /* Per tensor of the graph: its number in the instance; of a source, that of its present
     * version. */
    uint32_t *tensor;
    uint64_t *live;  /* bit x: tensor x is on the device */
    uint32_t stage;  /* first runs so far */
    bool keep_swaps; /* else what is swapped in is made again */
};

static void set_live(struct reading *w, uint32_t x, bool value) {
    uint64_t bit = (uint64_t)1 << (x % 64);
    w->live[x / 64] = value ? w->live[x / 64] | bit : w->live[x / 64] & ~bit;
}

static void end_stage(struct reading *w) {
    w->stage++;
    memcpy(w->s->rows + (size_t)w->stage * w->s->words, w->live,
           w->s->words * sizeof *w->live);
}

/* False if this is a first run out of order. */
static bool read_run(struct reading *w, uint32_t j) {
    const struct rp_instance *p = w->p;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        uint32_t *now = &w->tensor[p->tensor_of[x]];
        if (rp_is_version(p, x))
            set_live(w, *now, false);
        *now = x;
        set_live(w, x, true);
    }
    if (j < w->stage)
        return true;
    if (j > w->stage)
        return false;
    end_stage(w);
    return true;
}

/* After the last first run no stage begins but that of `end`: without it, what comes in
 * then belongs to the last one. */
static void read_swap_in(struct reading *w, uint32_t x) {
    uint32_t t = w->stage < w->s->n_stages ? w->stage : w->s->n_stages - 1;
    set_live(w, x, true);
    if (w->keep_swaps && !rp_held(w->s, t, x))
        rp_schedule_set_in(w->s, x, t, true);
}

/* Sources that the plan does not list stay on the device. */
static void read_homes(struct reading *w, const struct rp_plan *plan) {
    const struct rp_instance *p = w->p;
    for (uint32_t x = 0; x < p->n_homes; x++)
        set_live(w, x, true);
    for (size_t k = 0; k < plan->homes.n && p->n_homes > 0; k++)
        set_live(w, w->tensor[plan->homes.at[k].tensor], false);
    if (p->n_homes > 0)
        end_stage(w);
}

static bool read_steps(struct reading *w, const struct rp_plan *plan,
                       struct rp_stop *stop) {
    const struct rp_instance *p = w->p;
    rp_schedule_clear(w->s);
    read_homes(w, plan);
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *step = &plan->steps.at[i];
        if (rp_stop_after(stop, w->s->words))
            return false;
        if (step->kind == RP_RUN && !read_run(w, w->op[step->id]))
            return false;
        if (step->kind == RP_FREE)
            set_live(w, w->tensor[step->id], false);
        if (step->kind == RP_SWAP_IN)
            read_swap_in(w, w->tensor[step->id]);
    }
    if (p->has_end && !read_run(w, p->n_ops - 1))
        return false;
    /* A plan may make a kept tensor once more after the last first run. Without `end`, a
     * schedule makes it before that run, in the same stage. What must be copied out stays
     * if it was there at the last first run: no free has to wait for the copy. */
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        bool stays = rp_is_version(p, x) && rp_source_stays(p, w->s, x) &&
                     p->next_version[x] == RP_NONE;
        bool waits = rp_must_copy_out(p, x) && rp_held(w->s, p->n_ops, x);
        rp_schedule_set(w->s, x, p->n_ops, p->n_ops, p->kept[x] || stays || waits);
    }
    return true;
}

static bool read_plan(const struct rp_instance *p, const struct rp_plan *plan,
                      bool keep_swaps, struct rp_stop *stop, struct rp_schedule *s) {
    struct reading w = {.p = p, .s = s, .keep_swaps = keep_swaps};
    w.op = rp_calloc(p->n_ops, sizeof *w.op);
    w.tensor = rp_calloc(p->graph->n_tensors, sizeof *w.tensor);
    w.live = rp_calloc(s->words, sizeof *w.live);
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (rp_is_graph_op(p, i))
            w.op[p->op_of[i]] = i;
    for (uint32_t x = p->n_tensors; x-- > 0;)
        w.tensor[p->tensor_of[x]] = x;
    bool sound = read_steps(&w, plan, stop) && rp_schedule_prune_until(p, s, stop) &&
                 rp_schedule_cost_until(p, s, stop).sound;
    free(w.op);
    free(w.tensor);
    free(w.live);
    return sound;
}

bool rp_schedule_from_plan(const struct rp_instance *p, const struct rp_plan *plan,
                           struct rp_stop *stop, struct rp_schedule *s) {
    return (p->out_ns != NULL && read_plan(p, plan, true, stop, s)) ||
           read_plan(p, plan, false, stop, s);
}

void rp_plan_restate(const struct rp_plan *from, bool addressed, uint64_t budget_bytes,
                     struct rp_plan *to) {
    *to = (struct rp_plan){.budget_bytes = budget_bytes, .addressed = addressed};
    to->graph_name = rp_strdup(from->graph_name);
    to->graph_sha256 = rp_strdup(from->graph_sha256);
    to->arena_bytes = addressed ? from->arena_bytes : 0;
    to->host_bytes = addressed ? from->host_bytes : 0;
    for (size_t i = 0; i < from->steps.n; i++) {
        struct rp_step step = from->steps.at[i];
        if (!addressed) {
            step.at = step.n_at = 0;
            step.has_at = false;
            step.address = RP_NO_ADDRESS;
        }
        rp_push(&to->steps, step);
    }
    for (size_t i = 0; i < from->homes.n; i++) {
        struct rp_plan_home home = from->homes.at[i];
        home.host_at = addressed ? home.host_at : RP_NO_ADDRESS;
        rp_push(&to->homes, home);
    }
    for (size_t i = 0; i < from->at.n && addressed; i++)
        rp_push(&to->at, from->at.at[i]);
}
