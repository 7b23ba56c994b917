#include "cmd/zoo_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/zoo/registry.h"

/* Parses "224", "416x608" or "128x128x96". Returns the number of sizes; 0 if the text is
 * malformed. */
static int parse_sizes(const char *text, uint64_t size[3]) {
    for (int n = 0; n < 3; n++) {
        char *end;
        errno = 0;
        if (!isdigit((unsigned char)*text))
            return 0;
        size[n] = strtoull(text, &end, 10);
        if (errno != 0 || size[n] > RP_MAX_QUANTITY)
            return 0;
        if (*end == '\0')
            return n + 1;
        if (*end != 'x')
            return 0;
        text = end + 1;
    }
    return 0;
}

/* One size stands for all dimensions. The sizes fill the last places of `image`. */
static rp_rc parse_image(const char *command, const char *name, const char *text,
                         uint64_t image[3], struct rp_err *err) {
    uint64_t size[3];
    const struct rp_zoo_entry *row = rp_zoo_find(name);
    int n = parse_sizes(text, size), want = row != NULL && row->volume ? 3 : 2;
    if (n != 1 && n != want)
        return rp_fail(err, RP_USAGE, "%s: --image: '%s' is not SIZE or %sHEIGHTxWIDTH",
                       command, text, want == 3 ? "DEPTHx" : "");
    for (int i = 0; i < 3; i++)
        image[i] = n == 1 ? size[0] : i < 3 - n ? RP_ZOO_DEFAULT : size[i - (3 - n)];
    return RP_OK;
}

static rp_rc parse_dtype(const char *command, const char *text, enum rp_dtype *dtype,
                         struct rp_err *err) {
    if (strcmp(text, "f32") == 0)
        *dtype = RP_F32;
    else if (strcmp(text, "f16") == 0)
        *dtype = RP_F16;
    else
        return rp_fail(err, RP_USAGE, "%s: --dtype: '%s' is not f32 or f16", command, text);
    return RP_OK;
}

rp_rc rp_zoo_options_parse(const char *command, const char *name,
                           const struct rp_zoo_texts *texts, struct rp_zoo_options *z,
                           struct rp_err *err) {
    rp_rc rc = RP_OK;
    if (texts->image != NULL)
        rc = parse_image(command, name, texts->image, z->image, err);
    if (rc == RP_OK && texts->dtype != NULL)
        rc = parse_dtype(command, texts->dtype, &z->dtype, err);
    return rc;
}
