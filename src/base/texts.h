/* texts: source files that emitted programs carry, in the program itself (tools/embed.sh
 * makes the table, the Makefile says of which files). */
#ifndef RP_BASE_TEXTS_H
#define RP_BASE_TEXTS_H

#include <stddef.h>

struct rp_text {
    const char *path; /* without src/: "kernels/ref_conv.h" */
    const char *text;
};

extern const struct rp_text rp_texts[]; /* sorted by path */
extern const size_t rp_n_texts;

#endif
