#include "scene.h"

#include <stdarg.h>

#include "run.h"

const char rp_scene_net[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"none\","
    "\"tensors\":[{\"name\":\"x\",\"bytes\":8,\"kind\":\"input\"},"
    "{\"name\":\"y\",\"bytes\":8,\"kind\":\"activation\"},"
    "{\"name\":\"z\",\"bytes\":8,\"kind\":\"activation\"}],\"ops\":["
    "{\"name\":\"a\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":0,"
    "\"workspace_bytes\":3,\"attrs\":{\"flops\":5}},"
    "{\"name\":\"%s\",\"kind\":\"k\",\"inputs\":[1],\"outputs\":[2],\"time_ns\":0}],"
    "\"keep\":[2]}";

void rp_scene_line(struct rp_scene *s, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    s->len += (size_t)vsnprintf(s->text + s->len, sizeof s->text - s->len, fmt, args);
    va_end(args);
    s->text[s->len++] = '\n';
    s->text[s->len] = '\0';
    s->lines++;
}

struct rp_scene rp_scene_begin(void) {
    struct rp_scene s = {.clock = 1000};
    rp_scene_line(&s, "remat-trace 1 7");
    rp_scene_line(&s, "cupti 130001");
    rp_scene_line(&s, "device 0 1024 Toy GPU");
    return s;
}

void rp_scene_begin_step(struct rp_scene *s) {
    s->step++;
    s->id++;
    s->clock_before_step = s->clock;
}

void rp_scene_end_step(struct rp_scene *s) {
    rp_scene_line(s, "step %u 999%u 1 %llu %llu", s->step, s->step,
                  (unsigned long long)s->clock_before_step, (unsigned long long)s->clock);
    s->clock += 1000;
}

unsigned rp_scene_range(struct rp_scene *s, const char *name, unsigned parent) {
    rp_scene_line(s, "range %u %u 1 %u 0 0 %s", ++s->id, parent, s->step, name);
    return s->id;
}

void rp_scene_kernel(struct rp_scene *s, unsigned r, unsigned gap, unsigned ns) {
    unsigned long long at = s->clock += gap;
    if (r != 0)
        rp_scene_line(s, "ext %u %u", s->correlation, r);
    rp_scene_line(s, "call %u 1 %llu %llu", s->correlation, at - 1, at + 9);
    rp_scene_line(s, "work kernel %u 0 %llu %llu 0 7 0", s->correlation, at, at + ns);
    s->clock += ns;
    s->correlation++;
}

void rp_scene_join(struct rp_joined *o, struct rp_scene *s, size_t n, bool complete) {
    struct rp_trace t[2];
    char text[2048];
    int len = snprintf(text, sizeof text, rp_scene_net, "b");
    *o = (struct rp_joined){0};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, (size_t)len, "g", &o->g, &o->err), RP_OK);
    for (size_t i = 0; i < n; i++) {
        if (complete)
            rp_scene_line(&s[i], "end %zu", s[i].lines);
        rp_rc rc = rp_trace_parse(s[i].text, s[i].len, "t", &t[i], &o->err);
        CU_ASSERT_EQUAL_FATAL(rc, RP_OK);
    }
    o->rc = rp_join_traces(&o->g, "g", t, n, &o->c, &o->err);
    for (size_t i = 0; i < n; i++)
        rp_trace_fini(&t[i]);
}

void rp_joined_fini(struct rp_joined *o) {
    rp_joined_costs_fini(&o->c);
    rp_graph_fini(&o->g);
}

void rp_scene_refused(struct rp_scene *s, rp_rc rc, const char *message) {
    struct rp_joined o;
    rp_scene_join(&o, s, 1, true);
    CU_ASSERT_EQUAL(o.rc, rc);
    CU_ASSERT_STRING_EQUAL(o.err.msg, message);
    CU_ASSERT_PTR_NULL(o.c.ops);
    rp_joined_fini(&o);
}

void rp_scene_step(struct rp_scene *s, unsigned a, unsigned b) {
    rp_scene_begin_step(s);
    rp_scene_kernel(s, rp_scene_range(s, "a", 0), 5, a);
    rp_scene_kernel(s, rp_scene_range(s, "b", 0), 5, b);
    rp_scene_end_step(s);
}
