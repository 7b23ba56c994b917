#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/arithmetic.h"
#include "model/cost.h"
#include "model/device.h"
#include "model/graph.h"
#include "run.h"

/* One op reads a (1000 bytes) and w (2000), and writes b (3000). %s: dtype of a, attrs of
 * the op. */
static const char one_op[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"none\","
    "\"tensors\":[{\"name\":\"a\",\"bytes\":1000,\"kind\":\"input\"%s},"
    "{\"name\":\"w\",\"bytes\":2000,\"kind\":\"parameter\",\"dtype\":\"f32\"},"
    "{\"name\":\"b\",\"bytes\":3000,\"kind\":\"activation\",\"dtype\":\"f32\"}],"
    "\"ops\":[{\"name\":\"op\",\"kind\":\"%s\",\"inputs\":[0,1],\"outputs\":[2],"
    "\"time_ns\":7,\"workspace_bytes\":64,\"attrs\":%s}],\"keep\":[2]}";

/* 1 TFLOP/s in f32 and bf16, 2 in f16, a half in f64. Memory and link have 1 GB/s. */
static const struct rp_device_model plain = {
    .name = "plain",
    .title = "Plain",
    .f64_flops = 500000000000,
    .f32_flops = 1000000000000,
    .f16_flops = 2000000000000,
    .bf16_flops = 1000000000000,
    .memory_bytes = 1 << 20,
    .memory_bytes_per_s = 1000000000,
    .link_bytes_per_s = 1000000000,
};

static rp_rc apply(const char *dtype, const char *kind, const char *attrs,
                   const struct rp_device_model *m, struct rp_graph *g,
                   struct rp_err *err) {
    char text[2048];
    int n = snprintf(text, sizeof text, one_op, dtype, kind, attrs);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, (size_t)n, "t", g, err), RP_OK);
    return rp_cost_apply(g, m, "t", err);
}

static uint64_t time_of(const char *dtype, const char *kind, const char *attrs,
                        const struct rp_device_model *m) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(apply(dtype, kind, attrs, m, &g, &err), RP_OK);
    uint64_t ns = g.ops[0].time_ns;
    CU_ASSERT_EQUAL(g.total_time_ns, ns);
    rp_graph_fini(&g);
    return ns;
}

#define RP_CHECK_KIND(kind, ns)                                                            \
    do {                                                                                   \
        uint64_t is = time_of(F32, kind, attrs, &plain);                                   \
        CU_ASSERT_EQUAL(is, 5000 + (ns));                                                  \
        if (is != 5000 + (ns))                                                             \
            printf("%s takes %" PRIu64 " ns\n", kind, is);                                 \
    } while (0)

#define F32 ",\"dtype\":\"f32\""
#define F16 ",\"dtype\":\"f16\""
#define BF16 ",\"dtype\":\"bf16\""

static void an_op_takes_the_longer_of_its_arithmetic_and_its_traffic(void) {
    /* Traffic: 6000 bytes at 0.8 bytes a ns. Arithmetic: 7 * 10^6 flops at 700 a ns.
     * Launch: 5000 ns. */
    CU_ASSERT_EQUAL(time_of(F32, "matmul", "{\"flops\":0}", &plain), 5000 + 7500);
    CU_ASSERT_EQUAL(time_of(F32, "matmul", "{\"flops\":7000000}", &plain), 5000 + 10000);
    CU_ASSERT_EQUAL(time_of(F32, "matmul", "{\"flops\":5250000}", &plain), 5000 + 7500);
    CU_ASSERT_EQUAL(time_of(F32, "matmul", "{\"flops\":5250001}", &plain), 5000 + 7501);
}

static void stated_traffic_replaces_the_sum_of_inputs_and_outputs(void) {
    CU_ASSERT_EQUAL(time_of(F32, "relu", "{\"flops\":1,\"traffic_bytes\":80}", &plain),
                    5000 + 100);
}

/* g is read (1000 bytes), w and m are read and written (2000 and 3000). */
static void what_an_op_updates_is_read_and_written(void) {
    static const char text[] =
        "{\"format\":\"remat-graph\",\"version\":2,\"name\":\"g\","
        "\"time_source\":\"none\",\"tensors\":["
        "{\"name\":\"g\",\"bytes\":1000,\"kind\":\"input\",\"dtype\":\"bf16\"},"
        "{\"name\":\"w\",\"bytes\":2000,\"kind\":\"parameter\",\"dtype\":\"f32\"},"
        "{\"name\":\"m\",\"bytes\":3000,\"kind\":\"state\",\"dtype\":\"f32\"}],"
        "\"ops\":[{\"name\":\"op\",\"kind\":\"adam\",\"inputs\":[0],\"outputs\":[],"
        "\"updates\":[1,2],\"time_ns\":0,\"attrs\":{\"flops\":1}}],\"keep\":[]}";
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, strlen(text), "t", &g, &err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_cost_apply(&g, &plain, "t", &err), RP_OK);
    CU_ASSERT_EQUAL(g.ops[0].time_ns, 5000 + (1000 + 2 * 5000) * 10 / 8);
    rp_graph_fini(&g);
}

static void the_share_of_peak_rate_depends_on_kind_and_groups(void) {
    const char *attrs = "{\"flops\":7000000,\"traffic_bytes\":0}";
    CU_ASSERT_EQUAL(time_of(F32, "conv2d_grad_weight", attrs, &plain), 5000 + 10000);
    CU_ASSERT_EQUAL(time_of(F32, "aten.mm.default", attrs, &plain), 5000 + 10000);
    CU_ASSERT_EQUAL(time_of(F32, "aten._scaled_dot_product_x", attrs, &plain),
                    5000 + 10000);
    CU_ASSERT_EQUAL(time_of(F32, "batch_norm", attrs, &plain), 5000 + 14000);
    CU_ASSERT_EQUAL(time_of(F32, "what_is_this", attrs, &plain), 5000 + 14000);
    CU_ASSERT_EQUAL(time_of(F32, "depthwise_conv2d", attrs, &plain), 5000 + 70000);
    CU_ASSERT_EQUAL(time_of(F32, "conv2d",
                            "{\"flops\":7000000,\"traffic_bytes\":0,\"groups\":2}", &plain),
                    5000 + 70000);
    CU_ASSERT_EQUAL(time_of(F32, "conv2d",
                            "{\"flops\":7000000,\"traffic_bytes\":0,\"groups\":1}", &plain),
                    5000 + 10000);
}

/* At 5000 + 10000 ns an op is dense, at 70000 a grouped convolution, at 14000 streaming. */
static void kinds_of_other_frameworks_are_known_in_any_case(void) {
    static const char *const dense[] = {
        "Conv",
        "CONV",
        "ConvTranspose",
        "ConvInteger",
        "QLinearConv",
        "onednn::qlinear_pointwise",
        "FULLY_CONNECTED",
        "FullyConnected",
        "fc",
        "InnerProduct",
        "cublasSgemm_v2",
        "ggml_mul_mat",
        "linalg_multi_dot",
        "_flash_attn_forward",
        "CudnnRNNV3",
        "aten::mkldnn_linear",
        "onnx::Conv",
        "Gemm",
        "GEMM",
        "MatMul",
        "MatMulInteger",
        "QLinearMatMul",
        "MatMulNBits",
        "FusedMatMul",
        "com.microsoft.QGemm",
        "Einsum",
        "Attention",
        "MultiHeadAttention",
        "LSTM",
        "GRU",
        "RNN",
        "aten.lstm.input",
        "aten._cudnn_rnn.default",
        "aten::addmm",
        "aten.bmm.default",
        "aten.baddbmm.default",
        "aten.convolution.default",
        "aten.convolution_backward.default",
        "aten._scaled_mm.default",
        "aten._scaled_dot_product_flash_attention_backward.default",
        "aten.linear.default",
        "aten._thnn_conv2d",
        "aten.mv.default",
        "aten.dot.default",
        "quantized.linear",
        "lax.conv_general_dilated",
        "lax.dot_general",
        "dot_general",
        "lax.ragged_dot_general",
        "stablehlo.convolution",
        "flash_attention_forward",
        "mkldnn_convolution",
        "Dense",
        "conv_transpose2d_grad_input",
    };
    static const char *const streaming[] = {
        "convert",
        "Convert",
        "CONVERT",
        "lax.convert_element_type",
        "lstm_cell",
        "lstm_cell_grad",
        "aten._thnn_fused_lstm_cell",
        "upsample_linear1d",
        "aten.upsample_bilinear2d.default",
        "aten.linspace.default",
        "aten.to_dense",
        "densify",
        "comma",
        "common",
        "aten.nll_loss_forward.default",
        "Relu",
        "gemma_norm",
        "aten.dropout",
        "LayerNormalization",
        "mmap",
        "innermost",
        "dots",
        "bias_grad",
        "QLinearAdd",
        "com.microsoft.QLinearSigmoid",
        "QLinearConcat",
        "fcn_head",
    };
    const char *attrs = "{\"flops\":7000000,\"traffic_bytes\":0}";
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++)
        RP_CHECK_KIND(dense[i], 10000);
    for (size_t i = 0; i < sizeof streaming / sizeof *streaming; i++)
        RP_CHECK_KIND(streaming[i], 14000);
    RP_CHECK_KIND("DepthwiseConv2dNative", 70000);
    attrs = "{\"flops\":7000000,\"traffic_bytes\":0,\"groups\":4}";
    RP_CHECK_KIND("Conv", 70000);
    RP_CHECK_KIND("lax.conv_general_dilated", 70000);
    RP_CHECK_KIND("Gemm", 10000);
}

static void kinds_that_compute_much_and_are_no_products_are_doubtful(void) {
    static const struct {
        const char *dtype, *kind, *attrs;
        bool doubtful;
    } cases[] = {
        {F32, "mystery", "{\"flops\":9000000}", true},
        {F32, "mystery", "{\"flops\":3000000}", false},
        {F32, "mystery", "{}", false},
        {F32, "MatMul", "{\"flops\":9000000}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_graph g;
        struct rp_err err = {{0}};
        CU_ASSERT_EQUAL_FATAL(
            apply(cases[i].dtype, cases[i].kind, cases[i].attrs, &plain, &g, &err), RP_OK);
        char *kinds = rp_cost_doubtful_kinds(&g, &plain, "t");
        CU_ASSERT_EQUAL(kinds != NULL, cases[i].doubtful);
        if (kinds != NULL)
            CU_ASSERT_STRING_EQUAL(kinds, cases[i].kind);
        free(kinds);
        rp_graph_fini(&g);
    }
}

static void the_rate_follows_the_first_floating_point_tensor(void) {
    const char *attrs = "{\"flops\":7000000,\"traffic_bytes\":0}";
    struct rp_device_model tensor = plain;
    tensor.tensor_cores = true;
    CU_ASSERT_EQUAL(time_of(F16, "matmul", attrs, &plain), 5000 + 5000);
    CU_ASSERT_EQUAL(time_of(F16, "matmul", attrs, &tensor), 5000 + 7000);
    CU_ASSERT_EQUAL(time_of(BF16, "matmul", attrs, &tensor), 5000 + 10000);
    CU_ASSERT_EQUAL(time_of(F16, "relu", attrs, &tensor), 5000 + 14000);
    CU_ASSERT_EQUAL(time_of(",\"dtype\":\"i32\"", "matmul", attrs, &plain), 5000 + 10000);
}

/* One op reads indices (800 bytes) and writes others. */
static void an_op_of_integers_only_is_charged_by_its_traffic(void) {
    static const char *const integer[] = {"bool", "u8",  "u16", "u32", "u64",
                                          "i8",   "i16", "i32", "i64"};
    for (size_t k = 0; k < sizeof integer / sizeof integer[0]; k++) {
        char text[512];
        struct rp_graph g;
        struct rp_err err = {{0}};
        int n = snprintf(
            text, sizeof text,
            "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\","
            "\"time_source\":\"none\",\"tensors\":["
            "{\"name\":\"a\",\"bytes\":800,\"kind\":\"input\",\"dtype\":\"i64\"},"
            "{\"name\":\"b\",\"bytes\":800,\"kind\":\"activation\",\"dtype\":\"%s\"}],"
            "\"ops\":[{\"name\":\"op\",\"kind\":\"aten.mm.default\",\"inputs\":[0],"
            "\"outputs\":[1],\"time_ns\":0%s}],\"keep\":[]}",
            integer[k], k % 2 == 0 ? ",\"attrs\":{\"flops\":7000000}" : "");
        CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, (size_t)n, "t", &g, &err), RP_OK);
        CU_ASSERT_EQUAL(rp_cost_apply(&g, &plain, "t", &err), RP_OK);
        CU_ASSERT_EQUAL(g.ops[0].time_ns, 5000 + 2000);
        rp_graph_fini(&g);
    }
}

static void an_op_that_states_no_flops_is_charged_by_its_traffic(void) {
    CU_ASSERT_EQUAL(time_of(F32, "aten.embedding.default", "{}", &plain), 5000 + 7500);
    CU_ASSERT_EQUAL(time_of("", "aten.clone.default", "{}", &plain), 5000 + 7500);
    CU_ASSERT_EQUAL(
        time_of(",\"dtype\":\"f64\"", "aten.mm.default", "{\"flops\":0}", &plain),
        5000 + 7500);
}

/* 7 * 10^6 flops of products at 700 a ns in f32. */
static void every_type_of_number_has_a_rate(void) {
    static const struct {
        const char *dtype;
        uint64_t ns;
    } cases[] = {
        {"f64", 20000},           {"float64", 20000},
        {"Float32", 10000},       {"tf32", 10000},
        {"float16", 5000},        {"bfloat16", 10000},
        {"f8e4m3fn", 5000},       {"f8E5M2", 5000},
        {"float8_e4m3fn", 5000},  {"float8_e5m2", 5000},
        {"f8_e4m3fnuz", 5000},    {"float8_e5m2fnuz", 5000},
        {"float8_e8m0fnu", 5000}, {"float4_e2m1fn_x2", 5000},
        {"c32", 20000},           {"complex32", 20000},
        {"c64", 40000},           {"complex64", 40000},
        {"complex128", 80000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char member[64];
        snprintf(member, sizeof member, ",\"dtype\":\"%s\"", cases[i].dtype);
        uint64_t ns =
            time_of(member, "matmul", "{\"flops\":7000000,\"traffic_bytes\":0}", &plain);
        CU_ASSERT_EQUAL(ns, 5000 + cases[i].ns);
    }
}

static void products_of_8_bits_have_their_rate_where_the_device_has_one(void) {
    const char *attrs = "{\"flops\":7000000,\"traffic_bytes\":0}";
    const char *f8 = ",\"dtype\":\"float8_e4m3fn\"";
    struct rp_device_model m = plain;
    m.tensor_cores = true;
    CU_ASSERT_EQUAL(time_of(f8, "aten._scaled_mm.default", attrs, &m), 5000 + 7000);
    CU_ASSERT_EQUAL(time_of(f8, "matmul", attrs, &m), 5000 + 7000);
    m.f8_flops = 4000000000000;
    CU_ASSERT_EQUAL(time_of(f8, "matmul", attrs, &m), 5000 + 3500);
    CU_ASSERT_EQUAL(time_of(f8, "relu", attrs, &m), 5000 + 14000);
    m.bf16_flops = 8000000000000;
    m.f8_flops = 0;
    CU_ASSERT_EQUAL(time_of(f8, "matmul", attrs, &m), 5000 + 1750);
}

static void pointwise_ops_on_f64_are_no_faster_than_its_products(void) {
    const char *attrs = "{\"flops\":7000000,\"traffic_bytes\":0}";
    CU_ASSERT_EQUAL(time_of(",\"dtype\":\"f64\"", "relu", attrs, &plain), 5000 + 28000);
}

static void integers_of_any_width_have_no_rate(void) {
    static const char *const integer[] = {"int4",     "uint16", "INT64",  "u2",  "qint8",
                                          "quint4x2", "pred",   "float0", "bool"};
    for (size_t i = 0; i < sizeof integer / sizeof integer[0]; i++)
        CU_ASSERT_EQUAL(rp_number_of(integer[i]), RP_NUMBER_INTEGER);
    static const char *const unknown[] = {"",    "i",   "int",    "i8x", "f",      "f8",
                                          "f33", "u8 ", "string", "f80", "float80"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        CU_ASSERT_EQUAL(rp_number_of(unknown[i]), RP_NUMBER_UNKNOWN);
}

static void an_unknown_type_is_charged_by_its_traffic_and_told(void) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(
        apply(",\"dtype\":\"posit16\"", "matmul", "{\"flops\":7000000}", &plain, &g, &err),
        RP_OK);
    CU_ASSERT_EQUAL(g.ops[0].time_ns, 5000 + 7500);
    CU_ASSERT_STRING_EQUAL(rp_cost_unknown_dtype(&g), "posit16");
    rp_graph_fini(&g);
    CU_ASSERT_EQUAL_FATAL(apply(F32, "matmul", "{\"flops\":1}", &plain, &g, &err), RP_OK);
    CU_ASSERT_PTR_NULL(rp_cost_unknown_dtype(&g));
    rp_graph_fini(&g);
}

static void the_graph_records_its_model_and_device(void) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(
        apply(F32, "relu", "{\"flops\":1}", rp_device_find("V100-16G"), &g, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(g.time_source, "analytic:v100-16g");
    CU_ASSERT_TRUE(g.has_device);
    CU_ASSERT_STRING_EQUAL(g.device.name, "Tesla V100 SXM2 16 GB");
    CU_ASSERT_EQUAL(g.device.memory_bytes, (uint64_t)16 << 30);
    CU_ASSERT_EQUAL(g.device.alignment_bytes, 512);
    CU_ASSERT_EQUAL(g.device.copy_latency_ns, 10000);
    /* 16 lanes * 8 GT/s * 128/130 / 8 bits * 80% */
    CU_ASSERT_EQUAL(g.device.h2d_bytes_per_s, 12603076880);
    CU_ASSERT_EQUAL(g.device.d2h_bytes_per_s, 12603076880);
    CU_ASSERT_EQUAL(g.ops[0].workspace_bytes, 64);
    rp_graph_fini(&g);
}

static void rejected(const char *dtype, const char *attrs, const char *msg) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL(apply(dtype, "conv2d", attrs, &plain, &g, &err), RP_INPUT);
    CU_ASSERT_STRING_EQUAL(err.msg, msg);
    rp_graph_fini(&g);
}

static void missing_attributes_of_an_op_are_named(void) {
    rejected(F32, "{}", "t: ops[0] \"op\": attrs: a device model needs 'flops'");
    rejected(F32, "{\"flops\":-1}",
             "t: ops[0] \"op\": attrs: must be an integer from 0 to 2^63-1: flops");
    rejected(F32, "{\"flops\":1,\"traffic_bytes\":\"1\"}",
             "t: ops[0] \"op\": attrs: must be an integer from 0 to 2^63-1: traffic_bytes");
    rejected("", "{\"flops\":1}", "t: ops[0] \"op\": no dtype is stated for its tensor a");
}

static void a_time_beyond_63_bits_is_refused(void) {
    /* 2^63 - 1 bytes at 0.8 bytes a ns is more than 2^63 ns. */
    rejected(F32, "{\"flops\":1,\"traffic_bytes\":9223372036854775807}",
             "t: ops[0] \"op\": takes longer than 2^63 ns on plain");
    rejected(F32, "{\"flops\":1,\"traffic_bytes\":7378697629483816646}",
             "t: ops[0] \"op\": takes longer than 2^63 ns on plain");
    CU_ASSERT_EQUAL(time_of(F32, "conv2d",
                            "{\"flops\":1,\"traffic_bytes\":7378697629483816645}", &plain),
                    INT64_MAX);
    CU_ASSERT_EQUAL(time_of(F32, "conv2d",
                            "{\"flops\":9223372036854775807,\"traffic_bytes\":0}", &plain),
                    5000 + 13176245766935395);
}

static void every_device_model_is_complete(void) {
    size_t n;
    const struct rp_device_model *m = rp_device_models(&n);
    CU_ASSERT_TRUE_FATAL(n > 0);
    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_PTR_EQUAL(rp_device_find(m[i].name), &m[i]);
        CU_ASSERT_TRUE(m[i].f32_flops > 0 && m[i].f16_flops >= m[i].f32_flops &&
                       m[i].bf16_flops >= m[i].f32_flops);
        CU_ASSERT_TRUE(m[i].f64_flops > 0 && m[i].f64_flops <= m[i].f32_flops);
        CU_ASSERT_TRUE(m[i].f8_flops == 0 || m[i].f8_flops >= m[i].bf16_flops);
        CU_ASSERT_TRUE(m[i].memory_bytes > 0 && m[i].memory_bytes_per_s > 0 &&
                       m[i].link_bytes_per_s > 0);
    }
    CU_ASSERT_PTR_NULL(rp_device_find("v100"));
}

void suite_cost(void) {
    RP_SUITE("cost");
    RP_TEST(an_op_takes_the_longer_of_its_arithmetic_and_its_traffic);
    RP_TEST(stated_traffic_replaces_the_sum_of_inputs_and_outputs);
    RP_TEST(what_an_op_updates_is_read_and_written);
    RP_TEST(the_share_of_peak_rate_depends_on_kind_and_groups);
    RP_TEST(kinds_of_other_frameworks_are_known_in_any_case);
    RP_TEST(kinds_that_compute_much_and_are_no_products_are_doubtful);
    RP_TEST(the_rate_follows_the_first_floating_point_tensor);
    RP_TEST(an_op_of_integers_only_is_charged_by_its_traffic);
    RP_TEST(an_op_that_states_no_flops_is_charged_by_its_traffic);
    RP_TEST(every_type_of_number_has_a_rate);
    RP_TEST(products_of_8_bits_have_their_rate_where_the_device_has_one);
    RP_TEST(pointwise_ops_on_f64_are_no_faster_than_its_products);
    RP_TEST(integers_of_any_width_have_no_rate);
    RP_TEST(an_unknown_type_is_charged_by_its_traffic_and_told);
    RP_TEST(the_graph_records_its_model_and_device);
    RP_TEST(missing_attributes_of_an_op_are_named);
    RP_TEST(a_time_beyond_63_bits_is_refused);
    RP_TEST(every_device_model_is_complete);
}
