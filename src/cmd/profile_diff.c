/* profile --compare: how far the times of two graphs differ, and what that means for a
 * plan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "cmd/common.h"
#include "cmd/profile.h"
#include "model/plan.h"
#include "profile/diff.h"
#include "solve/core/plan_claims.h"
#include "verify/verifier.h"

/* What a plan costs with the times of a, and of b. */
struct timed_plan {
    struct rp_claims a, b;
};

/* The change from a to b: "+12.00%". */
static struct rp_text32 change(uint64_t a, uint64_t b) {
    struct rp_text32 t;
    if (a == 0)
        return (struct rp_text32){"-"};
    snprintf(t.s, sizeof t.s, "%+.2f%%", 100 * ((double)b - (double)a) / (double)a);
    return t;
}

static void print_line(const char *name, const struct rp_kind_diff *d,
                       const struct rp_graph *a) {
    char kind[29], worst[41];
    rp_clean_into(kind, sizeof kind, name);
    rp_clean_into(worst, sizeof worst, a->ops[d->worst].name);
    printf("%-28s %5" PRIu32 " %10s %10s %9s %9s  %s\n", kind, d->n_ops,
           rp_show_ns(d->a_ns).s, rp_show_ns(d->b_ns).s, change(d->a_ns, d->b_ns).s,
           rp_show_percent(d->off_ns, d->a_ns).s, worst);
}

static void print_text(const struct rp_graph *a, const struct rp_graph *b,
                       const struct rp_profile_diff *c, const struct timed_plan *plan) {
    rp_put_clean_line("A         ", a->time_source, stdout);
    rp_put_clean_line("B         ", b->time_source, stdout);
    putchar('\n');
    printf("kind                           ops          A          B       B-A     |B-A|  "
           "furthest op\n");
    for (uint32_t i = 0; i < c->n_kinds; i++)
        print_line(c->kinds[i].kind, &c->kinds[i], a);
    if (c->all.n_ops > 0)
        print_line("all", &c->all, a);
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
    uint64_t a_tail = rp_claims_tail_ns(&plan->a), b_tail = rp_claims_tail_ns(&plan->b);
    if (a_tail > 0 || b_tail > 0)
        printf("copies    after the last op %s and %s\n", rp_show_ns(a_tail).s,
               rp_show_ns(b_tail).s);
}

static void write_difference(struct rp_json_writer *w, const struct rp_kind_diff *d,
                             const struct rp_graph *a) {
    rp_json_uint(w, "ops", d->n_ops);
    rp_json_uint(w, "a_ns", d->a_ns);
    rp_json_uint(w, "b_ns", d->b_ns);
    rp_json_uint(w, "off_ns", d->off_ns);
    if (d->n_ops > 0) {
        rp_json_uint(w, "worst_ns", d->worst_ns);
        rp_json_string(w, "worst_op", a->ops[d->worst].name);
    }
}

static void write_claims(struct rp_json_writer *w, const char *key,
                         const struct rp_claims *c) {
    rp_json_object(w, key);
    rp_json_uint(w, "time_ns", c->time_ns);
    rp_json_uint(w, "baseline_time_ns", c->baseline_time_ns);
    rp_json_uint(w, "recompute_ns", c->recompute_ns);
    rp_json_uint(w, "stall_ns", c->stall_ns);
    rp_json_end(w);
}

static void print_json(const struct rp_graph *a, const struct rp_graph *b,
                       const struct rp_profile_diff *c, const struct timed_plan *plan) {
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "a", a->time_source);
    rp_json_string(&w, "b", b->time_source);
    write_difference(&w, &c->all, a);
    rp_json_object(&w, "kinds");
    for (uint32_t i = 0; i < c->n_kinds; i++) {
        rp_json_object(&w, c->kinds[i].kind);
        write_difference(&w, &c->kinds[i], a);
        rp_json_end(&w);
    }
    rp_json_end(&w);
    if (plan != NULL) {
        rp_json_object(&w, "plan");
        write_claims(&w, "a", &plan->a);
        write_claims(&w, "b", &plan->b);
        rp_json_end(&w);
    }
    rp_json_end(&w);
    rp_json_finish(&w);
}

/* Times the plan with the times of its own graph, and then with those of `other`, which
 * replace them in *own. */
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
                           struct timed_plan *t, struct rp_err *err) {
    struct rp_plan p = {0};
    struct rp_graph own = {0};
    struct rp_profile_diff c = {0};
    bool of_a = false;
    rp_rc rc = rp_plan_load(path, &p, err);
    if (rc == RP_OK) {
        of_a = strcmp(p.graph_sha256, a->sha256) == 0;
        if (!of_a && strcmp(p.graph_sha256, b->sha256) != 0)
            rc = rp_fail(err, RP_INPUT, "%s: this plan is for neither %s nor %s",
                         rp_path_name(path), a_path, b_path);
    }
    if (rc == RP_OK)
        rc = rp_graph_load(of_a ? a_path : b_path, &own, err);
    if (rc == RP_OK)
        rc = rp_profile_diff_build(&own, of_a ? a_path : b_path, of_a ? b : a,
                                   of_a ? b_path : a_path, &c, err);
    if (rc == RP_OK)
        rc = time_plan(&own, of_a ? b : a, c.op_of_b, &p, of_a ? &t->a : &t->b,
                       of_a ? &t->b : &t->a, err);
    /* That a plan is invalid is no answer here: the input is wrong. */
    if (rc == RP_NO) {
        struct rp_err inner = *err;
        *err = (struct rp_err){{0}};
        rc = rp_fail(err, RP_INPUT, "%s: %.900s", rp_path_name(path), inner.msg);
    }
    rp_profile_diff_fini(&c);
    rp_graph_fini(&own);
    rp_plan_fini(&p);
    return rc;
}

rp_rc rp_profile_compare(const char *a_path, const char *b_path, const char *plan,
                         bool json, struct rp_err *err) {
    struct rp_graph a = {0}, b = {0};
    struct rp_profile_diff c = {0};
    struct timed_plan t = {{0}, {0}};
    rp_rc rc = rp_graph_load(a_path, &a, err);
    if (rc == RP_OK)
        rc = rp_graph_load(b_path, &b, err);
    if (rc == RP_OK)
        rc = rp_profile_diff_build(&a, a_path, &b, b_path, &c, err);
    if (rc == RP_OK)
        rc = rp_check_times(&a, a_path, err);
    if (rc == RP_OK)
        rc = rp_check_times(&b, b_path, err);
    if (rc == RP_OK && plan != NULL)
        rc = load_and_time(plan, a_path, b_path, &a, &b, &t, err);
    if (rc == RP_OK && (json || rp_log_level() >= 0))
        (json ? print_json : print_text)(&a, &b, &c, plan ? &t : NULL);
    rp_profile_diff_fini(&c);
    rp_graph_fini(&a);
    rp_graph_fini(&b);
    return rc;
}
