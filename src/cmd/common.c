#include "cmd/common.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/options.h"
#include "solve/solver.h"
#include "verify/verifier.h"

rp_rc rp_parse_budget(const char *command, const char *text, const struct rp_graph *g,
                      bool addressed, uint64_t *budget, struct rp_err *err) {
    size_t len = strlen(text);
    if (len > 0 && text[len - 1] == '%') {
        char *end;
        double share = strtod(text, &end);
        double bytes = (double)rp_keep_all_bytes(g, addressed) * share / 100;
        if (strspn(text, "0123456789.") == len - 1 && end == text + len - 1 && share > 0 &&
            bytes < (double)RP_MAX_QUANTITY) {
            *budget = (uint64_t)bytes;
            return RP_OK;
        }
    } else if (rp_parse_bytes(text, budget)) {
        return RP_OK;
    }
    return rp_fail(err, RP_USAGE,
                   "%s: --budget: '%s' is not a size such as 8GiB, 16GB, 4096 or 60%%",
                   command, text);
}

rp_rc rp_parse_budgets(const char *command, const char *text, const struct rp_graph *g,
                       bool addressed, uint64_t **budgets, size_t *n, struct rp_err *err) {
    char *copy = rp_strdup(text), *rest = copy, *word;
    rp_rc rc = RP_OK;
    *n = 0;
    *budgets = rp_calloc(strlen(text) + 1, sizeof **budgets);
    while (rc == RP_OK && (word = strsep(&rest, ",")) != NULL)
        rc = rp_parse_budget(command, word, g, addressed, &(*budgets)[(*n)++], err);
    free(copy);
    if (rc != RP_OK) {
        free(*budgets);
        *budgets = NULL;
    }
    return rc;
}

rp_rc rp_parse_policies(const char *command, const char *text, bool *chosen,
                        struct rp_err *err) {
    char *copy = rp_strdup(text), *rest = copy, *word;
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < rp_n_policies; i++)
        chosen[i] = text == NULL;
    while (rc == RP_OK && rest != NULL && (word = strsep(&rest, ",")) != NULL) {
        const struct rp_policy *policy = rp_policy_find(word);
        if (policy == NULL)
            rc = rp_fail(err, RP_USAGE, "%s: --policy: no policy '%s'", command, word);
        else
            chosen[policy - rp_policies] = true;
    }
    free(copy);
    return rc;
}

rp_rc rp_check_times(const struct rp_graph *g, const char *file, struct rp_err *err) {
    if (g->n_ops > 0 && g->total_time_ns == 0)
        return rp_fail(err, RP_INPUT,
                       "%s: all op times are 0: run 'remat-plan profile' on it first",
                       rp_path_name(file));
    return RP_OK;
}

/* "-" is one place, and so is a path that is written twice, if the second would replace the
 * first: /dev/null takes both. */
static bool same_place(const struct rp_output *a, const struct rp_output *b) {
    struct stat st;
    if (a->path == NULL || b->path == NULL || strcmp(a->path, b->path) != 0)
        return false;
    return strcmp(a->path, "-") == 0 || stat(a->path, &st) != 0 || S_ISREG(st.st_mode);
}

rp_rc rp_check_outputs(const char *command, const struct rp_output *o, size_t n,
                       struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (same_place(&o[k], &o[i]))
                return rp_fail(err, RP_USAGE, "%s: %s and %s both write to %s", command,
                               o[k].what, o[i].what,
                               strcmp(o[i].path, "-") == 0 ? "standard output" : o[i].path);
    for (size_t i = 0; i < n && rc == RP_OK; i++)
        if (o[i].path != NULL)
            rc = rp_probe_file(o[i].path, err);
    return rc;
}

bool rp_uses_stdout(const struct rp_output *o, size_t n) {
    bool uses = false;
    for (size_t i = 0; i < n; i++)
        uses = uses || (o[i].path != NULL && strcmp(o[i].path, "-") == 0);
    return uses;
}

static volatile sig_atomic_t own_flag;
static volatile sig_atomic_t *interrupted = &own_flag;

/* One that follows at once is the same one: timeout(1) sends its signal to the process and
 * to its group. */
static void on_interrupt(int signal_number) {
    static volatile sig_atomic_t seen;
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!seen)
        first = now;
    seen = *interrupted = 1;
    if (now.tv_sec > first.tv_sec + 1) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
    }
}

const volatile sig_atomic_t *rp_watch_interrupts(void) {
    void *shared = mmap(NULL, sizeof *interrupted, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared != MAP_FAILED)
        interrupted = shared;
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    return interrupted;
}

rp_rc rp_outcome_make(const struct rp_graph *g, const struct rp_policy *policy,
                      const struct rp_policy_options *o, struct rp_outcome *out,
                      struct rp_err *err) {
    struct rp_verdict v;
    struct rp_err why = {{0}};
    *out = (struct rp_outcome){0};
    out->rc = rp_policy_plan(g, policy, o, &out->plan, &out->report, err);
    if (out->rc == RP_NO || out->rc == RP_LIMIT)
        return RP_OK;
    if (out->rc != RP_OK)
        return out->rc;
    if (rp_verify(g, &out->plan, &v, &why) == RP_OK) {
        out->report.out_bytes = v.swapped_out_bytes;
        out->report.in_bytes = v.swapped_in_bytes;
        return RP_OK;
    }
    rp_outcome_fini(out);
    return rp_fail(err, RP_BUG, "verify rejects the plan of %s: %.900s", policy->name,
                   why.msg);
}

void rp_outcome_fini(struct rp_outcome *out) {
    rp_plan_fini(&out->plan);
}

bool rp_outcome_fits(const struct rp_outcome *out) {
    return out->rc == RP_OK && out->report.fits;
}

rp_rc rp_parse_bandwidth(const char *command, const char *option, const char *text,
                         uint64_t *bytes_per_s, struct rp_err *err) {
    if (text == NULL)
        return RP_OK;
    char *with_unit = rp_format("%sGB", text);
    bool ok = rp_parse_bytes(with_unit, bytes_per_s);
    free(with_unit);
    return ok ? RP_OK
              : rp_fail(err, RP_USAGE, "%s: --%s: '%s' is not a number of GB/s", command,
                        option, text);
}
