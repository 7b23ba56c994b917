#include "digest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"

void rp_digest_add(char digest[65], const char *words) {
    char *all = rp_format("%s %s", digest, words);
    rp_sha256_hex(all, strlen(all), digest);
    free(all);
}
