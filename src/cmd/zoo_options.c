#include "cmd/zoo_options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "cmd/nearest.h"
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

const char *rp_network_name(size_t i) {
    return i < rp_zoo_n_entries ? rp_zoo_registry[i]->name : NULL;
}

const char *rp_zoo_dtype_name(size_t i) {
    return i < RP_I32 ? rp_dtype_word[i] : NULL;
}

const char *rp_zoo_optimizer_name(size_t i) {
    return i < RP_N_OPTIMIZERS ? rp_optimizer_word[i] : NULL;
}

const char *rp_zoo_home_name(size_t i) {
    return i <= RP_HOME_ANY ? rp_home_word[i] : NULL;
}

/* NULL if the text says none of them in other words. */
static const char *meant_dtype(const char *text) {
    static const char *const words[][2] = {
        {"float", "f32"},   {"float32", "f32"}, {"fp32", "f32"}, {"single", "f32"},
        {"float16", "f16"}, {"fp16", "f16"},    {"half", "f16"}, {"bfloat16", "bf16"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i][0]) == 0 || strcasecmp(text, words[i][1]) == 0)
            return words[i][1];
    return NULL;
}

static rp_rc parse_dtype(const char *command, const char *text, enum rp_dtype *dtype,
                         struct rp_err *err) {
    for (size_t i = 0; rp_zoo_dtype_name(i) != NULL; i++)
        if (strcmp(text, rp_zoo_dtype_name(i)) == 0) {
            *dtype = (enum rp_dtype)i;
            return RP_OK;
        }
    const char *meant = meant_dtype(text);
    return rp_fail(err, RP_USAGE, "%s: --dtype: '%.80s' is not f32, f16 or bf16%s%s%s",
                   command, text, meant ? "; did you mean '" : "", meant ? meant : "",
                   meant ? "'?" : "");
}

/* Leaves *home alone if there is no text. */
static rp_rc parse_home(const char *command, const char *option, const char *text,
                        enum rp_home *home, struct rp_err *err) {
    size_t chosen = *home;
    rp_rc rc = RP_OK;
    if (text != NULL)
        rc = rp_choose(command, option, text, rp_zoo_home_name, &chosen, err);
    *home = (enum rp_home)chosen;
    return rc;
}

/* --state-home is about parameters too, unless --param-home is given. */
static rp_rc parse_updates(const char *command, const struct rp_zoo_texts *texts,
                           struct rp_zoo_options *z, struct rp_err *err) {
    size_t optimizer = z->optimizer;
    rp_rc rc = RP_OK;
    if (texts->optimizer != NULL)
        rc = rp_choose(command, "optimizer", texts->optimizer, rp_zoo_optimizer_name,
                       &optimizer, err);
    z->optimizer = (enum rp_optimizer)optimizer;
    if (rc == RP_OK)
        rc = parse_home(command, "state-home", texts->state_home, &z->state_home, err);
    z->param_home = z->state_home;
    if (rc == RP_OK)
        rc = parse_home(command, "param-home", texts->param_home, &z->param_home, err);
    return rc;
}

static rp_rc refuse_network(const char *command, const char *name, struct rp_err *err) {
    if (strchr(name, ',') != NULL)
        return rp_fail(err, RP_USAGE,
                       "%s: '%.80s' is no network; spaces separate networks, not commas",
                       command, name);
    struct rp_nearest near = rp_nearest_to(name, strlen(name));
    rp_nearest_try_all(&near, rp_network_name);
    char *what = rp_format("%s: unknown network", command);
    rp_refuse_name(what, name, "", &near, "'remat-plan zoo' lists them", err);
    free(what);
    return RP_USAGE;
}

rp_rc rp_zoo_options_parse(const char *command, const char *name,
                           const struct rp_zoo_texts *texts, struct rp_zoo_options *z,
                           struct rp_err *err) {
    rp_rc rc = rp_zoo_find(name) != NULL ? RP_OK : refuse_network(command, name, err);
    if (rc == RP_OK && texts->image != NULL)
        rc = parse_image(command, name, texts->image, z->image, err);
    if (rc == RP_OK && texts->dtype != NULL)
        rc = parse_dtype(command, texts->dtype, &z->dtype, err);
    if (rc == RP_OK)
        rc = parse_updates(command, texts, z, err);
    return rc;
}
