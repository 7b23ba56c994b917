/* engines: the engines that a test can run on. GLPK always; HiGHS where it is found. Under
 * CI (CI=true) it must be. */
#ifndef RP_TESTS_ENGINES_H
#define RP_TESTS_ENGINES_H

#include <stdbool.h>

#include "solve/engine/engine.h"

/* Calls test(e) for each engine that is there. Prints which one is not. */
void rp_on_engines(void (*test)(enum rp_engine e));
bool rp_has_engine(enum rp_engine e);

#endif
