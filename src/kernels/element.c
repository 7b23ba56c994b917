#include "kernels/element.h"

#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} types[] = {
    [RP_ELEMENT_F32] = {"f32", 4},   [RP_ELEMENT_F16] = {"f16", 2},
    [RP_ELEMENT_BF16] = {"bf16", 2}, [RP_ELEMENT_F64] = {NULL, 8},
    [RP_ELEMENT_I32] = {"i32", 4},
};

bool rp_element_find(const char *dtype, enum rp_element *e) {
    for (size_t i = 0; dtype != NULL && i < sizeof types / sizeof types[0]; i++)
        if (types[i].name != NULL && strcmp(dtype, types[i].name) == 0) {
            *e = (enum rp_element)i;
            return true;
        }
    return false;
}

size_t rp_element_bytes(enum rp_element e) {
    return types[e].bytes;
}
