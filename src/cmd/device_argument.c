#include "cmd/device_argument.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/nearest.h"

const char *rp_device_name(size_t i) {
    size_t n;
    const struct rp_device_model *m = rp_device_models(&n);
    return i < n ? m[i].name : NULL;
}

/* ---- one device ---- */

/* What follows the makers' words in the name of a device, as drivers print it. */
static const char *model_of(const char *title) {
    static const char *const makers[] = {"NVIDIA ", "GeForce ", "Tesla "};
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strncasecmp(title, makers[i], strlen(makers[i])) == 0)
            return model_of(title + strlen(makers[i]));
    return title;
}

/* Both the name of each device and its title count: nvidia-smi says "Tesla V100-SXM2-16GB".
 */
static struct rp_nearest nearest_device(const char *text) {
    size_t n;
    const struct rp_device_model *m = rp_device_models(&n);
    text = model_of(text);
    struct rp_nearest near = rp_nearest_to(text, strlen(text));
    for (size_t i = 0; i < n; i++) {
        rp_nearest_try(&near, m[i].name);
        rp_nearest_try_as(&near, model_of(m[i].title), m[i].name);
    }
    return near;
}

rp_rc rp_parse_device(const char *command, const char *name,
                      const struct rp_device_model **device, struct rp_err *err) {
    if ((*device = rp_device_find(name)) != NULL)
        return RP_OK;
    struct rp_nearest near = nearest_device(name);
    char *what = rp_format("%s: --device: unknown device", command);
    char *advice = rp_list_names("the devices are ", rp_device_name);
    rp_refuse_name(what, name, "", &near, advice, err);
    free(what);
    free(advice);
    return RP_USAGE;
}

/* ---- the list ---- */

bool rp_is_device_list(const char *name) {
    return name != NULL && strcmp(name, "list") == 0;
}

/* In TFLOP/s; "-" if there is none. */
static const char *f8_rate(const struct rp_device_model *m, char *text, size_t size) {
    if (m->f8_flops == 0)
        return "-";
    snprintf(text, size, "%.1f", 1e-12 * (double)m->f8_flops);
    return text;
}

static void list_as_text(void) {
    size_t n;
    char text[32];
    const struct rp_device_model *m = rp_device_models(&n);
    puts("device             memory    GB/s  peak TFLOP/s of f64, f32, f16, bf16, f8"
         "   host GB/s   host memory");
    for (size_t i = 0; i < n; i++)
        printf("%-16s %8s %7.0f %10.1f %6.1f %6.1f %6.1f %6s %11.1f %13s  %s\n", m[i].name,
               rp_show_bytes(m[i].memory_bytes).s, 1e-9 * (double)m[i].memory_bytes_per_s,
               1e-12 * (double)m[i].f64_flops, 1e-12 * (double)m[i].f32_flops,
               1e-12 * (double)m[i].f16_flops, 1e-12 * (double)m[i].bf16_flops,
               f8_rate(&m[i], text, sizeof text), 1e-9 * (double)m[i].link_bytes_per_s,
               rp_show_bytes(m[i].host_memory_bytes).s, m[i].title);
}

static void list_as_json(void) {
    size_t n;
    const struct rp_device_model *m = rp_device_models(&n);
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_array(&w, "devices");
    for (size_t i = 0; i < n; i++) {
        rp_json_newline(&w);
        rp_json_object(&w, NULL);
        rp_json_string(&w, "name", m[i].name);
        rp_json_string(&w, "title", m[i].title);
        rp_json_uint(&w, "memory_bytes", m[i].memory_bytes);
        rp_json_uint(&w, "memory_bytes_per_s", m[i].memory_bytes_per_s);
        rp_json_uint(&w, "f64_flops", m[i].f64_flops);
        rp_json_uint(&w, "f32_flops", m[i].f32_flops);
        rp_json_uint(&w, "f16_flops", m[i].f16_flops);
        rp_json_uint(&w, "bf16_flops", m[i].bf16_flops);
        rp_json_uint(&w, "f8_flops", m[i].f8_flops);
        rp_json_uint(&w, "link_bytes_per_s", m[i].link_bytes_per_s);
        rp_json_uint(&w, "host_memory_bytes", m[i].host_memory_bytes);
        rp_json_end(&w);
    }
    rp_json_end(&w);
    rp_json_end(&w);
    rp_json_finish(&w);
}

void rp_list_devices(bool json) {
    if (json)
        list_as_json();
    else if (rp_log_level() >= 0)
        list_as_text();
}
