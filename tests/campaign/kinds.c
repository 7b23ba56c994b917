#include "cases.h"

const struct cam_kind cam_kinds[] = {
    {"solve", cam_case_solve, 24, false},       {"brute", cam_case_brute, 15, false},
    {"repeat", cam_case_repeat, 3, false},      {"policies", cam_case_policies, 14, false},
    {"sweep", cam_case_sweep, 5, false},        {"maxbatch", cam_case_maxbatch, 2, false},
    {"emit", cam_case_emit, 1, false},          {"pack", cam_case_pack, 4, false},
    {"show", cam_case_show, 7, false},          {"mutants", cam_case_mutants, 14, false},
    {"interrupt", cam_case_interrupt, 9, true}, {"limit", cam_case_limit, 5, true},
};
const size_t cam_n_kinds = sizeof cam_kinds / sizeof *cam_kinds;
