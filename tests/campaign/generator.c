#include "generator.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "draft.h"

uint64_t cam_log_uniform(struct rp_rng *r, uint32_t bits) {
    uint64_t top = UINT64_C(1) << rp_rng_below(r, bits);
    return top + rp_rng_below(r, top);
}

uint32_t cam_between(struct rp_rng *r, uint32_t low, uint32_t high) {
    return low + (uint32_t)rp_rng_below(r, high - low + 1);
}

/* ---- numbers: each graph has one habit for bytes and one for times ---- */

enum habit { ZERO, SMALL, UNITS, NEAR_UNITS, WIDE, HUGE_NUMBERS, EXTREME, N_HABITS };

static enum habit draw_habit(const struct cam_draft *d) {
    static const uint8_t shares[N_HABITS] = {4, 20, 24, 14, 28, 9, 1};
    uint32_t ticket = (uint32_t)rp_rng_below(d->r, 100), h = 0;
    for (; ticket >= shares[h]; h++)
        ticket -= shares[h];
    if (d->wish->for_brute_force)
        return SMALL;
    return h == EXTREME && d->wish->plain ? WIDE : (enum habit)h;
}

static uint64_t draw_number(struct rp_rng *r, enum habit h) {
    switch (h) {
    case ZERO:
        return 0;
    case SMALL:
        return 1 + rp_rng_below(r, 9);
    case UNITS:
        return 512 * (1 + rp_rng_below(r, 40));
    case NEAR_UNITS:
        return 512 * (1 + rp_rng_below(r, 40)) + rp_rng_below(r, 3) - 1;
    case WIDE:
        return cam_log_uniform(r, 31);
    case HUGE_NUMBERS:
        return cam_log_uniform(r, 46);
    default:
        return cam_log_uniform(r, 63);
    }
}

/* ---- the graph ---- */

static int add_tensor(struct cam_draft *d, enum habit bytes, uint32_t percent_empty,
                      const char *kind) {
    int x = d->n_tensors++;
    d->tensors = rp_realloc(d->tensors, (size_t)d->n_tensors, sizeof *d->tensors);
    d->tensors[x] = (struct cam_tensor){.kind = kind, .bytes = draw_number(d->r, bytes)};
    if (rp_rng_percent(d->r, percent_empty))
        d->tensors[x].bytes = 0;
    return x;
}

/* The first `n_homes` of the words below are drawn. */
static void add_sources(struct cam_draft *d, enum habit bytes, uint32_t n_homes) {
    static const char *const homes[] = {"device", "any", "host"};
    uint32_t most = !d->wish->for_brute_force ? 5 : d->wish->homes ? 2 : 1;
    d->n_sources = (int)cam_between(d->r, 0, most);
    for (int k = 0; k < d->n_sources; k++) {
        int x = add_tensor(d, bytes, 5, rp_rng_percent(d->r, 60) ? "parameter" : "input");
        d->tensors[x].source = true;
        if (n_homes > 0 && rp_rng_percent(d->r, d->wish->homes ? 85 : 60))
            d->tensors[x].home = homes[rp_rng_below(d->r, n_homes)];
    }
}

static void read_sources(struct cam_draft *d, struct cam_op *op, uint32_t percent) {
    for (int x = 0; x < d->n_sources && op->n_in < CAM_MAX_INPUTS; x++)
        if (rp_rng_percent(d->r, percent))
            op->in[op->n_in++] = x;
}

struct habits {
    enum habit bytes, time;
    int shape;
    uint32_t empty, once, workspace, sources, outputs, kept, wide;
    bool v2;
    uint32_t n_homes, updates; /* of version 2 */
};

static void add_outputs(struct cam_draft *d, int i, const struct habits *h) {
    struct cam_op *op = &d->ops[i];
    bool backward = h->shape == 5 && 2 * i >= d->n_ops;
    op->n_out = op->wide ? (int)cam_between(d->r, 5, CAM_MAX_OUTPUTS)
                : rp_rng_percent(d->r, h->outputs) ? (int)cam_between(d->r, 2, 4)
                                                   : 1;
    if (op->once && !op->wide && rp_rng_percent(d->r, 20))
        op->n_out = 0;
    for (int k = 0; k < op->n_out; k++)
        op->out[k] =
            add_tensor(d, h->bytes, h->empty, backward ? "gradient" : "activation");
}

static void drop_input(struct cam_op *op, int x) {
    int n = 0;
    for (int k = 0; k < op->n_in; k++)
        if (op->in[k] != x)
            op->in[n++] = op->in[k];
    op->n_in = n;
}

static void update_sources(struct cam_draft *d, struct cam_op *op, uint32_t percent) {
    for (int x = 0; x < d->n_sources && op->n_updates < CAM_MAX_UPDATES; x++)
        if (rp_rng_percent(d->r, percent)) {
            drop_input(op, x);
            op->updates[op->n_updates++] = x;
        }
}

/* What version 2 adds to an op and its outputs. */
static void add_version_2(struct cam_draft *d, int i, uint32_t updates) {
    struct cam_op *op = &d->ops[i];
    op->ordered = rp_rng_percent(d->r, 10);
    op->rewrites = !rp_rng_percent(d->r, 15);
    for (int k = 0; k < op->n_out; k++)
        d->tensors[op->out[k]].held = rp_rng_percent(d->r, 5);
    update_sources(d, op, updates);
}

static void add_op(struct cam_draft *d, const struct habits *h, int i) {
    struct cam_op *op = &d->ops[i];
    *op = (struct cam_op){.rewrites = true};
    cam_connect(d, h->shape, i);
    op->wide = rp_rng_percent(d->r, h->wide);
    if (op->wide)
        cam_read_many(d, i);
    read_sources(d, op, h->sources);
    op->once = rp_rng_percent(d->r, h->once);
    op->time_ns = draw_number(d->r, h->time);
    if (rp_rng_percent(d->r, h->workspace))
        op->workspace = draw_number(d->r, h->bytes);
    add_outputs(d, i, h);
    if (h->v2)
        add_version_2(d, i, h->updates);
}

/* Usually what the last op made; often some more, sometimes a source, sometimes nothing. */
static void choose_kept(struct cam_draft *d, const struct habits *h) {
    const struct cam_op *last = &d->ops[d->n_ops - 1];
    bool none = rp_rng_percent(d->r, 5);
    for (int x = 0; x < d->n_tensors && !none; x++)
        d->tensors[x].kept = rp_rng_percent(d->r, d->tensors[x].source ? 3 : h->kept);
    for (int k = 0; k < last->n_out && !none; k++)
        d->tensors[last->out[k]].kept = true;
}

/* The percentage of wide ops. There are fewer of them in large graphs. */
static uint32_t draw_wide(const struct cam_draft *d) {
    bool some = rp_rng_percent(d->r, d->wish->wide ? 100 : 10);
    uint32_t most = 4000 / (uint32_t)(d->n_ops + 40);
    return some && !d->wish->for_brute_force ? cam_between(d->r, most / 4, most) : 0;
}

static struct habits draw_habits(struct cam_draft *d, bool v2) {
    static const uint8_t percents[] = {0, 0, 5, 20, 90};
    struct habits h = {.bytes = draw_habit(d), .time = draw_habit(d), .v2 = v2};
    bool small = d->wish->for_brute_force;
    h.empty = percents[rp_rng_below(d->r, 4)];
    h.once = percents[rp_rng_below(d->r, 4)];
    h.workspace = percents[rp_rng_below(d->r, 5)];
    h.sources = rp_rng_percent(d->r, 10) ? 100 : 15;
    h.outputs = small ? 10 : percents[rp_rng_below(d->r, 5)];
    h.kept = percents[rp_rng_below(d->r, 4)];
    h.wide = draw_wide(d);
    h.updates = v2 ? percents[rp_rng_below(d->r, 4)] : 0;
    if (v2)
        h.n_homes = rp_rng_percent(d->r, d->wish->homes ? 70 : 8) ? 3
                    : rp_rng_percent(d->r, 30)                    ? 2
                                                                  : 0;
    return h;
}

/* ---- the text ---- */

static void write_ids(FILE *f, const char *key, const int *ids, int n) {
    fprintf(f, ",\"%s\":[", key);
    for (int k = 0; k < n; k++)
        fprintf(f, "%s%d", k ? "," : "", ids[k]);
    fputc(']', f);
}

/* Names with what a terminal, a shell or a table could stumble over. */
static const char *draw_decoration(struct rp_rng *r) {
    static const char *const some[] = {
        "\\u001b[31m", "\\u009b5m", "\\\"", "'$(x)`", "\xc3\xa4\xe2\x82\xac",
        "%s%n",        "\\n",       ",;",   "&<>"};
    return rp_rng_percent(r, 90) ? "" : some[rp_rng_below(r, sizeof some / sizeof *some)];
}

static void write_tensors(FILE *f, const struct cam_draft *d, const char *decoration) {
    for (int x = 0; x < d->n_tensors; x++) {
        const struct cam_tensor *t = &d->tensors[x];
        fprintf(f, "%s{\"name\":\"t%d%s\",\"bytes\":%" PRIu64 ",\"kind\":\"%s\"",
                x ? ",\n" : "", x, decoration, t->bytes, t->kind);
        if (t->home != NULL)
            fprintf(f, ",\"home\":\"%s\"", t->home);
        fprintf(f, "%s}", t->held ? ",\"held\":true" : "");
    }
}

static void write_op(FILE *f, const struct cam_draft *d, int i, const char *decoration) {
    const struct cam_op *op = &d->ops[i];
    fprintf(f, "%s{\"name\":\"op%d%s\",\"kind\":\"any\",\"time_ns\":%" PRIu64,
            i ? ",\n" : "", i, decoration, op->time_ns);
    write_ids(f, "inputs", op->in, op->n_in);
    write_ids(f, "outputs", op->out, op->n_out);
    if (op->n_updates > 0)
        write_ids(f, "updates", op->updates, op->n_updates);
    if (op->workspace > 0)
        fprintf(f, ",\"workspace_bytes\":%" PRIu64, op->workspace);
    if (d->n_ops % 2 == 0)
        fprintf(f, ",\"phase\":\"%s\"", 2 * i < d->n_ops ? "forward" : "backward");
    fprintf(f, "%s%s%s}", op->once ? ",\"recompute\":false" : "",
            op->ordered ? ",\"ordered\":true" : "",
            op->rewrites ? "" : ",\"rewrites\":false");
}

static void write_rate(FILE *f, struct cam_draft *d, const char *key) {
    uint64_t rate = d->wish->for_brute_force ? 300000000 + rp_rng_below(d->r, 3000000000u)
                    : rp_rng_percent(d->r, 70)
                        ? UINT64_C(1000000000) * (1 + rp_rng_below(d->r, 60))
                        : cam_log_uniform(d->r, 40);
    d->slow_copies = d->slow_copies || rate < 1000000;
    fprintf(f, ",\"%s\":%" PRIu64, key, rate);
}

/* Returns whether the device has both bandwidths. */
static bool write_device(FILE *f, struct cam_draft *d, bool plain_times) {
    static const uint32_t alignments[] = {1, 1, 2, 64, 256, 512, 512, 4096, 1048576};
    bool brute = d->wish->for_brute_force;
    uint32_t ticket = brute ? cam_between(d->r, 40, 99) : (uint32_t)rp_rng_below(d->r, 100);
    if (ticket < 10)
        return false;
    uint32_t unit = brute ? 1 : alignments[rp_rng_below(d->r, 9)];
    fprintf(f, "\"device\":{\"alignment_bytes\":%u", unit);
    if (ticket >= 30)
        write_rate(f, d, "h2d_bytes_per_s");
    if (ticket >= 35)
        write_rate(f, d, "d2h_bytes_per_s");
    if (rp_rng_percent(d->r, 50))
        fprintf(f, ",\"copy_latency_ns\":%" PRIu64,
                plain_times ? rp_rng_below(d->r, 4) : cam_log_uniform(d->r, 16));
    fputs("},\n", f);
    return ticket >= 35;
}

/* A tensor may stand there twice, which means nothing. */
static void write_keep(FILE *f, const struct cam_draft *d) {
    bool twice = rp_rng_percent(d->r, 3);
    fputs("],\n\"keep\":[", f);
    for (int x = 0, n = 0; x < d->n_tensors; x++)
        for (int k = 0; d->tensors[x].kept && k < 1 + twice; k++)
            fprintf(f, "%s%d", n++ ? "," : "", x);
    fputc(']', f);
}

static void write_graph(FILE *f, struct cam_draft *d, const struct habits *h,
                        const char *shape, struct cam_graph *g) {
    const char *decoration = draw_decoration(d->r);
    fprintf(f, "{\"format\":\"remat-graph\",\"version\":%d,\n\"name\":\"%s-%d%s\",\n",
            h->v2 ? 2 : 1, shape, d->n_ops, decoration);
    fputs("\"time_source\":\"imported:random\",\n", f);
    g->swappable = write_device(f, d, h->time == SMALL);
    g->free_order = h->v2 && rp_rng_percent(d->r, 25);
    if (g->free_order || (h->v2 && rp_rng_percent(d->r, 50)))
        fprintf(f, "\"order\":\"%s\",\n", g->free_order ? "free" : "given");
    fputs("\"tensors\":[\n", f);
    write_tensors(f, d, decoration);
    fputs("],\n\"ops\":[\n", f);
    for (int i = 0; i < d->n_ops; i++)
        write_op(f, d, i, decoration);
    write_keep(f, d);
    fputs("}\n", f);
}

static bool any_home(const struct cam_draft *d, const char *home) {
    for (int x = 0; x < d->n_sources; x++)
        if (d->tensors[x].home != NULL && strcmp(d->tensors[x].home, home) == 0)
            return true;
    return false;
}

static bool takes_time(const struct cam_draft *d) {
    for (int i = 0; i < d->n_ops; i++)
        if (d->ops[i].time_ns > 0)
            return true;
    return false;
}

void cam_generate(struct rp_rng *r, const struct cam_wish *wish, struct cam_graph *g) {
    struct cam_draft d = {.r = r, .wish = wish};
    bool v2 = rp_rng_percent(r, wish->homes ? 80 : 50);
    size_t length;
    d.n_ops = (int)cam_between(r, wish->min_ops, wish->max_ops);
    d.ops = rp_calloc((size_t)d.n_ops, sizeof *d.ops);
    struct habits h = draw_habits(&d, v2);
    const char *shape = cam_draw_shape(&d, &h.shape);
    add_sources(&d, h.bytes, h.n_homes);
    for (int i = 0; i < d.n_ops; i++)
        add_op(&d, &h, i);
    choose_kept(&d, &h);
    *g = (struct cam_graph){.n_ops = (uint32_t)d.n_ops,
                            .n_tensors = (uint32_t)d.n_tensors,
                            .extreme = h.bytes >= HUGE_NUMBERS || h.time >= HUGE_NUMBERS,
                            .lives_on_host = any_home(&d, "host"),
                            .may_live_there = any_home(&d, "any")};
    FILE *f = open_memstream(&g->text, &length);
    if (f == NULL)
        abort();
    write_graph(f, &d, &h, shape, g);
    fclose(f);
    g->extreme = g->extreme || d.slow_copies || !takes_time(&d);
    free(d.ops);
    free(d.tensors);
}

struct cam_wish cam_small_wish(struct rp_rng *r) {
    struct cam_wish wish = {.min_ops = 3, .max_ops = 60};
    if (rp_rng_percent(r, 70))
        wish = (struct cam_wish){
            .min_ops = 6, .max_ops = 30, .for_brute_force = true, .plain = true};
    return wish;
}
