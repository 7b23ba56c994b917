/* maxbatch: what was found out, in words or as JSON. */
#include "cmd/maxbatch.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/json.h"

const char *const rp_batch_word[] = {
    [RP_BATCH_FITS] = "yes",
    [RP_BATCH_TOO_SLOW] = "too slow",
    [RP_BATCH_NO] = "no",
    [RP_BATCH_PROVED_NO] = "proved no",
    [RP_BATCH_NOT_FOUND] = "not found",
    [RP_BATCH_CUT_SHORT] = "interrupted",
};

static double samples_per_s(const struct rp_batch *p) {
    return (double)p->batch * 1e9 / (double)p->claims.time_ns;
}

const struct rp_batch *rp_batches_fastest(const struct rp_batches *b) {
    const struct rp_batch *best = NULL;
    bool polished = false;
    for (size_t i = 0; i < b->points.n; i++) {
        const struct rp_batch *p = &b->points.at[i];
        if (p->verdict == RP_BATCH_FITS &&
            (best == NULL || samples_per_s(p) > samples_per_s(best)))
            best = p;
        polished = polished || p->polish;
    }
    return polished ? best : NULL;
}

const struct rp_batch *rp_batches_largest(const struct rp_batches *b) {
    const struct rp_batch *best = NULL;
    for (size_t i = 0; i < b->points.n; i++) {
        const struct rp_batch *p = &b->points.at[i];
        if (p->verdict == RP_BATCH_FITS && p->batch == b->largest &&
            (best == NULL || p->claims.time_ns < best->claims.time_ns))
            best = p;
    }
    return best;
}

static int by_batch(const void *a, const void *b) {
    const struct rp_batch *p = a, *q = b;
    if (p->batch != q->batch)
        return (p->batch > q->batch) - (p->batch < q->batch);
    return p->polish - q->polish;
}

bool rp_batches_interrupted(const struct rp_batches *b) {
    return b->open_to > 0 || b->not_polished > 0;
}

bool rp_batches_open(const struct rp_batches *b) {
    for (size_t i = 0; i < b->points.n; i++)
        if (b->how->record == NULL && b->points.at[i].verdict == RP_BATCH_NOT_FOUND)
            return true;
    return false;
}

static void put_points(const struct rp_batches *b) {
    puts("batch      keep-all   the plan  fits         over time  samples/s");
    for (size_t i = 0; i < b->points.n; i++) {
        const struct rp_batch *p = &b->points.at[i];
        const struct rp_claims *c = &p->claims;
        printf("%-8" PRIu64 " %10s ", p->batch, rp_show_bytes(p->keep_all_bytes).s);
        if (c->time_ns == 0)
            printf("%10s  %s\n", "-", rp_batch_word[p->verdict]);
        else
            printf("%10s  %-11s %10s %10.1f%s\n", rp_show_bytes(p->needed_bytes).s,
                   rp_batch_word[p->verdict],
                   rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s,
                   samples_per_s(p), p->polish ? "" : " (first found)");
    }
}

static void put_text(const struct rp_batches *b) {
    const struct rp_batch *best = rp_batches_fastest(b), *most = rp_batches_largest(b);
    const char *so_far = rp_batches_interrupted(b) ? " (so far)" : "";
    printf("%s on %s, %s: %u plans by %s\n\n", b->network, b->device->title,
           rp_show_bytes(b->budget_bytes).s, b->plans, b->how->name);
    put_points(b);
    if (most == NULL) {
        printf("\n%s%s\n", rp_batches_open(b) ? "no plan was found" : "no batch fits",
               so_far);
        return;
    }
    printf("\nkeep-all    batch %" PRIu64 "\n", b->keep_all_batch);
    printf("largest     batch %" PRIu64, most->batch);
    if (b->keep_all_batch > 0)
        printf(", %.2fx", (double)most->batch / (double)b->keep_all_batch);
    printf(", %.1f samples/s, %s over its keep-all time%s\n", samples_per_s(most),
           rp_show_percent(most->claims.time_ns - most->claims.baseline_time_ns,
                           most->claims.baseline_time_ns)
               .s,
           so_far);
    if (best != NULL)
        printf("most speed  batch %" PRIu64 ", %.1f samples/s%s\n", best->batch,
               samples_per_s(best), so_far);
}

static json_t *point_json(const struct rp_batch *p) {
    json_t *j = json_pack("{s:I, s:b, s:s, s:b, s:I}", "batch", (json_int_t)p->batch,
                          "fits", (int)(p->verdict == RP_BATCH_FITS), "verdict",
                          rp_batch_word[p->verdict], "for_speed", (int)p->polish,
                          "keep_all_bytes", (json_int_t)p->keep_all_bytes);
    if (p->claims.time_ns > 0) {
        json_object_set_new(j, "needed_bytes", json_integer((json_int_t)p->needed_bytes));
        json_object_set_new(j, "time_ns", json_integer((json_int_t)p->claims.time_ns));
        json_object_set_new(j, "baseline_time_ns",
                            json_integer((json_int_t)p->claims.baseline_time_ns));
        json_object_set_new(j, "samples_per_s", json_real(samples_per_s(p)));
    }
    return j;
}

static void put_json(const struct rp_batches *b) {
    const struct rp_batch *best = rp_batches_fastest(b), *most = rp_batches_largest(b);
    json_t *points = json_array();
    for (size_t i = 0; i < b->points.n; i++)
        json_array_append_new(points, point_json(&b->points.at[i]));
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:I, s:b, s:I, s:o, s:o, s:o}", "network", b->network, "device",
        b->device->name, "policy", b->how->name, "budget_bytes",
        (json_int_t)b->budget_bytes, "interrupted", (int)rp_batches_interrupted(b),
        "keep_all_batch", (json_int_t)b->keep_all_batch, "largest",
        most != NULL ? point_json(most) : json_null(), "fastest",
        best != NULL ? point_json(best) : json_null(), "points", points);
    rp_json_put(stdout, root);
    putchar('\n');
    json_decref(root);
}

void rp_batches_report(struct rp_batches *b, bool json) {
    if (b->points.n > 0)
        qsort(b->points.at, b->points.n, sizeof *b->points.at, by_batch);
    (json ? put_json : put_text)(b);
}
