#include "cmd/budget_argument.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/unit_hint.h"
#include "solve/solver.h"

struct rp_option rp_option_activation_budget(struct rp_budget_texts *t, const char *arg) {
    return (struct rp_option){
        .name = "activation-budget",
        .type = RP_OPT_STRING,
        .to = &t->activations,
        .arg = arg,
        .help = "the same on top of sources and kept tensors: 3GiB or 60%"};
}

rp_rc rp_check_budget_texts(const char *command, const char *initial,
                            struct rp_budget_texts *t, struct rp_err *err) {
    if (t->all != NULL && t->activations != NULL)
        return rp_fail(err, RP_USAGE,
                       "%s: --budget cannot be combined with --activation-budget", command);
    if (t->activations == NULL && t->all == NULL)
        t->all = initial;
    if (t->activations == NULL && t->all == NULL)
        return rp_fail(err, RP_USAGE,
                       "%s: --budget or --activation-budget is required (try --help)",
                       command);
    return RP_OK;
}

/* ---- sizes ---- */

enum { MAX_RANGE = 1000 };

/* What a budget is a share of, and what is added to it. */
struct scale {
    const char *command, *option;
    uint64_t whole, base;
};

static struct scale scale_of(const char *command, const struct rp_budget_texts *t,
                             const struct rp_graph *g, bool addressed) {
    uint64_t peak = rp_keep_all_bytes(g, addressed);
    if (t->activations == NULL)
        return (struct scale){command, "budget", peak, 0};
    uint64_t base = g->fixed_bytes + rp_kept_bytes(g, addressed);
    uint64_t at_home_on_host = rp_source_bytes(g) - g->fixed_bytes;
    return (struct scale){command, "activation-budget", peak - base - at_home_on_host,
                          base};
}

static rp_rc parse_one(const struct scale *s, const char *text, uint64_t *budget,
                       struct rp_err *err) {
    size_t len = strlen(text);
    bool is_share = len > 0 && text[len - 1] == '%';
    if (!(is_share ? rp_parse_share(text, s->whole, budget) : rp_parse_bytes(text, budget)))
        return rp_fail(err, RP_USAGE,
                       "%s: --%s: '%.200s' is not a size such as 8GiB, 16GB, 4096 or "
                       "60%%%s",
                       s->command, s->option, text, rp_hint_of_size(text, true).s);
    if (!rp_add(budget, s->base))
        return rp_fail(err, RP_USAGE,
                       "%s: --%s: '%s' passes 2^63-1 bytes with sources and kept tensors",
                       s->command, s->option, text);
    return RP_OK;
}

rp_rc rp_parse_budget(const char *command, const struct rp_budget_texts *t,
                      const struct rp_graph *g, bool addressed, uint64_t *budget,
                      struct rp_err *err) {
    struct scale s = scale_of(command, t, g, addressed);
    return parse_one(&s, t->activations != NULL ? t->activations : t->all, budget, err);
}

/* Appends "SIZE", or of "LOW..HIGH:N" N sizes, evenly spaced. Splits `word`. */
static rp_rc parse_item(const struct scale *s, char *word, struct rp_budgets *to,
                        struct rp_err *err) {
    uint64_t low, high, n;
    char *dots = strstr(word, ".."), *colon = strchr(word, ':');
    rp_rc rc = RP_OK;
    if (dots == NULL && colon == NULL) {
        rc = parse_one(s, word, &low, err);
        if (rc == RP_OK)
            rp_push(to, low);
        return rc;
    }
    if (dots == NULL || colon == NULL || colon < dots || !rp_parse_nat(colon + 1, &n) ||
        n < 2 || n > MAX_RANGE)
        return rp_fail(err, RP_USAGE,
                       "%s: --%s: '%s' is not a range such as 40%%..80%%:9, with 2 to %d "
                       "sizes",
                       s->command, s->option, word, MAX_RANGE);
    *dots = *colon = '\0';
    if ((rc = parse_one(s, word, &low, err)) != RP_OK ||
        (rc = parse_one(s, dots + 2, &high, err)) != RP_OK)
        return rc;
    if (low > high)
        return rp_fail(err, RP_USAGE,
                       "%s: --%s: a range goes from the smaller size, %s, to "
                       "the larger, %s",
                       s->command, s->option, dots + 2, word);
    for (uint64_t k = 0; k < n; k++)
        rp_push(to, low + (uint64_t)((unsigned __int128)k * (high - low) / (n - 1)));
    return RP_OK;
}

rp_rc rp_parse_budgets(const char *command, const struct rp_budget_texts *t,
                       const struct rp_graph *g, bool addressed, struct rp_budgets *to,
                       struct rp_err *err) {
    struct scale s = scale_of(command, t, g, addressed);
    char *copy = rp_strdup(t->activations != NULL ? t->activations : t->all);
    char *rest = copy, *word;
    rp_rc rc = RP_OK;
    *to = (struct rp_budgets){0};
    while (rc == RP_OK && (word = strsep(&rest, ",")) != NULL)
        rc = parse_item(&s, word, to, err);
    free(copy);
    return rc;
}
