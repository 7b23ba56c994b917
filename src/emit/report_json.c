/* What report.c says, as one JSON object. */
#include <inttypes.h>

#include "base/json.h"
#include "emit/report.h"

static void put_nat(FILE *f, const char *key, uint64_t value) {
    fprintf(f, ",\"%s\":%" PRIu64, key, value);
}

static void put_reruns(const struct rp_report *r, FILE *f) {
    fputs(",\"recomputed\":[", f);
    for (size_t k = 0; k < r->plan.reruns.n; k++) {
        const struct rp_rerun *x = &r->plan.reruns.at[k];
        fprintf(f, "%s{\"op\":%" PRIu32 ",\"name\":", k ? "," : "", x->op);
        rp_json_put_string(f, r->g->ops[x->op].name);
        put_nat(f, "times", x->times);
        put_nat(f, "bytes", x->bytes);
        put_nat(f, "extra_ns", x->extra_ns);
        put_nat(f, "off_device_ns", x->off_ns);
        fputc('}', f);
    }
    fputc(']', f);
}

static void put_steps(const struct rp_report *r, FILE *f) {
    static const char *const word[] = {"run", "free", "swap_out", "swap_in"};
    fputs(",\"steps\":[", f);
    for (size_t s = 0; s < r->p->steps.n; s++) {
        const struct rp_step *step = &r->p->steps.at[s];
        const struct rp_moment *m = &r->plan.moments[s];
        fprintf(f, "%s{\"%s\":%" PRIu32 ",\"name\":", s ? ",\n" : "\n", word[step->kind],
                step->id);
        rp_json_put_string(f, step->kind == RP_RUN ? r->g->ops[step->id].name
                                                   : r->g->tensors[step->id].name);
        put_nat(f, "start_ns", m->start_ns);
        put_nat(f, "end_ns", m->end_ns);
        put_nat(f, "bytes", step->kind == RP_FREE ? m->after_bytes : m->during_bytes);
        fputs(m->again ? ",\"again\":true}" : "}", f);
    }
    fputc(']', f);
}

void rp_report_json(const struct rp_report *r, bool with_steps, FILE *f) {
    const struct rp_memory_trace *t = &r->plan;
    fputs("{\"verdict\":\"valid\",\"graph\":", f);
    rp_json_put_string(f, r->g->name);
    put_nat(f, "time_ns", t->time_ns);
    put_nat(f, "baseline_time_ns", r->keep_all.time_ns);
    put_nat(f, "recompute_ns", t->recompute_ns);
    put_nat(f, "stall_ns", t->stall_ns);
    put_nat(f, "lower_bound_ns", r->p->claims.lower_bound_ns);
    fprintf(f, ",\"proof\":\"%s\"", rp_proof_word[r->p->claims.proof]);
    put_nat(f, "budget_bytes", r->p->budget_bytes);
    put_nat(f, "peak_bytes", t->peak_bytes);
    put_nat(f, "keep_all_peak_bytes", r->keep_all.peak_bytes);
    put_nat(f, "fixed_bytes", t->fixed_bytes);
    put_nat(f, "arena_bytes", r->p->arena_bytes);
    put_nat(f, "host_bytes", r->p->host_bytes);
    fprintf(f, ",\"addressed\":%s", r->p->addressed ? "true" : "false");
    put_nat(f, "swapped_out_bytes", t->copied_bytes[RP_TO_HOST]);
    put_nat(f, "d2h_busy_ns", t->busy_ns[RP_TO_HOST]);
    put_nat(f, "swapped_in_bytes", t->copied_bytes[RP_TO_DEVICE]);
    put_nat(f, "h2d_busy_ns", t->busy_ns[RP_TO_DEVICE]);
    put_reruns(r, f);
    if (with_steps)
        put_steps(r, f);
    fputs("}\n", f);
}
