#include "judge.h"

#include <stdlib.h>

bool ck_size(struct ck_judge *j, int64_t bytes, int64_t *size) {
    int64_t unit = j->p->addressed ? j->g->alignment : 1;
    int64_t missing = bytes % unit == 0 ? 0 : unit - bytes % unit;
    *size = bytes;
    return ck_sum(j, size, missing);
}

static bool overlap(struct ck_range a, struct ck_range b) {
    return a.lo < b.hi && b.lo < a.hi && a.lo < a.hi && b.lo < b.hi;
}

/* An address where the plan has addresses, and none otherwise. */
static bool address_fits(struct ck_judge *j, int64_t address, int64_t size,
                         struct ck_range *range) {
    *range = (struct ck_range){0, 0};
    if (!j->p->addressed)
        return address == CK_ABSENT || ck_broken(j, "an address in a plan without");
    if (address < 0)
        return ck_broken(j, "an address is missing");
    if (address % j->g->alignment != 0)
        return ck_broken(j, "an address is not aligned");
    *range = (struct ck_range){address, address};
    return ck_sum(j, &range->hi, size);
}

/* Rule 5: the range is free and within the arena. */
static bool place(struct ck_judge *j, int64_t address, int64_t size,
                  struct ck_range *range) {
    if (!address_fits(j, address, size, range))
        return false;
    for (int x = 0; x < j->g->n_tensors; x++)
        if (j->x[x].on_device && overlap(j->x[x].at, *range))
            return ck_broken(j, "it overlaps tensor %d", x);
    if (range->hi > j->p->arena)
        return ck_broken(j, "beyond the arena");
    if (range->hi > j->arena_used)
        j->arena_used = range->hi;
    return true;
}

bool ck_allocate(struct ck_judge *j, int x, int64_t address) {
    struct ck_state_of_tensor *t = &j->x[x];
    int64_t size;
    if (!ck_size(j, j->g->tensors[x].bytes, &size) || !place(j, address, size, &t->at) ||
        !ck_sum(j, &j->live, size))
        return false;
    t->on_device = true;
    return true;
}

void ck_release(struct ck_judge *j, int x) {
    int64_t size;
    j->x[x].on_device = false;
    if (ck_size(j, j->g->tensors[x].bytes, &size))
        j->live -= size;
}

bool ck_note_peak(struct ck_judge *j, int64_t extra, int64_t address) {
    struct ck_range range;
    int64_t size, all = j->live, total;
    if (!ck_size(j, extra, &size) || !ck_sum(j, &all, size))
        return false;
    if (extra == 0 && address != CK_ABSENT)
        return ck_broken(j, "workspace_at without workspace");
    if (extra > 0 && !place(j, address, size, &range))
        return false;
    total = all;
    if (!ck_sum(j, &total, j->fixed))
        return false;
    if (total > j->p->budget)
        return ck_broken(j, "over the budget");
    if (all > j->peak)
        j->peak = all;
    return true;
}

bool ck_host_range(struct ck_judge *j, int x, int64_t address) {
    struct ck_range range;
    int64_t size;
    if (!ck_size(j, j->g->tensors[x].bytes, &size) ||
        !address_fits(j, address, size, &range) || !ck_sum(j, &j->host_sum, size))
        return false;
    for (int k = 0; k < j->n_host_ranges; k++)
        if (overlap(j->host_ranges[k], range))
            return ck_broken(j, "two host copies overlap");
    if (range.hi > j->p->host)
        return ck_broken(j, "beyond the host slab");
    if (range.hi > j->host_used)
        j->host_used = range.hi;
    j->host_ranges[j->n_host_ranges++] = range;
    j->x[x].host_at = address;
    return true;
}
