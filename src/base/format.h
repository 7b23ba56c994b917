/* format: sizes, times and shares as people read them. They are for reports only: files
 * hold plain integers. Thread-safe: results are returned by value. */
#ifndef RP_BASE_FORMAT_H
#define RP_BASE_FORMAT_H

#include <stdint.h>

struct rp_text32 {
    char s[32];
};

struct rp_text64 {
    char s[64];
};

struct rp_text32 rp_show_bytes(uint64_t bytes);                  /* "1.50 GiB", "512 B" */
struct rp_text32 rp_show_ns(uint64_t ns);                        /* "12.3 ms", "4.10 s" */
struct rp_text32 rp_show_percent(uint64_t part, uint64_t whole); /* "3.20%"; "-" of 0 */

/* What recompute and stall do not explain of a plan's time over keep-all: `before` and
 * "copies after the last op 1.20 ms", or nothing if the copies end in time. */
struct rp_text64 rp_show_tail(const char *before, uint64_t tail_ns);

struct rp_text64 rp_show_exactly(uint64_t bytes); /* "1.50 GiB (1610612736 bytes)" */
/* In the form that --budget takes: "1.51GiB". Three digits, rounded up. */
struct rp_text32 rp_show_budget(uint64_t bytes);

#endif
