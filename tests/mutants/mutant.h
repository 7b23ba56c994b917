/* mutant: switches that tools/mutate.sh writes into a copy of the sources. One program
 * holds all mutants; the environment variable RP_MUTANT says which of them is on. With the
 * number of RP_RECORDING none is, and the file named by RP_REACHED gets a byte for each
 * mutant that would have made a difference. Every source of the copy includes this file
 * first. */
#ifndef RP_MUTANT_H
#define RP_MUTANT_H

enum { RP_RECORDING = 1 };

/* libremat holds them too, and all its names begin like that. */
extern unsigned remat_mutant;        /* the mutant that is on, RP_RECORDING, or 0 */
extern unsigned char *remat_reached; /* one byte per mutant; only while recording */

static inline int rp_reach(unsigned n, int differs) {
    if (differs)
        __atomic_store_n(&remat_reached[n], 1, __ATOMIC_RELAXED);
    return differs;
}

/* Whether statement n is left out. */
static inline int rp_dropped(unsigned n) {
    return remat_mutant == RP_RECORDING ? !rp_reach(n, 1) : remat_mutant == n;
}

/* Condition n, which its mutant makes false. */
#define RP_NEVER(n, e)                                                                     \
    (remat_mutant == RP_RECORDING ? rp_reach(n, !!(e)) : remat_mutant != (n) && (e))

/* Comparison n, and the one that its mutant puts in its place. They differ where both sides
 * are equal. */
#define RP_COMPARE(n, a, op, mutated_op, b)                                                \
    (remat_mutant == RP_RECORDING ? ({                                                     \
        __auto_type rp_a = (a);                                                            \
        __auto_type rp_b = (b);                                                            \
        rp_reach(n, rp_a == rp_b);                                                         \
        rp_a op rp_b;                                                                      \
    })                                                                                     \
     : remat_mutant == (n)        ? (a)mutated_op(b)                                       \
                                  : (a)op(b))

#endif
