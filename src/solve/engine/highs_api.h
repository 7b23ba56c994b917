/* highs_api: the functions of HiGHS's C library that we call, found at run time. HiGHS is
 * an open-source solver by Hall, Huangfu, Galabova, Gottwald and others (MIT licence;
 * Huangfu and Hall, "Parallelizing the dual revised simplex method", 2018). The
 * declarations are our own, after the reference of its C interface; so nothing of HiGHS is
 * needed to build.
 *
 * Its integers are 32-bit ints; a library with 64-bit ones is refused. Every function
 * returns -1 on an error, unless it says otherwise. */
#ifndef RP_SOLVE_ENGINE_HIGHS_API_H
#define RP_SOLVE_ENGINE_HIGHS_API_H

#include <stdint.h>

#include "base/status.h"

/* What a callback may set. Later members are left alone. */
struct rp_highs_callback_in {
    int user_interrupt;
};
/* data_out is only passed on to getCallbackDataOutItem, since its layout changes. */
typedef void rp_highs_callback(int type, const char *message, const void *data_out,
                               struct rp_highs_callback_in *in, void *user_data);

/* X(result, name, parameters): the library's name is Highs_NAME. */
#define RP_HIGHS_FUNCTIONS(X)                                                              \
    X(int, versionMajor, (void))                                                           \
    X(int, versionMinor, (void))                                                           \
    X(const char *, version, (void))                                                       \
    X(int, getSizeofHighsInt, (const void *))                                              \
    X(void *, create, (void))                                                              \
    X(void, destroy, (void *))                                                             \
    X(int, setBoolOptionValue, (void *, const char *name, int))                            \
    X(int, setIntOptionValue, (void *, const char *name, int))                             \
    X(int, setDoubleOptionValue, (void *, const char *name, double))                       \
    X(int, setStringOptionValue, (void *, const char *name, const char *))                 \
    X(int, changeObjectiveOffset, (void *, double))                                        \
    X(int, addCols,                                                                        \
      (void *, int n, const double *cost, const double *low, const double *high, int nz,   \
       const int *start, const int *index, const double *value))                           \
    X(int, addRows,                                                                        \
      (void *, int n, const double *low, const double *high, int nz, const int *start,     \
       const int *index, const double *value))                                             \
    X(int, deleteRowsByMask, (void *, int *mask))                                          \
    X(int, changeColBounds, (void *, int col, double low, double high))                    \
    X(int, changeColsIntegralityByMask, (void *, const int *mask, const int *kind))        \
    X(int, setLogicalBasis, (void *))                                                      \
    X(int, setSolution,                                                                    \
      (void *, const double *col, const double *row, const double *col_dual,               \
       const double *row_dual))                                                            \
    X(int, setCallback, (void *, rp_highs_callback *, void *user_data))                    \
    X(int, startCallback, (void *, int type))                                              \
    X(const void *, getCallbackDataOutItem, (const void *data_out, const char *item))      \
    X(int, run, (void *))                                                                  \
    X(int, getModelStatus, (const void *))                                                 \
    X(int, getIntInfoValue, (const void *, const char *name, int *))                       \
    X(int, getInt64InfoValue, (const void *, const char *name, int64_t *))                 \
    X(int, getDoubleInfoValue, (const void *, const char *name, double *))                 \
    X(int, getSolution,                                                                    \
      (const void *, double *col, double *col_dual, double *row, double *row_dual))        \
    X(int, getBasis, (const void *, int *col_status, int *row_status))                     \
    X(int, getDualRay, (const void *, int *has, double *ray))

struct rp_highs_api {
#define RP_HIGHS_MEMBER(result, name, parameters) result(*name) parameters;
    RP_HIGHS_FUNCTIONS(RP_HIGHS_MEMBER)
#undef RP_HIGHS_MEMBER
};

enum rp_highs_model_status {
    RP_HIGHS_OPTIMAL = 7,
    RP_HIGHS_INFEASIBLE = 8,
    RP_HIGHS_UNBOUNDED_OR_INFEASIBLE = 9,
    RP_HIGHS_OBJECTIVE_BOUND = 11,
    RP_HIGHS_ITERATION_LIMIT = 14,
    RP_HIGHS_SOLUTION_LIMIT = 16,
    RP_HIGHS_INTERRUPT = 17
};
enum { RP_HIGHS_BASIC = 1, RP_HIGHS_FEASIBLE = 2 }; /* of a basis; of a solution */
enum { RP_HIGHS_CALLBACK_SIMPLEX_INTERRUPT = 1, RP_HIGHS_CALLBACK_MIP_INTERRUPT = 6 };

/* The library, loaded at the first call and never unloaded. NULL if none was found; err
 * gets RP_ENV and says where it was looked for. Places: engine.h. */
const struct rp_highs_api *rp_highs_api(struct rp_err *err);

/* A new object of it that is silent and uses one thread. The library must be loaded. */
void *rp_highs_create(void);

#endif
