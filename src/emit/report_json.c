/* The report of report.c as one JSON object. */
#include "base/json_writer.h"
#include "emit/report.h"

static void put_reruns(struct rp_json_writer *w, const struct rp_report *r) {
    rp_json_array(w, "recomputed");
    for (size_t k = 0; k < r->plan.reruns.n; k++) {
        const struct rp_rerun *x = &r->plan.reruns.at[k];
        rp_json_object(w, NULL);
        rp_json_uint(w, "op", x->op);
        rp_json_string(w, "name", r->g->ops[x->op].name);
        rp_json_uint(w, "times", x->times);
        rp_json_uint(w, "bytes", x->bytes);
        rp_json_uint(w, "extra_ns", x->extra_ns);
        rp_json_uint(w, "off_device_ns", x->off_ns);
        rp_json_end(w);
    }
    rp_json_end(w);
}

static void put_steps(struct rp_json_writer *w, const struct rp_report *r) {
    static const char *const word[] = {"run", "free", "swap_out", "swap_in"};
    rp_json_array(w, "steps");
    for (size_t s = 0; s < r->p->steps.n; s++) {
        const struct rp_step *step = &r->p->steps.at[s];
        const struct rp_timed_step *m = &r->plan.steps[s];
        rp_json_newline(w);
        rp_json_object(w, NULL);
        rp_json_uint(w, word[step->kind], step->id);
        rp_json_string(w, "name",
                       step->kind == RP_RUN ? r->g->ops[step->id].name
                                            : r->g->tensors[step->id].name);
        rp_json_uint(w, "start_ns", m->start_ns);
        rp_json_uint(w, "end_ns", m->end_ns);
        rp_json_uint(w, "bytes", step->kind == RP_FREE ? m->after.bytes : m->during.bytes);
        rp_memory_split_json(step->kind == RP_FREE ? &m->after : &m->during, "by_kind", w);
        if (m->again)
            rp_json_bool(w, "again", true);
        rp_json_end(w);
    }
    rp_json_end(w);
}

static void put_totals(struct rp_json_writer *w, const struct rp_report *r) {
    const struct rp_memory_trace *t = &r->plan;
    struct rp_memory_split host = rp_memory_split_host(r->g, r->p);
    rp_json_uint(w, "time_ns", t->time_ns);
    rp_json_uint(w, "baseline_time_ns", r->keep_all.time_ns);
    rp_json_uint(w, "recompute_ns", t->recompute_ns);
    rp_json_uint(w, "stall_ns", t->stall_ns);
    rp_json_uint(w, "lower_bound_ns", r->p->claims.lower_bound_ns);
    rp_json_string(w, "proof", rp_proof_word[r->p->claims.proof]);
    rp_bound_scope_json(&r->p->claims.bound_for, "bound_for", w);
    rp_json_uint(w, "budget_bytes", r->p->budget_bytes);
    rp_json_uint(w, "peak_bytes", t->peak.bytes);
    rp_memory_split_json(&t->peak, "peak_by_kind", w);
    rp_json_uint(w, "keep_all_peak_bytes", r->keep_all.peak.bytes);
    rp_json_uint(w, "fixed_bytes", t->fixed.bytes);
    rp_json_uint(w, "arena_bytes", r->p->arena_bytes);
    rp_json_uint(w, "host_bytes", r->p->host_bytes);
    rp_memory_split_json(&host, "host_by_kind", w);
    rp_json_bool(w, "addressed", r->p->addressed);
    rp_json_uint(w, "swapped_out_bytes", t->copied_bytes[RP_TRACE_TO_HOST]);
    rp_json_uint(w, "d2h_busy_ns", t->busy_ns[RP_TRACE_TO_HOST]);
    rp_json_uint(w, "swapped_in_bytes", t->copied_bytes[RP_TRACE_TO_DEVICE]);
    rp_json_uint(w, "h2d_busy_ns", t->busy_ns[RP_TRACE_TO_DEVICE]);
}

void rp_report_json(const struct rp_report *r, bool with_steps, FILE *f) {
    struct rp_json_writer w = rp_json_writer_on(f);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "verdict", "valid");
    rp_json_string(&w, "graph", r->g->name);
    put_totals(&w, r);
    put_reruns(&w, r);
    if (with_steps)
        put_steps(&w, r);
    rp_json_end(&w);
    rp_json_finish(&w);
}
