#include "verify/check_copies.h"

#include <inttypes.h>

#include "base/mem.h"

rp_rc rp_check_free(struct rp_plan_state *w, const struct rp_step *s) {
    struct rp_tensor_state *t = &w->tensors[s->id];
    if (!t->on_device)
        return rp_reject_step(w, RP_TENSOR " is freed, but not on the device",
                              RP_A_TENSOR(w, s->id));
    if (w->g->tensors[s->id].held)
        return rp_reject_step(w, RP_TENSOR " is held: it cannot be freed",
                              RP_A_TENSOR(w, s->id));
    if (t->listed && !t->on_host)
        return rp_reject_step(w, RP_TENSOR " is freed, though its host copy is out of date",
                              RP_A_TENSOR(w, s->id));
    rp_queue_clocks_wait(&w->time, t->out_ns); /* for an unfinished swap-out */
    if (t->in_ns > w->time.compute_ns)
        return rp_reject_step(w,
                              RP_TENSOR " is freed at %" PRIu64
                                        " ns, while its swap-in is under way until %" PRIu64
                                        " ns",
                              RP_A_TENSOR(w, s->id), w->time.compute_ns, t->in_ns);
    uint64_t size = rp_storage_size(w, w->g->tensors[s->id].bytes);
    if (w->p->addressed && size > 0)
        rp_range_set_remove(&w->arena, t->at);
    t->on_device = false;
    w->live_bytes -= size;
    return RP_OK;
}

rp_rc rp_check_swap_out(struct rp_plan_state *w, const struct rp_step *s) {
    struct rp_tensor_state *t = &w->tensors[s->id];
    uint64_t bytes = w->g->tensors[s->id].bytes, ns;
    const struct rp_device *d = &w->g->device;
    if (!t->on_device)
        return rp_reject_step(w, RP_TENSOR " is swapped out, but not on the device",
                              RP_A_TENSOR(w, s->id));
    if (t->on_host)
        return rp_reject_step(w,
                              t->listed ? RP_TENSOR
                                  " is swapped out, but its host copy is up to "
                                  "date"
                                        : RP_TENSOR " is swapped out a second time",
                              RP_A_TENSOR(w, s->id));
    rp_rc rc = rp_allocate_host(w, s->id, s->address);
    if (rc != RP_OK)
        return rc;
    if (!rp_queue_clocks_copy_ns(d->copy_latency_ns, bytes, d->d2h_bytes_per_s, &ns) ||
        !rp_queue_clocks_copy_out(&w->time, t->in_ns, ns, &t->host_ready_ns))
        return rp_reject_step(w, "the swap-out of " RP_TENSOR " ends after 2^63-1 ns",
                              RP_A_TENSOR(w, s->id));
    t->out_ns = t->host_ready_ns;
    t->on_host = true;
    if (!rp_add(&w->v->swapped_out_bytes, bytes))
        return rp_reject_step(w, "the sum of bytes swapped out passes 2^63-1");
    w->v->n_swap_outs++;
    return RP_OK;
}

rp_rc rp_check_swap_in(struct rp_plan_state *w, const struct rp_step *s) {
    struct rp_tensor_state *t = &w->tensors[s->id];
    uint64_t bytes = w->g->tensors[s->id].bytes, ns;
    const struct rp_device *d = &w->g->device;
    if (!t->on_host)
        return rp_reject_step(w,
                              t->listed ? RP_TENSOR
                                  " is swapped in, but its host copy is out of date"
                                        : RP_TENSOR " is swapped in, but has no host copy",
                              RP_A_TENSOR(w, s->id));
    if (t->on_device)
        return rp_reject_step(w, RP_TENSOR " is swapped in, but on the device already",
                              RP_A_TENSOR(w, s->id));
    rp_rc rc = rp_allocate_device(w, s->id, s->address);
    if (rc == RP_OK)
        rc = rp_check_budget(w, 0);
    if (rc != RP_OK)
        return rc;
    if (!rp_queue_clocks_copy_ns(d->copy_latency_ns, bytes, d->h2d_bytes_per_s, &ns) ||
        !rp_queue_clocks_copy_in(&w->time, t->host_ready_ns, ns, &t->in_ns))
        return rp_reject_step(w, "the swap-in of " RP_TENSOR " ends after 2^63-1 ns",
                              RP_A_TENSOR(w, s->id));
    if (!rp_add(&w->v->swapped_in_bytes, bytes))
        return rp_reject_step(w, "the sum of bytes swapped in passes 2^63-1");
    w->v->n_swap_ins++;
    return RP_OK;
}
