#include "verify/queue_clocks.h"

#include "base/mem.h"
#include "base/numbers.h"

bool rp_queue_clocks_copy_ns(uint64_t latency_ns, uint64_t bytes, uint64_t bytes_per_s,
                             uint64_t *ns) {
    unsigned __int128 x = (unsigned __int128)bytes * 1000000000u;
    unsigned __int128 transfer_ns = x / bytes_per_s + (x % bytes_per_s != 0);
    *ns = latency_ns;
    return transfer_ns <= RP_MAX_QUANTITY && rp_add(ns, (uint64_t)transfer_ns);
}

void rp_queue_clocks_wait(struct rp_queue_clocks *t, uint64_t until_ns) {
    if (until_ns <= t->compute_ns)
        return;
    t->stall_ns += until_ns - t->compute_ns;
    t->compute_ns = until_ns;
}

bool rp_queue_clocks_run(struct rp_queue_clocks *t, uint64_t op_ns) {
    return rp_add(&t->compute_ns, op_ns);
}

static bool copy(uint64_t *queue_ns, uint64_t *busy_ns, uint64_t compute_ns,
                 uint64_t ready_ns, uint64_t copy_ns) {
    *queue_ns = rp_max_u64(*queue_ns, rp_max_u64(compute_ns, ready_ns));
    *busy_ns += copy_ns;
    return rp_add(queue_ns, copy_ns);
}

bool rp_queue_clocks_copy_out(struct rp_queue_clocks *t, uint64_t ready_ns,
                              uint64_t copy_ns, uint64_t *end_ns) {
    bool ok = copy(&t->d2h_ns, &t->d2h_busy_ns, t->compute_ns, ready_ns, copy_ns);
    *end_ns = t->d2h_ns;
    return ok;
}

bool rp_queue_clocks_copy_in(struct rp_queue_clocks *t, uint64_t ready_ns, uint64_t copy_ns,
                             uint64_t *end_ns) {
    bool ok = copy(&t->h2d_ns, &t->h2d_busy_ns, t->compute_ns, ready_ns, copy_ns);
    *end_ns = t->h2d_ns;
    return ok;
}

uint64_t rp_queue_clocks_end(const struct rp_queue_clocks *t) {
    return rp_max_u64(t->compute_ns, rp_max_u64(t->d2h_ns, t->h2d_ns));
}
