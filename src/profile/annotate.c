#include "profile/annotate.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

static void set_number(json_t *object, const char *key, uint64_t value) {
    json_object_set_new(object, key, json_integer((json_int_t)value));
}

static void set_text(char **to, char *text) {
    free(*to);
    *to = text;
}

/* Copies the attributes first, because another graph may share them. */
static json_t *own_attrs(json_t **attrs) {
    json_t *copy = *attrs ? json_copy(*attrs) : json_object();
    json_decref(*attrs);
    *attrs = copy;
    return copy;
}

/* ---- costs ---- */

static void annotate_op(struct rp_op *op, const struct rp_op_cost *c) {
    op->time_ns = c->median_ns;
    if (c->states_workspace || c->workspace_bytes > 0)
        op->workspace_bytes = c->workspace_bytes;
    json_t *profile = json_object();
    set_number(profile, "samples", c->n_samples);
    set_number(profile, "launches", c->n_pieces);
    set_number(profile, "min_ns", c->min_ns);
    set_number(profile, "q1_ns", c->q1_ns);
    set_number(profile, "q3_ns", c->q3_ns);
    set_number(profile, "max_ns", c->max_ns);
    json_object_set_new(own_attrs(&op->attrs), "profile", profile);
}

rp_rc rp_annotate_costs(struct rp_graph *g, const struct rp_joined_costs *c,
                        const char *file, struct rp_err *err) {
    const char *device = c->device ? c->device : "unknown device";
    for (uint32_t i = 0; i < g->n_ops; i++)
        annotate_op(&g->ops[i], &c->ops[i]);
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
    if (c->memory.known) {
        json_t *memory = json_object();
        set_number(memory, "begin_bytes", c->memory.begin_bytes);
        set_number(memory, "peak_bytes", c->memory.peak_bytes);
        set_number(memory, "pinned_bytes", c->memory.pinned_bytes);
        json_object_set_new(profile, "memory", memory);
    }
    json_object_set_new(own_attrs(&g->attrs), "profile", profile);
    return rp_graph_check(g, file, err);
}

/* ---- gaps between kernels ---- */

const char *const rp_gaps_word[RP_N_GAPS] = {"none", "graph", "eager"};

static uint64_t launches(const struct rp_joined_costs *c) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->n_ops; i++)
        n += c->ops[i].n_pieces;
    return n;
}

uint64_t rp_gap_ns(const struct rp_joined_costs *c, uint64_t step_ns) {
    const uint64_t n = launches(c);
    return n > 0 && step_ns > c->sum_ns ? (step_ns - c->sum_ns) / n : 0;
}

rp_rc rp_annotate_gaps(struct rp_graph *g, const struct rp_joined_costs *c,
                       const struct rp_untraced_step *step, enum rp_gaps which,
                       const char *file, struct rp_err *err) {
    json_t *profile = json_object_get(g->attrs, "profile");
    const uint64_t gap_ns = which == RP_GAPS_NONE    ? 0
                            : which == RP_GAPS_GRAPH ? rp_gap_ns(c, step->graph_ns)
                                                     : rp_gap_ns(c, step->eager_ns);
    for (uint32_t i = 0; i < g->n_ops; i++)
        rp_add_capped(&g->ops[i].time_ns, gap_ns * c->ops[i].n_pieces);
    set_number(profile, "launches", launches(c));
    set_number(profile, "graph_ns", step->graph_ns);
    set_number(profile, "eager_ns", step->eager_ns);
    json_object_set_new(profile, "gaps", json_string(rp_gaps_word[which]));
    set_number(profile, "gap_ns", gap_ns);
    return rp_graph_check(g, file, err);
}

/* ---- the host link ---- */

static json_t *json_of_fits(const struct rp_copy_fit fit[2]) {
    json_t *both = json_object();
    for (int way = 0; way < 2; way++) {
        if (fit[way].n == 0)
            continue;
        json_t *one = json_object();
        set_number(one, "samples", fit[way].n);
        set_number(one, "latency_ns", fit[way].latency_ns);
        set_number(one, "bytes_per_s", fit[way].bytes_per_s);
        json_object_set_new(both, rp_link_way_word[way], one);
    }
    return both;
}

static json_t *json_of_link(const struct rp_link_fit *fit) {
    static const char *const kernel_key[2] = {
        [RP_LINK_H2D] = "kernel_permille_h2d", [RP_LINK_D2H] = "kernel_permille_d2h"};
    json_t *copies = json_object();
    for (int setting = 0; setting < RP_N_LINK_SETTINGS; setting++) {
        json_t *both = json_of_fits(fit->copies[setting]);
        if (json_object_size(both) > 0)
            json_object_set(copies, rp_link_setting_word[setting], both);
        json_decref(both);
    }
    for (int way = 0; way < 2; way++)
        if (fit->kernel_permille[way] > 0)
            set_number(copies, kernel_key[way], fit->kernel_permille[way]);
    return copies;
}

void rp_annotate_link(struct rp_graph *g, const struct rp_link_fit *fit) {
    const struct rp_copy_fit *h2d = &fit->copies[RP_LINK_ALONE][RP_LINK_H2D];
    const struct rp_copy_fit *d2h = &fit->copies[RP_LINK_ALONE][RP_LINK_D2H];
    json_t *copies = json_of_link(fit);
    json_t *profile = json_object_get(g->attrs, "profile");
    if (json_object_size(copies) > 0 && profile != NULL)
        json_object_set(profile, "copies", copies);
    json_decref(copies);
    if (h2d->n > 0)
        g->device.h2d_bytes_per_s = h2d->bytes_per_s;
    if (d2h->n > 0)
        g->device.d2h_bytes_per_s = d2h->bytes_per_s;
    if (h2d->n + d2h->n > 0)
        g->device.copy_latency_ns = rp_max_u64(h2d->latency_ns, d2h->latency_ns);
}
