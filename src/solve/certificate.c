#include "solve/certificate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "solve/dual.h"

struct writer {
    FILE *f;
    const struct rp_problem *p;
    const struct rp_rows *rows;
    const int64_t *m; /* 0 for rows that are not written */
};

/* Rows of one kind and tensor (and op) in consecutive stages stand in one array. */
static bool goes_on(const struct rp_row_name *a, const struct rp_row_name *b) {
    return a->op == b->op && a->x == b->x && b->t == a->t + 1;
}

static void put_runs_of_rows(const struct writer *w, const char *key,
                             enum rp_row_kind kind) {
    const struct rp_row_name *before = NULL;
    fprintf(w->f, ",\n\"%s\":[", key);
    for (uint32_t i = 0; i < w->rows->n; i++) {
        const struct rp_row_name *name = &w->rows->name[i];
        if (name->kind != kind || w->m[i] == 0)
            continue;
        if (before == NULL || !goes_on(before, name)) {
            fputs(before == NULL ? "\n[" : "],\n[", w->f);
            if (kind == RP_ROW_DEP)
                fprintf(w->f, "%" PRIu32 ",", w->p->op_of[name->op]);
            fprintf(w->f, "%" PRIu32 ",%" PRIu32, w->p->tensor_of[name->x], name->t);
        }
        fprintf(w->f, ",%" PRId64, w->m[i]);
        before = name;
    }
    fputs(before == NULL ? "]" : "]]", w->f);
}

/* The tensors with this term (RP_TERM_*), or pairs with the op of theirs (any other). */
static void put_terms(const struct writer *w, uint32_t i, const char *key, uint32_t term) {
    const uint32_t *d = w->rows->detail;
    const char *comma = "";
    fprintf(w->f, ",\"%s\":[", key);
    for (uint32_t k = w->rows->detail_start[i]; k < w->rows->detail_start[i + 1]; k += 2) {
        uint32_t x = w->p->tensor_of[d[k]];
        bool runs = d[k + 1] != RP_TERM_NEXT && d[k + 1] != RP_TERM_NOW;
        if (runs && term == 0)
            fprintf(w->f, "%s[%" PRIu32 ",%" PRIu32 "]", comma, x, w->p->op_of[d[k + 1]]);
        else if (!runs && d[k + 1] == term)
            fprintf(w->f, "%s%" PRIu32, comma, x);
        else
            continue;
        comma = ",";
    }
    fputc(']', w->f);
}

static void put_mem(const struct writer *w, uint32_t i) {
    const struct rp_row_name *name = &w->rows->name[i];
    fprintf(w->f, "{\"stage\":%" PRIu32 ",\"op\":%" PRIu32 ",\"multiplier\":%" PRId64,
            name->t, w->p->op_of[name->op], w->m[i]);
    put_terms(w, i, "next", RP_TERM_NEXT);
    put_terms(w, i, "now", RP_TERM_NOW);
    put_terms(w, i, "runs", 0);
    fputc('}', w->f);
}

static void put_window(const struct writer *w, uint32_t i) {
    const struct rp_row_name *name = &w->rows->name[i];
    fprintf(w->f, "{\"first\":%" PRIu32 ",\"last\":%" PRIu32, name->from, name->t);
    if (name->op != RP_NONE)
        fprintf(w->f, ",\"reader\":%" PRIu32, w->p->op_of[name->op]);
    fprintf(w->f, ",\"multiplier\":%" PRId64 ",\"path\":[", w->m[i]);
    for (uint32_t k = w->rows->detail_start[i]; k < w->rows->detail_start[i + 1]; k++)
        fprintf(w->f, "%s%" PRIu32, k == w->rows->detail_start[i] ? "" : ",",
                w->p->tensor_of[w->rows->detail[k]]);
    fputs("]}", w->f);
}

static void put_rows(const struct writer *w, const char *key, enum rp_row_kind kind) {
    const char *comma = "\n";
    fprintf(w->f, ",\n\"%s\":[", key);
    for (uint32_t i = 0; i < w->rows->n; i++) {
        if (w->rows->name[i].kind != kind || w->m[i] == 0)
            continue;
        fputs(comma, w->f);
        (kind == RP_ROW_MEM ? put_mem : put_window)(w, i);
        comma = ",\n";
    }
    fputc(']', w->f);
}

static void put_order(const struct writer *w) {
    uint32_t i = 0;
    while (i < w->p->n_ops && w->p->op_of[i] == i)
        i++;
    if (i == w->p->n_ops) /* the graph's own */
        return;
    fputs(",\n\"order\":[", w->f);
    for (i = 0; i < w->p->n_ops; i++)
        fprintf(w->f, "%s%" PRIu32, i ? "," : "", w->p->op_of[i]);
    fputc(']', w->f);
}

/* What the rows are worth by themselves. */
static rp_rc worth(const struct writer *w, unsigned scale_log2, uint64_t *bound_ns,
                   struct rp_err *err) {
    struct rp_form f;
    rp_form_init(&f, w->p, &(struct rp_form_options){0});
    bool fits = rp_dual_bound(&f, w->rows, w->m, scale_log2, bound_ns);
    rp_form_fini(&f);
    return fits ? RP_OK
                : rp_fail(err, RP_BUG, "the certificate's sums are not what 127 bits hold");
}

static void put_head(const struct writer *w, const struct rp_graph *g, bool addressed,
                     uint64_t budget_bytes, unsigned scale_log2, uint64_t bound_ns) {
    fputs("{\"format\":\"remat-certificate\",\"version\":1,\n\"graph\":{\"name\":", w->f);
    rp_json_put_string(w->f, g->name);
    fprintf(w->f,
            ",\"sha256\":\"%s\"},\n\"budget_bytes\":%" PRIu64
            ",\"addressed\":%s,\"scale_log2\":%u,\"lower_bound_ns\":%" PRIu64,
            g->sha256, budget_bytes, addressed ? "true" : "false", scale_log2, bound_ns);
}

rp_rc rp_certificate_save(const char *path, const struct rp_graph *g,
                          const struct rp_problem *p, bool addressed, uint64_t budget_bytes,
                          const struct rp_rows *rows, const int64_t *multipliers,
                          unsigned scale_log2, uint64_t claimed_bound_ns,
                          struct rp_err *err) {
    int64_t *m = rp_calloc(rows->n, sizeof *m);
    struct writer w = {.p = p, .rows = rows, .m = m};
    uint64_t bound_ns = 0;
    char *text = NULL;
    size_t len;
    for (uint32_t i = 0; i < rows->n; i++)
        m[i] = rows->name[i].kind == RP_ROW_COVER ? 0 : multipliers[i];
    rp_rc rc = worth(&w, scale_log2, &bound_ns, err);
    if (rc == RP_OK) {
        /* Every op runs once, whatever the rows say. */
        bound_ns = bound_ns < g->total_time_ns ? g->total_time_ns : bound_ns;
        bound_ns = bound_ns < claimed_bound_ns ? bound_ns : claimed_bound_ns;
        w.f = rp_text_open(&text, &len);
        put_head(&w, g, addressed, budget_bytes, scale_log2, bound_ns);
        put_order(&w);
        put_runs_of_rows(&w, "dep", RP_ROW_DEP);
        put_runs_of_rows(&w, "hold", RP_ROW_HOLD);
        put_rows(&w, "mem", RP_ROW_MEM);
        put_rows(&w, "window", RP_ROW_WINDOW);
        fputs("}\n", w.f);
        rp_text_close(w.f);
        rc = rp_write_file(path, text, len, err);
    }
    free(text);
    free(m);
    return rc;
}
