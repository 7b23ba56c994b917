#include "profile/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"

struct reader {
    const char *at, *end; /* of the line; `end` is past its last byte */
    const char *file;
    uint64_t line; /* number */
    struct rp_err *err;
};

static rp_rc fail_at_line(const struct reader *r, const char *rule) {
    return rp_fail(r->err, RP_INPUT, "%s: line %" PRIu64 ": %s", r->file, r->line, rule);
}

/* Reads the next word of the line; false if there is none. */
static bool read_word(struct reader *r, const char **text, size_t *len) {
    if (r->at == r->end)
        return false;
    const char *space = memchr(r->at, ' ', (size_t)(r->end - r->at));
    *text = r->at;
    *len = (size_t)((space ? space : r->end) - r->at);
    r->at = space ? space + 1 : r->end;
    return *len > 0;
}

static bool read_number(struct reader *r, uint64_t *value) {
    const char *text;
    size_t len;
    uint64_t v = 0;
    if (!read_word(r, &text, &len))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || v >= UINT64_MAX / 10)
            return false;
        v = v * 10 + (uint64_t)(text[i] - '0');
    }
    *value = v;
    return true;
}

/* Reads n numbers. */
static bool read_numbers(struct reader *r, size_t n, uint64_t *const to[]) {
    for (size_t i = 0; i < n; i++)
        if (!read_number(r, to[i]))
            return false;
    return true;
}
#define NUMBERS(r, ...)                                                                    \
    read_numbers(r, sizeof((uint64_t *const[]){__VA_ARGS__}) / sizeof(uint64_t *),         \
                 (uint64_t *const[]){__VA_ARGS__})

/* The rest of the line, made safe to print; the caller frees it. */
static char *take_rest(struct reader *r) {
    size_t len = (size_t)(r->end - r->at);
    char *text = rp_calloc(len + 1, 1);
    memcpy(text, r->at, len);
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = '?';
    char *clean = rp_clean_copy(text);
    free(text);
    r->at = r->end;
    return clean;
}

static bool read_range(struct reader *r, struct rp_trace *t) {
    struct rp_trace_range x = {0};
    uint64_t has_workspace;
    if (!NUMBERS(r, &x.id, &x.parent, &x.thread, &x.step, &has_workspace,
                 &x.workspace_bytes) ||
        x.id == 0 || x.parent >= x.id || has_workspace > 1 || r->at == r->end ||
        x.workspace_bytes > RP_MAX_QUANTITY)
        return false;
    x.has_workspace = has_workspace == 1;
    x.name = take_rest(r);
    rp_push(&t->ranges, x);
    return true;
}

static bool read_step(struct reader *r, struct rp_trace *t) {
    struct rp_trace_step x = {0};
    if (!NUMBERS(r, &x.number, &x.range, &x.thread, &x.begin_ns, &x.end_ns) ||
        x.number == 0)
        return false;
    rp_push(&t->steps, x);
    return true;
}

static bool read_call(struct reader *r, struct rp_trace *t) {
    struct rp_trace_call x;
    if (!NUMBERS(r, &x.correlation, &x.thread, &x.start_ns, &x.end_ns))
        return false;
    rp_push(&t->calls, x);
    return true;
}

/* Reads a word that is one of n; *which becomes its number. */
static bool read_choice(struct reader *r, const char *const words[], int n, int *which) {
    const char *text;
    size_t len;
    if (!read_word(r, &text, &len))
        return false;
    for (*which = 0; *which < n; ++*which)
        if (strlen(words[*which]) == len && memcmp(words[*which], text, len) == 0)
            return true;
    return false;
}

static bool read_work(struct reader *r, struct rp_trace *t) {
    struct rp_trace_work x;
    int kind;
    if (!read_choice(r, rp_work_word, RP_N_WORK_KINDS, &kind) ||
        !NUMBERS(r, &x.correlation, &x.node, &x.start_ns, &x.end_ns, &x.device, &x.stream,
                 &x.bytes) ||
        x.start_ns > RP_MAX_QUANTITY || x.end_ns > RP_MAX_QUANTITY)
        return false;
    x.kind = (enum rp_work_kind)kind;
    rp_push(&t->works, x);
    return true;
}

static bool read_overhead(struct reader *r, struct rp_trace *t) {
    struct rp_trace_overhead x;
    if (!NUMBERS(r, &x.kind, &x.thread, &x.start_ns, &x.end_ns))
        return false;
    rp_push(&t->overheads, x);
    return true;
}

static bool read_memory(struct reader *r, struct rp_trace *t) {
    static const char *const operations[] = {"alloc", "free"};
    struct rp_trace_memory x;
    int release, place;
    if (!read_choice(r, operations, 2, &release) ||
        !read_choice(r, rp_memory_word, RP_N_MEMORY_PLACES, &place) ||
        !NUMBERS(r, &x.correlation, &x.address, &x.bytes, &x.time_ns) ||
        x.bytes > RP_MAX_QUANTITY)
        return false;
    x.release = release == 1;
    x.place = (enum rp_memory_place)place;
    rp_push(&t->memories, x);
    return true;
}

static bool read_device(struct reader *r, struct rp_trace *t) {
    struct rp_trace_device x;
    if (!NUMBERS(r, &x.id, &x.memory_bytes) || x.memory_bytes > RP_MAX_QUANTITY ||
        r->at == r->end)
        return false;
    x.name = take_rest(r);
    rp_push(&t->devices, x);
    return true;
}

#define READ_PAIR(list)                                                                    \
    static bool read_##list(struct reader *r, struct rp_trace *t) {                        \
        struct rp_trace_pair x;                                                            \
        if (!NUMBERS(r, &x.key, &x.value))                                                 \
            return false;                                                                  \
        rp_push(&t->list, x);                                                              \
        return true;                                                                       \
    }
READ_PAIR(external)
READ_PAIR(nodes)
READ_PAIR(clones)

static bool read_cupti(struct reader *r, struct rp_trace *t) {
    return read_number(r, &t->cupti_version);
}

static bool read_sum(struct reader *r, uint64_t *sum) {
    uint64_t n;
    return read_number(r, &n) && rp_add(sum, n);
}

static bool read_dropped(struct reader *r, struct rp_trace *t) {
    return read_sum(r, &t->dropped);
}

static bool read_torn(struct reader *r, struct rp_trace *t) {
    return read_sum(r, &t->torn);
}

/* Keeps the first error. */
static bool read_error(struct reader *r, struct rp_trace *t) {
    char *text = take_rest(r);
    if (t->error == NULL)
        t->error = text;
    else
        free(text);
    return true;
}

/* The number of lines before this one, so that a missing line is noticed. */
static bool read_end(struct reader *r, struct rp_trace *t) {
    uint64_t lines;
    if (!read_number(r, &lines) || lines != r->line - 1)
        return false;
    t->complete = true;
    return true;
}

static rp_rc read_line(struct reader *r, struct rp_trace *t) {
    static const struct {
        const char *word;
        bool (*read)(struct reader *r, struct rp_trace *t);
    } lines[] = {
        {"range", read_range},     {"step", read_step},    {"ext", read_external},
        {"call", read_call},       {"work", read_work},    {"over", read_overhead},
        {"node", read_nodes},      {"clone", read_clones}, {"device", read_device},
        {"cupti", read_cupti},     {"torn", read_torn},    {"error", read_error},
        {"dropped", read_dropped}, {"end", read_end},      {"memory", read_memory},
    };
    const char *text;
    size_t len;
    if (t->complete)
        return fail_at_line(r, "this line comes after the end line");
    if (!read_word(r, &text, &len))
        return fail_at_line(r, "empty");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (strlen(lines[i].word) != len || memcmp(lines[i].word, text, len) != 0)
            continue;
        if (!lines[i].read(r, t) || r->at != r->end)
            return fail_at_line(r, "malformed line");
        return RP_OK;
    }
    return fail_at_line(r, "unknown kind of line");
}

/* ---- sorting and checking ---- */

#define BY(type, field)                                                                    \
    static int by_##type##_##field(const void *a, const void *b) {                         \
        uint64_t x = ((const struct rp_trace_##type *)a)->field;                           \
        uint64_t y = ((const struct rp_trace_##type *)b)->field;                           \
        return (x > y) - (x < y);                                                          \
    }
BY(range, id)
BY(step, number)
BY(call, correlation)
BY(device, id)
BY(overhead, start_ns)

static int by_pair(const void *a, const void *b) {
    const struct rp_trace_pair *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

static int compare_fields(const uint64_t *p, const uint64_t *q, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

/* Compares every field, so that the result does not depend on how qsort orders equals. */
static int by_work(const void *a, const void *b) {
    const struct rp_trace_work *x = a, *y = b;
    const uint64_t p[] = {x->start_ns,    x->end_ns, x->device, x->stream,
                          x->correlation, x->node,   x->kind,   x->bytes};
    const uint64_t q[] = {y->start_ns,    y->end_ns, y->device, y->stream,
                          y->correlation, y->node,   y->kind,   y->bytes};
    return compare_fields(p, q, sizeof p / sizeof p[0]);
}

/* At one time, releases come first. */
static int by_memory(const void *a, const void *b) {
    const struct rp_trace_memory *x = a, *y = b;
    const uint64_t p[] = {x->time_ns, !x->release, x->place,
                          x->address, x->bytes,    x->correlation};
    const uint64_t q[] = {y->time_ns, !y->release, y->place,
                          y->address, y->bytes,    y->correlation};
    return compare_fields(p, q, sizeof p / sizeof p[0]);
}

#define SORT(list, by)                                                                     \
    do {                                                                                   \
        if ((list).n > 1)                                                                  \
            qsort((list).at, (list).n, sizeof *(list).at, by);                             \
    } while (0)

/* index = that of the first entry whose field equals its predecessor's, or n. */
#define FIND_DUPLICATE(list, field, index)                                                 \
    do {                                                                                   \
        for (index = 1; index < (list).n; index++)                                         \
            if ((list).at[index - 1].field == (list).at[index].field)                      \
                break;                                                                     \
    } while (0)

/* An id must belong to one range, or its work cannot be assigned. */
static rp_rc check_pairs(const struct rp_trace *t, const char *what,
                         const struct rp_trace_pair *at, size_t n, struct rp_err *err) {
    for (size_t i = 1; i < n; i++)
        if (at[i - 1].key == at[i].key && at[i - 1].value != at[i].value)
            return rp_fail(err, RP_INPUT,
                           "%s: %s %" PRIu64 " belongs to both %" PRIu64 " and %" PRIu64,
                           t->file, what, at[i].key, at[i - 1].value, at[i].value);
    return RP_OK;
}

static rp_rc sort_and_check(struct rp_trace *t, struct rp_err *err) {
    size_t i;
    SORT(t->ranges, by_range_id);
    SORT(t->steps, by_step_number);
    SORT(t->external, by_pair);
    SORT(t->nodes, by_pair);
    SORT(t->clones, by_pair);
    SORT(t->calls, by_call_correlation);
    SORT(t->works, by_work);
    SORT(t->overheads, by_overhead_start_ns);
    SORT(t->memories, by_memory);
    SORT(t->devices, by_device_id);
    FIND_DUPLICATE(t->ranges, id, i);
    if (i < t->ranges.n)
        return rp_fail(err, RP_INPUT, "%s: duplicate range %" PRIu64, t->file,
                       t->ranges.at[i].id);
    FIND_DUPLICATE(t->steps, number, i);
    if (i < t->steps.n)
        return rp_fail(err, RP_INPUT, "%s: duplicate step %" PRIu64, t->file,
                       t->steps.at[i].number);
    for (i = 0; i < t->ranges.n; i++)
        if (t->ranges.at[i].parent != 0 &&
            rp_trace_range_of(t, t->ranges.at[i].parent) == NULL)
            return rp_fail(err, RP_INPUT,
                           "%s: range %" PRIu64 " is inside %" PRIu64
                           ", which does not exist",
                           t->file, t->ranges.at[i].id, t->ranges.at[i].parent);
    rp_rc rc = check_pairs(t, "correlation id", t->external.at, t->external.n, err);
    if (rc == RP_OK)
        rc = check_pairs(t, "graph node", t->nodes.at, t->nodes.n, err);
    if (rc == RP_OK)
        rc = check_pairs(t, "copied graph node", t->clones.at, t->clones.n, err);
    return rc;
}

static rp_rc read_head(struct reader *r, struct rp_trace *t) {
    const char *text;
    size_t len;
    uint64_t version;
    if (!read_word(r, &text, &len) || len != 11 || memcmp(text, "remat-trace", 11) != 0)
        return fail_at_line(r, "not a trace");
    if (!read_number(r, &version) || version != 1)
        return fail_at_line(r, "not version 1");
    if (!read_number(r, &t->pid) || r->at != r->end)
        return fail_at_line(r, "no process id");
    return RP_OK;
}

rp_rc rp_trace_parse(const char *text, size_t len, const char *file, struct rp_trace *t,
                     struct rp_err *err) {
    struct reader r = {.file = file, .err = err};
    const char *at = text, *end = text + len;
    rp_rc rc = RP_OK;
    *t = (struct rp_trace){.file = rp_strdup(file)};
    if (len == 0)
        rc = rp_fail(err, RP_INPUT, "%s: empty", file);
    while (rc == RP_OK && at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        r.line++;
        if (newline == NULL && r.line > 1)
            break; /* the process died while writing this line */
        r.at = at;
        r.end = newline ? newline : end;
        rc = r.line == 1 ? read_head(&r, t) : read_line(&r, t);
        at = newline ? newline + 1 : end;
    }
    if (rc == RP_OK)
        rc = sort_and_check(t, err);
    if (rc != RP_OK)
        rp_trace_fini(t);
    return rc;
}

rp_rc rp_trace_load(const char *path, struct rp_trace *t, struct rp_err *err) {
    char *text;
    size_t len;
    rp_rc rc = rp_read_file(path, &text, &len, err);
    if (rc != RP_OK)
        return rc;
    rc = rp_trace_parse(text, len, rp_path_name(path), t, err);
    free(text);
    return rc;
}
