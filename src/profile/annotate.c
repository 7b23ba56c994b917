#include <jansson.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/join.h"

static void set_number(json_t *object, const char *key, uint64_t value) {
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

/* Another graph may share the object, so it is copied first. */
static json_t *own_attrs(json_t **attrs) {
    json_t *copy = *attrs ? json_copy(*attrs) : json_object();
    json_decref(*attrs);
    *attrs = copy;
    return copy;
}

static void apply_op(const struct rp_op_cost *c, struct rp_op *op) {
    op->time_ns = c->median_ns;
    if (c->has_workspace)
        op->workspace_bytes = c->workspace_bytes;
    json_t *profile = json_object();
    set_number(profile, "samples", c->n_samples);
    set_number(profile, "min_ns", c->min_ns);
    set_number(profile, "q1_ns", c->q1_ns);
    set_number(profile, "q3_ns", c->q3_ns);
    set_number(profile, "max_ns", c->max_ns);
    json_object_set_new(own_attrs(&op->attrs), "profile", profile);
}

static void set_text(char **to, char *text) {
    free(*to);
    *to = text;
}

rp_rc rp_costs_apply(const struct rp_costs *c, struct rp_graph *g, const char *file,
                     struct rp_err *err) {
    const char *device = c->device ? c->device : "unknown device";
    for (uint32_t i = 0; i < g->n_ops; i++)
        apply_op(&c->ops[i], &g->ops[i]);
    set_text(&g->time_source, rp_format("cupti:%s", device));
    g->has_device = true;
    set_text(&g->device.name, rp_strdup(device));
    if (c->memory_bytes != 0)
        g->device.memory_bytes = c->memory_bytes;
    json_t *profile = json_object();
    set_number(profile, "cupti", c->cupti_version);
    set_number(profile, "steps", c->n_steps);
    set_number(profile, "step_ns", c->step_ns);
    set_number(profile, "sum_ns", c->sum_ns);
    set_number(profile, "outside_ns", c->outside_ns);
    set_number(profile, "side_by_side_ns", c->side_by_side_ns);
    json_object_set_new(own_attrs(&g->attrs), "profile", profile);
    return rp_graph_check(g, file, err);
}
