/* Tests of binding ops to kernels (what is refused and why), of parameters as C literals,
 * and of initial values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/mem.h"
#include "kernels/args_literal.h"
#include "kernels/initial_values.h"
#include "networks.h"
#include "one_op.h"
#include "run.h"
#include "step.h"

static void refused(const char *text, const char *rule) {
    struct rp_graph g = rp_one_op(text);
    struct rp_kernel k;
    struct rp_err err = {{0}};
    char *want = rp_format("net.json: ops[0] \"op\": %s", rule);
    CU_ASSERT_EQUAL(rp_kernel_bind(&g, 0, RP_BIND_GRAPH, "net.json", &k, &err), RP_INPUT);
    CU_ASSERT_PTR_NULL(k.run);
    if (strcmp(err.msg, want) != 0)
        printf("%s\n", err.msg);
    CU_ASSERT_STRING_EQUAL(err.msg, want);
    free(want);
    rp_kernel_fini(&k);
    rp_graph_fini(&g);
}

#define X(shape) "['f32',[" shape "]]"
#define H(shape) "['f16',[" shape "]]"
#define I(shape) "['i32',[" shape "]]"
#define OP(kind, attrs, in, out)                                                           \
    "{'kind':'" kind "','attrs':{" attrs "},'in':[" in "],'out':[" out "]}"

static void an_op_kind_without_a_kernel_is_named(void) {
    refused(OP("aten.mm", "", X("1"), X("1")),
            "no kernel for kind 'aten.mm' (docs/ops.md lists the kinds that have one)");
}

static void a_wrong_number_of_operands_is_refused(void) {
    refused(OP("relu", "", X("1") "," X("1"), X("1")),
            "kind relu does not take 2 inputs and 1 outputs");
    refused(OP("relu", "", X("1"), X("1") "," X("1")),
            "kind relu does not take 1 inputs and 2 outputs");
    refused(OP("batch_norm", "'eps':1,'affine':true", X("1,1") "," X("1"),
               X("1,1") "," X("1") "," X("1")),
            "kind batch_norm does not take 2 inputs and 3 outputs");
    refused(OP("concat", "'axis':0", "", X("1")),
            "kind concat does not take 0 inputs and 1 outputs");
}

static void a_wrong_dtype_is_refused(void) {
    refused(OP("relu", "", X("2"), H("2")),
            "tensor \"activation0\" is f16; kind relu needs f32 there");
    refused(OP("relu", "", I("2"), I("2")),
            "tensor \"input0\" is i32; kind relu needs f32, f16 or bf16 there");
    refused(OP("gather", "", X("2,1") "," X("2"), X("2,1")),
            "tensor \"input1\" is f32; kind gather needs i32 there");
    refused(OP("rms_norm", "'eps':1", H("2,2") "," H("2"), H("2,2") "," X("2")),
            "tensor \"input1\" is f16; kind rms_norm needs f32 there");
}

#define LR "'lr':1,'weight_decay':0"

static void an_update_needs_all_tensors_of_its_parameter(void) {
    refused(OP("sgd", LR, H("2") "," H("2"), H("2")),
            "a 16-bit parameter has no f32 copy, its master");
    refused(OP("sgd", LR, X("2") "," X("2") "," X("2"), X("2") "," X("2")),
            "an f32 parameter has a second f32 copy");
    refused(OP("sgd", LR, H("2") "," H("2"), H("2") "," X("2")),
            "it does not replace all tensors of the parameter");
    refused(OP("sgd", LR, H("2") "," H("2") "," X("2"), H("2")),
            "it does not replace all tensors of the parameter");
    refused(OP("sgd", LR, X("2") "," X("3"), X("3")), "input 1 has 3 elements, not 2");
    refused(OP("sgd", LR, H("2") "," X("2"), X("2")),
            "tensor \"input1\" is f32; kind sgd needs f16 there");
    refused(OP("adam", LR ",'beta1':0.9,'beta2':1,'eps':0",
               X("2") "," I("1") "," X("2") "," X("2") "," X("2"),
               X("2") "," X("2") "," X("2")),
            "attribute \"beta2\" is not in [0, 1)");
    refused(OP("adam", LR ",'beta1':0.9,'beta2':0.9,'eps':0",
               X("2") "," I("2") "," X("2") "," X("2") "," X("2"),
               X("2") "," X("2") "," X("2")),
            "input 1 has 2 elements, not 1");
}

static void missing_and_mistyped_attributes_are_refused(void) {
    refused(OP("scale", "", X("2"), X("2")),
            "attribute \"factor\" is missing or not a number");
    refused(OP("dropout", "'p':1.0,'seed':1", X("2"), X("2")),
            "attribute \"p\" is not in [0, 1)");
    refused(OP("dropout", "'p':0.5,'seed':-1", X("2"), X("2")),
            "attribute \"seed\" is missing or not an integer from 0 up");
    refused(OP("softmax", "'axis':0,'causal':1", X("2"), X("2")),
            "attribute \"causal\" is missing or neither true nor false");
    refused(OP("softmax", "'axis':2,'causal':false", X("2,2"), X("2,2")),
            "axis 2 does not exist");
    refused(OP("slice", "'axis':0,'start':-1", X("2"), X("1")),
            "attribute \"start\" is missing or not an integer from 0 to 2^40");
    refused(OP("max_pool2d", "'kernel':[2],'stride':[1,1],'pad':[0,0]", X("1,1,2,2"),
               X("1,1,1,1")),
            "attribute \"kernel\" is missing or not a list of 2 integers");
}

static void operands_of_a_wrong_size_are_refused(void) {
    refused(OP("add", "", X("2") "," X("3"), X("2")), "input 1 has 3 elements, not 2");
    refused(OP("relu", "", X("3"), X("2")), "input 0 has 3 elements, not 2");
    refused(OP("bias_grad", "'axis':1", X("2,3"), X("2")),
            "output 0 has 2 elements, not 3");
    refused(OP("matmul",
               "'batch':1,'m':2,'n':2,'k':2,'transpose_a':false,'transpose_b':false,"
               "'alpha':1",
               X("2,2") "," X("2,2") "," X("3"), X("2,2")),
            "input 2 has 3 elements, not 2");
    refused(OP("layer_norm", "'eps':1", X("2,3") "," X("3") "," X("3"),
               X("2,3") "," X("3") "," X("2")),
            "output 1 has 3 elements, not 2");
    refused(OP("add_broadcast", "'axis':1", X("2,3") "," X("2"), X("2,3")),
            "input 1 does not have the dimensions of input 0 from the axis on");
    refused(OP("lstm_cell_grad", "'grad_h':true,'grad_c':false",
               X("1,4") "," X("1,1") "," X("1,1"), X("1,4")),
            "the number of inputs does not match \"grad_h\" and \"grad_c\"");
}

#define BMM(a, b, c, in)                                                                   \
    OP("bmm",                                                                              \
       "'batch':[2,1,1],'m':1,'n':1,'k':2,'alpha':1,'strides_a':" a ",'strides_b':" b      \
       ",'strides_c':" c,                                                                  \
       in, X("2"))

static void strides_beyond_their_operand_are_refused(void) {
    refused(BMM("[3,0,0,0,1]", "[2,0,0,1,0]", "[1,0,0,0,0]", X("4") "," X("4")),
            "the strides pass the end of an operand");
    refused(BMM("[2,0,0,0,1]", "[2,0,0,2,0]", "[1,0,0,0,0]", X("4") "," X("4")),
            "the strides pass the end of an operand");
    refused(BMM("[2,0,0,0,1]", "[2,0,0,1,0]", "[2,0,0,0,0]", X("4") "," X("4")),
            "the strides pass the end of an operand");
    refused(BMM("[2,0,0,0,1]", "[2,0,0,1,0]", "[0,0,0,0,0]", X("4") "," X("4")),
            "output 0 has 2 elements, not 1");
}

#define CONV(stride, pad, groups, in, out)                                                 \
    OP("conv2d",                                                                           \
       "'kernel':[2,2],'stride':[1," stride "],'pad':[" pad                                \
       ",0],'dilation':[1,1],'groups':" groups,                                            \
       in, out)

static void windows_that_do_not_give_the_output_size_are_refused(void) {
    const char *const size = "the window's attributes do not give y's size for x's";
    refused(CONV("1", "1", "1", X("1,1,3,3") "," X("1,1,2,2"), X("1,1,2,2")), size);
    refused(CONV("0", "0", "1", X("1,1,3,3") "," X("1,1,2,2"), X("1,1,2,2")), size);
    refused(CONV("1", "0", "2", X("1,1,3,3") "," X("1,1,2,2"), X("1,1,2,2")),
            "the channels cannot be divided into 2 groups");
    refused(CONV("1", "0", "1", X("1,1,3,3") "," X("1,1,2,3"), X("1,1,2,2")),
            "the weight is not (filters, channels of a group, kernel)");
    refused(CONV("1", "0", "1", X("1,1,3,3") "," X("1,1,2,2"), X("2,1,2,2")),
            "the operands differ in number of dimensions or in batch");
    refused(CONV("1", "0", "1", X("3,3") "," X("2,2"), X("2,2")),
            "an operand has neither 4 nor 5 dimensions");
    refused(OP("max_pool2d", "'kernel':[1,1],'stride':[1,1],'pad':[1,1]", X("1,1,2,2"),
               X("1,1,4,4")),
            "\"pad\" is not below \"kernel\": a window could be empty");
    refused(OP("max_pool2d", "'kernel':[2,2],'stride':[1,1],'pad':[0,0]", X("1,2,2,2"),
               X("1,1,1,1")),
            "pooling does not change the channels");
    refused(OP("max_pool2d_index", "'kernel':[2,2],'stride':[1,1],'pad':[0,0]",
               X("1,1,3,3"), X("1,1,2,2") "," I("1,1,2,2")),
            "the windows overlap");
}

static void an_unknown_convolution_algorithm_is_refused(void) {
#define ALGORITHM(name)                                                                    \
    OP("conv2d",                                                                           \
       "'kernel':[1,1],'stride':[1,1],'pad':[0,0],'dilation':[1,1],'groups':1,"            \
       "'algorithm':" name,                                                                \
       X("1,1,1,1") "," X("1,1,1,1"), X("1,1,1,1"))
    struct rp_graph g = rp_one_op(ALGORITHM("'implicit_precomp_gemm'"));
    struct rp_kernel k;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_kernel_bind(&g, 0, RP_BIND_GRAPH, "net", &k, &err), RP_OK);
    CU_ASSERT_EQUAL(k.args.algorithm, RP_IMPLICIT_PRECOMP_GEMM);
    rp_kernel_fini(&k);
    rp_graph_fini(&g);
    refused(ALGORITHM("'fastest'"), "attribute \"algorithm\" is not implicit_gemm, "
                                    "implicit_precomp_gemm, algo_1 or direct");
    refused(ALGORITHM("1"), "attribute \"algorithm\" is not implicit_gemm, "
                            "implicit_precomp_gemm, algo_1 or direct");
#undef ALGORITHM
}

static bool may_use_tf32(const char *text) {
    struct rp_graph g = rp_one_op(text);
    struct rp_kernel k;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_kernel_bind(&g, 0, RP_BIND_GRAPH, "net", &k, &err), RP_OK);
    bool tf32 = k.args.tf32 != 0;
    rp_kernel_fini(&k);
    rp_graph_fini(&g);
    return tf32;
}

static void tf32_is_for_f32_convolutions_and_products(void) {
#define ONE_BY_ONE(attr, T)                                                                \
    OP("conv2d",                                                                           \
       "'kernel':[1,1],'stride':[1,1],'pad':[0,0],'dilation':[1,1],'groups':1" attr,       \
       T("1,1,1,1") "," T("1,1,1,1"), T("1,1,1,1"))
#define PRODUCT(attr)                                                                      \
    OP("matmul",                                                                           \
       "'batch':1,'m':1,'n':1,'k':1,'transpose_a':false,'transpose_b':false,'alpha':"      \
       "1" attr,                                                                           \
       X("1,1") "," X("1,1"), X("1,1"))
    CU_ASSERT(may_use_tf32(ONE_BY_ONE(",'tf32':true", X)));
    CU_ASSERT(may_use_tf32(PRODUCT(",'tf32':true")));
    CU_ASSERT_FALSE(may_use_tf32(ONE_BY_ONE("", X)) || may_use_tf32(PRODUCT("")));
    CU_ASSERT_FALSE(may_use_tf32(ONE_BY_ONE(",'tf32':false", X)));
    CU_ASSERT_FALSE(may_use_tf32(ONE_BY_ONE(",'tf32':true", H)));
    refused(PRODUCT(",'tf32':1"),
            "attribute \"tf32\" is missing or neither true nor false");
#undef ONE_BY_ONE
#undef PRODUCT
}

static void parts_that_do_not_fit_together_are_refused(void) {
    refused(OP("concat", "'axis':0", X("1,2") "," X("1,3"), X("2,2")),
            "part 1 differs outside the axis");
    refused(OP("split", "'axis':1", X("1,4"), X("1,2") "," X("1,1")),
            "the parts' sizes along the axis do not add up");
    refused(OP("slice", "'axis':0,'start':2", X("3"), X("2")),
            "the slice is not within its input");
    refused(OP("transpose", "", X("2,3"), X("2,3")),
            "the output is not the input with its last two dimensions exchanged");
}

static void a_view_of_another_number_of_elements_is_refused(void) {
    refused(OP("bias_grad", "'axis':1,'views':[[1,2,2]]", X("6"), X("2")),
            "a view of \"input0\" has a different number of elements");
    refused(OP("bias_grad", "'axis':1,'views':[[1,1,1,1,1,1,1,1,1]]", X("1"), X("1")),
            "a shape has more than 8 dimensions or a dimension of size 0");
}

static void bytes_that_do_not_match_the_shape_are_refused(void) {
    struct rp_graph g = rp_one_op(OP("relu", "", X("4"), X("4")));
    struct rp_kernel k;
    struct rp_err err = {{0}};
    g.tensors[1].bytes = 8;
    CU_ASSERT_EQUAL(rp_kernel_bind(&g, 0, RP_BIND_GRAPH, "net.json", &k, &err), RP_INPUT);
    CU_ASSERT_STRING_EQUAL(err.msg, "net.json: ops[0] \"op\": tensor \"activation0\": its "
                                    "shape does not match its bytes");
    rp_graph_fini(&g);
}

/* ---- parameters as C ---- */

static void parameters_are_written_as_a_c_literal(void) {
    struct rp_graph g = rp_one_op(OP("split", "'axis':1", X("2,3"), X("2,1") "," X("2,2")));
    struct rp_kernel k;
    struct rp_err err = {{0}};
    char *text = NULL;
    size_t n;
    CU_ASSERT_EQUAL_FATAL(rp_kernel_bind(&g, 0, RP_BIND_GRAPH, "net.json", &k, &err),
                          RP_OK);
    FILE *f = open_memstream(&text, &n);
    rp_args_literal_write(&k, "op_7", f);
    fclose(f);
    CU_ASSERT_STRING_EQUAL(text,
                           "static const int64_t op_7_parts[] = {1, 2};\n"
                           "static const struct rp_kargs op_7 = {.n_in = 1, .n_out = 2, "
                           ".outer = 2, .mid = 3, .inner = 1, .parts = op_7_parts};\n");
    free(text);
    rp_kernel_fini(&k);
    rp_graph_fini(&g);
}

/* ---- initial values ---- */

static void fill(const struct rp_graph *g, const char *name, struct rp_fill *f) {
    struct rp_err err = {{0}};
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (strcmp(g->tensors[x].name, name) == 0) {
            CU_ASSERT_EQUAL_FATAL(rp_initial_values(g, x, RP_BIND_GRAPH, "net", f, &err),
                                  RP_OK);
            CU_ASSERT_EQUAL(f->seed, x);
            CU_ASSERT_EQUAL(f->count, rp_step_count(g, x));
            return;
        }
    CU_FAIL_FATAL("no such tensor");
}

static void sources_start_in_the_range_of_their_kind(void) {
    struct rp_graph g = rp_net_build("bert-base", rp_net_tiny());
    struct rp_zoo_options o = rp_net_tiny();
    o.classes = 7;
    struct rp_graph h = rp_net_build("resnet18", o);
    struct rp_fill f;
    fill(&g, "bert.embeddings.LayerNorm.weight", &f);
    CU_ASSERT_TRUE(f.low == 0.5 && f.high == 1.5);
    fill(&h, "conv1.weight", &f); /* 4 filters of 3 x 7 x 7 */
    CU_ASSERT_DOUBLE_EQUAL(f.high, 0.2020305, 1e-6);
    CU_ASSERT_TRUE(f.low == -f.high);
    fill(&h, "bn1.running_var", &f);
    CU_ASSERT_TRUE(f.low == 0.5 && f.high == 1.5);
    fill(&h, "image", &f);
    CU_ASSERT_TRUE(f.low == -1 && f.high == 1);
    fill(&h, "labels", &f);
    CU_ASSERT_TRUE(f.element == RP_ELEMENT_I32 && f.low == 0 && f.high == 7);
    fill(&g, "bert.embeddings.input_ids", &f); /* rows of the table */
    CU_ASSERT_TRUE(f.element == RP_ELEMENT_I32 && f.low == 0 && f.high == 96);
    rp_graph_fini(&g);
    rp_graph_fini(&h);
}

/* Seed 3 draws 0.30519456 0.24560523 0.34540588 0.44871980. Scaled, u gives (2 u - 1) times
 * the half-width. */
static void initial_values_are_the_documented_numbers(void) {
    float f[2];
    double d[2];
    uint16_t h[2];
    int32_t i[8];
    rp_fill_values(&(struct rp_fill){RP_ELEMENT_F32, 2, 3, -1, 1}, f);
    rp_fill_values(&(struct rp_fill){RP_ELEMENT_F64, 2, 3, -1, 1}, d);
    rp_fill_values(&(struct rp_fill){RP_ELEMENT_F16, 2, 3, -1, 1}, h);
    rp_fill_values(&(struct rp_fill){RP_ELEMENT_I32, 8, 3, 0, 10}, i);
    CU_ASSERT_EQUAL(d[0], -0.3896108865737915);
    CU_ASSERT_EQUAL(d[1], -0.5087895393371582);
    CU_ASSERT_EQUAL(f[0], -0.3896108865737915f);
    CU_ASSERT_EQUAL(h[1], 0xb812); /* -0.50878906 */
    rp_fill_values(&(struct rp_fill){RP_ELEMENT_BF16, 2, 3, -1, 1}, h);
    CU_ASSERT_EQUAL(h[1], 0xbf02); /* -0.5078125 */
    const int32_t want[] = {3, 2, 3, 4, 4, 7, 6, 6};
    CU_ASSERT_EQUAL(memcmp(i, want, sizeof want), 0);
}

/* The FNV-1a sums that its authors publish. */
static void checksums_are_fnv_1a(void) {
    CU_ASSERT_EQUAL(rp_checksum("", 0), 0xcbf29ce484222325u);
    CU_ASSERT_EQUAL(rp_checksum("foobar", 6), 0x85944171f73967e8u);
}

/* ---- kernel sources embedded in remat-plan ---- */

static char *read_all(const char *path) {
    char *text = rp_calloc(1 << 20, 1);
    FILE *f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_TRUE(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static void embedded_kernel_sources_equal_the_files(void) {
    size_t n_kernels = 0;
    for (size_t i = 0; i < rp_n_embedded; i++) {
        char *path = rp_format("src/%s", rp_embedded[i].path), *text = read_all(path);
        CU_ASSERT_STRING_EQUAL(rp_embedded[i].text, text);
        CU_ASSERT_TRUE(i == 0 || strcmp(rp_embedded[i - 1].path, rp_embedded[i].path) < 0);
        n_kernels += strncmp(rp_embedded[i].path, "kernels/", 8) == 0;
        free(path);
        free(text);
    }
    CU_ASSERT_TRUE(n_kernels >= 20);
}

void suite_bind(void) {
    RP_SUITE("bind");
    RP_TEST(an_op_kind_without_a_kernel_is_named);
    RP_TEST(a_wrong_number_of_operands_is_refused);
    RP_TEST(a_wrong_dtype_is_refused);
    RP_TEST(an_update_needs_all_tensors_of_its_parameter);
    RP_TEST(missing_and_mistyped_attributes_are_refused);
    RP_TEST(operands_of_a_wrong_size_are_refused);
    RP_TEST(strides_beyond_their_operand_are_refused);
    RP_TEST(windows_that_do_not_give_the_output_size_are_refused);
    RP_TEST(an_unknown_convolution_algorithm_is_refused);
    RP_TEST(tf32_is_for_f32_convolutions_and_products);
    RP_TEST(parts_that_do_not_fit_together_are_refused);
    RP_TEST(a_view_of_another_number_of_elements_is_refused);
    RP_TEST(bytes_that_do_not_match_the_shape_are_refused);
    RP_TEST(parameters_are_written_as_a_c_literal);
    RP_TEST(sources_start_in_the_range_of_their_kind);
    RP_TEST(initial_values_are_the_documented_numbers);
    RP_TEST(checksums_are_fnv_1a);
    RP_TEST(embedded_kernel_sources_equal_the_files);
}
