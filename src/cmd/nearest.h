/* nearest: which name was probably meant by one that does not exist.
 *
 * Names are compared without regard to case, '-', '_' and spaces. Each letter to insert,
 * remove, replace or swap with the next one costs 2 (optimal string alignment: Boytsov,
 * "Indexing methods for approximate dictionary searching", 2011). An end that one of them
 * lacks costs 1, however long: 'v100' is nearer to 'v100-16g' than to 'h100'. */
#ifndef RP_CMD_NEAREST_H
#define RP_CMD_NEAREST_H

#include <stddef.h>

#include "base/status.h"

/* The i-th name of a list, or NULL behind its last. */
typedef const char *rp_names(size_t i);

enum { RP_MAX_NEAREST = 3 };

/* The nearest of the names tried so far. All texts are borrowed. */
struct rp_nearest {
    const char *text; /* what was written: text[0..len-1] */
    size_t len;
    size_t cost; /* of the names below */
    size_t n;    /* how many names are as near; RP_MAX_NEAREST at most */
    const char *names[RP_MAX_NEAREST]; /* in the order in which they were tried */
};

/* Only names that are near enough to be a mistyped text[0..len-1] will count. */
struct rp_nearest rp_nearest_to(const char *text, size_t len);
void rp_nearest_try(struct rp_nearest *near, const char *name);
/* Of a name with a second spelling, which follows or goes before the first. */
void rp_nearest_try_as(struct rp_nearest *near, const char *spelling, const char *name);
void rp_nearest_try_all(struct rp_nearest *near, rp_names *names);

/* Refuses `text`, of which near->text is the name. RP_USAGE with "WHAT 'TEXT'; did you mean
 * 'PREFIXname' or 'PREFIXname'?", or if no name is near with "WHAT 'TEXT' (ADVICE)". */
rp_rc rp_refuse_name(const char *what, const char *text, const char *prefix,
                     const struct rp_nearest *near, const char *advice, struct rp_err *err);

/* Which of the names `word` is, in *chosen. Else RP_USAGE with "COMMAND: --OPTION: 'WORD'
 * is not hash, ref or cuda; did you mean 'cuda'?". For short lists. */
rp_rc rp_choose(const char *command, const char *option, const char *word, rp_names *names,
                size_t *chosen, struct rp_err *err);

/* "BEFOREname, name, name". The caller frees it. */
char *rp_list_names(const char *before, rp_names *names);

#endif
