#include "cmd/policy_argument.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/options.h"

/* ---- messages ---- */

const char *rp_policy_name(size_t i) {
    return i < rp_n_policies ? rp_policies[i]->name : NULL;
}

static rp_rc refuse_policy(const char *command, const char *name, struct rp_err *err) {
    if (strchr(name, ',') != NULL)
        return rp_fail(err, RP_USAGE,
                       "%s: --policy: '%.80s' is more than one policy ('remat-plan "
                       "compare' takes several)",
                       command, name);
    struct rp_nearest near = rp_nearest_to(name, strlen(name));
    rp_nearest_try_all(&near, rp_policy_name);
    char *what = rp_format("%s: --policy: unknown policy", command);
    char *advice = rp_list_names("the policies are ", rp_policy_name);
    rp_refuse_name(what, name, "", &near, advice, err);
    free(what);
    free(advice);
    return RP_USAGE;
}

static rp_rc refuse_key(const char *command, const struct rp_policy *policy,
                        const char *key, struct rp_err *err) {
    if (policy->options == NULL)
        return rp_fail(err, RP_USAGE,
                       "%s: --policy: %s has no options, but '%.80s' was given", command,
                       policy->name, key);
    struct rp_nearest near = rp_nearest_to(key, strlen(key));
    char *advice;
    size_t len;
    FILE *f = rp_text_open(&advice, &len);
    for (const struct rp_policy_option *o = policy->options; o->key != NULL; o++) {
        rp_nearest_try(&near, o->key);
        fprintf(f, "%s%s", o == policy->options ? "its options are " : ", ", o->key);
    }
    rp_text_close(f);
    char *what = rp_format("%s: --policy: %s: unknown option", command, policy->name);
    rp_refuse_name(what, key, "", &near, advice, err);
    free(what);
    free(advice);
    return RP_USAGE;
}

static rp_rc refuse_value(const char *command, const struct rp_policy *policy,
                          const struct rp_policy_option *option, const char *value,
                          struct rp_err *err) {
    if (option->type == RP_POLICY_FLAG)
        return rp_fail(err, RP_USAGE, "%s: --policy: %s:%s takes no value", command,
                       policy->name, option->key);
    if (value == NULL)
        return rp_fail(err, RP_USAGE, "%s: --policy: %s:%s needs a value: %s=%s", command,
                       policy->name, option->key, option->key, option->values);
    bool word = option->type == RP_POLICY_CHOICE;
    return rp_fail(err, RP_USAGE, "%s: --policy: %s:%s: '%.80s' is not %s%s", command,
                   policy->name, option->key, value,
                   word                              ? "one of "
                   : option->type == RP_POLICY_SHARE ? "a number from 0 to 1"
                                                     : "a whole number",
                   word ? option->values : "");
}

/* ---- parsing ---- */

static bool parse_choice(const char *words, const char *value, uint64_t *index) {
    size_t len = strlen(value);
    uint64_t i = 0;
    for (const char *p = words;; p += strcspn(p, "|") + 1, i++) {
        size_t n = strcspn(p, "|");
        if (n == len && strncmp(p, value, n) == 0) {
            *index = i;
            return true;
        }
        if (p[n] == '\0')
            return false;
    }
}

static bool parse_share(const char *value, uint64_t *millionths) {
    char *end;
    double share = strtod(value, &end);
    if (*value == '\0' || strspn(value, "0123456789.") != strlen(value) || *end != '\0' ||
        !(share <= 1))
        return false;
    *millionths = (uint64_t)(share * 1e6 + 0.5);
    return true;
}

static bool store(const struct rp_policy_option *option, const char *value,
                  struct rp_policy_options *o) {
    void *to = (char *)o + option->offset;
    switch (option->type) {
    case RP_POLICY_FLAG:
        *(bool *)to = true;
        return value == NULL;
    case RP_POLICY_NAT:
        return value != NULL && rp_parse_nat(value, to);
    case RP_POLICY_SHARE:
        return value != NULL && parse_share(value, to);
    case RP_POLICY_CHOICE:
        return value != NULL && parse_choice(option->values, value, to);
    }
    return false;
}

/* Parses "KEY" or "KEY=VALUE". Splits `text` at the "=". */
static rp_rc parse_option(const char *command, const struct rp_policy *policy, char *text,
                          struct rp_policy_options *o, struct rp_err *err) {
    const struct rp_policy_option *option = policy->options;
    char *value = text, *key = strsep(&value, "=");
    while (option != NULL && option->key != NULL && strcmp(option->key, key) != 0)
        option++;
    if (option == NULL || option->key == NULL)
        return refuse_key(command, policy, key, err);
    return store(option, value, o) ? RP_OK
                                   : refuse_value(command, policy, option, value, err);
}

/* Parses one policy with its options. Splits `text` at the colons. */
static rp_rc parse_policy(const char *command, char *text, struct rp_policy_options *o,
                          const struct rp_policy **policy, struct rp_err *err) {
    char *rest = text, *word = strsep(&rest, ":");
    rp_rc rc = RP_OK;
    *policy = rp_policy_find(word);
    if (*policy == NULL)
        return refuse_policy(command, word, err);
    while (rc == RP_OK && (word = strsep(&rest, ":")) != NULL)
        rc = parse_option(command, *policy, word, o, err);
    const char *fault = (*policy)->check != NULL ? (*policy)->check(o) : NULL;
    if (rc == RP_OK && fault != NULL)
        return rp_fail(err, RP_USAGE, "%s: --policy: %s: %s", command, (*policy)->name,
                       fault);
    return rc;
}

rp_rc rp_parse_policy(const char *command, const char *text, struct rp_policy_options *o,
                      const struct rp_policy **policy, struct rp_err *err) {
    *policy = NULL;
    if (text == NULL)
        return RP_OK;
    char *copy = rp_strdup(text);
    rp_rc rc = parse_policy(command, copy, o, policy, err);
    free(copy);
    return rc;
}

rp_rc rp_check_policy_allowed(const char *command, const struct rp_policy *policy,
                              bool no_recompute, bool no_swap, struct rp_err *err) {
    bool recomputes = no_recompute && !rp_policy_can_avoid_recompute(policy);
    bool swaps = no_swap && !rp_policy_can_avoid_swap(policy);
    if (recomputes || swaps)
        return rp_fail(err, RP_USAGE,
                       "%s: %s cannot be combined with --policy %s, which always %s",
                       command, recomputes ? "--no-recompute" : "--no-swap", policy->name,
                       recomputes ? "recomputes" : "swaps");
    return RP_OK;
}

rp_rc rp_parse_policies(const char *command, const char *text, struct rp_policy_options *o,
                        bool *chosen, struct rp_err *err) {
    char *copy = rp_strdup(text), *rest = copy, *word;
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < rp_n_policies; i++)
        chosen[i] = text == NULL;
    while (rc == RP_OK && (word = strsep(&rest, ",")) != NULL) {
        const struct rp_policy *policy;
        rc = parse_policy(command, word, o, &policy, err);
        if (rc != RP_OK)
            break;
        if (chosen[rp_policy_index(policy)] && policy->options != NULL)
            rc = rp_fail(err, RP_USAGE, "%s: --policy: %s is listed twice", command,
                         policy->name);
        chosen[rp_policy_index(policy)] = true;
    }
    free(copy);
    return rc;
}

/* ---- help ---- */

static void print_option(const struct rp_policy_option *o) {
    char *left =
        o->values != NULL ? rp_format("%s=%s", o->key, o->values) : rp_strdup(o->key);
    printf("    %-30s %s", left, o->help);
    if (o->type == RP_POLICY_CHOICE) {
        const char *word = o->values;
        for (uint64_t i = 0; i < o->initial; i++)
            word += strcspn(word, "|") + 1;
        printf(" (%.*s)", (int)strcspn(word, "|"), word);
    } else if (o->type == RP_POLICY_NAT && o->initial == UINT64_MAX) {
        printf(" (no limit)");
    } else if (o->type == RP_POLICY_NAT) {
        printf(" (%" PRIu64 ")", o->initial);
    }
    putchar('\n');
    free(left);
}

void rp_print_policies(void) {
    putchar('\n');
    rp_put_styled(RP_HEADING, "policies", stdout);
    puts(" (NAME, or with options of the policy NAME:KEY=VALUE:KEY):");
    for (size_t i = 0; i < rp_n_policies; i++) {
        const struct rp_policy *policy = rp_policies[i];
        printf("  %-14s %s\n", policy->name, policy->summary);
        for (const struct rp_policy_option *o = policy->options;
             o != NULL && o->key != NULL; o++)
            print_option(o);
    }
}
