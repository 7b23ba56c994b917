/* The program step by step: one line a step, frees that follow each other on one line. */
#include <inttypes.h>

#include "base/format.h"
#include "emit/report.h"

/* Starts in one unit for all, to the nanosecond: steps a millisecond apart differ at the
 * end of a step of seconds too. */
struct clock {
    const char *unit;
    uint64_t ns;
    int decimals;
};

static struct clock clock_for(uint64_t time_ns) {
    if (time_ns >= 1000000)
        return (struct clock){"ms", 1000000, 6};
    if (time_ns >= 1000)
        return (struct clock){"us", 1000, 3};
    return (struct clock){"ns", 1, 0};
}

static struct rp_text32 at(const struct clock *c, uint64_t ns) {
    struct rp_text32 t;
    if (c->decimals == 0)
        snprintf(t.s, sizeof t.s, "%" PRIu64, ns);
    else
        snprintf(t.s, sizeof t.s, "%" PRIu64 ".%0*" PRIu64, ns / c->ns, c->decimals,
                 ns % c->ns);
    return t;
}

static const char *verb(const struct rp_step *s, const struct rp_moment *m) {
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
    const struct clock clock = clock_for(r->plan.time_ns);
    fprintf(f, "%6s %9s %s %10s %10s  %s\n", "step", "start", clock.unit, "takes", "memory",
            "what");
    for (size_t s = 0; s < p->steps.n; s++) {
        const struct rp_step *step = &p->steps.at[s];
        const struct rp_moment *m = &r->plan.moments[s];
        bool is_free = step->kind == RP_FREE;
        size_t last = s;
        while (is_free && last + 1 < p->steps.n && p->steps.at[last + 1].kind == RP_FREE)
            last++;
        fprintf(
            f, "%6zu %12s %10s %10s  %-5s ", s, at(&clock, m->start_ns).s,
            is_free ? "" : rp_show_ns(m->end_ns - m->start_ns).s,
            rp_show_bytes(is_free ? r->plan.moments[last].after_bytes : m->during_bytes).s,
            verb(step, m));
        for (; s < last; s++) {
            rp_put_name(name_of(r->g, &p->steps.at[s]), f);
            fputs(", ", f);
        }
        rp_put_name(name_of(r->g, &p->steps.at[last]), f);
        fputc('\n', f);
    }
}
