#include "emit/report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/mem.h"

void rp_report_build(const struct rp_graph *g, const struct rp_plan *p,
                     struct rp_report *r) {
    *r = (struct rp_report){.g = g, .p = p};
    rp_memory_trace_plan(g, p, &r->plan);
    rp_memory_trace_keep_all(g, p->addressed, &r->keep_all);
}

void rp_report_fini(struct rp_report *r) {
    rp_memory_trace_fini(&r->plan);
    rp_memory_trace_fini(&r->keep_all);
}

static bool begins_character(char c) {
    return ((unsigned char)c & 0xc0) != 0x80; /* not a continuation byte of UTF-8 */
}

/* Pads the name to `width` characters. A longer name is shortened to ".." and its end,
 * which says more than the beginning. */
static void put_padded(const char *name, size_t width, FILE *f) {
    char *clean = rp_clean_copy(name);
    const char *s = clean;
    size_t n = 0;
    for (const char *c = s; *c != '\0'; c++)
        n += begins_character(*c);
    if (n > width) {
        for (n -= width - 2; n > 0 || !begins_character(*s); s++)
            n -= begins_character(*s);
        fputs("..", f);
        n = width;
    }
    fputs(s, f);
    for (; n < width; n++)
        fputc(' ', f);
    free(clean);
}

static void put_time(const struct rp_report *r, FILE *f) {
    const struct rp_memory_trace *t = &r->plan;
    uint64_t base = r->keep_all.time_ns, bound = r->p->claims.lower_bound_ns;
    fprintf(f, "time      %s, %s over keep-all's %s: recompute %s, stall %s%s\n",
            rp_show_ns(t->time_ns).s, rp_show_percent(t->time_ns - base, base).s,
            rp_show_ns(base).s, rp_show_ns(t->recompute_ns).s, rp_show_ns(t->stall_ns).s,
            rp_show_tail(", ", t->time_ns - base - t->recompute_ns - t->stall_ns).s);
    if (bound == 0) {
        fputs("bound     none\n", f);
        return;
    }
    fprintf(f, "bound     %s: gap %s, proof %s", rp_show_ns(bound).s,
            rp_show_percent(t->time_ns - bound, bound).s,
            rp_proof_word[r->p->claims.proof]);
    rp_bound_scope_print(&r->p->claims.bound_for, r->g, f);
    fputc('\n', f);
}

static void put_memory(const struct rp_report *r, FILE *f) {
    const struct rp_memory_trace *t = &r->plan;
    fprintf(f, "memory    peak %s, %s of keep-all's %s, budget %s\n",
            rp_show_bytes(t->peak.bytes).s,
            rp_show_percent(t->peak.bytes, r->keep_all.peak.bytes).s,
            rp_show_bytes(r->keep_all.peak.bytes).s, rp_show_bytes(r->p->budget_bytes).s);
    fprintf(f, "          fixed %s", rp_show_bytes(t->fixed.bytes).s);
    if (r->p->addressed)
        fprintf(f, ", arena %s", rp_show_bytes(r->p->arena_bytes).s);
    if (r->p->host_bytes > 0)
        fprintf(f, ", host %s", rp_show_bytes(r->p->host_bytes).s);
    fputs(r->p->addressed ? "\n" : ", no addresses\n", f);
    fputs("at peak   ", f);
    rp_memory_split_print(&t->peak, f);
    fputc('\n', f);
    struct rp_memory_split host = rp_memory_split_host(r->g, r->p);
    if (host.bytes == 0)
        return;
    fputs("on host   ", f);
    rp_memory_split_print(&host, f);
    fputc('\n', f);
}

/* How much less this plan holds during the op at keep-all's peak. */
static void put_saving(const struct rp_report *r, FILE *f) {
    uint32_t op = r->keep_all.peak_op;
    for (size_t s = 0; op != RP_NONE && s < r->p->steps.n; s++)
        if (r->p->steps.at[s].kind == RP_RUN && r->p->steps.at[s].id == op) {
            uint64_t held = r->plan.steps[s].during.bytes;
            if (held >= r->keep_all.peak.bytes)
                return;
            fprintf(f, "saves     %s at keep-all's peak, during ",
                    rp_show_bytes(r->keep_all.peak.bytes - held).s);
            rp_put_clean(r->g->ops[op].name, f);
            fputc('\n', f);
            return;
        }
}

static void put_copies(const struct rp_report *r, FILE *f) {
    const struct rp_memory_trace *t = &r->plan;
    if (t->copied_bytes[RP_TRACE_TO_HOST] == 0 && t->copied_bytes[RP_TRACE_TO_DEVICE] == 0)
        return;
    fprintf(f, "copies    out %s (queue busy %s), in %s (%s)\n",
            rp_show_bytes(t->copied_bytes[RP_TRACE_TO_HOST]).s,
            rp_show_percent(t->busy_ns[RP_TRACE_TO_HOST], t->time_ns).s,
            rp_show_bytes(t->copied_bytes[RP_TRACE_TO_DEVICE]).s,
            rp_show_percent(t->busy_ns[RP_TRACE_TO_DEVICE], t->time_ns).s);
}

static void put_rerun(const struct rp_report *r, const struct rp_rerun *x, FILE *f) {
    put_padded(r->g->ops[x->op].name, 32, f);
    fprintf(f, " %9s %5" PRIu32 " %9s %7s %10s\n", rp_show_bytes(x->bytes).s, x->times,
            rp_show_ns(x->extra_ns).s, rp_show_percent(x->extra_ns, r->plan.recompute_ns).s,
            rp_show_ns(x->off_ns).s);
}

static void put_reruns(const struct rp_report *r, uint32_t rows, FILE *f) {
    const struct rp_memory_trace *t = &r->plan;
    uint64_t times = 0, rest_ns = 0;
    if (t->reruns.n == 0) {
        fputs("recompute nothing\n", f);
        return;
    }
    for (size_t k = 0; k < t->reruns.n; k++) {
        times += t->reruns.at[k].times;
        rest_ns += k >= rows ? t->reruns.at[k].extra_ns : 0;
    }
    fprintf(f, "recompute %zu of %" PRIu32 " ops, %" PRIu64 " extra run%s, %s\n\n",
            t->reruns.n, r->g->n_ops, times, times == 1 ? "" : "s",
            rp_show_ns(t->recompute_ns).s);
    fprintf(f, "%-32s %9s %5s %9s %7s %10s\n", "recomputed op", "bytes", "times", "extra",
            "share", "off device");
    for (size_t k = 0; k < t->reruns.n && k < rows; k++)
        put_rerun(r, &t->reruns.at[k], f);
    if (t->reruns.n > rows)
        fprintf(f, "... and %zu more %33s %7s\n", t->reruns.n - rows, rp_show_ns(rest_ns).s,
                rp_show_percent(rest_ns, t->recompute_ns).s);
}

void rp_report_text(const struct rp_report *r, uint32_t rows, FILE *f) {
    fputs("plan      for ", f);
    rp_put_clean(r->g->name, f);
    fprintf(f, ": %zu steps, costs from ", r->p->steps.n);
    rp_put_clean(r->g->time_source, f);
    fputc('\n', f);
    put_time(r, f);
    put_memory(r, f);
    put_saving(r, f);
    put_copies(r, f);
    put_reruns(r, rows, f);
}

/* ---- step by step: one line a step, consecutive frees on one line ---- */

/* All starts are shown in the same unit and to the nanosecond, so that times of different
 * steps of the plan can be compared. */
struct start_format {
    const char *unit;
    uint64_t ns;
    int decimals;
};

static struct start_format start_format_for(uint64_t time_ns) {
    if (time_ns >= 1000000)
        return (struct start_format){"ms", 1000000, 6};
    if (time_ns >= 1000)
        return (struct start_format){"us", 1000, 3};
    return (struct start_format){"ns", 1, 0};
}

static struct rp_text32 show_start(const struct start_format *c, uint64_t ns) {
    struct rp_text32 t;
    if (c->decimals == 0)
        snprintf(t.s, sizeof t.s, "%" PRIu64, ns);
    else
        snprintf(t.s, sizeof t.s, "%" PRIu64 ".%0*" PRIu64, ns / c->ns, c->decimals,
                 ns % c->ns);
    return t;
}

static const char *verb(const struct rp_step *s, const struct rp_timed_step *m) {
    switch (s->kind) {
    case RP_RUN:
        return m->again ? "again" : "run";
    case RP_SWAP_OUT:
        return "out";
    case RP_SWAP_IN:
        return "in";
    case RP_FREE:
        break;
    }
    return "free";
}

static const char *name_of(const struct rp_graph *g, const struct rp_step *s) {
    return s->kind == RP_RUN ? g->ops[s->id].name : g->tensors[s->id].name;
}

void rp_report_steps(const struct rp_report *r, FILE *f) {
    const struct rp_plan *p = r->p;
    const struct start_format format = start_format_for(r->plan.time_ns);
    fprintf(f, "%6s %9s %s %10s %10s  %s\n", "step", "start", format.unit, "takes",
            "memory", "what");
    for (size_t s = 0; s < p->steps.n; s++) {
        const struct rp_step *step = &p->steps.at[s];
        const struct rp_timed_step *m = &r->plan.steps[s];
        bool is_free = step->kind == RP_FREE;
        size_t last = s;
        while (is_free && last + 1 < p->steps.n && p->steps.at[last + 1].kind == RP_FREE)
            last++;
        fprintf(
            f, "%6zu %12s %10s %10s  %-5s ", s, show_start(&format, m->start_ns).s,
            is_free ? "" : rp_show_ns(m->end_ns - m->start_ns).s,
            rp_show_bytes(is_free ? r->plan.steps[last].after.bytes : m->during.bytes).s,
            verb(step, m));
        for (; s < last; s++) {
            rp_put_clean(name_of(r->g, &p->steps.at[s]), f);
            fputs(", ", f);
        }
        rp_put_clean(name_of(r->g, &p->steps.at[last]), f);
        fputc('\n', f);
    }
}
