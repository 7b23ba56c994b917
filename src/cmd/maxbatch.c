/* maxbatch: the largest batch of a network that a device can train with a verified plan,
 * and what is gained or lost in samples a second on the way there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "base/sha256.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/maxbatch.h"
#include "cmd/policy_options.h"
#include "cmd/zoo_options.h"
#include "model/cost.h"
#include "solve/solver.h"

static const struct rp_command command = {
    "maxbatch", "NETWORK",
    "Finds the largest batch of a network whose training step fits a device.",
    "Batches are bisected; each step plans a graph of the zoo with the device's times and\n"
    "stops as soon as a plan is within --max-overhead. Then the most samples a second are\n"
    "looked for between keep-all's largest batch and the largest of all, with "
    "--time-limit\n"
    "for each. The budget is all of the device's memory unless --budget is given; a "
    "driver\n"
    "takes some of it. Ctrl-C ends the search: what it left open is said, and the exit "
    "code\n"
    "is 4.\n"};

enum {
    N_BETWEEN = 3, /* batches at which throughput is looked for */
    N_OUTPUTS = 3, /* the report as JSON, plan, graph */
};

struct options {
    struct rp_zoo_options zoo;
    struct rp_zoo_words zoo_words;
    struct rp_policy_options policy;
    const struct rp_policy *how;
    const struct rp_device_model *device;
    const char *network, *out, *graph_out;
    double max_overhead; /* a share; negative: none is asked for */
    bool one_forward;    /* the overhead may be one more forward pass instead */
    double precision;    /* a share: how far the largest batch may be from the truth */
    bool fit_only;       /* no plans for speed */
    bool json;
};

struct search {
    struct options *o;
    struct rp_batches b;
    struct rp_plan plan; /* the fastest of the largest that fits, if it was planned */
    uint64_t plan_batch;
};

/* ---- the graph of a batch ---- */

static rp_rc build(const struct options *o, uint64_t batch, struct rp_graph *g,
                   struct rp_err *err) {
    struct rp_zoo_options z = o->zoo;
    char *text;
    size_t len;
    z.batch = batch;
    rp_rc rc = rp_zoo_build(o->network, &z, g, err);
    if (rc != RP_OK)
        return rc;
    rc = rp_cost_apply(g, o->device, o->network, err);
    if (rc != RP_OK) {
        rp_graph_fini(g);
        return rc;
    }
    rp_graph_dump(g, &text, &len);
    rp_sha256_hex(text, len, g->sha256);
    free(text);
    return RP_OK;
}

/* Could any plan of this batch fit: is the largest working set within the budget? A batch
 * beyond what a file can hold does not. */
static bool may_fit(const struct options *o, uint64_t batch) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_err ignored = {{0}};
    uint32_t op;
    if (build(o, batch, &g, &ignored) != RP_OK)
        return false;
    bool fits = g.fixed_bytes <= o->policy.budget_bytes;
    if (fits) {
        rp_instance_init(&p, &g, o->policy.budget_bytes, o->policy.addressed, NULL);
        rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
        fits = rp_instance_floor(&p, &op) <= p.limit_bytes;
        rp_instance_fini(&p);
    }
    rp_graph_fini(&g);
    return fits;
}

static bool keep_all_fits(const struct options *o, uint64_t batch) {
    struct rp_graph g;
    struct rp_err ignored = {{0}};
    if (build(o, batch, &g, &ignored) != RP_OK)
        return false;
    bool fits = rp_keep_all_bytes(&g, o->policy.addressed) <= o->policy.budget_bytes;
    rp_graph_fini(&g);
    return fits;
}

/* The largest batch from `from` on for which `fits` holds, as if it were monotone; 0 if it
 * does not hold for `from`. */
static uint64_t largest_batch(const struct options *o, uint64_t from,
                              bool (*fits)(const struct options *, uint64_t)) {
    uint64_t a = from, step = from, b;
    if (!fits(o, a))
        return 0;
    while (step < RP_MAX_QUANTITY / 4 && fits(o, a + step)) {
        a += step;
        step *= 2;
    }
    for (b = a + step; a + 1 < b;) {
        uint64_t mid = a + (b - a) / 2;
        if (fits(o, mid))
            a = mid;
        else
            b = mid;
    }
    return a;
}

/* ---- plans ---- */

static void show_progress(const struct search *s, uint64_t batch) {
    rp_progress("%u plans made, batch %" PRIu64 " fits; trying %" PRIu64, s->b.plans,
                s->b.largest, batch);
}

/* The plan of the largest batch so far, or a faster one of it. */
static void keep_plan(struct search *s, uint64_t batch, struct rp_plan *plan) {
    if (s->plan_batch == batch && s->plan.claims.time_ns <= plan->claims.time_ns)
        return;
    rp_plan_fini(&s->plan);
    s->plan = *plan;
    *plan = (struct rp_plan){0};
    s->plan_batch = s->b.largest = batch;
}

/* The share of time over keep-all that is accepted; negative: any. */
static double accepted_overhead(const struct options *o, const struct rp_graph *g) {
    uint64_t forward_ns = 0;
    if (!o->one_forward)
        return o->max_overhead;
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].phase == RP_FORWARD)
            forward_ns += g->ops[i].time_ns;
    return (double)forward_ns / (double)g->total_time_ns;
}

static bool is_good(const struct rp_outcome *out, double overhead) {
    const struct rp_claims *c = &out->plan.claims;
    return rp_outcome_fits(out) &&
           (overhead < 0 ||
            (double)c->time_ns <= (double)c->baseline_time_ns * (1 + overhead));
}

/* Where the search that may do everything misses, the one without swaps has a turn: with
 * fewer choices it gets further in the same time. */
static rp_rc plan(const struct options *o, const struct rp_graph *g,
                  const struct rp_policy_options *po, double overhead,
                  struct rp_outcome *out, struct rp_err *err) {
    struct rp_outcome other;
    rp_rc rc = rp_outcome_make(g, o->how, po, out, err);
    if (rc != RP_OK || is_good(out, overhead) || o->how->record != NULL || !o->how->moves)
        return rc;
    rc = rp_outcome_make(g, rp_policy_find("checkmate"), po, &other, err);
    if (rc == RP_OK && is_good(&other, overhead)) {
        struct rp_outcome worse = *out;
        *out = other;
        other = worse;
    }
    rp_outcome_fini(&other);
    return rc;
}

static enum rp_batch_verdict judge(const struct options *o, const struct rp_outcome *out,
                                   double overhead) {
    const struct rp_claims *c = &out->plan.claims;
    bool search = o->how->record == NULL;
    if (is_good(out, overhead))
        return RP_BATCH_FITS;
    if (*o->policy.stop)
        return RP_BATCH_CUT_SHORT;
    if (rp_outcome_fits(out))
        return search && (double)c->lower_bound_ns >
                             (double)c->baseline_time_ns * (1 + overhead)
                   ? RP_BATCH_PROVED_NO
                   : RP_BATCH_TOO_SLOW;
    return search && out->rc == RP_NO ? RP_BATCH_PROVED_NO
           : o->how->aims             ? RP_BATCH_NOT_FOUND
                                      : RP_BATCH_NO;
}

/* Plans one batch; the point is appended. `polish`: for speed, with the whole time limit.
 */
static rp_rc try_batch(struct search *s, uint64_t batch, bool polish, struct rp_err *err) {
    struct rp_graph g;
    struct rp_outcome out;
    const struct options *o = s->o;
    struct rp_policy_options po = o->policy;
    struct rp_batch p = {.batch = batch, .polish = polish};
    show_progress(s, batch);
    rp_rc rc = build(o, batch, &g, err);
    if (rc != RP_OK)
        return rc;
    double overhead = accepted_overhead(o, &g);
    po.gap = polish ? 0.001 : overhead >= 0 ? overhead : 1e9;
    p.keep_all_bytes = rp_keep_all_bytes(&g, po.addressed);
    rc = plan(o, &g, &po, overhead, &out, err);
    if (rc == RP_OK) {
        p.claims = out.plan.claims;
        p.needed_bytes = out.report.needed_bytes;
        p.verdict = judge(o, &out, overhead);
        s->b.plans++;
        if (p.verdict == RP_BATCH_FITS && batch >= s->b.largest)
            keep_plan(s, batch, &out.plan);
        rp_push(&s->b.points, p);
        rp_log(1, "batch %" PRIu64 " fits: %s", batch, rp_batch_word[p.verdict]);
    }
    rp_outcome_fini(&out);
    rp_graph_fini(&g);
    return rc;
}

static enum rp_batch_verdict last_verdict(const struct search *s) {
    return s->b.points.at[s->b.points.n - 1].verdict;
}

/* Between `a`, which fits, and `b`, which does not, until they are near enough. */
static rp_rc bisect(struct search *s, uint64_t a, uint64_t b, struct rp_err *err) {
    rp_rc rc = RP_OK;
    while (a + 1 < b && (double)(b - a) > (double)a * s->o->precision && rc == RP_OK) {
        uint64_t mid = a + (b - a) / 2;
        if (*s->o->policy.stop) {
            s->b.open_from = a + 1;
            s->b.open_to = b - 1;
            break;
        }
        rc = try_batch(s, mid, false, err);
        enum rp_batch_verdict verdict = rc == RP_OK ? last_verdict(s) : RP_BATCH_NOT_FOUND;
        if (verdict == RP_BATCH_FITS)
            a = mid;
        else if (verdict != RP_BATCH_CUT_SHORT)
            b = mid;
    }
    return rc;
}

static bool tried(const struct search *s, uint64_t batch) {
    for (size_t i = 0; i < s->b.points.n; i++)
        if (s->b.points.at[i].batch == batch)
            return true;
    return false;
}

/* Plans for speed from keep-all's largest batch to the largest. */
static rp_rc look_for_speed(struct search *s, struct rp_err *err) {
    uint64_t a = s->b.keep_all_batch > 0 ? s->b.keep_all_batch : 1, b = s->b.largest,
             last = 0;
    rp_rc rc = RP_OK;
    for (uint64_t k = 0; k <= N_BETWEEN + 1 && rc == RP_OK && b > 0; k++) {
        uint64_t batch = a + (b - a) * k / (N_BETWEEN + 1);
        if (batch != last && *s->o->policy.stop)
            s->b.not_polished++;
        else if (batch != last) {
            rc = try_batch(s, batch, true, err);
            s->b.not_polished += rc == RP_OK && last_verdict(s) == RP_BATCH_CUT_SHORT;
        }
        last = batch;
    }
    return rc;
}

static rp_rc find(struct search *s, struct rp_err *err) {
    struct options *o = s->o;
    rp_progress("keep-all's largest batch");
    s->b.keep_all_batch = largest_batch(o, 1, keep_all_fits);
    s->b.largest = s->b.keep_all_batch;
    uint64_t least = s->b.keep_all_batch > 0 ? s->b.keep_all_batch : 1;
    uint64_t most = largest_batch(o, least, may_fit);
    rp_rc rc = RP_OK;
    if (s->b.keep_all_batch == 0 && most > 0)
        rc = try_batch(s, least, false, err);
    if (rc == RP_OK && s->b.largest > 0)
        rc = bisect(s, s->b.largest, most + 1, err);
    else if (rc == RP_OK && most > 0 && *o->policy.stop) {
        s->b.open_from = 1;
        s->b.open_to = most;
    }
    if (rc == RP_OK && !o->fit_only)
        rc = look_for_speed(s, err);
    if (rc == RP_OK && s->b.keep_all_batch > 0 && !tried(s, s->b.keep_all_batch) &&
        rp_batches_largest(&s->b) == NULL)
        rc = try_batch(s, s->b.keep_all_batch, false, err);
    rp_progress("%s", "");
    return rc;
}

/* Graph and plan of the largest batch. */
static rp_rc save_largest(const struct search *s, struct rp_err *err) {
    const struct options *o = s->o;
    struct rp_graph g;
    if (s->plan_batch == 0)
        return RP_OK;
    rp_rc rc = build(o, s->plan_batch, &g, err);
    if (rc == RP_OK && o->graph_out != NULL)
        rc = rp_graph_save(&g, o->graph_out, err);
    if (rc == RP_OK && o->out != NULL)
        rc = rp_plan_save(&s->plan, o->out, err);
    rp_graph_fini(&g);
    return rc;
}

/* Nothing more to say, no batch at all, or an interrupt and what it left open. */
static rp_rc conclude(const struct search *s, struct rp_err *err) {
    if (!rp_batches_interrupted(&s->b) && rp_batches_largest(&s->b) != NULL)
        return RP_OK;
    if (!rp_batches_interrupted(&s->b))
        return rp_batches_open(&s->b)
                   ? rp_fail(err, RP_LIMIT, "maxbatch: no plan was found")
                   : RP_NO;
    if (s->b.open_to == 0)
        return rp_fail(err, RP_LIMIT, "maxbatch: interrupted, %u not planned for speed",
                       s->b.not_polished);
    return rp_fail(err, RP_LIMIT,
                   "maxbatch: interrupted, batches %" PRIu64 " to %" PRIu64 " not decided",
                   s->b.open_from, s->b.open_to);
}

static rp_rc maxbatch(struct options *o, const struct rp_output outputs[N_OUTPUTS],
                      struct rp_err *err) {
    struct search s = {.o = o,
                       .b = {.network = o->network,
                             .device = o->device,
                             .how = o->how,
                             .budget_bytes = o->policy.budget_bytes}};
    struct rp_graph g;
    rp_rc rc = build(o, 1, &g, err); /* unknown names and options show here */
    if (rc == RP_OK) {
        rp_graph_fini(&g);
        rc = rp_check_outputs("maxbatch", outputs, N_OUTPUTS, err);
    }
    if (rc == RP_OK)
        rc = find(&s, err);
    if (rc == RP_OK) {
        bool silent = rp_uses_stdout(outputs, N_OUTPUTS) || rp_log_level() < 0;
        if (o->json || !silent || rp_batches_largest(&s.b) == NULL)
            rp_batches_report(&s.b, o->json);
        rc = save_largest(&s, err);
    }
    if (rc == RP_OK)
        rc = conclude(&s, err);
    free(s.b.points.at);
    rp_plan_fini(&s.plan);
    return rc;
}

static rp_rc read_overhead(const char *text, struct options *o, struct rp_err *err) {
    char *end;
    o->max_overhead = -1;
    o->one_forward = text != NULL && strcmp(text, "forward") == 0;
    if (text == NULL || o->one_forward)
        return RP_OK;
    double percent = strtod(text, &end);
    end += *end == '%';
    if (strspn(text, "0123456789.%") != strlen(text) || *end != '\0' || end == text)
        return rp_fail(err, RP_USAGE,
                       "maxbatch: --max-overhead: '%s' is not a share such "
                       "as 10%%, or forward",
                       text);
    o->max_overhead = percent / 100;
    return RP_OK;
}

static rp_rc take_words(struct options *o, const char *device, const char *budget,
                        const char *overhead, const char *policy,
                        const struct rp_policy_words *words, struct rp_err *err) {
    rp_rc rc = rp_zoo_take("maxbatch", o->network, &o->zoo_words, &o->zoo, err);
    if (rc == RP_OK)
        rc = rp_policy_take("maxbatch", policy, words, &o->policy, &o->how, err);
    if (rc == RP_OK)
        rc = read_overhead(overhead, o, err);
    if (rc != RP_OK)
        return rc;
    if (device == NULL)
        return rp_fail(err, RP_USAGE, "maxbatch: --device is needed (try --help)");
    if ((o->device = rp_device_find(device)) == NULL)
        return rp_fail(err, RP_USAGE,
                       "maxbatch: no device '%s' ('remat-plan profile --device list' "
                       "names them)",
                       device);
    o->policy.budget_bytes = o->device->memory_bytes;
    if (budget != NULL && !rp_parse_bytes(budget, &o->policy.budget_bytes))
        return rp_fail(err, RP_USAGE,
                       "maxbatch: --budget: '%s' is not a size such as 15GiB", budget);
    if (!(o->policy.time_limit > 0))
        return rp_fail(err, RP_USAGE, "maxbatch: --time-limit must be above 0");
    return RP_OK;
}

rp_rc rp_cmd_maxbatch(int argc, char **argv, struct rp_err *err) {
    struct options o = {.json = false};
    const char *device = NULL, *budget = NULL, *overhead = NULL, *policy = "remat";
    bool no_addresses = false, done;
    double precision = 1;
    struct rp_policy_words words = RP_NO_POLICY_WORDS;
    int n;
    rp_zoo_options_init(&o.zoo);
    rp_policy_options_init(&o.policy);
    o.policy.time_limit = 6;
    const struct rp_option table[] = {
        {"device", 'd', RP_OPT_STRING, &device, "NAME",
         "times and memory of this device (required)"},
        {"budget", 'b', RP_OPT_STRING, &budget, "SIZE", "less than the device's memory"},
        {"max-overhead", 0, RP_OPT_STRING, &overhead, "PERCENT",
         "time over keep-all of the same batch, at most (any); forward: that of one more "
         "forward pass"},
        {"precision", 0, RP_OPT_NUMBER, &precision, "PERCENT",
         "stop when the largest batch is known that well (1)"},
        {"fit-only", 0, RP_OPT_FLAG, &o.fit_only, NULL, "no plans for speed"},
        {"policy", 'p', RP_OPT_STRING, &policy, "NAME", "plan with this policy (remat)"},
        {"time-limit", 't', RP_OPT_NUMBER, &o.policy.time_limit, "SEC",
         "for each search of checkmate and remat (6)"},
        {"out", 'o', RP_OPT_STRING, &o.out, "FILE", "write the largest batch's plan here"},
        {"graph", 'g', RP_OPT_STRING, &o.graph_out, "FILE", "and its graph here"},
        RP_ZOO_ROWS(&o.zoo, &o.zoo_words),
        RP_TFLMS_ROWS(&words),
        {"no-addresses", 0, RP_OPT_FLAG, &no_addresses, NULL,
         "schedules only; sizes are not rounded"},
        {"seed", 0, RP_OPT_NAT, &o.policy.seed, "N", "of the search's random choices (1)"},
        {"json", 0, RP_OPT_FLAG, &o.json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n != 1)
        return rp_fail(err, RP_USAGE, "maxbatch: one NETWORK is needed (try --help)");
    o.network = argv[1];
    o.policy.addressed = !no_addresses;
    o.precision = precision / 100;
    o.policy.stop = rp_watch_interrupts();
    rc = take_words(&o, device, budget, overhead, policy, &words, err);
    const struct rp_output outputs[N_OUTPUTS] = {
        {"--json", o.json ? "-" : NULL}, {"--out", o.out}, {"--graph", o.graph_out}};
    return rc == RP_OK ? maxbatch(&o, outputs, err) : rc;
}
