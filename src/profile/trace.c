#include "profile/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"

/* ---- reading ---- */

struct reader {
    const char *at, *end; /* of the line; `end` is past its last byte */
    const char *file;
    uint64_t line, lines_before_end;
    struct rp_err *err;
};

static rp_rc refuse(const struct reader *r, const char *rule) {
    return rp_fail(r->err, RP_INPUT, "%s: line %" PRIu64 ": %s", r->file, r->line, rule);
}

/* The next word of the line; false if there is none. */
static bool word(struct reader *r, const char **text, size_t *len) {
    if (r->at == r->end)
        return false;
    const char *space = memchr(r->at, ' ', (size_t)(r->end - r->at));
    *text = r->at;
    *len = (size_t)((space ? space : r->end) - r->at);
    r->at = space ? space + 1 : r->end;
    return *len > 0;
}

static bool number(struct reader *r, uint64_t *value) {
    const char *text;
    size_t len;
    uint64_t v = 0;
    if (!word(r, &text, &len))
        return false;
    for (size_t i = 0; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || v >= UINT64_MAX / 10)
            return false;
        v = v * 10 + (uint64_t)(text[i] - '0');
    }
    *value = v;
    return true;
}

/* So many numbers into these places. */
static bool numbers(struct reader *r, size_t n, uint64_t *const to[]) {
    for (size_t i = 0; i < n; i++)
        if (!number(r, to[i]))
            return false;
    return true;
}
#define NUMBERS(r, ...)                                                                    \
    numbers(r, sizeof((uint64_t *const[]){__VA_ARGS__}) / sizeof(uint64_t *),              \
            (uint64_t *const[]){__VA_ARGS__})

/* The rest of the line, as text that is safe to print. */
static char *rest(struct reader *r) {
    size_t len = (size_t)(r->end - r->at);
    char *text = rp_calloc(len + 1, 1);
    memcpy(text, r->at, len);
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\0')
            text[i] = '?';
    rp_clean_text(text);
    r->at = r->end;
    return text;
}

static bool read_range(struct reader *r, struct rp_trace *t) {
    struct rp_trace_range x = {0};
    uint64_t stated;
    if (!NUMBERS(r, &x.id, &x.parent, &x.thread, &x.step, &stated, &x.workspace_bytes) ||
        x.id == 0 || x.parent >= x.id || stated > 1 || r->at == r->end ||
        x.workspace_bytes > RP_MAX_QUANTITY)
        return false;
    x.has_workspace = stated == 1;
    x.name = rest(r);
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

static bool read_work(struct reader *r, struct rp_trace *t) {
    struct rp_trace_work x;
    const char *text;
    size_t len;
    int kind = 0;
    if (!word(r, &text, &len))
        return false;
    while (kind < RP_N_WORK_KINDS && !(strlen(rp_work_word[kind]) == len &&
                                       memcmp(rp_work_word[kind], text, len) == 0))
        kind++;
    if (kind == RP_N_WORK_KINDS ||
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

static bool read_device(struct reader *r, struct rp_trace *t) {
    struct rp_trace_device x;
    if (!NUMBERS(r, &x.id, &x.memory_bytes) || x.memory_bytes > RP_MAX_QUANTITY ||
        r->at == r->end)
        return false;
    x.name = rest(r);
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
    return number(r, &t->cupti_version);
}

static bool read_sum(struct reader *r, uint64_t *sum) {
    uint64_t n;
    return number(r, &n) && rp_add(sum, n);
}

static bool read_dropped(struct reader *r, struct rp_trace *t) {
    return read_sum(r, &t->dropped);
}

static bool read_torn(struct reader *r, struct rp_trace *t) {
    return read_sum(r, &t->torn);
}

/* The first one counts. */
static bool read_error(struct reader *r, struct rp_trace *t) {
    char *text = rest(r);
    if (t->error == NULL)
        t->error = text;
    else
        free(text);
    return true;
}

/* The count of lines before it, so that a file with a hole is noticed. */
static bool read_end(struct reader *r, struct rp_trace *t) {
    uint64_t lines;
    if (!number(r, &lines) || lines != r->line - 1)
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
        {"dropped", read_dropped}, {"end", read_end},
    };
    const char *text;
    size_t len;
    if (t->complete)
        return refuse(r, "a line after the end");
    if (!word(r, &text, &len))
        return refuse(r, "empty");
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        if (strlen(lines[i].word) != len || memcmp(lines[i].word, text, len) != 0)
            continue;
        if (!lines[i].read(r, t) || r->at != r->end)
            return refuse(r, "not what such a line holds");
        return RP_OK;
    }
    return refuse(r, "unknown kind of line");
}

/* ---- order ---- */

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

/* Every field counts, so that the order of equals is not the sort's. */
static int by_work(const void *a, const void *b) {
    const struct rp_trace_work *x = a, *y = b;
    const uint64_t p[] = {x->start_ns,    x->end_ns, x->device, x->stream,
                          x->correlation, x->node,   x->kind,   x->bytes};
    const uint64_t q[] = {y->start_ns,    y->end_ns, y->device, y->stream,
                          y->correlation, y->node,   y->kind,   y->bytes};
    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

#define SORT(list, by)                                                                     \
    do {                                                                                   \
        if ((list).n > 1)                                                                  \
            qsort((list).at, (list).n, sizeof *(list).at, by);                             \
    } while (0)

/* The index of the first of two neighbours that `same` finds equal, or n. */
#define TWICE(list, field, index)                                                          \
    do {                                                                                   \
        for (index = 1; index < (list).n; index++)                                         \
            if ((list).at[index - 1].field == (list).at[index].field)                      \
                break;                                                                     \
    } while (0)

/* A correlation id that is in two ranges leaves it open whose work it is. */
static rp_rc check_pairs(const struct rp_trace *t, const char *what,
                         const struct rp_trace_pair *at, size_t n, struct rp_err *err) {
    for (size_t i = 1; i < n; i++)
        if (at[i - 1].key == at[i].key && at[i - 1].value != at[i].value)
            return rp_fail(err, RP_INPUT,
                           "%s: %s %" PRIu64 " belongs to both %" PRIu64 " and %" PRIu64,
                           t->file, what, at[i].key, at[i - 1].value, at[i].value);
    return RP_OK;
}

static rp_rc order(struct rp_trace *t, struct rp_err *err) {
    size_t i;
    SORT(t->ranges, by_range_id);
    SORT(t->steps, by_step_number);
    SORT(t->external, by_pair);
    SORT(t->nodes, by_pair);
    SORT(t->clones, by_pair);
    SORT(t->calls, by_call_correlation);
    SORT(t->works, by_work);
    SORT(t->overheads, by_overhead_start_ns);
    SORT(t->devices, by_device_id);
    TWICE(t->ranges, id, i);
    if (i < t->ranges.n)
        return rp_fail(err, RP_INPUT, "%s: two ranges %" PRIu64, t->file,
                       t->ranges.at[i].id);
    TWICE(t->steps, number, i);
    if (i < t->steps.n)
        return rp_fail(err, RP_INPUT, "%s: two steps %" PRIu64, t->file,
                       t->steps.at[i].number);
    for (i = 0; i < t->ranges.n; i++)
        if (t->ranges.at[i].parent != 0 &&
            rp_trace_range_of(t, t->ranges.at[i].parent) == NULL)
            return rp_fail(err, RP_INPUT,
                           "%s: range %" PRIu64 " is inside %" PRIu64
                           ", which is not there",
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
    if (!word(r, &text, &len) || len != 11 || memcmp(text, "remat-trace", 11) != 0)
        return refuse(r, "not a trace");
    if (!number(r, &version) || version != 1)
        return refuse(r, "not version 1");
    if (!number(r, &t->pid) || r->at != r->end)
        return refuse(r, "no process id");
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
            break; /* the process died while it wrote this line */
        r.at = at;
        r.end = newline ? newline : end;
        rc = r.line == 1 ? read_head(&r, t) : read_line(&r, t);
        at = newline ? newline + 1 : end;
    }
    if (rc == RP_OK)
        rc = order(t, err);
    if (rc != RP_OK)
        rp_trace_fini(t);
    return rc;
}

rp_rc rp_trace_load(const char *path, struct rp_trace *t, struct rp_err *err) {
    char *text;
    size_t len;
    *t = (struct rp_trace){0};
    rp_rc rc = rp_read_file(path, &text, &len, err);
    if (rc != RP_OK)
        return rc;
    rc = rp_trace_parse(text, len, rp_path_name(path), t, err);
    free(text);
    return rc;
}

/* ---- writing ---- */

static uint64_t dump_ranges(const struct rp_trace *t, FILE *f) {
    for (size_t i = 0; i < t->ranges.n; i++) {
        const struct rp_trace_range *x = &t->ranges.at[i];
        fprintf(f,
                "range %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %s\n",
                x->id, x->parent, x->thread, x->step, x->has_workspace, x->workspace_bytes,
                x->name);
    }
    for (size_t i = 0; i < t->steps.n; i++) {
        const struct rp_trace_step *x = &t->steps.at[i];
        fprintf(f, "step %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                x->number, x->range, x->thread, x->begin_ns, x->end_ns);
    }
    return t->ranges.n + t->steps.n;
}

static uint64_t dump_pairs(const char *name, const struct rp_trace_pair *at, size_t n,
                           FILE *f) {
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s %" PRIu64 " %" PRIu64 "\n", name, at[i].key, at[i].value);
    return n;
}

static uint64_t dump_work(const struct rp_trace *t, FILE *f) {
    for (size_t i = 0; i < t->calls.n; i++) {
        const struct rp_trace_call *x = &t->calls.at[i];
        fprintf(f, "call %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", x->correlation,
                x->thread, x->start_ns, x->end_ns);
    }
    for (size_t i = 0; i < t->works.n; i++) {
        const struct rp_trace_work *x = &t->works.at[i];
        fprintf(f,
                "work %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                " %" PRIu64 " %" PRIu64 "\n",
                rp_work_word[x->kind], x->correlation, x->node, x->start_ns, x->end_ns,
                x->device, x->stream, x->bytes);
    }
    for (size_t i = 0; i < t->overheads.n; i++) {
        const struct rp_trace_overhead *x = &t->overheads.at[i];
        fprintf(f, "over %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", x->kind,
                x->thread, x->start_ns, x->end_ns);
    }
    return t->calls.n + t->works.n + t->overheads.n;
}

void rp_trace_dump(const struct rp_trace *t, char **text, size_t *len) {
    FILE *f = rp_text_open(text, len);
    uint64_t lines = 1;
    fprintf(f, "remat-trace 1 %" PRIu64 "\n", t->pid);
    if (t->cupti_version != 0)
        lines += fprintf(f, "cupti %" PRIu64 "\n", t->cupti_version) > 0;
    for (size_t i = 0; i < t->devices.n; i++)
        fprintf(f, "device %" PRIu64 " %" PRIu64 " %s\n", t->devices.at[i].id,
                t->devices.at[i].memory_bytes, t->devices.at[i].name);
    lines += t->devices.n + dump_ranges(t, f);
    lines += dump_pairs("ext", t->external.at, t->external.n, f);
    lines += dump_pairs("node", t->nodes.at, t->nodes.n, f);
    lines += dump_pairs("clone", t->clones.at, t->clones.n, f);
    lines += dump_work(t, f);
    if (t->dropped != 0)
        lines += fprintf(f, "dropped %" PRIu64 "\n", t->dropped) > 0;
    if (t->torn != 0)
        lines += fprintf(f, "torn %" PRIu64 "\n", t->torn) > 0;
    if (t->error != NULL)
        lines += fprintf(f, "error %s\n", t->error) > 0;
    if (t->complete)
        fprintf(f, "end %" PRIu64 "\n", lines);
    rp_text_close(f);
}

void rp_trace_fini(struct rp_trace *t) {
    for (size_t i = 0; i < t->ranges.n; i++)
        free(t->ranges.at[i].name);
    for (size_t i = 0; i < t->devices.n; i++)
        free(t->devices.at[i].name);
    free(t->ranges.at);
    free(t->steps.at);
    free(t->external.at);
    free(t->nodes.at);
    free(t->clones.at);
    free(t->calls.at);
    free(t->works.at);
    free(t->overheads.at);
    free(t->devices.at);
    free(t->error);
    free(t->file);
    *t = (struct rp_trace){0};
}

/* ---- looking up ---- */

/* The index of the first entry whose `field` is at least `key`. */
#define LOWER(list, field, key, index)                                                     \
    do {                                                                                   \
        size_t lower_end = (list).n;                                                       \
        index = 0;                                                                         \
        while (index < lower_end) {                                                        \
            size_t middle = index + (lower_end - index) / 2;                               \
            if ((list).at[middle].field < (key))                                           \
                index = middle + 1;                                                        \
            else                                                                           \
                lower_end = middle;                                                        \
        }                                                                                  \
    } while (0)

const struct rp_trace_range *rp_trace_range_of(const struct rp_trace *t, uint64_t id) {
    size_t i;
    LOWER(t->ranges, id, id, i);
    return i < t->ranges.n && t->ranges.at[i].id == id ? &t->ranges.at[i] : NULL;
}

const struct rp_trace_call *rp_trace_call_of(const struct rp_trace *t, uint64_t corr) {
    size_t i;
    LOWER(t->calls, correlation, corr, i);
    return i < t->calls.n && t->calls.at[i].correlation == corr ? &t->calls.at[i] : NULL;
}

const struct rp_trace_device *rp_trace_device_of(const struct rp_trace *t, uint64_t id) {
    size_t i;
    LOWER(t->devices, id, id, i);
    return i < t->devices.n && t->devices.at[i].id == id ? &t->devices.at[i] : NULL;
}

static uint64_t value_of(const struct rp_trace_pair *at, size_t n, uint64_t key) {
    struct {
        const struct rp_trace_pair *at;
        size_t n;
    } list = {at, n};
    size_t i;
    LOWER(list, key, key, i);
    return i < n && at[i].key == key ? at[i].value : 0;
}

uint64_t rp_trace_launcher(const struct rp_trace *t, const struct rp_trace_work *w,
                           uint64_t *made) {
    uint64_t launcher = value_of(t->external.at, t->external.n, w->correlation);
    *made = launcher;
    uint64_t node = w->node;
    /* A graph is copied when it is made executable, and that copy may be copied again; more
     * copies than there are lines would be a ring. */
    for (size_t i = 0; node != 0 && i <= t->clones.n; i++) {
        uint64_t range = value_of(t->nodes.at, t->nodes.n, node);
        if (range != 0) {
            *made = range;
            break;
        }
        node = value_of(t->clones.at, t->clones.n, node);
    }
    return launcher;
}
