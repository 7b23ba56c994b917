#include "cmd/maxbatch_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json_writer.h"

static const char *word_of(const struct rp_maxbatch_answer *a) {
    return rp_extent_word[a->options.extent];
}

static int by_size(const void *a, const void *b) {
    const struct rp_size *p = a, *q = b;
    if (p->size != q->size)
        return (p->size > q->size) - (p->size < q->size);
    return p->for_speed - q->for_speed;
}

/* A plan that does not fit has no time that could be compared. */
static bool has_time(const struct rp_size *p, uint64_t budget_bytes) {
    return p->verdict == RP_SIZE_FITS || p->verdict == RP_SIZE_TOO_SLOW ||
           (p->verdict == RP_SIZE_INTERRUPTED && p->needed_bytes <= budget_bytes);
}

static void print_points(const struct rp_maxbatch_answer *a) {
    const struct rp_maxbatch *m = &a->found;
    const uint64_t budget_bytes = a->options.policy_options.budget_bytes;
    printf("%-8s   keep-all   the plan    on host  fits         over time  samples/s\n",
           word_of(a));
    for (size_t i = 0; i < m->points.n; i++) {
        const struct rp_size *p = &m->points.at[i];
        const struct rp_claims *c = &p->plan.claims;
        printf("%-8" PRIu64 " %10s ", p->size, rp_show_bytes(p->keep_all_bytes).s);
        if (c->time_ns == 0)
            printf("%10s %10s  %s\n", "-", "-", rp_size_word[p->verdict]);
        else if (!has_time(p, budget_bytes))
            printf("%10s %10s  %s\n", rp_show_bytes(p->needed_bytes).s,
                   rp_show_bytes(p->plan.host_bytes).s, rp_size_word[p->verdict]);
        else
            printf("%10s %10s  %-11s %10s %10.1f%s\n", rp_show_bytes(p->needed_bytes).s,
                   rp_show_bytes(p->plan.host_bytes).s, rp_size_word[p->verdict],
                   rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s,
                   rp_size_samples_per_s(p), p->for_speed ? "" : " (first found)");
    }
}

/* If nothing fits. */
static const char *none_fits(const struct rp_maxbatch_answer *a) {
    static const char *const words[RP_N_EXTENTS] = {
        "no batch fits", "not even one layer fits", "no width fits"};
    return words[a->options.extent];
}

/* What is said where no plan is known to fit. */
static const char *none_word(const struct rp_maxbatch_answer *a) {
    return a->found.points.n == 0                          ? "nothing was planned"
           : rp_maxbatch_undecided(&a->options, &a->found) ? "no plan was found"
                                                           : none_fits(a);
}

/* Whether a size fits; if not, the answer for the smallest one says why. */
static const char *status_word(const struct rp_maxbatch_answer *a) {
    return rp_maxbatch_interrupted(&a->found)       ? "interrupted"
           : rp_maxbatch_largest(&a->found) != NULL ? "fits"
                                                    : none_word(a);
}

/* ": batch N: why", of the smallest size that was tried, if none fits. The caller frees the
 * text. */
static char *why_none_fits(const struct rp_maxbatch_answer *a) {
    const struct rp_maxbatch *m = &a->found;
    const struct rp_size *least = NULL;
    for (size_t i = 0; i < m->points.n; i++)
        if (least == NULL || m->points.at[i].size < least->size)
            least = &m->points.at[i];
    bool known = least != NULL && least->reason != NULL && rp_maxbatch_largest(m) == NULL;
    return known ? rp_format(": %s %" PRIu64 ": %s", word_of(a), least->size, least->reason)
                 : rp_strdup("");
}

/* The size with the most samples per second, where the batch is asked for. */
static const struct rp_size *fastest_of(const struct rp_maxbatch_answer *a) {
    return a->options.extent == RP_EXTENT_BATCH ? rp_maxbatch_fastest(&a->found) : NULL;
}

static uint64_t over_ns(const struct rp_size *p) {
    return p->plan.claims.time_ns - p->plan.claims.baseline_time_ns;
}

static void print_one(const struct rp_maxbatch_answer *a) {
    const struct rp_maxbatch_options *o = &a->options;
    const struct rp_maxbatch *m = &a->found;
    const struct rp_size *fastest = fastest_of(a), *largest = rp_maxbatch_largest(m);
    const char *so_far = rp_maxbatch_interrupted(m) ? " (so far)" : "";
    printf("%s on %s, %s: %zu plan%s by %s\n", o->network, o->device->title,
           rp_show_bytes(o->policy_options.budget_bytes).s, m->points.n,
           m->points.n == 1 ? "" : "s", o->policy->name);
    rp_host_budget_print(&o->host);
    putchar('\n');
    print_points(a);
    if (largest == NULL) {
        char *why = why_none_fits(a);
        printf("\n%s%s%s\n", none_word(a), why, so_far);
        free(why);
        return;
    }
    printf("\nkeep-all    %s %" PRIu64 "\n", word_of(a), m->keep_all_size);
    printf("largest     %s %" PRIu64, word_of(a), largest->size);
    if (m->keep_all_size > 0)
        printf(", %.2fx", (double)largest->size / (double)m->keep_all_size);
    printf(
        ", %.1f samples/s, %s over its keep-all time%s\n", rp_size_samples_per_s(largest),
        rp_show_percent(over_ns(largest), largest->plan.claims.baseline_time_ns).s, so_far);
    if (fastest != NULL)
        printf("most speed  batch %" PRIu64 ", %.1f samples/s%s\n", fastest->size,
               rp_size_samples_per_s(fastest), so_far);
}

static void print_line(const struct rp_maxbatch_answer *a) {
    const struct rp_maxbatch *m = &a->found;
    const struct rp_size *fastest = fastest_of(a), *largest = rp_maxbatch_largest(m);
    printf("%-13s %-11s %11s %9" PRIu64, a->options.network, a->options.device->name,
           rp_show_bytes(a->options.policy_options.budget_bytes).s, m->keep_all_size);
    if (largest == NULL) {
        char *why = why_none_fits(a);
        printf("  %s%s\n", status_word(a), why);
        free(why);
        return;
    }
    printf(" %9" PRIu64 " %10s %10.1f", largest->size,
           rp_show_percent(over_ns(largest), largest->plan.claims.baseline_time_ns).s,
           rp_size_samples_per_s(largest));
    if (fastest != NULL)
        printf(" %9" PRIu64 " %10.1f", fastest->size, rp_size_samples_per_s(fastest));
    puts(rp_maxbatch_interrupted(m) ? "  (so far)" : "");
}

static void print_text(const struct rp_maxbatch_answer *answers, size_t n) {
    if (n == 1) {
        print_one(answers);
        return;
    }
    puts(
        "network       device           budget  keep-all   largest  over time  samples/s   "
        "fastest  samples/s");
    for (size_t i = 0; i < n; i++)
        print_line(&answers[i]);
}

/* ---- JSON ---- */

static void write_point(struct rp_json_writer *w, const char *key,
                        const struct rp_maxbatch_answer *a, const struct rp_size *p) {
    if (p == NULL) {
        rp_json_null(w, key);
        return;
    }
    rp_json_object(w, key);
    rp_json_uint(w, "batch", p->samples);
    if (a->options.extent != RP_EXTENT_BATCH)
        rp_json_uint(w, word_of(a), p->size);
    rp_json_bool(w, "fits", p->verdict == RP_SIZE_FITS);
    rp_json_string(w, "verdict", rp_size_word[p->verdict]);
    rp_json_bool(w, "for_speed", p->for_speed);
    rp_json_uint(w, "keep_all_bytes", p->keep_all_bytes);
    if (p->reason != NULL)
        rp_json_string(w, "reason", p->reason);
    if (p->plan.claims.time_ns > 0) {
        json_t *samples_per_s = json_real(rp_size_samples_per_s(p)); /* all digits */
        rp_json_uint(w, "needed_bytes", p->needed_bytes);
        rp_json_uint(w, "host_bytes", p->plan.host_bytes);
        rp_json_uint(w, "time_ns", p->plan.claims.time_ns);
        rp_json_uint(w, "baseline_time_ns", p->plan.claims.baseline_time_ns);
        rp_json_value(w, "samples_per_s", samples_per_s);
        json_decref(samples_per_s);
    }
    rp_json_end(w);
}

static void write_answer(struct rp_json_writer *w, const struct rp_maxbatch_answer *a) {
    const struct rp_maxbatch_options *o = &a->options;
    const struct rp_maxbatch *m = &a->found;
    rp_json_newline(w);
    rp_json_object(w, NULL);
    rp_json_string(w, "network", o->network);
    rp_json_string(w, "device", o->device->name);
    rp_json_string(w, "policy", o->policy->name);
    rp_json_uint(w, "budget_bytes", o->policy_options.budget_bytes);
    rp_host_budget_json(&o->host, w);
    rp_json_bool(w, "interrupted", rp_maxbatch_interrupted(m));
    rp_json_string(w, "status", status_word(a));
    char *keep_all = rp_format("keep_all_%s", word_of(a));
    rp_json_uint(w, keep_all, m->keep_all_size);
    free(keep_all);
    write_point(w, "largest", a, rp_maxbatch_largest(m));
    write_point(w, "fastest", a, fastest_of(a));
    rp_json_array(w, "points");
    for (size_t i = 0; i < m->points.n; i++)
        write_point(w, NULL, a, &m->points.at[i]);
    rp_json_end(w);
    rp_json_end(w);
}

static void print_json(const struct rp_maxbatch_answer *answers, size_t n) {
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_array(&w, "results");
    for (size_t i = 0; i < n; i++)
        write_answer(&w, &answers[i]);
    rp_json_end(&w);
    rp_json_end(&w);
    rp_json_finish(&w);
}

/* ---- CSV ---- */

/* The size, its time and its samples per second; empty fields if there is none. */
static void put_size(const struct rp_size *p, FILE *f) {
    if (p == NULL)
        fputs(",,,,", f);
    else
        fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.3f", p->size,
                p->plan.claims.time_ns, p->plan.claims.baseline_time_ns,
                rp_size_samples_per_s(p));
}

rp_rc rp_maxbatch_save_csv(const struct rp_maxbatch_answer *answers, size_t n,
                           const char *path, struct rp_err *err) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    const char *word = word_of(answers);
    fprintf(f,
            "network,device,policy,budget_bytes,host_budget_bytes,status,keep_all_%s,"
            "largest_%s,largest_time_ns,largest_baseline_time_ns,largest_samples_per_s,"
            "fastest_%s,fastest_time_ns,fastest_baseline_time_ns,fastest_samples_per_s\n",
            word, word, word);
    for (size_t i = 0; i < n; i++) {
        const struct rp_maxbatch_options *o = &answers[i].options;
        const struct rp_maxbatch *m = &answers[i].found;
        fprintf(f, "%s,%s,%s,%" PRIu64 ",%" PRIu64 ",%s,%" PRIu64, o->network,
                o->device->name, o->policy->name, o->policy_options.budget_bytes,
                o->host.bytes, status_word(&answers[i]), m->keep_all_size);
        put_size(rp_maxbatch_largest(m), f);
        put_size(fastest_of(&answers[i]), f);
        fputc('\n', f);
    }
    return rp_text_save(f, &text, &len, path, err);
}

void rp_maxbatch_report(struct rp_maxbatch_answer *answers, size_t n, bool json) {
    for (size_t i = 0; i < n; i++) {
        struct rp_maxbatch *m = &answers[i].found;
        if (m->points.n > 0)
            qsort(m->points.at, m->points.n, sizeof *m->points.at, by_size);
    }
    (json ? print_json : print_text)(answers, n);
}
