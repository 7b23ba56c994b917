#include "cmd/verify_report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"

const char *const rp_replay_word[RP_N_REPLAYS] = {NULL, "hash", "ref", "cuda"};

/* ---- text ---- */

static void print_text_rejected(const struct rp_verify_report *r, const char *reason,
                                FILE *f) {
    rp_put_styled(RP_BAD, "rejected  ", f);
    rp_put_clean(r->plan_path, f);
    fprintf(f, ": %s\n", reason);
}

static void print_memory(const struct rp_verify_report *r, FILE *f) {
    fprintf(f, "memory    peak %s of %s: sources %s, %s %s",
            rp_show_bytes(r->verdict.peak_bytes).s, rp_show_bytes(r->pair.p.budget_bytes).s,
            rp_show_bytes(r->verdict.fixed_bytes).s,
            r->pair.p.addressed ? "arena" : "sum without addresses",
            rp_show_bytes(r->pair.p.arena_bytes).s);
    if (r->verdict.host_used_bytes > 0)
        fprintf(f, ", host %s", rp_show_bytes(r->verdict.host_used_bytes).s);
    fputc('\n', f);
}

/* Every op runs at least once, so a bound up to the sum of all op times needs no row. */
static void print_support(const struct rp_verify_report *r, FILE *f) {
    if (r->unsupported != NULL) {
        rp_put_styled(RP_BAD, "certified no", f);
        fprintf(f, ": %s\n", r->unsupported);
    } else if (r->support.claim_bound_ns <= r->pair.g.total_time_ns)
        fprintf(f, "certified at least %s, the sum of all op times, for every plan\n",
                rp_show_ns(r->support.claim_bound_ns).s);
    else
        fprintf(f,
                "certified at least %s, for plans %s swaps, in %s order of first "
                "runs%s\n",
                rp_show_ns(r->support.claim_bound_ns).s,
                r->certificate.swaps ? "with" : "without",
                r->certificate.has_order ? "its" : "the graph's",
                r->support.in_order ? ", in order between them" : "");
}

static void print_text_valid(const struct rp_verify_report *r, FILE *f) {
    const struct rp_verdict *v = &r->verdict;
    uint64_t base = v->baseline_time_ns, bound = r->pair.p.claims.lower_bound_ns;
    rp_put_styled(RP_GOOD, "valid     ", f);
    rp_put_clean(r->plan_path, f);
    fputs(" for ", f);
    rp_put_clean(r->pair.g.name, f);
    fputc('\n', f);
    fprintf(f, "time      %s, %s over keep-all: recompute %s, stall %s%s\n",
            rp_show_ns(v->time_ns).s, rp_show_percent(v->time_ns - base, base).s,
            rp_show_percent(v->recompute_ns, base).s, rp_show_percent(v->stall_ns, base).s,
            rp_show_tail(", ", rp_claims_tail_ns(&r->pair.p.claims)).s);
    print_memory(r, f);
    fprintf(f, "bound     %s, gap %s, proof %s (claimed)", rp_show_ns(bound).s,
            rp_show_percent(v->time_ns - bound, bound).s,
            rp_proof_word[r->pair.p.claims.proof]);
    rp_bound_scope_print(&r->pair.p.claims.bound_for, &r->pair.g, f);
    fputc('\n', f);
    fprintf(f, "steps     %zu runs, %zu of them again", v->n_runs, v->n_reruns);
    if (v->n_swap_outs + v->n_swap_ins > 0)
        fprintf(f, "; swaps: %zu out (%s), %zu in (%s)", v->n_swap_outs,
                rp_show_bytes(v->swapped_out_bytes).s, v->n_swap_ins,
                rp_show_bytes(v->swapped_in_bytes).s);
    fputc('\n', f);
    if (r->replayed)
        fprintf(
            f,
            "replay    %zu values right in %zu orders of the copies, %zu device and %zu "
            "host cells\n",
            r->hash.n_values, r->hash.n_orders, r->hash.n_device_cells,
            r->hash.n_host_cells);
    else
        fputs("replay    none (--no-replay)\n", f);
    struct rp_text64 steps = {""};
    if (r->ref.n_steps > 1)
        snprintf(steps.s, sizeof steps.s, "; %" PRIu32 " training steps", r->ref.n_steps);
    if (r->replay == RP_REPLAY_REF)
        fprintf(f,
                "kernels   %" PRIu64 " tensors equal bit for bit in %" PRIu32
                " orders of the copies, %" PRIu32 " of them kept%s\n",
                r->ref.n_checked, r->ref.n_orders, r->ref.n_kept, steps.s);
    if (r->cuda != NULL)
        fprintf(f, "cuda      %s\n", r->cuda);
    if (r->certificate_path != NULL)
        print_support(r, f);
}

/* ---- JSON ---- */

/* part/whole as percent with four decimals; null if `whole` is 0. */
static void write_percent(struct rp_json_writer *w, const char *key, uint64_t part,
                          uint64_t whole) {
    if (whole == 0) {
        rp_json_null(w, key);
        return;
    }
    unsigned __int128 x = (unsigned __int128)part * 1000000u / whole;
    char *text =
        rp_format("%" PRIu64 ".%04u", (uint64_t)(x / 10000), (unsigned)(x % 10000));
    rp_json_raw(w, key, text);
    free(text);
}

static void begin_json(struct rp_json_writer *w, const struct rp_verify_report *r,
                       const char *verdict) {
    rp_json_object(w, NULL);
    rp_json_string(w, "verdict", verdict);
    rp_json_string(w, "plan", r->plan_path);
    rp_json_string(w, "graph", r->pair.g.name);
}

static void print_json_rejected(const struct rp_verify_report *r, const char *reason,
                                FILE *f) {
    struct rp_json_writer w = rp_json_writer_on(f);
    begin_json(&w, r, "rejected");
    rp_json_string(&w, "reason", reason);
    rp_json_end(&w);
    rp_json_finish(&w);
}

static void write_time(struct rp_json_writer *w, const struct rp_verdict *v) {
    rp_json_uint(w, "time_ns", v->time_ns);
    rp_json_uint(w, "baseline_time_ns", v->baseline_time_ns);
    write_percent(w, "overhead_percent", v->time_ns - v->baseline_time_ns,
                  v->baseline_time_ns);
    rp_json_uint(w, "recompute_ns", v->recompute_ns);
    rp_json_uint(w, "stall_ns", v->stall_ns);
}

static void write_memory(struct rp_json_writer *w, const struct rp_verify_report *r) {
    const struct rp_plan *p = &r->pair.p;
    rp_json_uint(w, "peak_bytes", r->verdict.peak_bytes);
    rp_json_uint(w, "budget_bytes", p->budget_bytes);
    rp_json_uint(w, "fixed_bytes", r->verdict.fixed_bytes);
    rp_json_bool(w, "addressed", p->addressed);
    rp_json_uint(w, "arena_bytes", p->arena_bytes);
    rp_json_uint(w, "arena_used_bytes", r->verdict.arena_used_bytes);
    rp_json_uint(w, "host_bytes", p->host_bytes);
    rp_json_uint(w, "host_used_bytes", r->verdict.host_used_bytes);
}

static void write_steps(struct rp_json_writer *w, const struct rp_verdict *v) {
    rp_json_uint(w, "runs", v->n_runs);
    rp_json_uint(w, "reruns", v->n_reruns);
    rp_json_uint(w, "swap_outs", v->n_swap_outs);
    rp_json_uint(w, "swap_ins", v->n_swap_ins);
    rp_json_uint(w, "swapped_out_bytes", v->swapped_out_bytes);
    rp_json_uint(w, "swapped_in_bytes", v->swapped_in_bytes);
    rp_json_uint(w, "d2h_busy_ns", v->d2h_busy_ns);
    rp_json_uint(w, "h2d_busy_ns", v->h2d_busy_ns);
}

static void write_replay(struct rp_json_writer *w, const struct rp_verify_report *r) {
    if (r->replayed) {
        rp_json_object(w, "replay");
        rp_json_uint(w, "schedules", r->hash.n_orders);
        rp_json_uint(w, "values", r->hash.n_values);
        rp_json_uint(w, "device_cells", r->hash.n_device_cells);
        rp_json_uint(w, "host_cells", r->hash.n_host_cells);
        rp_json_end(w);
    } else {
        rp_json_null(w, "replay");
    }
    if (r->replay == RP_REPLAY_REF) {
        rp_json_object(w, "kernels");
        rp_json_uint(w, "orders", r->ref.n_orders);
        rp_json_uint(w, "equal", r->ref.n_checked);
        rp_json_uint(w, "kept", r->ref.n_kept);
        rp_json_uint(w, "training_steps", r->ref.n_steps);
        rp_json_end(w);
    }
    if (r->cuda != NULL)
        rp_json_raw(w, "cuda", r->cuda);
}

/* Which plans bound_ns is about: a reader who compares it with this plan's time must know
 * whether this plan is one of them. */
static void write_scope(struct rp_json_writer *w, const struct rp_verify_report *r) {
    const struct rp_certificate *c = &r->certificate;
    rp_json_object(w, "bound_for");
    rp_json_bool(w, "this_plan", r->support.for_plan);
    rp_json_bool(w, "swap", c->swaps);
    if (c->swaps && c->host_budget_bytes < RP_MAX_QUANTITY)
        rp_json_uint(w, "host_budget_bytes", c->host_budget_bytes);
    else
        rp_json_null(w, "host_budget_bytes");
    rp_json_string(w, "order", c->has_order ? "certificate" : "given");
    rp_json_string(w, "runs", r->support.in_order ? "in order" : "any");
    rp_json_bool(w, "runs_at_the_end", false);
    rp_json_end(w);
}

static void write_support(struct rp_json_writer *w, const struct rp_verify_report *r) {
    rp_json_object(w, "certificate");
    rp_json_bool(w, "supported", r->unsupported == NULL);
    rp_json_uint(w, "bound_ns", r->support.bound_ns);
    write_scope(w, r);
    rp_json_uint(w, "plan_bound_ns", r->support.claim_bound_ns);
    rp_json_bool(w, "in_order", r->support.in_order);
    rp_json_bool(w, "swaps", r->certificate.swaps);
    if (r->unsupported != NULL)
        rp_json_string(w, "reason", r->unsupported);
    rp_json_end(w);
}

static void print_json_valid(const struct rp_verify_report *r, FILE *f) {
    const struct rp_verdict *v = &r->verdict;
    uint64_t bound = r->pair.p.claims.lower_bound_ns;
    struct rp_json_writer w = rp_json_writer_on(f);
    begin_json(&w, r, "valid");
    write_time(&w, v);
    write_memory(&w, r);
    write_steps(&w, v);
    rp_json_uint(&w, "lower_bound_ns", bound);
    write_percent(&w, "gap_percent", v->time_ns - bound, bound);
    rp_json_string(&w, "proof", rp_proof_word[r->pair.p.claims.proof]);
    rp_bound_scope_json(&r->pair.p.claims.bound_for, "bound_for", &w);
    write_replay(&w, r);
    if (r->certificate_path != NULL)
        write_support(&w, r);
    rp_json_end(&w);
    rp_json_finish(&w);
}

void rp_verify_report_valid(const struct rp_verify_report *r, bool json, FILE *f) {
    (json ? print_json_valid : print_text_valid)(r, f);
}

void rp_verify_report_rejected(const struct rp_verify_report *r, const char *reason,
                               bool json, FILE *f) {
    (json ? print_json_rejected : print_text_rejected)(r, reason, f);
}
