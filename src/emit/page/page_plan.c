/* The steps of a plan as columns: one list for each property, so that no key is repeated.
 */
#include <stdlib.h>

#include "base/json_writer.h"
#include "base/mem.h"
#include "emit/memory/memory_trace.h"
#include "emit/page/page_data.h"

/* A tensor on the device: from the step that allocates it to the one that frees it, or to
 * the number of steps. */
struct stay {
    uint32_t tensor;
    size_t from, to;
    uint64_t at; /* RP_NO_ADDRESS in a plan without addresses */
};

struct columns {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct rp_memory_trace t;
    uint64_t unit; /* bytes */
    RP_VEC(struct stay) stays;
    struct rp_json_writer w;
};

/* ---- stays ---- */

static void begin_stay(struct columns *c, size_t *open, uint32_t x, size_t s, uint64_t at) {
    if (open[x] != SIZE_MAX)
        return;
    open[x] = c->stays.n;
    rp_push(&c->stays, ((struct stay){x, s, c->p->steps.n, at}));
}

static void begin_outputs(struct columns *c, size_t *open, size_t s) {
    const struct rp_step *step = &c->p->steps.at[s];
    const struct rp_op *op = &c->g->ops[step->id];
    for (uint32_t k = 0; k < op->n_outputs; k++)
        begin_stay(c, open, op->outputs[k], s,
                   k < step->n_at ? c->p->at.at[step->at + k] : RP_NO_ADDRESS);
}

static void collect_stays(struct columns *c) {
    size_t *open = rp_calloc(c->g->n_tensors, sizeof *open); /* the tensor's stay */
    for (uint32_t x = 0; x < c->g->n_tensors; x++)
        open[x] = SIZE_MAX;
    for (size_t s = 0; s < c->p->steps.n; s++) {
        const struct rp_step *step = &c->p->steps.at[s];
        if (step->kind == RP_RUN)
            begin_outputs(c, open, s);
        else if (step->kind == RP_SWAP_IN)
            begin_stay(c, open, step->id, s, step->address);
        else if (step->kind == RP_FREE) {
            c->stays.at[open[step->id]].to = s;
            open[step->id] = SIZE_MAX;
        }
    }
    free(open);
}

static void put_stays(struct columns *c) {
    rp_json_array(&c->w, "stays"); /* tensor, first step less that before, steps, address */
    for (size_t k = 0; k < c->stays.n; k++) {
        const struct stay *b = &c->stays.at[k];
        rp_json_uint(&c->w, NULL, b->tensor);
        rp_json_uint(&c->w, NULL, k > 0 ? b->from - c->stays.at[k - 1].from : b->from);
        rp_json_uint(&c->w, NULL, b->to - b->from);
        if (c->p->addressed)
            rp_json_uint(&c->w, NULL, b->at / c->unit);
    }
    rp_json_end(&c->w);
}

/* ---- steps ---- */

static void put_kinds(struct columns *c) {
    char *word = rp_calloc(c->p->steps.n + 1, 1);
    for (size_t s = 0; s < c->p->steps.n; s++)
        word[s] = "rfoi"[c->t.steps[s].kind]; /* run, free, out, in */
    rp_json_string(&c->w, "kinds", word);
    free(word);
    rp_json_array(&c->w, "ids");
    for (size_t s = 0; s < c->p->steps.n; s++)
        rp_json_uint(&c->w, NULL, c->p->steps.at[s].id);
    rp_json_end(&c->w);
}

static void put_clocks(struct columns *c) {
    uint64_t before = 0;
    rp_json_array(&c->w, "clock"); /* differences */
    for (size_t s = 0; s < c->t.n_steps; before = c->t.steps[s++].clock_ns)
        rp_json_int(&c->w, NULL, (int64_t)(c->t.steps[s].clock_ns - before));
    rp_json_end(&c->w);
    rp_json_array(&c->w, "copies"); /* step, wait for the queue, time */
    for (size_t s = 0; s < c->t.n_steps; s++) {
        const struct rp_timed_step *m = &c->t.steps[s];
        if (m->queue == RP_TRACE_COMPUTE)
            continue;
        rp_json_uint(&c->w, NULL, s);
        rp_json_uint(&c->w, NULL, m->start_ns - m->clock_ns);
        rp_json_uint(&c->w, NULL, m->end_ns - m->start_ns);
    }
    rp_json_end(&c->w);
}

static void put_memory(struct columns *c) {
    uint64_t before = c->t.fixed.bytes;
    rp_json_array(&c->w, "held"); /* after each step, differences, in units */
    for (size_t s = 0; s < c->t.n_steps; before = c->t.steps[s++].after.bytes) {
        uint64_t after = c->t.steps[s].after.bytes;
        rp_json_int(&c->w, NULL,
                    after >= before ? (int64_t)((after - before) / c->unit)
                                    : -(int64_t)((before - after) / c->unit));
    }
    rp_json_end(&c->w);
    rp_json_array(&c->w, "workspace"); /* of runs: step, units, address */
    for (size_t s = 0; s < c->t.n_steps; s++) {
        const struct rp_timed_step *m = &c->t.steps[s];
        if (m->kind != RP_RUN || m->during.bytes == m->after.bytes)
            continue;
        rp_json_uint(&c->w, NULL, s);
        rp_json_uint(&c->w, NULL, (m->during.bytes - m->after.bytes) / c->unit);
        if (c->p->addressed)
            rp_json_uint(&c->w, NULL, c->p->steps.at[s].address / c->unit);
    }
    rp_json_end(&c->w);
}

static void put_fixed(struct columns *c) {
    rp_json_array(&c->w, "fixed"); /* per kind of tensor */
    for (int kind = RP_PARAMETER; kind <= RP_GRADIENT; kind++)
        rp_json_uint(&c->w, NULL, c->t.fixed.of[kind]);
    rp_json_end(&c->w);
}

void rp_page_put_plan(const struct rp_graph *g, const struct rp_plan *p, FILE *f) {
    struct columns c = {.g = g,
                        .p = p,
                        .unit = p->addressed ? g->device.alignment_bytes : 1,
                        .w = rp_json_writer_on(f)};
    rp_memory_trace_plan(g, p, &c.t);
    collect_stays(&c);
    rp_json_object(&c.w, NULL);
    put_fixed(&c);
    put_kinds(&c);
    put_clocks(&c);
    put_memory(&c);
    put_stays(&c);
    rp_json_end(&c.w);
    rp_json_finish(&c.w);
    free(c.stays.at);
    rp_memory_trace_fini(&c.t);
}
