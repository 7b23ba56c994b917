#include "cmd/maxbatch_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/json_writer.h"

static int by_batch(const void *a, const void *b) {
    const struct rp_batch *p = a, *q = b;
    if (p->batch != q->batch)
        return (p->batch > q->batch) - (p->batch < q->batch);
    return p->for_speed - q->for_speed;
}

static void print_points(const struct rp_maxbatch *m) {
    puts("batch      keep-all   the plan    on host  fits         over time  samples/s");
    for (size_t i = 0; i < m->points.n; i++) {
        const struct rp_batch *p = &m->points.at[i];
        const struct rp_claims *c = &p->claims;
        printf("%-8" PRIu64 " %10s ", p->batch, rp_show_bytes(p->keep_all_bytes).s);
        if (c->time_ns == 0)
            printf("%10s %10s  %s\n", "-", "-", rp_batch_word[p->verdict]);
        else
            printf("%10s %10s  %-11s %10s %10.1f%s\n", rp_show_bytes(p->needed_bytes).s,
                   rp_show_bytes(p->host_bytes).s, rp_batch_word[p->verdict],
                   rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s,
                   rp_batch_samples_per_s(p), p->for_speed ? "" : " (first found)");
    }
}

static void print_text(const struct rp_maxbatch_options *o, const struct rp_maxbatch *m) {
    const struct rp_batch *fastest = rp_maxbatch_fastest(m),
                          *largest = rp_maxbatch_largest(m);
    const char *so_far = rp_maxbatch_interrupted(m) ? " (so far)" : "";
    printf("%s on %s, %s: %u plans by %s\n", o->network, o->device->title,
           rp_show_bytes(o->policy_options.budget_bytes).s, m->n_plans, o->policy->name);
    rp_host_budget_print(&o->host);
    putchar('\n');
    print_points(m);
    if (largest == NULL) {
        printf("\n%s%s\n",
               rp_maxbatch_undecided(o, m) ? "no plan was found" : "no batch fits", so_far);
        return;
    }
    printf("\nkeep-all    batch %" PRIu64 "\n", m->keep_all_batch);
    printf("largest     batch %" PRIu64, largest->batch);
    if (m->keep_all_batch > 0)
        printf(", %.2fx", (double)largest->batch / (double)m->keep_all_batch);
    printf(", %.1f samples/s, %s over its keep-all time%s\n",
           rp_batch_samples_per_s(largest),
           rp_show_percent(largest->claims.time_ns - largest->claims.baseline_time_ns,
                           largest->claims.baseline_time_ns)
               .s,
           so_far);
    if (fastest != NULL)
        printf("most speed  batch %" PRIu64 ", %.1f samples/s%s\n", fastest->batch,
               rp_batch_samples_per_s(fastest), so_far);
}

/* ---- JSON ---- */

static void write_point(struct rp_json_writer *w, const char *key,
                        const struct rp_batch *p) {
    if (p == NULL) {
        rp_json_null(w, key);
        return;
    }
    rp_json_object(w, key);
    rp_json_uint(w, "batch", p->batch);
    rp_json_bool(w, "fits", p->verdict == RP_BATCH_FITS);
    rp_json_string(w, "verdict", rp_batch_word[p->verdict]);
    rp_json_bool(w, "for_speed", p->for_speed);
    rp_json_uint(w, "keep_all_bytes", p->keep_all_bytes);
    if (p->claims.time_ns > 0) {
        json_t *samples_per_s = json_real(rp_batch_samples_per_s(p)); /* all digits */
        rp_json_uint(w, "needed_bytes", p->needed_bytes);
        rp_json_uint(w, "host_bytes", p->host_bytes);
        rp_json_uint(w, "time_ns", p->claims.time_ns);
        rp_json_uint(w, "baseline_time_ns", p->claims.baseline_time_ns);
        rp_json_value(w, "samples_per_s", samples_per_s);
        json_decref(samples_per_s);
    }
    rp_json_end(w);
}

static void print_json(const struct rp_maxbatch_options *o, const struct rp_maxbatch *m) {
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "network", o->network);
    rp_json_string(&w, "device", o->device->name);
    rp_json_string(&w, "policy", o->policy->name);
    rp_json_uint(&w, "budget_bytes", o->policy_options.budget_bytes);
    rp_host_budget_json(&o->host, &w);
    rp_json_bool(&w, "interrupted", rp_maxbatch_interrupted(m));
    rp_json_uint(&w, "keep_all_batch", m->keep_all_batch);
    write_point(&w, "largest", rp_maxbatch_largest(m));
    write_point(&w, "fastest", rp_maxbatch_fastest(m));
    rp_json_array(&w, "points");
    for (size_t i = 0; i < m->points.n; i++)
        write_point(&w, NULL, &m->points.at[i]);
    rp_json_end(&w);
    rp_json_end(&w);
    rp_json_finish(&w);
}

void rp_maxbatch_report(const struct rp_maxbatch_options *o, struct rp_maxbatch *m,
                        bool json) {
    if (m->points.n > 0)
        qsort(m->points.at, m->points.n, sizeof *m->points.at, by_batch);
    (json ? print_json : print_text)(o, m);
}
