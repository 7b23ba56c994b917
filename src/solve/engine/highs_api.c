#include "solve/engine/highs_api.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"

#define MIN_MINOR 8 /* of version 1 */

/* What has been found, and where nothing was. */
struct search {
    struct rp_highs_api api;
    bool done, found;
    char tried[700];
};

static void note(struct search *s, const char *place, const char *what) {
    size_t n = strlen(s->tried);
    snprintf(s->tried + n, sizeof s->tried - n, "%s%.200s: %.160s", n > 0 ? "; " : "",
             place, what);
}

/* Finds all functions. Returns the name of one that is missing, or NULL. */
static const char *find_functions(void *library, struct rp_highs_api *api) {
    void *address;
#define FIND(result, name, parameters)                                                     \
    if ((address = dlsym(library, "Highs_" #name)) == NULL)                                \
        return "Highs_" #name;                                                             \
    memcpy(&api->name, &address, sizeof address);
    RP_HIGHS_FUNCTIONS(FIND)
#undef FIND
    return NULL;
}

/* Why the library cannot be used; NULL if it can. */
static const char *what_is_wrong(const struct rp_highs_api *api) {
    if (api->versionMajor() != 1 || api->versionMinor() < MIN_MINOR)
        return "its version is not 1.8 or a later 1.x";
    void *highs = api->create();
    int bytes = highs == NULL ? 0 : api->getSizeofHighsInt(highs);
    if (highs != NULL)
        api->destroy(highs);
    return bytes == sizeof(int) ? NULL : "its integers have 64 bits";
}

static bool try_file(struct search *s, const char *path) {
    char text[120];
    if (s->found)
        return true;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *why = dlerror();
        note(s, path, strstr(why, "No such file") != NULL ? "not there" : why);
        return false;
    }
    const char *missing = find_functions(library, &s->api);
    const char *wrong = missing != NULL ? text : what_is_wrong(&s->api);
    snprintf(text, sizeof text, "it has no %s", missing != NULL ? missing : "");
    s->found = wrong == NULL;
    if (!s->found) {
        note(s, path, wrong);
        dlclose(library);
    } else {
        rp_log(1, "HiGHS %s: %s", s->api.version(), path);
    }
    return s->found;
}

static void try_package(struct search *s, const char *folder) {
    char *file = rp_format("%s/libhighs.so.1", folder);
    if (access(file, F_OK) == 0)
        try_file(s, file);
    else
        note(s, folder, "it has no libhighs.so.1; versions before 1.16 do");
    free(file);
}

/* In the Python package highspy of the python whose programs are in `folder`. */
static void try_python(struct search *s, const char *folder) {
    glob_t found;
    char *pattern = rp_format("%s/../lib/python3*/*-packages/highspy", folder);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && !s->found; i++)
            try_package(s, found.gl_pathv[i]);
        globfree(&found);
    }
    free(pattern);
}

static void try_pythons(struct search *s) {
    const char *path = getenv("PATH");
    char *copy = rp_strdup(path != NULL ? path : ""), *rest = copy;
    for (char *folder; !s->found && (folder = strsep(&rest, ":")) != NULL;) {
        char *python = rp_format("%s/python3", folder);
        if (folder[0] == '/' && access(python, X_OK) == 0)
            try_python(s, folder);
        free(python);
    }
    free(copy);
    if (!s->found)
        note(s, "Python's package highspy", "not beside a python3 in PATH");
}

static void find_library(struct search *s) {
    const char *given = getenv("REMAT_PLAN_HIGHS");
    s->done = true;
    if (given != NULL && given[0] != '\0') {
        try_file(s, given);
    } else if (!try_file(s, "libhighs.so.1") && !try_file(s, "libhighs.so")) {
        try_pythons(s);
    }
}

static struct search search;

const struct rp_highs_api *rp_highs_api(struct rp_err *err) {
    if (!search.done)
        find_library(&search);
    if (!search.found)
        rp_fail(err, RP_ENV, "HiGHS was not found (%s); REMAT_PLAN_HIGHS can name the file",
                search.tried);
    return search.found ? &search.api : NULL;
}

void *rp_highs_create(void) {
    const struct rp_highs_api *h = &search.api;
    void *highs = h->create();
    if (highs == NULL)
        rp_out_of_memory();
    h->setBoolOptionValue(highs, "output_flag", rp_log_level() >= 2);
    h->setBoolOptionValue(highs, "log_to_console", 0);
    h->setIntOptionValue(highs, "threads", 1);
    h->setStringOptionValue(highs, "parallel", "off");
    return highs;
}
