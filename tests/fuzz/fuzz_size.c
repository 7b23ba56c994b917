/* Reads any text as a size. It is refused, or it gives a value below 2^63, and the digits
 * of that value are read as the same value. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/options.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[256], digits[32];
    uint64_t bytes = 0, again = 0;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (!rp_parse_bytes(text, &bytes))
        return 0;
    assert(bytes <= RP_MAX_QUANTITY);
    snprintf(digits, sizeof digits, "%" PRIu64, bytes);
    assert(rp_parse_bytes(digits, &again) && again == bytes);
    return 0;
}
