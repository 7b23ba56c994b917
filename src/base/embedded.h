/* embedded: the source files that remat-plan puts into emitted programs and pages.
 * tools/embed.sh makes the table at build time; the Makefile lists the files. Read-only, so
 * that any thread may use it. */
#ifndef RP_BASE_EMBEDDED_H
#define RP_BASE_EMBEDDED_H

#include <stddef.h>

struct rp_embedded_file {
    const char *path; /* without src/: "kernels/ref_conv.h" */
    const char *text;
};

extern const struct rp_embedded_file rp_embedded[]; /* sorted by path */
extern const size_t rp_n_embedded;

#endif
