/* zoo: the list of networks, or one of them as the graph of a training step. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/zoo_options.h"
#include "model/graph.h"
#include "model/zoo/networks.h"

struct options {
    struct rp_zoo_options zoo;
    struct rp_zoo_words words;
    const char *out;
    bool json;
};

/* What a step's graph adds up to. The sums fit: the builder and rp_graph_check saw to it.
 */
struct totals {
    uint64_t forward_flops, backward_flops;
    uint64_t bytes[5]; /* by tensor kind */
};

static struct totals add_up(const struct rp_graph *g) {
    struct totals t = {0};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        json_t *flops = json_object_get(g->ops[i].attrs, "flops");
        uint64_t *sum =
            g->ops[i].phase == RP_FORWARD ? &t.forward_flops : &t.backward_flops;
        *sum += (uint64_t)json_integer_value(flops);
    }
    for (uint32_t x = 0; x < g->n_tensors; x++)
        t.bytes[g->tensors[x].kind] += g->tensors[x].bytes;
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

/* A file name may be anything; JSON is UTF-8. */
static json_t *text_or_null(const char *text) {
    json_t *value = text != NULL ? json_string(text) : json_null();
    if (value == NULL) {
        char *clean = rp_strdup(text);
        rp_clean_text(clean);
        value = json_string(clean);
        free(clean);
    }
    return value;
}

static json_t *list_json(const struct rp_zoo_entry *row, const struct rp_graph *g) {
    double macs = row->macs;
    return json_pack("{s:s,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "name", row->name,
                     "parameters", (json_int_t)rp_zoo_n_params(g), "ops",
                     (json_int_t)g->n_ops, "batch", (json_int_t)row->usual.batch,
                     "forward_multiply_adds", (json_int_t)rp_zoo_macs(g),
                     "published_parameters",
                     row->params ? json_integer((json_int_t)row->params) : json_null(),
                     "parameters_source", text_or_null(row->params_source),
                     "published_multiply_adds_per_sample",
                     macs > 0 ? json_integer((json_int_t)(macs + 0.5)) : json_null(),
                     "multiply_adds_source", text_or_null(row->macs_source), "options",
                     json_incref(json_object_get(g->attrs, "options")));
}

static rp_rc list(bool json, struct rp_err *err) {
    rp_rc rc = RP_OK;
    if (!json && rp_log_level() < 0)
        return RP_OK;
    json_t *rows = json_array();
    struct rp_zoo_options o;
    rp_zoo_options_init(&o);
    if (!json)
        puts("network          parameters    ops  GMAC fwd   defaults\n"
             "                                    a sample");
    for (size_t i = 0; i < rp_zoo_n_entries && rc == RP_OK; i++) {
        struct rp_graph g;
        if ((rc = rp_zoo_build(rp_zoo_registry[i].name, &o, &g, err)) != RP_OK)
            break;
        if (json)
            json_array_append_new(rows, list_json(&rp_zoo_registry[i], &g));
        else
            list_text(&rp_zoo_registry[i], &g);
        rp_graph_fini(&g);
    }
    json_t *root = json_pack("{s:o}", "networks", rows);
    if (json && rc == RP_OK) {
        rp_json_put(stdout, root);
        putchar('\n');
    }
    json_decref(root);
    return rc;
}

/* ---- one network ---- */

static void report(const struct rp_graph *g, const char *out) {
    const struct totals t = add_up(g);
    printf("step        %s: %" PRIu32 " ops, %" PRIu32 " tensors, %" PRIu32 " kept\n",
           g->name, g->n_ops, g->n_tensors, g->n_keep);
    printf("parameters  %" PRIu64 ", %s\n", rp_zoo_n_params(g),
           rp_show_bytes(t.bytes[RP_PARAMETER]).s);
    printf("arithmetic  %.4g GFLOP forward, %.4g backward\n",
           1e-9 * (double)t.forward_flops, 1e-9 * (double)t.backward_flops);
    printf("memory      %s fixed (parameters, state, input)\n",
           rp_show_bytes(g->fixed_bytes).s);
    printf("            %s activations, %s gradients, if none were freed\n",
           rp_show_bytes(t.bytes[RP_ACTIVATION]).s, rp_show_bytes(t.bytes[RP_GRADIENT]).s);
    if (out != NULL)
        printf("graph       %s\n", out);
}

static void report_json(const struct rp_graph *g, const char *out) {
    const struct totals t = add_up(g);
    json_t *root = json_pack(
        "{s:s,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:O}", "name", g->name, "graph",
        text_or_null(out), "sha256", text_or_null(out != NULL ? g->sha256 : NULL), "ops",
        (json_int_t)g->n_ops, "tensors", (json_int_t)g->n_tensors, "parameters",
        (json_int_t)rp_zoo_n_params(g), "forward_flops", (json_int_t)t.forward_flops,
        "backward_flops", (json_int_t)t.backward_flops, "fixed_bytes",
        (json_int_t)g->fixed_bytes, "activation_bytes", (json_int_t)t.bytes[RP_ACTIVATION],
        "gradient_bytes", (json_int_t)t.bytes[RP_GRADIENT], "options",
        json_object_get(g->attrs, "options"));
    rp_json_put(stdout, root);
    putchar('\n');
    json_decref(root);
}

static rp_rc build(const char *name, struct options *o, struct rp_err *err) {
    struct rp_graph g = {0};
    rp_rc rc;
    const struct rp_output outputs[] = {{"--json", o->json ? "-" : NULL},
                                        {"--out", o->out}};
    bool to_stdout = rp_uses_stdout(&outputs[1], 1);
    rc = rp_zoo_take("zoo", name, &o->words, &o->zoo, err);
    if (rc == RP_OK)
        rc = rp_check_outputs("zoo", outputs, 2, err);
    if (rc == RP_OK)
        rc = rp_zoo_build(name, &o->zoo, &g, err);
    if (rc == RP_OK && o->out != NULL)
        rc = rp_graph_save(&g, o->out, err);
    if (rc == RP_OK && !to_stdout && (o->json || rp_log_level() >= 0))
        (o->json ? report_json : report)(&g, o->out);
    rp_graph_fini(&g);
    return rc;
}

/* True if an option was given that the list of networks has no use for. */
static bool wants_network(const struct options *o) {
    const struct rp_zoo_options *z = &o->zoo;
    struct rp_zoo_options usual;
    rp_zoo_options_init(&usual);
    return o->out != NULL || o->words.image != NULL || o->words.dtype != NULL ||
           z->no_aux || z->tiny || z->batch != usual.batch || z->classes != usual.classes ||
           z->layers != usual.layers || z->seq != usual.seq || z->steps != usual.steps ||
           z->kv_heads != usual.kv_heads || z->loss_parts != usual.loss_parts ||
           z->seed != usual.seed;
}

static const struct rp_command command = {
    "zoo",
    "[NETWORK]",
    "Write the graph of one training step of NETWORK; without NETWORK, list them all.",
    "A graph holds the forward pass, the loss and the backward pass op by op, without "
    "times:\n"
    "'remat-plan profile' fills them in. docs/ops.md says what each op computes. An "
    "option\n"
    "that is not given has the default that the list shows.\n",
};

rp_rc rp_cmd_zoo(int argc, char **argv, struct rp_err *err) {
    struct options o = {0};
    struct rp_zoo_options *z = &o.zoo;
    rp_zoo_options_init(z);
    const struct rp_option table[] = {
        {"out", 'o', RP_OPT_STRING, &o.out, "FILE",
         "write the graph here; - is standard output"},
        {"batch", 'b', RP_OPT_NAT, &z->batch, "N", "samples in a step"},
        RP_ZOO_ROWS(z, &o.words),
        {"tiny", 0, RP_OPT_FLAG, &z->tiny, NULL, "the smallest useful shape, for tests"},
        {"seed", 0, RP_OPT_NAT, &z->seed, "N", "of dropout (1)"},
        {"json", 0, RP_OPT_FLAG, &o.json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    int n = 0;
    bool done = false;
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n > 1)
        return rp_fail(err, RP_USAGE, "zoo: needs one NETWORK, not %d (try --help)", n);
    if (n == 0 && wants_network(&o))
        return rp_fail(err, RP_USAGE, "zoo: these options need a NETWORK (try --help)");
    return n == 1 ? build(argv[1], &o, err) : list(o.json, err);
}
