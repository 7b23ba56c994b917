#include "cmd/host_budget.h"

#include <stdio.h>

#include "base/format.h"
#include "base/mem.h"
#include "model/device.h"

struct rp_option rp_option_host_budget(uint64_t *to) {
    return (struct rp_option){.name = "host-budget",
                              .type = RP_OPT_BYTES,
                              .to = to,
                              .arg = "SIZE",
                              .help =
                                  "host memory for copies (of the device's usual server)"};
}

struct rp_host_budget rp_host_budget_choose(uint64_t given, const char *device) {
    const struct rp_device_model *m = device != NULL ? rp_device_find(device) : NULL;
    uint64_t usual = m != NULL ? m->host_memory_bytes : RP_MAX_QUANTITY;
    bool is_given = given != UINT64_MAX;
    return (struct rp_host_budget){.bytes = is_given ? given : usual, .given = is_given};
}

void rp_host_budget_print(const struct rp_host_budget *h) {
    if (h->bytes == RP_MAX_QUANTITY && !h->given)
        puts("host memory for copies: no limit, since the device is not known");
    else
        printf("host memory for copies: %s%s\n", rp_show_bytes(h->bytes).s,
               h->given ? "" : ", that of the device's usual server");
}

void rp_host_budget_json(const struct rp_host_budget *h, struct rp_json_writer *w) {
    if (h->bytes < RP_MAX_QUANTITY)
        rp_json_uint(w, "host_budget_bytes", h->bytes);
    else
        rp_json_null(w, "host_budget_bytes");
}
