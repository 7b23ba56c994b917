#include "pack/piecewise.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "pack/component/components.h"

/* All orders of so many buffers are tried. */
enum { MAX_TRIED = 8 };

struct piece {
    uint64_t lower, upper;
    uint64_t from, to; /* bytes of the buffer */
    uint32_t buffer;
};

/* Two pieces that are live together: of this buffer, and of another one. */
struct meeting {
    uint32_t other;
    uint64_t from, to, other_from, other_to;
};

struct packing {
    const struct rp_piecewise *p;
    uint64_t *step; /* by buffer: its offset is a multiple of it */
    RP_VEC(struct piece) pieces;
    struct meeting *meetings; /* of buffer i: [begin[i], begin[i + 1]) */
    size_t *begin;
    uint32_t *order, *best_order;
    bool *placed;
    uint64_t *offset, *best;
    uint64_t height; /* of the best */
    struct rp_pack_work work;
};

uint64_t rp_piecewise_alignment(uint64_t a, uint64_t b) {
    unsigned __int128 multiple = (unsigned __int128)(a / rp_gcd_u64(a, b)) * b;
    return multiple >> 62 == 0 ? (uint64_t)multiple : 0;
}

/* ---- pieces ---- */

static void add_piece(struct packing *k, uint32_t i, uint64_t lower, uint64_t upper,
                      uint64_t from, uint64_t to) {
    struct piece x = {lower, upper, from, to, i};
    if (lower < upper && from < to)
        rp_push(&k->pieces, x);
}

static void cut(struct packing *k, uint64_t alignment) {
    const struct rp_piecewise *p = k->p;
    size_t g = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct rp_buffer *b = &p->buffers[i];
        uint64_t at = b->lower, size = rp_round_up(b->size, alignment);
        for (; g < p->n_gaps && p->gaps[g].buffer == i; g++) {
            const struct rp_gap *x = &p->gaps[g];
            add_piece(k, i, at, x->lower, 0, size);
            add_piece(k, i, x->lower, x->upper, x->from, x->to);
            at = x->upper;
        }
        add_piece(k, i, at, b->upper, 0, size);
    }
}

static int by_lower(const void *x, const void *y) {
    const struct piece *a = x, *b = y;
    if (a->lower != b->lower)
        return a->lower < b->lower ? -1 : 1;
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

/* Counts the meetings of each buffer at begin[i + 1], or lists them from begin[i] on. */
static void meet(struct packing *k, bool list, size_t *at) {
    for (size_t i = 0; i < k->pieces.n; i++)
        for (size_t j = i + 1; j < k->pieces.n; j++) {
            const struct piece *a = &k->pieces.at[i], *b = &k->pieces.at[j];
            if (b->lower >= a->upper)
                break;
            if (a->buffer == b->buffer)
                continue;
            if (list) {
                k->meetings[at[a->buffer]++] =
                    (struct meeting){b->buffer, a->from, a->to, b->from, b->to};
                k->meetings[at[b->buffer]++] =
                    (struct meeting){a->buffer, b->from, b->to, a->from, a->to};
            } else {
                k->begin[a->buffer + 1]++;
                k->begin[b->buffer + 1]++;
            }
        }
}

static void find_meetings(struct packing *k) {
    size_t n = k->p->n, *at = rp_calloc(n, sizeof *at);
    if (k->pieces.n > 0)
        qsort(k->pieces.at, k->pieces.n, sizeof *k->pieces.at, by_lower);
    k->begin = rp_calloc(n + 1, sizeof *k->begin);
    meet(k, false, NULL);
    for (size_t i = 0; i < n; i++) {
        k->begin[i + 1] += k->begin[i];
        at[i] = k->begin[i];
    }
    k->meetings = rp_calloc(k->begin[n], sizeof *k->meetings);
    meet(k, true, at);
    k->work.done += k->begin[n];
    free(at);
}

static uint64_t peak_of(const struct packing *k) {
    struct rp_buffer *b = rp_calloc(k->pieces.n, sizeof *b);
    for (size_t i = 0; i < k->pieces.n; i++) {
        const struct piece *x = &k->pieces.at[i];
        b[i] = (struct rp_buffer){x->lower, x->upper, x->to - x->from, 0};
    }
    uint64_t peak = rp_pack_peak(b, k->pieces.n, 1);
    free(b);
    return peak;
}

/* ---- placements ---- */

/* The lowest offset of buffer i from `at` on that no meeting with a placed buffer forbids.
 */
static uint64_t lowest(struct packing *k, uint32_t i) {
    uint64_t at = 0, before;
    do {
        before = at;
        for (size_t q = k->begin[i]; q < k->begin[i + 1]; q++) {
            const struct meeting *m = &k->meetings[q];
            if (!k->placed[m->other])
                continue;
            uint64_t low = k->offset[m->other] + m->other_from;
            uint64_t high = k->offset[m->other] + m->other_to;
            if (at + m->from < high && low < at + m->to)
                at = rp_round_up(high - m->from, k->step[i]);
        }
        k->work.done += k->begin[i + 1] - k->begin[i] + 1;
    } while (at != before);
    return at;
}

/* Places all buffers in the order. Returns how high they reach, or more than `limit` as
 * soon as that is passed. */
static uint64_t place(struct packing *k, uint64_t alignment, uint64_t limit) {
    uint64_t height = 0;
    memset(k->placed, 0, k->p->n * sizeof *k->placed);
    for (size_t q = 0; q < k->p->n && height <= limit; q++) {
        uint32_t i = k->order[q];
        uint64_t size = rp_round_up(k->p->buffers[i].size, alignment);
        k->offset[i] = size > 0 ? lowest(k, i) : 0;
        k->placed[i] = true;
        if (size > 0)
            height = rp_max_u64(height, k->offset[i] + size);
    }
    return height;
}

/* Places in the order, and keeps a placement that is not worse. */
static bool try_order(struct packing *k, uint64_t alignment) {
    uint64_t height = place(k, alignment, k->height);
    if (height > k->height)
        return false;
    k->height = height;
    memcpy(k->best, k->offset, k->p->n * sizeof *k->best);
    memcpy(k->best_order, k->order, k->p->n * sizeof *k->order);
    return true;
}

/* ---- orders ---- */

struct keyed {
    unsigned __int128 key;
    uint32_t buffer;
};

static int by_key(const void *x, const void *y) {
    const struct keyed *a = x, *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

enum order { BY_SIZE, BY_AREA, BY_LENGTH, BY_BEGIN, BY_OFFSET, N_ORDERS };

static void sort(struct packing *k, enum order order) {
    size_t n = k->p->n;
    struct keyed *x = rp_calloc(n, sizeof *x);
    for (uint32_t i = 0; i < n; i++) {
        const struct rp_buffer *b = &k->p->buffers[i];
        unsigned __int128 length = b->upper - b->lower;
        x[i].buffer = i;
        x[i].key = order == BY_SIZE     ? UINT64_MAX - b->size
                   : order == BY_AREA   ? ~(length * b->size)
                   : order == BY_LENGTH ? UINT64_MAX - length
                   : order == BY_BEGIN  ? b->lower
                                        : b->offset;
    }
    qsort(x, n, sizeof *x, by_key);
    for (size_t q = 0; q < n; q++)
        k->order[q] = x[q].buffer;
    free(x);
}

/* Sets the offsets that rp_pack finds for whole buffers of one alignment. */
static void pack_whole(struct packing *k, const struct rp_pack_options *options,
                       struct rp_pack_statistics *statistics) {
    struct rp_pack_options o = *options;
    struct rp_pack_result result;
    for (size_t i = 0; i < k->p->n; i++)
        o.alignment = rp_piecewise_alignment(o.alignment, k->step[i]);
    o.work_limit /= 4;
    rp_pack(k->p->buffers, k->p->n, &o, &result, statistics);
}

/* Moves one buffer of the best order to another place. */
static void disturb(struct packing *k, uint64_t *random) {
    size_t n = k->p->n;
    size_t from = rp_random_below(random, (uint32_t)n);
    size_t to = rp_random_below(random, (uint32_t)n);
    memcpy(k->order, k->best_order, n * sizeof *k->order);
    uint32_t moved = k->order[from];
    if (from < to)
        memmove(k->order + from, k->order + from + 1, (to - from) * sizeof *k->order);
    else
        memmove(k->order + to + 1, k->order + to, (from - to) * sizeof *k->order);
    k->order[to] = moved;
}

/* Tries every order behind the n_placed buffers that are placed. */
static void try_all(struct packing *k, uint64_t alignment, size_t n_placed,
                    uint64_t height) {
    if (height >= k->height)
        return;
    if (n_placed == k->p->n) {
        k->height = height;
        memcpy(k->best, k->offset, k->p->n * sizeof *k->best);
    }
    for (uint32_t i = 0; i < k->p->n; i++) {
        uint64_t size = rp_round_up(k->p->buffers[i].size, alignment);
        if (k->placed[i])
            continue;
        k->offset[i] = size > 0 ? lowest(k, i) : 0;
        k->placed[i] = true;
        try_all(k, alignment, n_placed + 1,
                size > 0 ? rp_max_u64(height, k->offset[i] + size) : height);
        k->placed[i] = false;
    }
}

/* Some order gives the smallest arena if all that is live of a buffer is all of it: that of
 * the offsets there. Each buffer then comes to lie no higher than there. */
static bool is_proved_by_orders(const struct rp_piecewise *p) {
    for (size_t g = 0; g < p->n_gaps; g++)
        if (p->gaps[g].from < p->gaps[g].to)
            return false;
    return true;
}

static void search(struct packing *k, const struct rp_pack_options *options,
                   uint64_t goal) {
    uint64_t random = 1;
    k->height = UINT64_MAX;
    for (int order = 0; order < N_ORDERS; order++) {
        sort(k, (enum order)order);
        try_order(k, options->alignment);
    }
    if (k->height > goal && k->p->n <= MAX_TRIED && !rp_pack_ended(&k->work)) {
        memset(k->placed, 0, k->p->n * sizeof *k->placed);
        try_all(k, options->alignment, 0, 0);
        return;
    }
    while (k->height > goal && !rp_pack_ended(&k->work)) {
        disturb(k, &random);
        try_order(k, options->alignment);
    }
}

rp_rc rp_pack_piecewise(const struct rp_piecewise *p, const struct rp_pack_options *options,
                        struct rp_pack_result *result,
                        struct rp_pack_statistics *statistics) {
    struct packing k = {.p = p, .work = {.limit = options->work_limit}};
    struct rp_pack_statistics own = {0};
    k.work.stop = options->stop;
    k.step = rp_calloc(p->n, sizeof *k.step);
    k.order = rp_calloc(p->n, sizeof *k.order);
    k.best_order = rp_calloc(p->n, sizeof *k.best_order);
    k.placed = rp_calloc(p->n, sizeof *k.placed);
    k.offset = rp_calloc(p->n, sizeof *k.offset);
    k.best = rp_calloc(p->n, sizeof *k.best);
    for (size_t i = 0; i < p->n; i++)
        k.step[i] = rp_piecewise_alignment(options->alignment, p->alignments[i]);
    cut(&k, options->alignment);
    find_meetings(&k);
    uint64_t peak = peak_of(&k), goal = rp_max_u64(options->capacity, peak);
    pack_whole(&k, options, &own);
    search(&k, options, goal);
    for (size_t i = 0; i < p->n; i++)
        p->buffers[i].offset = k.best[i];
    bool proved = k.height > goal && p->n <= MAX_TRIED && options->work_limit > 0 &&
                  !rp_pack_stopped(&k.work) && is_proved_by_orders(p);
    *result = (struct rp_pack_result){k.height, peak, proved ? k.height : peak};
    own.work += k.work.done;
    if (statistics != NULL)
        rp_pack_statistics_add(statistics, &own);
    free(k.step);
    free(k.order);
    free(k.best_order);
    free(k.placed);
    free(k.offset);
    free(k.best);
    free(k.pieces.at);
    free(k.meetings);
    free(k.begin);
    return result->arena_bytes <= goal ? RP_OK : proved ? RP_NO : RP_LIMIT;
}

/* ---- the check ---- */

/* The addresses of buffer i that are live at time t. False: none are. */
static bool live_at(const struct rp_piecewise *p, const size_t *first, size_t i, uint64_t t,
                    uint64_t *low, uint64_t *high) {
    const struct rp_buffer *b = &p->buffers[i];
    *low = b->offset;
    *high = b->offset + b->size;
    for (size_t g = first[i]; g < first[i + 1]; g++)
        if (p->gaps[g].lower <= t && t < p->gaps[g].upper) {
            *high = b->offset + p->gaps[g].to;
            *low = b->offset + p->gaps[g].from;
        }
    return b->lower <= t && t < b->upper && *low < *high;
}

static bool collide_at(const struct rp_piecewise *p, const size_t *first, size_t i,
                       size_t j, uint64_t t) {
    uint64_t low, high, other_low, other_high;
    return live_at(p, first, i, t, &low, &high) &&
           live_at(p, first, j, t, &other_low, &other_high) && low < other_high &&
           other_low < high;
}

/* What is live of either changes only where one of them or one of their gaps begins or
 * ends. */
static bool collide(const struct rp_piecewise *p, const size_t *first, size_t i, size_t j) {
    const struct rp_buffer *a = &p->buffers[i], *b = &p->buffers[j];
    if (a->offset >= b->offset + b->size || b->offset >= a->offset + a->size ||
        a->lower >= b->upper || b->lower >= a->upper)
        return false;
    if (collide_at(p, first, i, j, rp_max_u64(a->lower, b->lower)))
        return true;
    for (int k = 0; k < 2; k++) {
        size_t x = k == 0 ? i : j;
        for (size_t g = first[x]; g < first[x + 1]; g++)
            if (collide_at(p, first, i, j, p->gaps[g].lower) ||
                collide_at(p, first, i, j, p->gaps[g].upper))
                return true;
    }
    return false;
}

bool rp_piecewise_is_sound(const struct rp_piecewise *p, uint64_t alignment,
                           uint64_t arena_bytes) {
    size_t *first = rp_calloc(p->n + 1, sizeof *first);
    struct piece *lives = rp_calloc(p->n, sizeof *lives);
    bool sound = true;
    for (size_t g = 0; g < p->n_gaps; g++)
        first[p->gaps[g].buffer + 1]++;
    for (size_t i = 0; i < p->n; i++)
        first[i + 1] += first[i];
    for (uint32_t i = 0; i < p->n; i++)
        lives[i] = (struct piece){.lower = p->buffers[i].lower, .buffer = i};
    qsort(lives, p->n, sizeof *lives, by_lower);
    for (size_t i = 0; i < p->n && sound; i++) {
        const struct rp_buffer *b = &p->buffers[lives[i].buffer];
        sound = b->offset % alignment == 0 &&
                b->offset % p->alignments[lives[i].buffer] == 0 &&
                (b->size == 0 || b->offset + b->size <= arena_bytes);
        for (size_t j = i + 1; j < p->n && lives[j].lower < b->upper && sound; j++)
            sound = !collide(p, first, lives[i].buffer, lives[j].buffer);
    }
    free(lives);
    free(first);
    return sound;
}
