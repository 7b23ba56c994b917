#include "profile/inject/ranges.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "profile/inject/out.h"

struct open_range {
    const void *domain;
    uint64_t id;   /* 0: not an "rp:" range */
    uint64_t step; /* its number if it is a step */
    uint64_t begin_ns;
    bool section;
};

struct stack {
    struct open_range *at;
    size_t n, cap;
    size_t n_pushed; /* "rp:" ranges that CUPTI knows, counted from the bottom */
    uint64_t thread;
};

static __thread struct stack *thread_stack;
static pthread_key_t key;
static pthread_once_t key_made = PTHREAD_ONCE_INIT;

static _Atomic(const struct rp_ranges_sink *) sink;
static atomic_uint_fast64_t last_id, last_step, current_step, current_begin_ns;

static atomic_long forked_from; /* a process id; 0: not forked, or reported already */

/* A step that nvtxRangeStart began. There is at most one at a time: join.c refuses traces
 * with overlapping steps. */
static struct { atomic_uint_fast64_t id, number, begin_ns; } process_step;

static void free_stack(void *p) {
    struct stack *s = p;
    thread_stack = NULL;
    free(s->at);
    free(s);
}

static void make_key(void) {
    pthread_key_create(&key, free_stack);
}

/* NULL if there is no memory. The thread's ranges are then ignored. */
static struct stack *my_stack(void) {
    if (thread_stack == NULL) {
        pthread_once(&key_made, make_key);
        thread_stack = calloc(1, sizeof *thread_stack);
        if (thread_stack != NULL) {
            thread_stack->thread = (uint64_t)gettid();
            pthread_setspecific(key, thread_stack);
        }
    }
    return thread_stack;
}

static uint64_t now(void) {
    const struct rp_ranges_sink *to = atomic_load(&sink);
    if (to != NULL)
        return to->now();
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t); /* CUPTI's clock on Linux */
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Passes those ids of this thread's ranges to CUPTI that CUPTI does not know yet. */
static void push_ids(struct stack *s) {
    const struct rp_ranges_sink *to = atomic_load(&sink);
    size_t n_marked = 0;
    for (size_t i = 0; to != NULL && i < s->n; i++) {
        if (s->at[i].id == 0)
            continue;
        if (n_marked++ < s->n_pushed)
            continue;
        if (!to->push(s->at[i].id))
            return;
        s->n_pushed++;
    }
}

/* Removes entry i. CUPTI's stack only pops from the top, so ids above are pushed again. */
static void remove_range(struct stack *s, size_t i) {
    const struct rp_ranges_sink *to = atomic_load(&sink);
    size_t below = 0;
    if (s->at[i].id != 0) {
        for (size_t k = 0; k < i; k++)
            below += s->at[k].id != 0;
        for (; to != NULL && s->n_pushed > below; s->n_pushed--)
            to->pop();
    }
    memmove(&s->at[i], &s->at[i + 1], (s->n - i - 1) * sizeof *s->at);
    s->n--;
    push_ids(s);
}

static int depth(const struct stack *s, const void *domain) {
    int n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += s->at[i].domain == domain;
    return n;
}

static void report_fork(void) {
    long parent = atomic_exchange(&forked_from, 0);
    if (parent != 0)
        rp_out_line("error it was forked from process %ld after CUDA had started there, so "
                    "CUPTI cannot trace it; start it with exec (spawn)",
                    parent);
}

static bool is_step(const char *name) {
    return strcmp(name, "step") == 0;
}

/* The name after "rp:", or NULL. */
static const char *marked_name(const struct rp_mark *mark) {
    if (mark->text == NULL || strncmp(mark->text, "rp:", 3) != 0 || mark->text[3] == '\0')
        return NULL;
    return mark->text + 3;
}

static uint64_t begin_step(uint64_t begin_ns) {
    uint64_t number = atomic_fetch_add(&last_step, 1) + 1;
    atomic_store(&current_begin_ns, begin_ns);
    atomic_store(&current_step, number);
    return number;
}

static void write_step(uint64_t number, uint64_t id, uint64_t begin_ns, uint64_t end_ns) {
    uint64_t expected = number;
    atomic_compare_exchange_strong(&current_step, &expected, 0);
    rp_out_line("step %" PRIu64 " %" PRIu64 " %ld %" PRIu64 " %" PRIu64, number, id,
                (long)gettid(), begin_ns, end_ns);
}

static void flush(void) {
    const struct rp_ranges_sink *to = atomic_load(&sink);
    if (to != NULL)
        to->flush();
    rp_out_flush();
}

static void end_step(uint64_t number, uint64_t id, uint64_t begin_ns) {
    write_step(number, id, begin_ns, now());
    flush();
}

int rp_ranges_push(const void *domain, const struct rp_mark *mark) {
    struct stack *s = my_stack();
    const char *name = marked_name(mark);
    if (s == NULL)
        return -1;
    if (s->n == s->cap) {
        size_t cap = s->cap ? 2 * s->cap : 16;
        struct open_range *at = realloc(s->at, cap * sizeof *at);
        if (at == NULL)
            return -1;
        s->at = at;
        s->cap = cap;
    }
    int level = depth(s, domain);
    struct open_range r = {.domain = domain};
    if (name != NULL) {
        report_fork();
        r.id = atomic_fetch_add(&last_id, 1) + 1;
        r.section = name[0] == '@';
        r.begin_ns = is_step(name) ? now() : 0;
        r.step = is_step(name) ? begin_step(r.begin_ns) : 0;
    }
    uint64_t parent = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].id != 0 && s->at[i].step == 0)
            parent = s->at[i].id;
    if (r.id != 0 && r.step == 0)
        rp_out_line("range %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %" PRIu64
                    " %s",
                    r.id, parent, s->thread, (uint64_t)atomic_load(&current_step),
                    mark->has_workspace, mark->workspace_bytes, name);
    s->at[s->n++] = r;
    push_ids(s);
    return level;
}

int rp_ranges_pop(const void *domain) {
    struct stack *s = my_stack();
    if (s == NULL)
        return -1;
    size_t i = s->n;
    while (i > 0 && s->at[i - 1].domain != domain)
        i--;
    if (i == 0)
        return -1;
    struct open_range r = s->at[i - 1];
    remove_range(s, i - 1);
    if (r.step != 0)
        end_step(r.step, r.id, r.begin_ns);
    else if (r.section)
        flush();
    return depth(s, domain);
}

uint64_t rp_ranges_start(const struct rp_mark *mark) {
    const char *name = marked_name(mark);
    uint64_t id = atomic_fetch_add(&last_id, 1) + 1;
    if (name == NULL)
        return id;
    if (!is_step(name)) {
        rp_out_line(
            "error range 'rp:%s' was opened with nvtxRangeStart, which belongs to no "
            "thread; use nvtxRangePush for ops",
            name);
        return id;
    }
    uint64_t begin_ns = now();
    atomic_store(&process_step.begin_ns, begin_ns);
    atomic_store(&process_step.number, begin_step(begin_ns));
    atomic_store(&process_step.id, id);
    return id;
}

void rp_ranges_end(uint64_t id) {
    uint64_t expected = id;
    if (id != 0 && atomic_compare_exchange_strong(&process_step.id, &expected, 0))
        end_step(atomic_load(&process_step.number), id,
                 atomic_load(&process_step.begin_ns));
}

uint64_t rp_ranges_innermost(void) {
    const struct stack *s = thread_stack;
    for (size_t i = s != NULL ? s->n : 0; i > 0; i--)
        if (s->at[i - 1].id != 0)
            return s->at[i - 1].id;
    return 0;
}

void rp_ranges_connect(const struct rp_ranges_sink *to) {
    atomic_store(&sink, to);
    if (to != NULL && thread_stack != NULL)
        push_ids(thread_stack);
}

void rp_ranges_finish(void) {
    uint64_t number = atomic_load(&current_step);
    atomic_store(&sink, NULL);
    if (number != 0)
        write_step(number, 0, atomic_load(&current_begin_ns), 0);
}

void rp_ranges_in_child(long parent) {
    if (parent != 0)
        atomic_store(&forked_from, parent);
    atomic_store(&sink, NULL);
    atomic_store(&current_step, 0);
    atomic_store(&last_step, 0);
    atomic_store(&process_step.id, 0);
    if (thread_stack == NULL)
        return;
    thread_stack->thread = (uint64_t)gettid();
    for (size_t i = 0; i < thread_stack->n; i++)
        thread_stack->at[i].id = thread_stack->at[i].step = 0;
}
