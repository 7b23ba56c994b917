#include "traced/nvtx_small.h"
