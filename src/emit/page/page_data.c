#include "emit/page/page_data.h"

#include <stdlib.h>

#include "base/io.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "emit/memory/memory_trace.h"

/* ---- the graph ---- */

static void put_device(struct rp_json_writer *w, const struct rp_device *d) {
    rp_json_object(w, "device");
    rp_json_string(w, "name", d->name != NULL ? d->name : "");
    rp_json_uint(w, "d2h", d->d2h_bytes_per_s);
    rp_json_uint(w, "h2d", d->h2d_bytes_per_s);
    rp_json_uint(w, "latency", d->copy_latency_ns);
    rp_json_end(w);
}

static void put_tensors(struct rp_json_writer *w, const struct rp_graph *g) {
    rp_json_array(w, "kinds");
    for (int k = RP_PARAMETER; k <= RP_GRADIENT; k++)
        rp_json_string(w, NULL, rp_tensor_kind_word[k]);
    rp_json_end(w);
    rp_json_array(w, "memory"); /* kind, or workspace as the one behind them; its word */
    for (int k = 0; k < RP_N_MEMORY_KINDS; k++) {
        rp_json_uint(w, NULL, (uint64_t)rp_memory_kinds[k]);
        rp_json_string(w, NULL, rp_memory_kind_word[rp_memory_kinds[k]]);
    }
    rp_json_end(w);
    rp_json_array(w, "tensors"); /* name, bytes, kind */
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        rp_json_string(w, NULL, g->tensors[x].name);
        rp_json_uint(w, NULL, g->tensors[x].bytes);
        rp_json_uint(w, NULL, g->tensors[x].kind);
    }
    rp_json_end(w);
}

static void put_ids(struct rp_json_writer *w, const uint32_t *ids, uint32_t n,
                    const uint32_t *more, uint32_t n_more) {
    rp_json_array(w, NULL);
    for (uint32_t k = 0; k < n; k++)
        rp_json_uint(w, NULL, ids[k]);
    for (uint32_t k = 0; k < n_more; k++)
        rp_json_uint(w, NULL, more[k]);
    rp_json_end(w);
}

static void put_ops(struct rp_json_writer *w, const struct rp_graph *g) {
    rp_json_array(w, "ops"); /* name, kind, phase, time, read or updated, outputs */
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        rp_json_string(w, NULL, op->name);
        rp_json_string(w, NULL, op->kind);
        rp_json_uint(w, NULL, op->phase);
        rp_json_uint(w, NULL, op->time_ns);
        put_ids(w, op->inputs, op->n_inputs, op->updates, op->n_updates);
        put_ids(w, op->outputs, op->n_outputs, NULL, 0);
    }
    rp_json_end(w);
}

/* ---- small curves ---- */

enum { COLUMNS = 240 };

/* The memory over the step in thousandths of `peak`. */
static void put_small_curve(struct rp_json_writer *w, const struct rp_memory_trace *t,
                            uint64_t peak) {
    struct rp_memory_split column[COLUMNS];
    rp_memory_trace_columns(t, rp_max_u64(t->time_ns, 1), COLUMNS, column);
    rp_json_array(w, "curve");
    for (int k = 0; k < COLUMNS; k++)
        rp_json_uint(
            w, NULL,
            (uint64_t)((unsigned __int128)column[k].bytes * 1000 / rp_max_u64(peak, 1)));
    rp_json_end(w);
}

/* ---- keep-all: its memory during each op, and after it ---- */

static void put_keep_all(struct rp_json_writer *w, const struct rp_memory_trace *t,
                         uint64_t unit) {
    uint64_t held = 0;
    rp_json_object(w, "keep_all");
    rp_json_uint(w, "peak", t->peak.bytes);
    rp_json_uint(w, "fixed", t->fixed.bytes);
    put_small_curve(w, t, t->peak.bytes);
    rp_json_array(w, "rise"); /* per op: more than before it, and than during it */
    for (size_t s = 0; s < t->n_steps; s++) {
        uint64_t during = (t->steps[s].during.bytes - t->fixed.bytes) / unit;
        rp_json_int(w, NULL, (int64_t)(during - held));
        while (s + 1 < t->n_steps && t->steps[s + 1].kind == RP_FREE)
            s++;
        held = (t->steps[s].after.bytes - t->fixed.bytes) / unit;
        rp_json_int(w, NULL, (int64_t)(held - during));
    }
    rp_json_end(w);
    rp_json_end(w);
}

/* ---- entries ---- */

static char *scope_text(const struct rp_page *page, const struct rp_claims *c) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_bound_scope_print(&c->bound_for, page->g, f);
    rp_text_close(f);
    return text;
}

static void put_claims(struct rp_json_writer *w, const struct rp_page *page,
                       const struct rp_plan *p) {
    const struct rp_claims *c = &p->claims;
    char *scope = scope_text(page, c);
    rp_json_uint(w, "time", c->time_ns);
    rp_json_uint(w, "recompute", c->recompute_ns);
    rp_json_uint(w, "stall", c->stall_ns);
    rp_json_uint(w, "tail", rp_claims_tail_ns(c));
    rp_json_uint(w, "peak", c->peak_bytes);
    rp_json_uint(w, "arena", p->arena_bytes);
    rp_json_uint(w, "host", p->host_bytes);
    rp_json_uint(w, "bound", c->lower_bound_ns);
    rp_json_string(w, "scope", scope);
    free(scope);
}

static void put_entry(struct rp_json_writer *w, const struct rp_page *page, size_t i,
                      size_t plan, uint64_t keep_all_peak) {
    const struct rp_page_entry *e = &page->entries[i];
    struct rp_memory_trace t;
    if (e->name != NULL)
        rp_json_string(w, "name", e->name);
    rp_json_uint(w, "budget", e->budget_bytes);
    if (e->solver_ns != NULL)
        rp_json_uint(w, "solver", *e->solver_ns);
    if (e->plan == NULL) {
        rp_json_string(w, "reason", e->reason);
        return;
    }
    rp_json_uint(w, "plan", plan);
    rp_json_bool(w, "fits", e->fits);
    put_claims(w, page, e->plan);
    if (page->kind == RP_PAGE_PLAN)
        return;
    rp_memory_trace_plan(page->g, e->plan, &t);
    put_small_curve(w, &t, keep_all_peak);
    rp_memory_trace_fini(&t);
}

static void put_entries(struct rp_json_writer *w, const struct rp_page *page,
                        const size_t *plan_of, uint64_t keep_all_peak) {
    rp_json_array(w, "entries");
    for (size_t i = 0; i < page->n; i++) {
        rp_json_object(w, NULL);
        put_entry(w, page, i, plan_of[i], keep_all_peak);
        rp_json_end(w);
    }
    rp_json_end(w);
}

/* Without plans, keep-all is shown as plans would be that nobody asked to be otherwise. */
static bool is_addressed(const struct rp_page *page) {
    for (size_t i = 0; i < page->n; i++)
        if (page->entries[i].plan != NULL)
            return page->entries[i].plan->addressed;
    return true;
}

void rp_page_put_data(const struct rp_page *page, const size_t *plan_of, FILE *f) {
    static const char *const word[] = {"plan", "comparison", "sweep"};
    const struct rp_graph *g = page->g;
    bool addressed = is_addressed(page);
    uint64_t unit = addressed ? g->device.alignment_bytes : 1;
    struct rp_memory_trace keep_all;
    struct rp_json_writer w = {.f = f, .clean = true};
    rp_memory_trace_keep_all(g, addressed, &keep_all);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "kind", word[page->kind]);
    rp_json_string(&w, "graph", g->name);
    rp_json_string(&w, "source", g->time_source);
    rp_json_uint(&w, "baseline", g->total_time_ns);
    rp_json_bool(&w, "addressed", addressed);
    rp_json_uint(&w, "unit", unit);
    put_device(&w, &g->device);
    put_keep_all(&w, &keep_all, unit);
    put_entries(&w, page, plan_of, keep_all.peak.bytes);
    put_tensors(&w, g);
    put_ops(&w, g);
    rp_json_end(&w);
    rp_json_finish(&w);
    rp_memory_trace_fini(&keep_all);
}
