/* zoo: the list of networks, or one of them as the graph of a training step. */
#include <inttypes.h>
#include <stdio.h>

#include "base/format.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/zoo_options.h"
#include "model/graph.h"
#include "model/zoo/registry.h"

struct options {
    struct rp_zoo_options zoo;
    struct rp_zoo_texts texts;
    const char *out;
    bool json;
};

/* Sums over a graph. The builder and rp_graph_check made sure that they fit. */
struct totals {
    uint64_t flops[4]; /* by phase */
    uint64_t bytes[5]; /* of what ops make, by tensor kind */
    uint64_t source_bytes[5];
    uint64_t home_bytes[3]; /* of sources, by home */
};

static struct totals add_up(const struct rp_graph *g) {
    struct totals t = {0};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        json_t *flops = json_object_get(g->ops[i].attrs, "flops");
        t.flops[g->ops[i].phase] += (uint64_t)json_integer_value(flops);
    }
    for (uint32_t i = 0; i < g->n_tensors; i++) {
        const struct rp_tensor *x = &g->tensors[i];
        const bool source = x->producer == RP_NONE;
        (source ? t.source_bytes : t.bytes)[x->kind] += x->bytes;
        if (source)
            t.home_bytes[x->home] += x->bytes;
    }
    return t;
}

/* ---- the list ---- */

static void list_text(const struct rp_zoo_entry *row, const struct rp_graph *g) {
    const struct rp_zoo_options *u = &row->usual;
    printf("%-14s %12" PRIu64 " %6" PRIu32 " %9.2f   batch %" PRIu64, row->name,
           rp_zoo_n_params(g), g->n_ops, 1e-9 * (double)rp_zoo_macs(g) / (double)u->batch,
           u->batch);
    if (row->volume)
        printf(", image %" PRIu64 "x%" PRIu64 "x%" PRIu64, u->image[0], u->image[1],
               u->image[2]);
    else if (u->image[1] != u->image[2])
        printf(", image %" PRIu64 "x%" PRIu64, u->image[1], u->image[2]);
    else if (u->image[1] != 0)
        printf(", image %" PRIu64, u->image[1]);
    const struct {
        const char *name;
        uint64_t value;
    } more[] = {{"layers", u->layers},
                {"seq", u->seq},
                {"steps", u->steps},
                {"classes", u->classes}};
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
        if (more[i].value != 0)
            printf(", %s %" PRIu64, more[i].name, more[i].value);
    putchar('\n');
}

static void write_optional(struct rp_json_writer *w, const char *key, uint64_t value) {
    if (value > 0)
        rp_json_uint(w, key, value);
    else
        rp_json_null(w, key);
}

static void write_text_or_null(struct rp_json_writer *w, const char *key,
                               const char *text) {
    if (text != NULL)
        rp_json_string(w, key, text);
    else
        rp_json_null(w, key);
}

static void list_json(struct rp_json_writer *w, const struct rp_zoo_entry *row,
                      const struct rp_graph *g) {
    rp_json_object(w, NULL);
    rp_json_string(w, "name", row->name);
    rp_json_uint(w, "parameters", rp_zoo_n_params(g));
    rp_json_uint(w, "ops", g->n_ops);
    rp_json_uint(w, "batch", row->usual.batch);
    rp_json_uint(w, "forward_multiply_adds", rp_zoo_macs(g));
    write_optional(w, "published_parameters", row->params);
    write_text_or_null(w, "parameters_source", row->params_source);
    write_optional(w, "published_multiply_adds_per_sample",
                   row->macs > 0 ? (uint64_t)(row->macs + 0.5) : 0);
    write_text_or_null(w, "multiply_adds_source", row->macs_source);
    rp_json_value(w, "options", json_object_get(g->attrs, "options"));
    rp_json_end(w);
}

static rp_rc list(bool json, struct rp_err *err) {
    rp_rc rc = RP_OK;
    struct rp_zoo_options o;
    struct rp_json_writer w = rp_json_writer_on(stdout);
    if (!json && rp_log_level() < 0)
        return RP_OK;
    rp_zoo_options_init(&o);
    if (json) {
        rp_json_object(&w, NULL);
        rp_json_array(&w, "networks");
    } else {
        puts("network          parameters    ops  GMAC fwd   defaults\n"
             "                                    a sample");
    }
    for (size_t i = 0; i < rp_zoo_n_entries && rc == RP_OK; i++) {
        struct rp_graph g;
        if ((rc = rp_zoo_build(rp_zoo_registry[i]->name, &o, &g, err)) != RP_OK)
            break;
        if (json)
            list_json(&w, rp_zoo_registry[i], &g);
        else
            list_text(rp_zoo_registry[i], &g);
        rp_graph_fini(&g);
    }
    if (json && rc == RP_OK) {
        rp_json_end(&w);
        rp_json_end(&w);
        rp_json_finish(&w);
    }
    return rc;
}

/* ---- one network ---- */

static void report(const struct rp_graph *g, const char *out) {
    const struct totals t = add_up(g);
    printf("step        %s: %" PRIu32 " ops, %" PRIu32 " tensors, %" PRIu32 " kept\n",
           g->name, g->n_ops, g->n_tensors, g->n_keep);
    printf("parameters  %" PRIu64 ", %s\n", rp_zoo_n_params(g),
           rp_show_bytes(t.source_bytes[RP_PARAMETER]).s);
    printf("arithmetic  %.4g GFLOP forward, %.4g backward",
           1e-9 * (double)t.flops[RP_FORWARD], 1e-9 * (double)t.flops[RP_BACKWARD]);
    if (t.flops[RP_UPDATE] > 0)
        printf(", %.4g update", 1e-9 * (double)t.flops[RP_UPDATE]);
    printf("\nmemory      %s fixed (parameters, state, input)\n",
           rp_show_bytes(t.home_bytes[RP_HOME_DEVICE]).s);
    if (t.home_bytes[RP_HOME_HOST] > 0)
        printf("            %s more on the host\n",
               rp_show_bytes(t.home_bytes[RP_HOME_HOST]).s);
    if (t.home_bytes[RP_HOME_ANY] > 0)
        printf("            %s more on the device or the host\n",
               rp_show_bytes(t.home_bytes[RP_HOME_ANY]).s);
    printf("            %s activations, %s gradients, if none were freed\n",
           rp_show_bytes(t.bytes[RP_ACTIVATION]).s, rp_show_bytes(t.bytes[RP_GRADIENT]).s);
    if (out != NULL)
        rp_put_clean_line("graph       ", out, stdout);
}

static void report_json(const struct rp_graph *g, const char *out) {
    const struct totals t = add_up(g);
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "name", g->name);
    write_text_or_null(&w, "graph", out);
    write_text_or_null(&w, "sha256", out != NULL ? g->sha256 : NULL);
    rp_json_uint(&w, "ops", g->n_ops);
    rp_json_uint(&w, "tensors", g->n_tensors);
    rp_json_uint(&w, "parameters", rp_zoo_n_params(g));
    rp_json_uint(&w, "forward_flops", t.flops[RP_FORWARD]);
    rp_json_uint(&w, "backward_flops", t.flops[RP_BACKWARD]);
    rp_json_uint(&w, "update_flops", t.flops[RP_UPDATE]);
    rp_json_uint(&w, "parameter_bytes", t.source_bytes[RP_PARAMETER]);
    rp_json_uint(&w, "state_bytes", t.source_bytes[RP_STATE]);
    rp_json_uint(&w, "fixed_bytes", t.home_bytes[RP_HOME_DEVICE]);
    rp_json_uint(&w, "host_home_bytes", t.home_bytes[RP_HOME_HOST]);
    rp_json_uint(&w, "any_home_bytes", t.home_bytes[RP_HOME_ANY]);
    rp_json_uint(&w, "activation_bytes", t.bytes[RP_ACTIVATION]);
    rp_json_uint(&w, "gradient_bytes", t.bytes[RP_GRADIENT]);
    rp_json_value(&w, "options", json_object_get(g->attrs, "options"));
    rp_json_end(&w);
    rp_json_finish(&w);
}

static rp_rc build(const char *name, struct options *o, struct rp_err *err) {
    struct rp_graph g = {0};
    rp_rc rc;
    const struct rp_named_file outputs[] = {{"--json", o->json ? "-" : NULL},
                                            {"--out", o->out}};
    bool to_stdout = rp_uses_stdout(&outputs[1], 1);
    rc = rp_zoo_options_parse("zoo", name, &o->texts, &o->zoo, err);
    if (rc == RP_OK)
        rc = rp_check_files("zoo", outputs, 2, err);
    if (rc == RP_OK)
        rc = rp_zoo_build(name, &o->zoo, &g, err);
    if (rc == RP_OK && o->out != NULL)
        rc = rp_graph_save(&g, o->out, err);
    if (rc == RP_OK && !to_stdout && (o->json || rp_log_level() >= 0))
        (o->json ? report_json : report)(&g, o->out);
    rp_graph_fini(&g);
    return rc;
}

/* True if an option was given that needs a NETWORK. */
static bool needs_network(const struct options *o) {
    const struct rp_zoo_options *z = &o->zoo;
    const struct rp_zoo_texts *t = &o->texts;
    struct rp_zoo_options usual;
    rp_zoo_options_init(&usual);
    return o->out != NULL || t->image != NULL || t->dtype != NULL || t->optimizer != NULL ||
           t->state_home != NULL || t->param_home != NULL || z->no_aux || z->tiny ||
           z->batch != usual.batch || z->micro_batches != usual.micro_batches ||
           z->classes != usual.classes || z->layers != usual.layers ||
           z->width != usual.width || z->seq != usual.seq || z->steps != usual.steps ||
           z->kv_heads != usual.kv_heads || z->loss_parts != usual.loss_parts ||
           z->seed != usual.seed;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {0};
    struct rp_zoo_options *z = &o.zoo;
    rp_zoo_options_init(z);
    const struct rp_option table[] = {
        {"out", 'o', RP_OPT_STRING, &o.out, "FILE",
         "write the graph to FILE; - is standard output"},
        {"batch", 'b', RP_OPT_NAT, &z->batch, "N", "samples per step"},
        RP_ZOO_ROWS(z, &o.texts),
        {"tiny", 0, RP_OPT_FLAG, &z->tiny, NULL,
         "use the smallest useful shape, for tests"},
        {"seed", 0, RP_OPT_NAT, &z->seed, "N", "random seed of dropout (1)"},
        rp_option_json(&o.json),
        {0},
    };
    int n = 0;
    bool done = false;
    rp_rc rc = rp_options_parse(&rp_cmd_zoo, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n == 0 && needs_network(&o))
        return rp_fail(err, RP_USAGE, "zoo: these options need a NETWORK (try --help)");
    return n == 1 ? build(argv[1], &o, err) : list(o.json, err);
}

const struct rp_command rp_cmd_zoo = {
    .name = "zoo",
    .operands = "[NETWORK]",
    .max_operands = 1,
    .operand_names = rp_network_name,
    .summary = "Write a network's training step as a graph, or list networks",
    .detail =
        "A graph holds the forward pass, the loss and the backward pass op by op,\n"
        "without times: 'remat-plan profile' adds those. docs/ops.md defines what each\n"
        "op computes. Without NETWORK, the networks are listed with the defaults of\n"
        "their options.\n",
    .run = run,
};
