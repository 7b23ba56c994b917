#include "cases.h"

const struct cam_kind cam_kinds[] = {
    {"solve", cam_case_solve, 18, false},       {"brute", cam_case_brute, 15, false},
    {"repeat", cam_case_repeat, 3, false},      {"policies", cam_case_policies, 11, false},
    {"sweep", cam_case_sweep, 4, false},        {"maxbatch", cam_case_maxbatch, 2, false},
    {"emit", cam_case_emit, 1, false},          {"pack", cam_case_pack, 4, false},
    {"show", cam_case_show, 5, false},          {"mutants", cam_case_mutants, 12, false},
    {"wide", cam_case_wide, 3, false},          {"classes", cam_case_classes, 5, false},
    {"exchange", cam_case_exchange, 5, false},  {"bandwidth", cam_case_bandwidth, 4, false},
    {"cluster", cam_case_cluster, 3, false},    {"busy", cam_case_busy, 4, true},
    {"interrupt", cam_case_interrupt, 9, true}, {"limit", cam_case_limit, 5, true},
};
const size_t cam_n_kinds = sizeof cam_kinds / sizeof *cam_kinds;
