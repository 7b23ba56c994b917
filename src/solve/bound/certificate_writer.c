#include "solve/bound/certificate_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/bound/safe_dual.h"

struct writer {
    FILE *f;
    const struct rp_instance *p;
    const struct rp_row_set *rows;
    const int64_t *m; /* multipliers; rows with 0 are not written */
    const struct rp_formulation *formulation;
    uint64_t horizon_ns;
};

/* Rows of one kind, tensor and op in consecutive stages share an array. Is b such a
 * successor of a? */
static bool continues(const struct rp_row_name *a, const struct rp_row_name *b) {
    return a->op == b->op && a->x == b->x && b->t == a->t + 1;
}

static void put_stage_rows(const struct writer *w, const char *key, enum rp_row_kind kind) {
    const struct rp_row_name *before = NULL;
    fprintf(w->f, ",\n\"%s\":[", key);
    for (uint32_t i = 0; i < w->rows->n; i++) {
        const struct rp_row_name *name = &w->rows->name[i];
        if (name->kind != kind || w->m[i] == 0)
            continue;
        if (before == NULL || !continues(before, name)) {
            fputs(before == NULL ? "\n[" : "],\n[", w->f);
            if (name->op != RP_NONE)
                fprintf(w->f, "%" PRIu32 ",", w->p->op_of[name->op]);
            if (name->x != RP_NONE)
                fprintf(w->f, "%" PRIu32 ",", w->p->tensor_of[name->x]);
            fprintf(w->f, "%" PRIu32, name->t);
        }
        fprintf(w->f, ",%" PRId64, w->m[i]);
        before = name;
    }
    fputs(before == NULL ? "]" : "]]", w->f);
}

/* Writes the tensors of a memory row that have this term (RP_TERM_*). For term 0: the pairs
 * of a tensor and an op whose run is its term. */
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

/* Writes the coefficients of a cover: those of R if `runs`, else of S. */
static void put_counts(const struct writer *w, uint32_t i, const char *key, bool runs) {
    const struct rp_row_set *rows = w->rows;
    const char *comma = "";
    fprintf(w->f, ",\"%s\":[", key);
    for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
        uint32_t col = rows->col[k], id = w->formulation->col_id[col];
        if ((col < w->formulation->n_run_cols) != runs)
            continue;
        fprintf(w->f, "%s[%" PRIu32 ",%" PRIu32 ",%.0f]", comma,
                runs ? w->p->op_of[id] : w->p->tensor_of[id], w->formulation->col_t[col],
                rows->coef[k]);
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
    if (name->kind == RP_ROW_COVER) {
        fprintf(w->f, ",\"at_most\":%.0f", w->rows->rhs[i]);
        put_counts(w, i, "held", false);
        put_counts(w, i, "ran", true);
    }
    fputc('}', w->f);
}

static void put_path(const struct writer *w, uint32_t i) {
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

static void put_copy(const struct writer *w, uint32_t i) {
    const struct rp_row_name *name = &w->rows->name[i];
    const uint32_t *d = w->rows->detail + w->rows->detail_start[i];
    uint32_t n = w->rows->detail_start[i + 1] - w->rows->detail_start[i];
    uint64_t length = d[0] | (uint64_t)d[1] << 32;
    fprintf(w->f, "{\"stage\":%" PRIu32 ",\"%s\":%" PRIu32 ",\"multiplier\":%" PRId64,
            name->t, name->from ? "until" : "since", w->p->op_of[name->op], w->m[i]);
    if (length > 0)
        fprintf(w->f, ",\"length\":%" PRIu64 ",\"turned\":[", length);
    for (uint32_t k = 2; k < n; k++)
        fprintf(w->f, "%s%" PRIu32, k == 2 ? "" : ",", w->p->tensor_of[d[k]]);
    fputs(length > 0 ? "]}" : "}", w->f);
}

static void put_row(const struct writer *w, uint32_t i) {
    switch (w->rows->name[i].kind) {
    case RP_ROW_PATH:
        put_path(w, i);
        break;
    case RP_ROW_COPY:
        put_copy(w, i);
        break;
    default:
        put_mem(w, i);
    }
}

static void put_rows(const struct writer *w, const char *key, enum rp_row_kind kind) {
    const char *comma = "\n";
    fprintf(w->f, ",\n\"%s\":[", key);
    for (uint32_t i = 0; i < w->rows->n; i++) {
        if (w->rows->name[i].kind != kind || w->m[i] == 0)
            continue;
        fputs(comma, w->f);
        put_row(w, i);
        comma = ",\n";
    }
    fputc(']', w->f);
}

static void put_order(const struct writer *w) {
    uint32_t i = 0;
    while (i < w->p->n_ops && w->p->op_of[i] == i)
        i++;
    if (i == w->p->n_ops) /* the graph's own order */
        return;
    fputs(",\n\"order\":[", w->f);
    for (i = 0; i < w->p->n_ops; i++)
        fprintf(w->f, "%s%" PRIu32, i ? "," : "", w->p->op_of[i]);
    fputc(']', w->f);
}

static void put_stages(const struct writer *w) {
    if (w->formulation->n_stages == w->p->n_ops)
        return;
    fputs(",\n\"stages\":[", w->f);
    for (uint32_t t = 0; t < w->formulation->n_stages; t++)
        fprintf(w->f, "%s%" PRIu32, t ? "," : "", w->formulation->last_op[t]);
    fputc(']', w->f);
}

static void put_head(const struct writer *w, const struct rp_graph *g, bool addressed,
                     uint64_t budget_bytes, unsigned scale_log2, uint64_t bound_ns) {
    fputs("{\"format\":\"remat-certificate\",\"version\":1,\n\"graph\":{\"name\":", w->f);
    rp_json_put_string(w->f, g->name);
    fprintf(w->f,
            ",\"sha256\":\"%s\"},\n\"budget_bytes\":%" PRIu64
            ",\"addressed\":%s,\"scale_log2\":%u,\"lower_bound_ns\":%" PRIu64,
            g->sha256, budget_bytes, addressed ? "true" : "false", scale_log2, bound_ns);
    if (w->horizon_ns == 0)
        return;
    fprintf(w->f, ",\n\"swaps\":{\"most_ns\":%" PRIu64, w->horizon_ns);
    if (w->p->host_limit_bytes <= RP_MAX_QUANTITY)
        fprintf(w->f, ",\"host_budget_bytes\":%" PRIu64, w->p->host_limit_bytes);
    fputc('}', w->f);
}

static void put_all(const struct writer *w) {
    put_order(w);
    put_stages(w);
    put_stage_rows(w, "dep", RP_ROW_DEP);
    put_stage_rows(w, "hold", RP_ROW_HOLD);
    put_rows(w, "mem", RP_ROW_MEM);
    put_rows(w, "window", RP_ROW_PATH);
    put_rows(w, "cover", RP_ROW_COVER);
    if (w->horizon_ns > 0) {
        put_stage_rows(w, "extra", RP_ROW_EXTRA);
        put_rows(w, "copy", RP_ROW_COPY);
    }
    fputs("}\n", w->f);
}

rp_rc rp_certificate_save(const char *path, const struct rp_graph *g,
                          const struct rp_formulation *f, bool addressed,
                          uint64_t budget_bytes, const struct rp_row_set *rows,
                          const int64_t *multipliers, unsigned scale_log2,
                          uint64_t horizon_ns, struct rp_err *err) {
    struct writer w = {.p = f->instance,
                       .formulation = f,
                       .rows = rows,
                       .m = multipliers,
                       .horizon_ns = horizon_ns};
    uint64_t bound_ns = 0;
    char *text = NULL;
    size_t len;
    rp_rc rc = RP_OK;
    if (!rp_safe_dual_bound(f, rows, multipliers, scale_log2, &bound_ns))
        rc = rp_fail(err, RP_BUG, "a sum of the certificate exceeds 127 bits");
    if (rc == RP_OK) {
        bound_ns = horizon_ns > 0 ? rp_min_u64(bound_ns, horizon_ns) : bound_ns;
        /* Every op runs at least once, whatever the rows prove. */
        bound_ns = rp_max_u64(bound_ns, g->total_time_ns);
        w.f = rp_text_open(&text, &len);
        put_head(&w, g, addressed, budget_bytes, scale_log2, bound_ns);
        put_all(&w);
        rp_text_close(w.f);
        rc = rp_write_file(path, text, len, err);
    }
    free(text);
    return rc;
}
