#include "emit/replay_tables.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "emit/naive_layout.h"
#include "kernels/initial_values.h"

static rp_rc add_tensors(const struct rp_graph *g, const char *file,
                         struct rp_replay_tables *t, struct rp_err *err) {
    t->tensors = rp_calloc(g->n_tensors, sizeof *t->tensors);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        struct rp_fill fill;
        t->tensors[x] =
            (struct replay_tensor){g->tensors[x].name, g->tensors[x].bytes, REPLAY_NO_FILL};
        if (g->tensors[x].producer != RP_NONE)
            continue;
        rp_rc rc = rp_initial_values(g, x, RP_BIND_GRAPH, file, &fill, err);
        if (rc != RP_OK)
            return rc;
        t->tensors[x].fill = (uint32_t)t->fills.n;
        t->program.fixed_bytes += g->tensors[x].bytes; /* cannot wrap: rp_graph_check */
        rp_push(&t->fills, fill);
    }
    return RP_OK;
}

static void add_ends(struct rp_replay_tables *t, const uint32_t *tensors, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        rp_push(&t->ends, tensors[k]);
}

static rp_rc add_ops(const struct rp_graph *g, const char *file, struct rp_replay_tables *t,
                     struct rp_err *err) {
    t->kernels = rp_calloc(g->n_ops, sizeof *t->kernels);
    t->program.n_ops = g->n_ops; /* as many to empty, if one is refused */
    t->ops = rp_calloc(g->n_ops, sizeof *t->ops);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        rp_rc rc = rp_kernel_bind(g, i, RP_BIND_GRAPH, file, &t->kernels[i], err);
        if (rc != RP_OK)
            return rc;
        t->ops[i] = (struct replay_op){op->name,
                                       t->kernels[i].name,
                                       t->kernels[i].real,
                                       (void (*)(void))t->kernels[i].run,
                                       &t->kernels[i].args,
                                       (uint32_t)t->ends.n,
                                       op->n_inputs + op->n_updates,
                                       op->n_outputs + op->n_updates,
                                       op->workspace_bytes,
                                       op->time_ns};
        add_ends(t, op->inputs, op->n_inputs);
        add_ends(t, op->updates, op->n_updates);
        add_ends(t, op->outputs, op->n_outputs);
        add_ends(t, op->updates, op->n_updates);
    }
    return RP_OK;
}

/* ---- the plan, in the order in which libremat visits its steps ---- */

static void add_addresses(struct rp_schedule_tables *s, const struct remat_operand *from,
                          uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        rp_push(&s->addresses, from[k].at);
}

static void add_step(struct rp_schedule_tables *s, const struct remat_step *from) {
    struct replay_step step = {.what = (uint8_t)from->what,
                               .awaited = from->awaited,
                               .n_waits = (uint16_t)from->n_waits,
                               .id = from->id,
                               .where = (uint32_t)s->addresses.n,
                               .waits = (uint32_t)s->waits.n,
                               .at = from->at,
                               .host_at = from->host_at};
    if (from->what == REMAT_RUN)
        step.at = from->workspace_at;
    for (size_t k = 0; k < from->n_waits; k++)
        rp_push(&s->waits, (uint32_t)from->waits[k]);
    add_addresses(s, from->inputs, from->n_inputs);
    add_addresses(s, from->updates, from->n_updates);
    add_addresses(s, from->outputs, from->n_outputs);
    add_addresses(s, from->updates, from->n_updates);
    rp_push(&s->steps, step);
}

static int on_step(void *user, const struct remat_step *step) {
    add_step(user, step);
    return 0;
}

static void add_plan(const remat *r, struct rp_schedule_tables *s) {
    static const struct remat_calls calls = {on_step, on_step, on_step, on_step};
    const struct remat_totals *t = remat_totals(r);
    remat_walk(r, &calls, s);
    s->kept_at = rp_calloc(t->n_keep, sizeof *s->kept_at);
    for (uint32_t k = 0; k < t->n_keep; k++)
        s->kept_at[k] = remat_tensor(r, remat_keep(r)[k])->last;
    for (uint32_t x = 0; x < t->n_tensors; x++)
        if (remat_tensor(r, x)->on_host)
            rp_push(&s->homes, ((struct replay_home){x, remat_tensor(r, x)->host_at}));
}

static struct replay_schedule schedule_of(const struct rp_schedule_tables *s,
                                          uint64_t arena_bytes, uint64_t host_bytes) {
    return (struct replay_schedule){
        arena_bytes, host_bytes, s->steps.at, (uint32_t)s->steps.n, s->addresses.at,
        s->waits.at, s->kept_at, s->homes.at, (uint32_t)s->homes.n};
}

rp_rc rp_replay_tables_step(const struct rp_graph *g, const char *file,
                            struct rp_replay_tables *t, struct rp_err *err) {
    uint64_t keep_all_bytes;
    *t = (struct rp_replay_tables){0};
    rp_rc rc = add_tensors(g, file, t, err);
    if (rc == RP_OK)
        rc = add_ops(g, file, t, err);
    if (rc != RP_OK)
        return rc;
    rp_naive_layout(g, &t->keep_all, &keep_all_bytes);
    t->program = (struct replay_program){
        .name = g->name,
        .tensors = t->tensors,
        .ops = t->ops,
        .ends = t->ends.at,
        .fills = t->fills.at,
        .keep = g->keep,
        .n_tensors = g->n_tensors,
        .n_ops = g->n_ops,
        .n_keep = g->n_keep,
        .fixed_bytes = t->program.fixed_bytes,
        .keep_all = schedule_of(&t->keep_all, keep_all_bytes, 0),
    };
    return RP_OK;
}

rp_rc rp_replay_tables_build(const struct rp_graph *g, const remat *r, const char *file,
                             uint64_t baseline_ns, uint64_t stall_ns,
                             struct rp_replay_tables *t, struct rp_err *err) {
    const struct remat_totals *totals = remat_totals(r);
    assert(totals->addressed);
    rp_rc rc = rp_replay_tables_step(g, file, t, err);
    if (rc != RP_OK)
        return rc;
    add_plan(r, &t->plan);
    t->program.fixed_bytes = totals->fixed_bytes;
    t->program.time_ns = totals->time_ns;
    t->program.baseline_ns = baseline_ns;
    t->program.stall_ns = stall_ns;
    t->program.plan = schedule_of(&t->plan, totals->arena_bytes, totals->host_bytes);
    return RP_OK;
}

static void fini_schedule(struct rp_schedule_tables *s) {
    free(s->steps.at);
    free(s->addresses.at);
    free(s->waits.at);
    free(s->kept_at);
    free(s->homes.at);
}

void rp_replay_tables_fini(struct rp_replay_tables *t) {
    for (uint32_t i = 0; t->kernels != NULL && i < t->program.n_ops; i++)
        rp_kernel_fini(&t->kernels[i]);
    free(t->kernels);
    free(t->tensors);
    free(t->ops);
    free(t->ends.at);
    free(t->fills.at);
    fini_schedule(&t->plan);
    fini_schedule(&t->keep_all);
    *t = (struct rp_replay_tables){0};
}
