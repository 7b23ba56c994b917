/* profile --compare: how far two graphs' times are apart, and what that does to a plan. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/common.h"
#include "cmd/profile.h"
#include "model/plan.h"
#include "profile/diff.h"
#include "solve/core/plan_claims.h"
#include "verify/verifier.h"

/* A plan under the times of a, and of b. */
struct timed {
    struct rp_claims a, b;
};

/* "+12.00%": b over a. */
static struct rp_text32 change(uint64_t a, uint64_t b) {
    struct rp_text32 t;
    if (a == 0)
        return (struct rp_text32){"-"};
    snprintf(t.s, sizeof t.s, "%+.2f%%", 100 * ((double)b - (double)a) / (double)a);
    return t;
}

static void put_line(const char *name, const struct rp_kind_difference *d,
                     const struct rp_graph *a) {
    printf("%-28.28s %5" PRIu32 " %10s %10s %9s %9s  %.40s\n", name, d->n_ops,
           rp_show_ns(d->a_ns).s, rp_show_ns(d->b_ns).s, change(d->a_ns, d->b_ns).s,
           rp_show_percent(d->off_ns, d->a_ns).s, a->ops[d->worst].name);
}

static void put_text(const struct rp_graph *a, const struct rp_graph *b,
                     const struct rp_comparison *c, const struct timed *plan) {
    printf("A         %s\nB         %s\n\n", a->time_source, b->time_source);
    printf("kind                           ops          A          B       B-A     |B-A|  "
           "furthest op\n");
    for (uint32_t i = 0; i < c->n_kinds; i++)
        put_line(c->kinds[i].kind, &c->kinds[i], a);
    if (c->all.n_ops > 0)
        put_line("all", &c->all, a);
    if (plan == NULL)
        return;
    printf("\nplan      %s with A's times, %s with B's (%s)\n",
           rp_show_ns(plan->a.time_ns).s, rp_show_ns(plan->b.time_ns).s,
           change(plan->a.time_ns, plan->b.time_ns).s);
    printf("over      keep-all by %s with A's times, %s with B's\n",
           change(plan->a.baseline_time_ns, plan->a.time_ns).s,
           change(plan->b.baseline_time_ns, plan->b.time_ns).s);
    printf("recompute %s and %s, stall %s and %s\n", rp_show_ns(plan->a.recompute_ns).s,
           rp_show_ns(plan->b.recompute_ns).s, rp_show_ns(plan->a.stall_ns).s,
           rp_show_ns(plan->b.stall_ns).s);
}

static void put_difference(const struct rp_kind_difference *d, const struct rp_graph *a) {
    printf("\"ops\":%" PRIu32 ",\"a_ns\":%" PRIu64 ",\"b_ns\":%" PRIu64
           ",\"off_ns\":%" PRIu64,
           d->n_ops, d->a_ns, d->b_ns, d->off_ns);
    if (d->n_ops > 0) {
        printf(",\"worst_ns\":%" PRIu64 ",\"worst_op\":", d->worst_ns);
        rp_json_put_string(stdout, a->ops[d->worst].name);
    }
}

static void put_claims(const char *name, const struct rp_claims *c) {
    printf("\"%s\":{\"time_ns\":%" PRIu64 ",\"baseline_time_ns\":%" PRIu64
           ",\"recompute_ns\":%" PRIu64 ",\"stall_ns\":%" PRIu64 "}",
           name, c->time_ns, c->baseline_time_ns, c->recompute_ns, c->stall_ns);
}

static void put_json(const struct rp_graph *a, const struct rp_graph *b,
                     const struct rp_comparison *c, const struct timed *plan) {
    printf("{\"a\":");
    rp_json_put_string(stdout, a->time_source);
    printf(",\"b\":");
    rp_json_put_string(stdout, b->time_source);
    printf(",");
    put_difference(&c->all, a);
    printf(",\"kinds\":{");
    for (uint32_t i = 0; i < c->n_kinds; i++) {
        printf("%s", i ? "," : "");
        rp_json_put_string(stdout, c->kinds[i].kind);
        printf(":{");
        put_difference(&c->kinds[i], a);
        printf("}");
    }
    printf("}");
    if (plan != NULL) {
        printf(",\"plan\":{");
        put_claims("a", &plan->a);
        printf(",");
        put_claims("b", &plan->b);
        printf("}");
    }
    printf("}\n");
}

/* `own` is the graph the plan is for, `other` the one with other times. */
static rp_rc time_plan(struct rp_graph *own, const struct rp_graph *other,
                       const uint32_t *op_of_other, struct rp_plan *p,
                       struct rp_claims *with_own, struct rp_claims *with_other,
                       struct rp_err *err) {
    struct rp_verdict v;
    rp_rc rc = rp_verify(own, p, &v, err);
    if (rc != RP_OK)
        return rc;
    *with_own = p->claims;
    for (uint32_t i = 0; i < own->n_ops; i++)
        own->ops[i].time_ns = other->ops[op_of_other[i]].time_ns;
    if (other->device.h2d_bytes_per_s != 0 && other->device.d2h_bytes_per_s != 0) {
        own->device.h2d_bytes_per_s = other->device.h2d_bytes_per_s;
        own->device.d2h_bytes_per_s = other->device.d2h_bytes_per_s;
        own->device.copy_latency_ns = other->device.copy_latency_ns;
    }
    rc = rp_graph_check(own, "the plan's graph", err);
    if (rc == RP_OK)
        rc = rp_plan_fill_claims(own, p, err);
    *with_other = p->claims;
    return rc;
}

static rp_rc load_and_time(const char *path, const char *a_path, const char *b_path,
                           const struct rp_graph *a, const struct rp_graph *b,
                           struct timed *t, struct rp_err *err) {
    struct rp_plan p = {0};
    struct rp_graph own = {0};
    struct rp_comparison c = {0};
    bool of_a = false;
    rp_rc rc = rp_plan_load(path, &p, err);
    if (rc == RP_OK) {
        of_a = strcmp(p.graph_sha256, a->sha256) == 0;
        if (!of_a && strcmp(p.graph_sha256, b->sha256) != 0)
            rc = rp_fail(err, RP_INPUT, "%s: is a plan for neither %s nor %s",
                         rp_path_name(path), a_path, b_path);
    }
    if (rc == RP_OK)
        rc = rp_graph_load(of_a ? a_path : b_path, &own, err);
    if (rc == RP_OK)
        rc = rp_compare(&own, of_a ? a_path : b_path, of_a ? b : a, of_a ? b_path : a_path,
                        &c, err);
    if (rc == RP_OK)
        rc = time_plan(&own, of_a ? b : a, c.op_of_b, &p, of_a ? &t->a : &t->b,
                       of_a ? &t->b : &t->a, err);
    /* A plan that does not hold is no answer to how far the times are apart. */
    if (rc == RP_NO) {
        struct rp_err inner = *err;
        *err = (struct rp_err){{0}};
        rc = rp_fail(err, RP_INPUT, "%s: %.900s", rp_path_name(path), inner.msg);
    }
    rp_comparison_fini(&c);
    rp_graph_fini(&own);
    rp_plan_fini(&p);
    return rc;
}

rp_rc rp_profile_compare(const char *a_path, const char *b_path, const char *plan,
                         bool json, struct rp_err *err) {
    struct rp_graph a = {0}, b = {0};
    struct rp_comparison c = {0};
    struct timed t = {{0}, {0}};
    rp_rc rc = rp_graph_load(a_path, &a, err);
    if (rc == RP_OK)
        rc = rp_graph_load(b_path, &b, err);
    if (rc == RP_OK)
        rc = rp_compare(&a, a_path, &b, b_path, &c, err);
    if (rc == RP_OK)
        rc = rp_check_times(&a, a_path, err);
    if (rc == RP_OK)
        rc = rp_check_times(&b, b_path, err);
    if (rc == RP_OK && plan != NULL)
        rc = load_and_time(plan, a_path, b_path, &a, &b, &t, err);
    if (rc == RP_OK && (json || rp_log_level() >= 0))
        (json ? put_json : put_text)(&a, &b, &c, plan ? &t : NULL);
    rp_comparison_fini(&c);
    rp_graph_fini(&a);
    rp_graph_fini(&b);
    return rc;
}
