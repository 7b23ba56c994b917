#include "pack/buffers_csv.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/io.h"
#include "base/mem.h"

enum column { ID, LOWER, UPPER, SIZE, ALIGNMENT, GAPS, HINT, OFFSET, N_COLUMNS };
enum { N_NEEDED = SIZE + 1 };
static const char *const column_name[N_COLUMNS] = {"id",        "lower", "upper", "size",
                                                   "alignment", "gaps",  "hint",  "offset"};

/* Other names, as MiniMalloc has them. An "end" is the last moment, not the one after it.
 */
static const struct {
    const char *name;
    enum column column;
} other_names[] = {
    {"buffer", ID}, {"buffer_id", ID}, {"begin", LOWER}, {"start", LOWER}, {"end", UPPER}};

struct reader {
    const char *file;
    size_t line;
    enum column columns[N_COLUMNS]; /* of the file, in its order */
    size_t n_columns;
    bool ends_are_last; /* the column is "end" */
    struct rp_buffers_csv *csv;
    struct rp_err *err;
};

/* A piece of the text. */
struct field {
    const char *at;
    size_t len;
};
#define FIELD(f) (int)(f).len, (f).at

static rp_rc fail(const struct reader *r, const char *rule) {
    return rp_fail(r->err, RP_INPUT, "%s:%zu: %s", r->file, r->line, rule);
}

/* Without blanks at its ends, and without quotes around it. */
static struct field trimmed(struct field f) {
    while (f.len > 0 && (*f.at == ' ' || *f.at == '\t'))
        f = (struct field){f.at + 1, f.len - 1};
    while (f.len > 0 && (f.at[f.len - 1] == ' ' || f.at[f.len - 1] == '\t'))
        f.len--;
    bool quoted = f.len >= 2 && *f.at == '"' && f.at[f.len - 1] == '"';
    return quoted ? (struct field){f.at + 1, f.len - 2} : f;
}

/* Cuts the next field off *rest; false when there is none. */
static bool next_field(struct field *rest, struct field *f) {
    if (rest->at == NULL)
        return false;
    const char *comma = memchr(rest->at, ',', rest->len);
    f->at = rest->at;
    f->len = comma ? (size_t)(comma - rest->at) : rest->len;
    rest->len -= comma ? f->len + 1 : f->len;
    rest->at = comma ? comma + 1 : NULL;
    *f = trimmed(*f);
    return true;
}

/* In letters of either case. */
static bool is(struct field f, const char *name) {
    return strlen(name) == f.len && strncasecmp(name, f.at, f.len) == 0;
}

/* The column of that name; N_COLUMNS: there is none. */
static enum column find_column(struct reader *r, struct field f) {
    for (int c = 0; c < N_COLUMNS; c++)
        if (is(f, column_name[c]))
            return (enum column)c;
    for (size_t k = 0; k < sizeof other_names / sizeof *other_names; k++)
        if (is(f, other_names[k].name)) {
            r->ends_are_last = r->ends_are_last || other_names[k].column == UPPER;
            return other_names[k].column;
        }
    return N_COLUMNS;
}

static rp_rc read_header(struct reader *r, struct field line) {
    struct field f;
    bool seen[N_COLUMNS] = {false};
    while (next_field(&line, &f)) {
        enum column c = find_column(r, f);
        if (c == N_COLUMNS)
            return rp_fail(r->err, RP_INPUT,
                           "%s:%zu: column '%.*s' is none of id, lower, upper, size, "
                           "alignment, gaps, hint, offset",
                           r->file, r->line, FIELD(f));
        if (seen[c])
            return rp_fail(r->err, RP_INPUT, "%s:%zu: column '%s' twice", r->file, r->line,
                           column_name[c]);
        seen[c] = true;
        r->columns[r->n_columns++] = c;
    }
    for (int c = 0; c < N_NEEDED; c++)
        if (!seen[c])
            return rp_fail(r->err, RP_INPUT, "%s:%zu: no column '%s'", r->file, r->line,
                           column_name[c]);
    r->csv->has_alignments = seen[ALIGNMENT];
    r->csv->has_gaps = seen[GAPS];
    return RP_OK;
}

static rp_rc read_number(const struct reader *r, enum column c, struct field f,
                         uint64_t *value) {
    bool ok = f.len > 0;
    uint64_t n = 0;
    for (size_t i = 0; ok && i < f.len; i++) {
        uint64_t digit = (uint64_t)(f.at[i] - '0');
        ok = isdigit((unsigned char)f.at[i]) && n <= (RP_MAX_QUANTITY - digit) / 10;
        n = n * 10 + digit;
    }
    *value = n;
    return ok ? RP_OK
              : rp_fail(r->err, RP_INPUT,
                        "%s:%zu: %s '%.*s' is not a whole number below 2^63", r->file,
                        r->line, column_name[c], FIELD(f));
}

static rp_rc read_id(struct reader *r, struct field f) {
    if (f.len == 0)
        return fail(r, "the id is empty");
    for (size_t i = 0; i < f.len; i++)
        if ((unsigned char)f.at[i] < ' ' || f.at[i] == '"')
            return fail(r, "a quote or control character in the id");
    rp_push(&r->csv->ids, rp_format("%.*s", FIELD(f)));
    return RP_OK;
}

/* Cuts off what comes before the first `c`, or all of it, if there is none. */
static struct field cut_off(struct field *rest, char c) {
    const char *at = memchr(rest->at, c, rest->len);
    struct field f = {rest->at, at != NULL ? (size_t)(at - rest->at) : rest->len};
    size_t used = at != NULL ? f.len + 1 : f.len;
    *rest = (struct field){rest->at + used, rest->len - used};
    return f;
}

/* "LOWER-UPPER" or "LOWER-UPPER@FROM:TO". */
static rp_rc read_gap(struct reader *r, struct field f, struct rp_gap *gap) {
    struct field whole = f, time = cut_off(&f, '@'), window = f,
                 lower = cut_off(&time, '-');
    rp_rc rc = read_number(r, GAPS, lower, &gap->lower);
    if (rc == RP_OK)
        rc = read_number(r, GAPS, time, &gap->upper);
    if (rc == RP_OK && memchr(whole.at, '@', whole.len) != NULL) {
        struct field from = cut_off(&window, ':');
        rc = read_number(r, GAPS, from, &gap->from);
        if (rc == RP_OK)
            rc = read_number(r, GAPS, window, &gap->to);
    }
    gap->upper += r->ends_are_last && gap->upper < RP_MAX_QUANTITY;
    return rc;
}

/* Gaps of buffer b, in any order. */
static rp_rc read_gaps(struct reader *r, struct field line, const struct rp_buffer *b) {
    size_t first = r->csv->gaps.n;
    while (line.len > 0) {
        struct rp_gap gap = {.buffer = r->csv->buffers.n};
        struct field f = cut_off(&line, ' ');
        if (f.len == 0)
            continue;
        rp_rc rc = read_gap(r, f, &gap);
        if (rc != RP_OK)
            return rc;
        if (gap.lower >= gap.upper || gap.lower < b->lower || gap.upper > b->upper)
            return rp_fail(r->err, RP_INPUT, "%s:%zu: gap '%.*s' is not within the life",
                           r->file, r->line, FIELD(f));
        if (gap.from > gap.to || gap.to > b->size)
            return rp_fail(r->err, RP_INPUT, "%s:%zu: gap '%.*s' is not within the size",
                           r->file, r->line, FIELD(f));
        size_t at = r->csv->gaps.n;
        rp_push(&r->csv->gaps, gap);
        for (; at > first && r->csv->gaps.at[at - 1].lower > gap.lower; at--)
            r->csv->gaps.at[at] = r->csv->gaps.at[at - 1];
        r->csv->gaps.at[at] = gap;
    }
    for (size_t k = first; k + 1 < r->csv->gaps.n; k++)
        if (r->csv->gaps.at[k].upper > r->csv->gaps.at[k + 1].lower)
            return fail(r, "two gaps overlap");
    return RP_OK;
}

/* -1: there is none. */
static rp_rc read_hint(struct reader *r, struct field f, uint64_t *value) {
    return f.len == 0 || is(f, "-1") ? RP_OK : read_number(r, HINT, f, value);
}

static rp_rc read_row(struct reader *r, struct field line) {
    uint64_t value[N_COLUMNS] = {[ALIGNMENT] = 1};
    struct field gaps = {"", 0};
    struct field f;
    size_t n = 0;
    for (; next_field(&line, &f); n++) {
        if (n == r->n_columns)
            return rp_fail(r->err, RP_INPUT, "%s:%zu: more than %zu fields", r->file,
                           r->line, r->n_columns);
        enum column c = r->columns[n];
        rp_rc rc = c == ID     ? read_id(r, f)
                   : c == HINT ? read_hint(r, f, &value[c])
                   : c == GAPS ? RP_OK
                               : read_number(r, c, f, &value[c]);
        if (rc != RP_OK)
            return rc;
        gaps = c == GAPS ? f : gaps;
    }
    if (n < r->n_columns)
        return rp_fail(r->err, RP_INPUT, "%s:%zu: %zu fields, not %zu", r->file, r->line, n,
                       r->n_columns);
    if (r->ends_are_last && value[UPPER]++ == RP_MAX_QUANTITY)
        return fail(r, "the end is not below 2^63 - 1");
    if (value[ALIGNMENT] == 0)
        return fail(r, "the alignment is 0");
    if (value[LOWER] >= value[UPPER])
        return rp_fail(r->err, RP_INPUT,
                       "%s:%zu: lower %" PRIu64 " is not below upper %" PRIu64, r->file,
                       r->line, value[LOWER], value[UPPER]);
    struct rp_buffer b = {value[LOWER], value[UPPER], value[SIZE], value[OFFSET]};
    rp_rc rc = read_gaps(r, gaps, &b);
    rp_push(&r->csv->buffers, b);
    rp_push(&r->csv->alignments, value[ALIGNMENT]);
    return rc;
}

static int by_id(const void *x, const void *y, void *context) {
    char *const *ids = context;
    size_t i = *(const size_t *)x, j = *(const size_t *)y;
    int order = strcmp(ids[i], ids[j]);
    return order != 0 ? order : i < j ? -1 : i > j;
}

/* Buffer i is on line i + 2. */
static rp_rc check_ids(struct reader *r) {
    size_t n = r->csv->ids.n, *order = rp_calloc(n, sizeof *order);
    char **ids = r->csv->ids.at;
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, n, sizeof *order, by_id, ids);
    for (size_t i = 1; i < n && rc == RP_OK; i++)
        if (strcmp(ids[order[i - 1]], ids[order[i]]) == 0)
            rc = rp_fail(r->err, RP_INPUT, "%s:%zu: id '%s' is on line %zu already",
                         r->file, order[i] + 2, ids[order[i]], order[i - 1] + 2);
    free(order);
    return rc;
}

static bool is_line_end(char c) {
    return c == '\n' || c == '\r';
}

rp_rc rp_buffers_csv_parse(const char *text, size_t len, const char *file,
                           struct rp_buffers_csv *csv, struct rp_err *err) {
    struct reader r = {.file = file, .line = 1, .csv = csv, .err = err};
    rp_rc rc = RP_OK;
    *csv = (struct rp_buffers_csv){0};
    const char *p = text, *end = text + len;
    if (len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0) /* a byte order mark */
        p += 3;
    while (end > p + 1 && is_line_end(end[-1]) && is_line_end(end[-2]))
        end--; /* empty lines */
    if (p == end)
        rc = fail(&r, "no header line");
    for (; p < end && rc == RP_OK; r.line++) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));
        struct field line = {p, (size_t)((lf ? lf : end) - p)};
        p = lf ? lf + 1 : end;
        if (line.len > 0 && line.at[line.len - 1] == '\r')
            line.len--;
        rc = r.line == 1 ? read_header(&r, line) : read_row(&r, line);
    }
    if (rc == RP_OK)
        rc = check_ids(&r);
    if (rc != RP_OK)
        rp_buffers_csv_fini(csv);
    return rc;
}

rp_rc rp_buffers_csv_load(const char *path, struct rp_buffers_csv *csv,
                          struct rp_err *err) {
    char *text;
    size_t len;
    *csv = (struct rp_buffers_csv){0};
    rp_rc rc = rp_read_file(path, &text, &len, err);
    if (rc != RP_OK)
        return rc;
    rc = rp_buffers_csv_parse(text, len, path, csv, err);
    free(text);
    return rc;
}

/* Those of buffer i, from *gap on. */
static void write_gaps(const struct rp_buffers_csv *csv, size_t i, size_t *gap, FILE *f) {
    const char *before = ",";
    for (; *gap < csv->gaps.n && csv->gaps.at[*gap].buffer == i; ++*gap, before = " ") {
        const struct rp_gap *x = &csv->gaps.at[*gap];
        fprintf(f, "%s%" PRIu64 "-%" PRIu64, before, x->lower, x->upper);
        if (x->from < x->to)
            fprintf(f, "@%" PRIu64 ":%" PRIu64, x->from, x->to);
    }
    if (*before == ',')
        fputc(',', f);
}

rp_rc rp_buffers_csv_save(const struct rp_buffers_csv *csv, const char *path,
                          struct rp_err *err) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    fprintf(f, "id,lower,upper,size%s%s,offset\n", csv->has_alignments ? ",alignment" : "",
            csv->has_gaps ? ",gaps" : "");
    for (size_t i = 0, gap = 0; i < csv->buffers.n; i++) {
        const struct rp_buffer *b = &csv->buffers.at[i];
        fprintf(f, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64, csv->ids.at[i], b->lower,
                b->upper, b->size);
        if (csv->has_alignments)
            fprintf(f, ",%" PRIu64, csv->alignments.at[i]);
        if (csv->has_gaps)
            write_gaps(csv, i, &gap, f);
        fprintf(f, ",%" PRIu64 "\n", b->offset);
    }
    rp_text_close(f);
    rp_rc rc = rp_write_file(path, text, len, err);
    free(text);
    return rc;
}

void rp_buffers_csv_fini(struct rp_buffers_csv *csv) {
    for (size_t i = 0; i < csv->ids.n; i++)
        free(csv->ids.at[i]);
    free(csv->ids.at);
    free(csv->buffers.at);
    free(csv->alignments.at);
    free(csv->gaps.at);
    *csv = (struct rp_buffers_csv){0};
}
