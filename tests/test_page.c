#include "emit/page/page.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "emit/memory/memory_trace.h"
#include "gen.h"
#include "run.h"

static char *page_text(const struct rp_page *page) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_page_write(page, f);
    rp_text_close(f);
    return text;
}

static char *plan_page(const struct rp_graph *g, const struct rp_plan *p) {
    const struct rp_page_entry entry = {.budget_bytes = p->budget_bytes, .plan = p};
    return page_text(&(struct rp_page){RP_PAGE_PLAN, g, &entry, 1});
}

static size_t count(const char *text, const char *part) {
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text++)
        n++;
    return n;
}

/* The JSON in the script element with this id. The caller releases it. */
static json_t *data_of(const char *page, const char *id) {
    char *key = rp_format("id=\"%s\">", id);
    const char *from = strstr(page, key);
    CU_ASSERT_PTR_NOT_NULL_FATAL(from);
    from += strlen(key);
    json_t *data = json_loadb(from, (size_t)(strstr(from, "</script>") - from), 0, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(data);
    free(key);
    return data;
}

static uint64_t number(const json_t *list, size_t k) {
    return (uint64_t)json_integer_value(json_array_get(list, k));
}

/* ---- the data are those of the plan ---- */

/* The fixed bytes of a kind of tensor. */
static uint64_t fixed_of(const json_t *plan, int kind) {
    return number(json_object_get(plan, "fixed"), (size_t)kind);
}

/* The most memory that the lists "held" and "workspace" add up to. */
static uint64_t peak_of(const json_t *plan, uint64_t unit, bool addressed) {
    const json_t *held = json_object_get(plan, "held");
    const json_t *workspace = json_object_get(plan, "workspace");
    uint64_t now = 0, peak;
    for (int kind = RP_PARAMETER; kind <= RP_GRADIENT; kind++)
        now += fixed_of(plan, kind);
    peak = now;
    for (size_t s = 0, w = 0; s < json_array_size(held); s++) {
        uint64_t extra = 0;
        now += number(held, s) * unit;
        if (w < json_array_size(workspace) && number(workspace, w) == s) {
            extra = number(workspace, w + 1) * unit;
            w += addressed ? 3 : 2;
        }
        peak = now + extra > peak ? now + extra : peak;
    }
    return peak;
}

static uint64_t bytes_of(const struct rp_graph *g, uint32_t x, uint64_t unit) {
    return (g->tensors[x].bytes + unit - 1) / unit * unit;
}

/* The bytes of all stays of tensors of a kind that contain step s. */
static uint64_t staying(const json_t *plan, const struct rp_graph *g, uint64_t unit,
                        bool addressed, uint64_t s, int kind) {
    const json_t *stays = json_object_get(plan, "stays");
    uint64_t from = 0, sum = 0;
    for (size_t k = 0; k < json_array_size(stays); k += addressed ? 4 : 3) {
        from += number(stays, k + 1);
        uint32_t x = (uint32_t)number(stays, k);
        if (from <= s && s < from + number(stays, k + 2) && (int)g->tensors[x].kind == kind)
            sum += bytes_of(g, x, unit);
    }
    return sum;
}

static void check_data(const struct rp_graph *g, const struct rp_plan *p) {
    uint64_t unit = p->addressed ? g->device.alignment_bytes : 1, clock = 0;
    struct rp_memory_trace t;
    char *text = plan_page(g, p);
    json_t *plan = data_of(text, "plan-0");
    rp_memory_trace_plan(g, p, &t);
    CU_ASSERT_EQUAL(peak_of(plan, unit, p->addressed), t.peak.bytes);
    for (size_t s = 0; s < t.n_steps; s++) {
        clock += number(json_object_get(plan, "clock"), s);
        CU_ASSERT_EQUAL(clock, t.steps[s].clock_ns);
        for (int kind = RP_PARAMETER; kind <= RP_GRADIENT; kind++)
            CU_ASSERT_EQUAL(fixed_of(plan, kind) +
                                staying(plan, g, unit, p->addressed, s, kind),
                            t.steps[s].after.of[kind]);
    }
    rp_memory_trace_fini(&t);
    json_decref(plan);
    free(text);
}

/* Where no step holds more than the sources, the peak is theirs and no op's. */
static void a_peak_of_sources_belongs_to_no_op(void) {
    static const char text[] =
        "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"none\","
        "\"tensors\":[{\"name\":\"x\",\"bytes\":8,\"kind\":\"input\"},"
        "{\"name\":\"y\",\"bytes\":0,\"kind\":\"activation\"}],\"ops\":[{\"name\":\"a\","
        "\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":5}],\"keep\":[]}";
    struct rp_graph g;
    struct rp_err err;
    struct rp_memory_trace t;
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, sizeof text - 1, "g", &g, &err), RP_OK);
    rp_memory_trace_keep_all(&g, false, &t);
    CU_ASSERT(t.peak.bytes == 8 && t.peak_op == RP_NONE);
    rp_memory_trace_fini(&t);
    rp_graph_fini(&g);
}

static void the_data_of_a_page_are_those_of_the_plan(void) {
    uint32_t n = 60;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(3 + (uint32_t)(seed % 20));
        shape.version_2 = seed % 3 == 0;
        struct rp_graph g;
        struct rp_plan p;
        rp_gen_graph(seed, &shape, &g);
        rp_gen_plan(seed, &g, seed % 2 == 0, &p);
        check_data(&g, &p);
        rp_plan_fini(&p);
        rp_graph_fini(&g);
    }
}

static void keep_all_rises_to_its_peak(void) {
    struct rp_gen_shape shape = rp_gen_small(20);
    struct rp_graph g;
    struct rp_plan p;
    rp_gen_graph(7, &shape, &g);
    rp_gen_plan(7, &g, false, &p);
    char *text = plan_page(&g, &p);
    json_t *data = data_of(text, "data"), *keep_all = json_object_get(data, "keep_all");
    const json_t *rise = json_object_get(keep_all, "rise");
    uint64_t now = g.fixed_bytes, peak = now;
    CU_ASSERT_EQUAL(json_array_size(rise), 2 * g.n_ops);
    for (size_t k = 0; k < json_array_size(rise); k++) {
        now += number(rise, k);
        peak = now > peak ? now : peak;
    }
    CU_ASSERT_EQUAL(peak, (uint64_t)json_integer_value(json_object_get(keep_all, "peak")));
    json_decref(data);
    free(text);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

/* ---- names ---- */

/* Nor do they hide anything. */
static void names_cannot_end_the_data(void) {
    static const char evil[] = "</script><script>alert(1)</script><!--\"'\xe2\x80\xa8";
    static const char shown[] = "</script><script>alert(1)</script><!--\"'\\u2028";
    struct rp_gen_shape shape = rp_gen_small(5);
    struct rp_graph g;
    struct rp_plan p;
    rp_gen_graph(3, &shape, &g);
    rp_gen_plan(3, &g, true, &p);
    char *plain = plan_page(&g, &p);
    free(g.name);
    free(g.tensors[0].name);
    free(g.ops[0].name);
    g.name = rp_strdup(evil);
    g.tensors[0].name = rp_strdup(evil);
    g.ops[0].name = rp_strdup(evil);
    char *text = plan_page(&g, &p);
    CU_ASSERT_EQUAL(count(text, "<script"), count(plain, "<script"));
    CU_ASSERT_EQUAL(count(text, "</script"), count(plain, "</script"));
    CU_ASSERT_EQUAL(count(text, "<!--"), count(plain, "<!--"));
    json_t *data = data_of(text, "data");
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(data, "graph")), shown);
    CU_ASSERT_STRING_EQUAL(
        json_string_value(json_array_get(json_object_get(data, "tensors"), 0)), shown);
    json_decref(data);
    free(text);
    free(plain);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

/* ---- several plans ---- */

static void plans_with_the_same_steps_are_written_once(void) {
    struct rp_gen_shape shape = rp_gen_small(12);
    struct rp_graph g;
    struct rp_plan p, q;
    rp_gen_graph(5, &shape, &g);
    rp_gen_plan(5, &g, true, &p);
    rp_gen_plan(6, &g, true, &q);
    const struct rp_page_entry entries[] = {
        {.budget_bytes = 1, .reason = "none"},
        {.budget_bytes = 2, .plan = &p},
        {.budget_bytes = 3, .plan = &q},
        {.budget_bytes = 4, .plan = &p},
    };
    static const int plan_of[] = {-1, 0, 1, 0};
    char *text = page_text(&(struct rp_page){RP_PAGE_SWEEP, &g, entries, 4});
    json_t *data = data_of(text, "data"), *list = json_object_get(data, "entries");
    CU_ASSERT_EQUAL(count(text, "id=\"plan-"), 2);
    CU_ASSERT_EQUAL(json_array_size(list), 4);
    for (size_t k = 0; k < 4; k++) {
        const json_t *plan = json_object_get(json_array_get(list, k), "plan");
        CU_ASSERT_EQUAL(plan == NULL ? -1 : (int)json_integer_value(plan), plan_of[k]);
    }
    json_decref(data);
    free(text);
    rp_plan_fini(&p);
    rp_plan_fini(&q);
    rp_graph_fini(&g);
}

void suite_page(void) {
    RP_SUITE("page");
    RP_TEST(a_peak_of_sources_belongs_to_no_op);
    RP_TEST(the_data_of_a_page_are_those_of_the_plan);
    RP_TEST(keep_all_rises_to_its_peak);
    RP_TEST(names_cannot_end_the_data);
    RP_TEST(plans_with_the_same_steps_are_written_once);
}
