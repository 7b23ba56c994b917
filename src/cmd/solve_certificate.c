#include "cmd/solve_certificate.h"

#include <sys/stat.h>

#include "base/log.h"
#include "verify/certificate/certificate_claim.h"

void rp_warn_of_certificate(const struct rp_graph *g, const struct rp_plan *plan,
                            const char *path) {
    struct rp_certificate c;
    struct rp_certified_bound bound;
    struct rp_err why = {{0}};
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        rp_certificate_load(path, &c, &why) != RP_OK)
        return;
    if (rp_certificate_check_plan(&c, g, plan, &bound, &why) != RP_OK)
        rp_log(0, "the certificate does not prove the whole bound: %s", why.msg);
    rp_certificate_fini(&c);
}
