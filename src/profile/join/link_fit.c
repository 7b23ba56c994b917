#include "profile/join/link_fit.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/join/quartiles.h"

const char *const rp_link_setting_word[RP_N_LINK_SETTINGS] = {"alone", "both_ways",
                                                              "beside_kernels"};
const char *const rp_link_way_word[2] = {"h2d", "d2h"};

/* ---- fitting ---- */

static int by_size(const void *a, const void *b) {
    const struct rp_copy_sample *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Replaces the sorted samples by one median for each size. Returns the number of sizes. */
static size_t to_medians(struct rp_copy_sample *s, size_t n) {
    size_t n_sizes = 0;
    for (size_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && s[to].bytes == s[from].bytes;)
            to++;
        uint64_t low = s[from + (to - from - 1) / 2].ns,
                 high = s[from + (to - from) / 2].ns;
        s[n_sizes++] = (struct rp_copy_sample){s[from].bytes, low + (high - low) / 2};
    }
    return n_sizes;
}

/* ns = a + b * bytes, with weights 1 / ns^2. */
bool rp_copy_fit_build(struct rp_copy_sample *samples, size_t n, struct rp_copy_fit *fit) {
    double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
    *fit = (struct rp_copy_fit){0};
    if (n == 0)
        return false;
    qsort(samples, n, sizeof *samples, by_size);
    size_t n_sizes = to_medians(samples, n);
    for (size_t i = 0; i < n_sizes; i++) {
        double x = (double)samples[i].bytes, y = (double)samples[i].ns;
        if (y <= 0)
            return false;
        double weight = 1 / (y * y);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    double spread = w * wxx - wx * wx;
    if (n_sizes < 2 || spread <= 0)
        return false;
    double b = (w * wxy - wx * wy) / spread, a = (wy - b * wx) / w;
    if (a < 0) {
        a = 0;
        b = wxy / wxx;
    }
    if (b <= 0 || 1e9 / b >= 9e18 || a >= 9e18)
        return false;
    fit->n = (uint32_t)n;
    fit->latency_ns = (uint64_t)llround(a);
    fit->bytes_per_s = (uint64_t)llround(1e9 / b);
    return fit->bytes_per_s > 0;
}

/* ---- sections ---- */

struct samples {
    struct rp_copy_sample *at;
    size_t n, cap;
};

struct times {
    uint64_t *at;
    size_t n, cap;
};

struct sections {
    struct samples copies[RP_N_LINK_SETTINGS][2];
    struct times kernels[3]; /* beside H2D copies, beside D2H copies, alone */
};

/* Finds the section that a range marks; false if it is none. *ways is a set of bits, 1 for
 * H2D and 2 for D2H. *kernels is the index in sections.kernels, or -1. */
static bool find_section(const char *name, int *setting, unsigned *ways, int *kernels) {
    static const struct {
        const char *name;
        int setting;
        unsigned ways;
        int kernels;
    } known[] = {
        {"@h2d", RP_LINK_ALONE, 1, -1},
        {"@d2h", RP_LINK_ALONE, 2, -1},
        {"@both", RP_LINK_BOTH_WAYS, 3, -1},
        {"@compute", 0, 0, 2},
        {"@compute+h2d", RP_LINK_BESIDE_KERNELS, 1, RP_LINK_H2D},
        {"@compute+d2h", RP_LINK_BESIDE_KERNELS, 2, RP_LINK_D2H},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(name, known[i].name) != 0)
            continue;
        *setting = known[i].setting;
        *ways = known[i].ways;
        *kernels = known[i].kernels;
        return true;
    }
    return false;
}

bool rp_is_link_section(const char *name) {
    int setting, kernels;
    unsigned ways;
    return find_section(name, &setting, &ways, &kernels);
}

/* Adds the work if the section of this name is for it. */
static bool add_sample(const char *name, const struct rp_trace_work *w,
                       struct sections *s) {
    int setting, kernels;
    unsigned ways;
    if (w->end_ns == 0 || w->end_ns < w->start_ns ||
        !find_section(name, &setting, &ways, &kernels))
        return false;
    const struct rp_copy_sample sample = {w->bytes, w->end_ns - w->start_ns};
    const int way = w->kind == RP_WORK_D2H ? RP_LINK_D2H : RP_LINK_H2D;
    const bool copy = w->kind == RP_WORK_H2D || w->kind == RP_WORK_D2H;
    if (copy && (ways >> way & 1) != 0)
        rp_push(&s->copies[setting][way], sample);
    else if (w->kind == RP_WORK_KERNEL && kernels >= 0)
        rp_push(&s->kernels[kernels], sample.ns);
    else
        return false;
    return true;
}

/* A section without samples is an error: its copy rates would be missing without a word. */
static rp_rc gather(const struct rp_trace *t, struct sections *s, struct rp_err *err) {
    bool *sampled = rp_calloc(t->ranges.n + 1, sizeof *sampled);
    for (size_t i = 0; i < t->works.n; i++) {
        uint64_t owner, launcher = rp_trace_launcher(t, &t->works.at[i], &owner);
        const struct rp_trace_range *r = rp_trace_range_of(t, launcher);
        if (r != NULL && add_sample(r->name, &t->works.at[i], s))
            sampled[r - t->ranges.at] = true;
    }
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < t->ranges.n && rc == RP_OK; i++)
        if (!sampled[i] && rp_is_link_section(t->ranges.at[i].name))
            rc =
                rp_fail(err, RP_ENV,
                        "process %" PRIu64 ": CUPTI recorded none of the work that section "
                        "'rp:%s' is for",
                        t->pid, t->ranges.at[i].name);
    free(sampled);
    return rc;
}

static uint64_t median(struct times *t) {
    return t->n > 0 ? rp_quartiles_of(t->at, t->n).median : 0;
}

static rp_rc evaluate(struct sections *s, struct rp_link_fit *fit, struct rp_err *err) {
    for (int setting = 0; setting < RP_N_LINK_SETTINGS; setting++)
        for (int way = 0; way < 2; way++) {
            struct samples *x = &s->copies[setting][way];
            if (x->n > 0 && !rp_copy_fit_build(x->at, x->n, &fit->copies[setting][way]))
                return rp_fail(err, RP_ENV,
                               "cannot fit latency and rate to %zu %s copies (%s): this "
                               "takes two sizes, and larger copies must take longer",
                               x->n, rp_link_way_word[way], rp_link_setting_word[setting]);
        }
    uint64_t alone = median(&s->kernels[2]);
    for (int way = 0; way < 2 && alone > 0; way++)
        fit->kernel_permille[way] =
            (uint64_t)llround(1000 * (double)median(&s->kernels[way]) / (double)alone);
    return RP_OK;
}

rp_rc rp_link_fit_build(const struct rp_trace *traces, size_t n, struct rp_link_fit *fit,
                        struct rp_err *err) {
    struct sections s = {0};
    rp_rc rc = RP_OK;
    *fit = (struct rp_link_fit){0};
    for (size_t i = 0; i < n && rc == RP_OK; i++)
        rc = gather(&traces[i], &s, err);
    if (rc == RP_OK)
        rc = evaluate(&s, fit, err);
    for (int setting = 0; setting < RP_N_LINK_SETTINGS; setting++)
        for (int way = 0; way < 2; way++)
            free(s.copies[setting][way].at);
    for (int i = 0; i < 3; i++)
        free(s.kernels[i].at);
    return rc;
}
