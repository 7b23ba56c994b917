#include "cmd/sweep_graphs.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/numbers.h"
#include "cmd/common.h"
#include "solve/core/instance.h"
#include "solve/solver.h"

/* The file's name without .json or .graph.json. */
static char *folder_name(const char *path) {
    static const char *const endings[] = {".json", ".graph"};
    const char *slash = strrchr(path, '/');
    char *name = rp_strdup(strcmp(path, "-") == 0 ? "graph"
                           : slash != NULL        ? slash + 1
                                                  : path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t len = strlen(name), end = strlen(endings[i]);
        if (len > end && strcmp(name + len - end, endings[i]) == 0)
            name[len - end] = '\0';
    }
    return name;
}

/* Does the policy take sources off the device, where it has the choice? */
static bool may_move_sources(const struct rp_sweep *s, const struct rp_sweep_graph *a) {
    const struct rp_policy *policy = s->policy;
    bool plans_homes =
        policy->moves_sources || (policy->record == NULL && policy->may_swap);
    return plans_homes && rp_device_can_swap(&a->g.device) &&
           rp_host_bytes_without_sources(&a->g) < a->host.bytes;
}

static void measure(const struct rp_sweep *s, struct rp_sweep_graph *a) {
    struct rp_instance p;
    uint32_t op;
    if (rp_any_home(&a->g, RP_HOME_HOST) || may_move_sources(s, a))
        rp_instance_init_homes(&p, &a->g, a->g.fixed_bytes, s->options.addressed, NULL);
    else
        rp_instance_init(&p, &a->g, a->g.fixed_bytes, s->options.addressed, NULL);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    a->floor_bytes = p.fixed_bytes + rp_instance_floor(&p, &op);
    rp_instance_fini(&p);
    a->keep_all_bytes = rp_keep_all_bytes(&a->g, s->options.addressed);
}

/* Reads the list of budgets, if there is one. */
static rp_rc read_budgets(const struct rp_budget_texts *texts, bool addressed,
                          struct rp_sweep_graph *a, struct rp_err *err) {
    struct rp_budgets *b = &a->given;
    if (texts->all == NULL && texts->activations == NULL)
        return RP_OK;
    rp_rc rc = rp_parse_budgets("sweep", texts, &a->g, addressed, &a->given, err);
    size_t n = 0;
    if (rc != RP_OK)
        return rc;
    qsort(b->at, b->n, sizeof *b->at, rp_compare_u64);
    for (size_t i = 0; i < b->n; i++)
        if (n == 0 || b->at[i] > b->at[n - 1])
            b->at[n++] = b->at[i];
    b->n = n;
    return n <= RP_SWEEP_MAX_POINTS
               ? RP_OK
               : rp_fail(err, RP_USAGE, "sweep: more than %d budgets for %s",
                         RP_SWEEP_MAX_POINTS, rp_path_name(a->path));
}

static rp_rc load_graph(const struct rp_sweep *s, const char *path,
                        const struct rp_budget_texts *budgets, uint64_t host_budget,
                        struct rp_sweep_graph *a, struct rp_err *err) {
    a->path = path;
    a->name = folder_name(path);
    a->dir = rp_format("%s/%s", s->dir, a->name);
    rp_rc rc = rp_load_timed_graph(path, &a->g, err);
    if (rc != RP_OK)
        return rc;
    a->host = rp_host_budget_choose(host_budget, a->g.device.name);
    measure(s, a);
    return read_budgets(budgets, s->options.addressed, a, err);
}

static rp_rc check_names(const struct rp_sweep *s, struct rp_err *err) {
    for (size_t i = 0; i < s->n_graphs; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(s->graphs[i].name, s->graphs[k].name) == 0)
                return rp_fail(err, RP_USAGE,
                               "sweep: %s and %s would share the folder %s: rename one",
                               s->graphs[k].path, s->graphs[i].path, s->graphs[i].dir);
    return RP_OK;
}

rp_rc rp_sweep_load_graphs(struct rp_sweep *s, char **paths, size_t n,
                           const struct rp_budget_texts *budgets, uint64_t host_budget,
                           struct rp_err *err) {
    rp_rc rc = RP_OK;
    s->graphs = rp_calloc(n, sizeof *s->graphs);
    s->n_graphs = n;
    for (size_t i = 0; i < n && rc == RP_OK; i++)
        rc = rp_stop_interrupted(s->options.stop)
                 ? rp_fail(err, RP_LIMIT, "sweep: interrupted")
                 : load_graph(s, paths[i], budgets, host_budget, &s->graphs[i], err);
    return rc == RP_OK ? check_names(s, err) : rc;
}

void rp_sweep_free_graphs(struct rp_sweep *s) {
    for (size_t i = 0; i < s->n_graphs; i++) {
        struct rp_sweep_graph *a = &s->graphs[i];
        rp_graph_fini(&a->g);
        free(a->name);
        free(a->dir);
        free(a->given.at);
        free(a->points.at);
    }
    free(s->graphs);
}
