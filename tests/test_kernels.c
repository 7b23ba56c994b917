/* What kernels compute, in cases worked out by hand from docs/ops.md. Also compares the
 * f32, f16 and bf16 kernels with those in f64. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cases.h"
#include "kernels/half.h"
#include "networks.h"
#include "one_op.h"
#include "run.h"
#include "step.h"

#define WINDOW(kernel, stride, pad)                                                        \
    "'kernel':[" kernel "],'stride':[" stride "],'pad':[" pad "],'layout':'NCHW'"
#define F32(shape, ...) "['f32',[" shape "],[" #__VA_ARGS__ "]]"
#define I32(shape, ...) "['i32',[" shape "],[" #__VA_ARGS__ "]]"
#define OP(kind, attrs, in, out)                                                           \
    "{'kind':'" kind "','attrs':{" attrs "},'in':[" in "],'out':[" out "]}"

/* ---- windows ---- */

static void a_convolution_slides_pads_and_adds_its_bias(void) {
    /* at first the window's left column lies in the padding */
    rp_one_op_gives(
        OP("conv2d", WINDOW("1,2", "1,2", "0,1") ",'dilation':[1,1],'groups':1",
           F32("1,1,2,3", 1, 2, 3, 4, 5, 6) "," F32("1,1,1,2", 10, 1) "," F32("1", 0.5),
           F32("1,1,2,2", 1.5, 23.5, 4.5, 56.5)),
        0);
}

static void dilation_spreads_taps_and_groups_keep_channels_apart(void) {
    rp_one_op_gives(OP("conv2d", WINDOW("1,2", "1,1", "0,0") ",'dilation':[1,2],'groups':2",
                       F32("1,2,1,3", 1, 2, 3, 4, 5, 6) "," F32("2,1,1,2", 1, 10, 2, 3),
                       F32("1,2,1,1", 31, 26)),
                    0);
}

static void a_transposed_convolution_spreads_each_element(void) {
    /* i = 2 h - 1 + r: 1 * (2, 3) at -1, 0; 5 * (2, 3) at 1, 2 without the last */
    rp_one_op_gives(OP("conv_transpose2d",
                       WINDOW("1,2", "1,2", "0,1") ",'dilation':[1,1],'groups':1",
                       F32("1,1,1,3", 1, 5, 7) "," F32("1,1,1,2", 2, 3) "," F32("1", 0.5),
                       F32("1,1,1,4", 3.5, 10.5, 15.5, 14.5)),
                    0);
}

static void the_first_of_equal_maxima_gets_the_gradient(void) {
    rp_one_op_gives(OP("max_pool2d", WINDOW("2,2", "1,1", "0,0"),
                       F32("1,1,2,3", 4, 4, 1, 4, 2, 9), F32("1,1,1,2", 4, 9)),
                    0);
    rp_one_op_gives(OP("max_pool2d_grad", WINDOW("2,2", "1,1", "0,0"),
                       F32("1,1,1,2", 10, 20) "," F32("1,1,2,3", 4, 4, 1, 4, 2,
                                                      3) "," F32("1,1,1,2", 4, 4),
                       F32("1,1,2,3", 10, 20, 0, 0, 0, 0)),
                    0);
}

static void padding_is_never_the_maximum(void) {
    rp_one_op_gives(OP("max_pool2d", WINDOW("2,2", "2,2", "1,1"),
                       F32("1,1,2,2", -4, -3, -2, -1), F32("1,1,2,2", -4, -3, -2, -1)),
                    0);
}

static void gradients_of_overlapping_windows_are_added(void) {
    rp_one_op_gives(
        OP("max_pool2d_grad", WINDOW("1,2", "1,1", "0,0"),
           F32("1,1,1,2", 10, 20) "," F32("1,1,1,3", 1, 4, 3) "," F32("1,1,1,2", 4, 4),
           F32("1,1,1,3", 0, 30, 0)),
        0);
}

static void the_index_is_that_of_the_first_of_equal_maxima(void) {
    rp_one_op_gives(OP("max_pool2d_index", WINDOW("1,3", "1,3", "0,0"),
                       F32("1,1,2,3", 9, 9, 1, 2, 3, 3),
                       F32("1,1,2,1", 9, 3) "," I32("1,1,2,1", 0, 4)),
                    0);
}

static void unpooling_puts_each_element_where_its_maximum_was(void) {
    rp_one_op_gives(OP("max_pool2d_index", WINDOW("1,2", "1,2", "0,0"),
                       F32("1,1,2,4", 1, 2, 5, 5, 8, 7, 0, 1),
                       F32("1,1,2,2", 2, 5, 8, 1) "," I32("1,1,2,2", 1, 2, 4, 7)),
                    0);
    rp_one_op_gives(OP("max_unpool2d", "",
                       F32("1,1,2,2", 20, 50, 80, 10) "," I32("1,1,2,2", 1, 2, 4, 7),
                       F32("1,1,2,4", 0, 20, 50, 0, 80, 0, 0, 10)),
                    0);
    rp_one_op_gives(
        OP("max_unpool2d_grad", "",
           F32("1,1,2,4", 1, 2, 3, 4, 5, 6, 7, 8) "," I32("1,1,2,2", 1, 2, 4, 7),
           F32("1,1,2,2", 2, 3, 5, 8)),
        0);
}

/* In an invalid plan an index may have any value. The replay must still end and report it.
 */
static void an_index_out_of_range_does_no_harm(void) {
    rp_one_op_gives(OP("max_unpool2d", "",
                       F32("1,1,1,3", 1, 2, 3) "," I32("1,1,1,3", -1, 4, 2),
                       F32("1,1,1,4", 0, 0, 3, 0)),
                    0);
    rp_one_op_gives(OP("max_unpool2d_grad", "",
                       F32("1,1,1,4", 1, 2, 3, 4) "," I32("1,1,1,3", -1, 4, 2),
                       F32("1,1,1,3", 0, 0, 3)),
                    0);
    rp_one_op_gives(OP("gather", "", F32("2,1", 5, 6) "," I32("4", 1, 2, -1, 0),
                       F32("4,1", 6, 0, 0, 5)),
                    0);
}

static void averages_count_the_padding_if_asked_to(void) {
    rp_one_op_gives(OP("avg_pool2d", WINDOW("1,2", "1,2", "0,1") ",'count_pad':true",
                       F32("1,1,1,4", 2, 4, 8, 16), F32("1,1,1,3", 1, 6, 8)),
                    0);
    rp_one_op_gives(OP("avg_pool2d", WINDOW("1,2", "1,2", "0,1") ",'count_pad':false",
                       F32("1,1,1,4", 2, 4, 8, 16), F32("1,1,1,3", 2, 6, 16)),
                    0);
}

static void adaptive_windows_overlap_where_sizes_do_not_divide(void) {
    /* 5 to 3: places 0-1, 1-3, 3-4 */
    rp_one_op_gives(OP("adaptive_avg_pool2d", "'layout':'NCHW'",
                       F32("1,1,1,5", 2, 4, 6, 8, 12), F32("1,1,1,3", 3, 6, 10)),
                    0);
}

/* ---- products ---- */

static void alpha_scales_the_product_and_not_the_bias(void) {
    rp_one_op_gives(
        OP("matmul",
           "'batch':1,'m':2,'n':1,'k':2,'transpose_a':false,'transpose_b':false,"
           "'alpha':0.5",
           F32("2,2", 1, 2, 3, 4) "," F32("2,1", 10, 20) "," F32("1", 7),
           F32("2,1", 32, 62)),
        0);
    rp_one_op_gives(OP("matmul",
                       "'batch':2,'m':1,'n':1,'k':2,'transpose_a':true,'transpose_b':true,"
                       "'alpha':1",
                       F32("2,2,1", 1, 2, 3, 4) "," F32("1,2", 10, 1),
                       F32("2,1,1", 12, 34)),
                    0);
}

static void a_batch_dimension_that_c_lacks_is_summed_over(void) {
    rp_one_op_gives(OP("bmm",
                       "'batch':[2,1,1],'m':1,'n':2,'k':1,'alpha':2,"
                       "'strides_a':[1,0,0,1,1],'strides_b':[2,0,0,2,1],"
                       "'strides_c':[0,0,0,2,1]",
                       F32("2", 1, 10) "," F32("2,2", 1, 2, 3, 4), F32("1,2", 62, 84)),
                    0);
}

static void a_bias_gradient_sums_all_but_the_axis(void) {
    rp_one_op_gives(
        OP("bias_grad", "'axis':1", F32("2,2,2", 1, 2, 3, 4, 5, 6, 7, 8), F32("2", 14, 22)),
        0);
}

/* ---- elements ---- */

static void elementwise_functions_give_known_values(void) {
    rp_one_op_gives(OP("relu6", "", F32("4", -1, 2, 6, 7), F32("4", 0, 2, 6, 6)), 0);
    rp_one_op_gives(OP("relu6_grad", "", F32("4", 1, 2, 3, 4) "," F32("4", 0, 2, 6, 5),
                       F32("4", 0, 2, 0, 4)),
                    0);
    rp_one_op_gives(
        OP("relu_grad", "", F32("3", 1, 2, 3) "," F32("3", 0, 2, -1), F32("3", 0, 2, 0)),
        0);
    rp_one_op_gives(
        OP("gelu", "", F32("3", -1, 0.5, 2), F32("3", -0.15865525, 0.34573123, 1.95449974)),
        2e-7);
    rp_one_op_gives(OP("gelu_tanh", "", F32("3", -1, 0.5, 2),
                       F32("3", -0.15880801, 0.34571401, 1.95459769)),
                    2e-7);
    rp_one_op_gives(
        OP("silu", "", F32("3", -1, 0.5, 2), F32("3", -0.26894142, 0.31122967, 1.76159416)),
        2e-7);
    rp_one_op_gives(OP("tanh", "", F32("2", -1, 0.5), F32("2", -0.76159416, 0.46211716)),
                    2e-7);
}

/* The numbers drawn with seed 7 are 0.9154 0.9201 0.8123 0.6861 0.6031 0.7528 0.0544
 * 0.7548. */
static void dropout_keeps_the_elements_its_generator_draws(void) {
    rp_one_op_gives(OP("dropout", "'p':0.75,'seed':7", F32("8", 1, 2, 3, 4, 5, 6, 7, 8),
                       F32("8", 4, 8, 12, 0, 0, 24, 0, 32)),
                    0);
}

static void broadcasts_repeat_over_the_other_dimensions(void) {
    rp_one_op_gives(OP("add_broadcast", "'axis':1",
                       F32("2,2,2", 1, 2, 3, 4, 5, 6, 7, 8) "," F32("2", 10, 20),
                       F32("2,2,2", 11, 12, 23, 24, 15, 16, 27, 28)),
                    0);
    rp_one_op_gives(OP("mul_broadcast", "'axis':0",
                       F32("2,2", 1, 2, 3, 4) "," F32("2", 10, 20),
                       F32("2,2", 10, 20, 60, 80)),
                    0);
    rp_one_op_gives(OP("repeat", "", F32("2", 1, 2), F32("3,2", 1, 2, 1, 2, 1, 2)), 0);
}

/* ---- moving data ---- */

static void concat_and_split_work_along_the_axis(void) {
    rp_one_op_gives(OP("concat", "'axis':1", F32("2,1", 1, 2) "," F32("2,2", 3, 4, 5, 6),
                       F32("2,3", 1, 3, 4, 2, 5, 6)),
                    0);
    rp_one_op_gives(OP("split", "'axis':1", F32("2,3", 1, 3, 4, 2, 5, 6),
                       F32("2,1", 1, 2) "," F32("2,2", 3, 4, 5, 6)),
                    0);
    rp_one_op_gives(OP("slice", "'axis':1,'start':1", F32("2,3", 1, 3, 4, 2, 5, 6),
                       F32("2,2", 3, 4, 5, 6)),
                    0);
    rp_one_op_gives(OP("slice_grad", "'axis':1,'start':1", F32("2,2", 3, 4, 5, 6),
                       F32("2,3", 0, 3, 4, 0, 5, 6)),
                    0);
    rp_one_op_gives(
        OP("transpose", "", F32("1,2,3", 1, 2, 3, 4, 5, 6), F32("1,3,2", 1, 4, 2, 5, 3, 6)),
        0);
}

static void gradients_of_repeated_ids_are_added(void) {
    rp_one_op_gives(OP("gather", "", F32("3,2", 1, 2, 3, 4, 5, 6) "," I32("3", 2, 0, 2),
                       F32("3,2", 5, 6, 1, 2, 5, 6)),
                    0);
    rp_one_op_gives(OP("gather_grad", "",
                       F32("3,2", 1, 2, 3, 4, 5, 6) "," I32("3", 2, 0, 2),
                       F32("3,2", 3, 4, 0, 0, 6, 8)),
                    0);
}

/* ---- rows and channels ---- */

static void softmax_sums_to_one_over_the_visible_elements(void) {
    rp_one_op_gives(OP("softmax", "'axis':1,'causal':false", F32("1,3", 1, 2, 3),
                       F32("1,3", 0.09003057, 0.24472847, 0.66524096)),
                    1e-7);
    rp_one_op_gives(OP("softmax", "'axis':1,'causal':true", F32("2,3", 1, 2, 3, 1, 2, 3),
                       F32("2,3", 1, 0, 0, 0.26894142, 0.73105858, 0)),
                    1e-7);
    rp_one_op_gives(OP("softmax", "'axis':0,'causal':false", F32("2,1", 1, 2),
                       F32("2,1", 0.26894142, 0.73105858)),
                    1e-7);
}

static void cross_entropy_is_the_weighted_mean_over_labels(void) {
#define LOGITS F32("2,3", 1, 2, 3, 0, 0, 1) "," I32("2", 2, 0)
    rp_one_op_gives(OP("softmax_cross_entropy", "'axis':1,'weight':0.5", LOGITS,
                       F32("", 0.48976267) "," F32("2", 3.40760596, 1.55144471)),
                    3e-7);
    rp_one_op_gives(OP("softmax_cross_entropy_grad", "'axis':1,'weight':0.5",
                       LOGITS "," F32("2", 3.40760596, 1.55144471),
                       F32("2,3", 0.02250764, 0.06118212, -0.08368976, -0.19701461,
                           0.05298539, 0.14402922)),
                    1e-7);
#undef LOGITS
}

static void large_logits_do_not_overflow(void) {
    rp_one_op_gives(OP("softmax", "'axis':1,'causal':false", F32("1,2", 5000, 5000),
                       F32("1,2", 0.5, 0.5)),
                    0);
    rp_one_op_gives(OP("softmax_cross_entropy", "'axis':1,'weight':1",
                       F32("1,2", -5000, 5000) "," I32("1", 1),
                       F32("", 0) "," F32("1", 5000)),
                    0);
}

static void batch_norm_divides_by_m_and_its_running_variance_by_m_minus_1(void) {
    rp_one_op_gives(OP("batch_norm", "'eps':0.25,'affine':true",
                       F32("2,1,2", 1, 3, 5, 7) "," F32("1", 2) "," F32("1", 1),
                       F32("2,1,2", -1.61861468, 0.12712844, 1.87287156,
                           3.61861468) "," F32("1", 4) "," F32("1", 0.43643578)),
                    3e-7);
    rp_one_op_gives(
        OP("bn_update_stats", "'eps':0.25,'momentum':0.1,'count':4",
           F32("1", 4) "," F32("1", 0.436435780472) "," F32("1", 1) "," F32("1", 2),
           F32("1", 1.3) "," F32("1", 2.46666667)),
        3e-7);
    rp_one_op_gives(OP("bn_update_stats", "'eps':0,'momentum':0.5,'count':1",
                       F32("1", 4) "," F32("1", 0.5) "," F32("1", 0) "," F32("1", 0),
                       F32("1", 2) "," F32("1", 2)),
                    0);
}

#define ADAM "'lr':0.5,'beta1':0.75,'beta2':0.75,'eps':0.5,'weight_decay':0.5"
#define F16(shape, ...) "['f16',[" shape "],[" #__VA_ARGS__ "]]"

/* W = 8, g = 2: d = 2 + 0.5 * 8 = 6. */
static void gradient_descent_subtracts_the_gradient_and_what_decays(void) {
    rp_one_op_gives(
        OP("sgd", "'lr':0.5,'weight_decay':0.5", F32("1", 2) "," F32("1", 8), F32("1", 5)),
        0);
    /* b = 0.75 * 4 + 6 */
    rp_one_op_gives(OP("momentum", "'lr':0.5,'weight_decay':0.5,'momentum':0.75",
                       F32("1", 2) "," F32("1", 8) "," F32("1", 4),
                       F32("1", 3.5) "," F32("1", 9)),
                    0);
}

/* In step 1 both corrections are 1/4: the rate is 0.5 / 0.25 = 2, and the root is 0.5.
 * d = 4: m = 0 + 0.25 * 4 = 1, v = 0 + 0.25 * 16 = 4, W - 2 * 1 / (2 / 0.5 + 0.5). */
static void adam_divides_by_the_root_of_the_second_moment(void) {
    rp_one_op_gives(
        OP("adam", ADAM,
           F32("1", 0) "," I32("1", 1) "," F32("1", 8) "," F32("1", 0) "," F32("1", 0),
           F32("1", 7.5555556) "," F32("1", 1) "," F32("1", 4)),
        5e-7);
    rp_one_op_gives(
        OP("adamw", ADAM,
           F32("1", 4) "," I32("1", 1) "," F32("1", 8) "," F32("1", 0) "," F32("1", 0),
           F32("1", 5.5555556) "," F32("1", 1) "," F32("1", 4)),
        5e-7);
}

/* Step 3: 1 - 0.75^3 = 0.578125. */
static void adam_corrects_its_moments_less_and_less(void) {
    rp_one_op_gives(
        OP("adam", ADAM,
           F32("1", 0) "," I32("1", 3) "," F32("1", 0) "," F32("1", 1) "," F32("1", 4),
           F32("1", -0.23349658) "," F32("1", 0.75) "," F32("1", 3)),
        5e-8);
}

/* The f32 copy is what counts: 1 + 2^-13 lies between two numbers of f16. */
static void a_16_bit_parameter_is_its_f32_copy_rounded(void) {
    rp_one_op_gives(OP("sgd", "'lr':1,'weight_decay':0",
                       F16("1", -0.0001220703125) "," F16("1", 5) "," F32("1", 1),
                       F16("1", 1) "," F32("1", 1.0001220703125)),
                    1.3e-4);
    rp_one_op_gives(
        OP("sgd", "'lr':1,'weight_decay':0",
           F32("1", -0.0001220703125) "," F16("1", 5) "," F32("1", 1.00048828125),
           F16("1", 1.0009765625) "," F32("1", 1.0006103515625)),
        4e-4);
}

static void steps_are_counted_and_gradients_added_up(void) {
    rp_one_op_gives(OP("count_step", "", I32("1", 41), I32("1", 42)), 0);
    rp_one_op_gives(OP("accumulate", "", F16("2", 1, 2), F32("2", 1, 2)), 0);
    rp_one_op_gives(OP("accumulate", "", F16("2", 1, 2) "," F32("2", 0.5, 4096.5),
                       F32("2", 1.5, 4098.5)),
                    0);
}

static void row_norms_use_their_own_row_only(void) {
    rp_one_op_gives(
        OP("layer_norm", "'eps':0.25",
           F32("1,4", 1, 3, 5, 7) "," F32("4", 2, 2, 2, 2) "," F32("4", 1, 1, 1, 1),
           F32("1,4", -1.61861468, 0.12712844, 1.87287156,
               3.61861468) "," F32("1", 4) "," F32("1", 0.43643578)),
        3e-7);
    rp_one_op_gives(OP("rms_norm", "'eps':0.5", F32("1,2", 3, 4) "," F32("2", 2, -1),
                       F32("1,2", 1.66410059, -1.10940039) "," F32("1", 0.2773501)),
                    3e-7);
    rp_one_op_gives(OP("weight_norm", "", F32("2", 3, 4) "," F32("1", 10), F32("2", 6, 8)),
                    1e-6);
}

static void rotary_turns_pairs_by_the_token_position(void) {
    rp_one_op_gives(
        OP("rotary", "'base':100,'inverse':false", F32("1,2,1,4", 1, 2, 3, 4, 1, 0, 0, 1),
           F32("1,2,1,4", 1, 2, 3, 4, 0.54030231, 0.84147098, -0.09983342, 0.99500417)),
        1e-7);
    rp_one_op_gives(
        OP("rotary", "'base':100,'inverse':true", F32("1,2,1,4", 1, 2, 3, 4, 1, 0, 0, 1),
           F32("1,2,1,4", 1, 2, 3, 4, 0.54030231, -0.84147098, 0.09983342, 0.99500417)),
        1e-7);
}

static void an_lstm_cell_reads_its_gates_as_i_f_g_o(void) {
    rp_one_op_gives(OP("lstm_cell", "", F32("1,4", 1, 2, 3, -1) "," F32("1,1", 0.5),
                       F32("1,1", 0.22149453) "," F32("1,1", 1.16784185)),
                    3e-7);
}

/* ---- number types ---- */

typedef float from_16_bits(uint16_t);
typedef uint16_t to_16_bits(float);

static void survive_a_round_trip(from_16_bits *from, to_16_bits *to, uint16_t infinity) {
    for (uint32_t h = 0; h < 65536; h++) {
        const uint16_t back = to(from((uint16_t)h));
        if ((h & 0x7fff) > infinity)
            CU_ASSERT_TRUE((back & 0x7fff) > infinity && (back & 0x8000) == (h & 0x8000))
        else
            CU_ASSERT_EQUAL(back, h);
    }
}

static void all_numbers_of_16_bits_survive_a_round_trip(void) {
    survive_a_round_trip(rp_from_half, rp_to_half, 0x7c00);
    survive_a_round_trip(rp_from_bf16, rp_to_bf16, 0x7f80);
}

/* Values between neighbours a and b round to a below the middle, to b above it, and to the
 * even one in the middle. `end` would come after the largest number. */
static void round_to_nearest(from_16_bits *from, to_16_bits *to, uint16_t infinity,
                             double end) {
    for (uint32_t h = 0; h < infinity; h++) {
        const double a = from((uint16_t)h);
        const double b = h + 1u == infinity ? end : from((uint16_t)(h + 1));
        const float middle = (float)(a + (b - a) / 2); /* exact */
        const uint16_t even = (uint16_t)(h + (h & 1));
        CU_ASSERT_EQUAL(to(nextafterf(middle, 0)), h);
        CU_ASSERT_EQUAL(to(nextafterf(middle, INFINITY)), h + 1);
        CU_ASSERT_EQUAL(to(middle), even);
        CU_ASSERT_EQUAL(to(-middle), even | 0x8000);
    }
    CU_ASSERT_EQUAL(to(FLT_MAX), infinity);
    CU_ASSERT_EQUAL(to(-INFINITY), infinity | 0x8000);
}

static void floats_round_to_the_nearest_number_of_16_bits(void) {
    round_to_nearest(rp_from_half, rp_to_half, 0x7c00, 0x1p16);
    round_to_nearest(rp_from_bf16, rp_to_bf16, 0x7f80, 0x1p128);
}

/* The upper half of this NaN alone would be infinity. */
static void a_nan_with_low_bits_only_stays_a_nan(void) {
    const uint32_t bits = 0xff800001;
    float nan;
    memcpy(&nan, &bits, sizeof nan);
    CU_ASSERT_TRUE(isnan(rp_from_half(rp_to_half(nan))) != 0);
    CU_ASSERT_EQUAL(rp_to_bf16(nan), 0xffc0);
}

static double **as_numbers(const struct rp_step_run *s, uint32_t n, const uint32_t *ids) {
    double **all = rp_calloc(n, sizeof *all);
    for (uint32_t i = 0; i < n; i++) {
        const char *dtype = s->g->tensors[ids[i]].dtype;
        const uint64_t count = rp_step_count(s->g, ids[i]);
        const void *at = s->at[ids[i]];
        all[i] = rp_calloc(count, sizeof **all);
        for (uint64_t e = 0; e < count; e++)
            all[i][e] = rp_step_get(dtype, RP_BIND_GRAPH, at, e);
    }
    return all;
}

static void free_numbers(uint32_t n, double **all) {
    for (uint32_t i = 0; i < n; i++)
        free(all[i]);
    free(all);
}

/* The tolerance is a few roundings of the type, since sums here have a few dozen terms. */
static void compare_op(const struct rp_step_run *s, uint32_t i) {
    const struct rp_op *op = &s->g->ops[i];
    double **in = as_numbers(s, op->n_inputs, op->inputs);
    double **got = as_numbers(s, op->n_outputs, op->outputs);
    double **want = as_numbers(s, op->n_outputs, op->outputs);
    rp_step_run_apart(s->g, i, RP_BIND_F64, in, want);
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        const struct rp_tensor *t = rp_net_output(s->g, op, k);
        const double rounding = rp_step_rounding(t->dtype);
        double largest = 0, off = 0;
        for (uint64_t e = 0; e < rp_step_count(s->g, op->outputs[k]); e++) {
            largest = fmax(largest, fabs(want[k][e]));
            off = fmax(off, fabs(got[k][e] - want[k][e]));
        }
        if (!(off <= 40 * rounding * largest)) {
            printf("%s, %s: %s is off by %g of %g\n", s->g->name, op->name, t->dtype, off,
                   largest);
            CU_FAIL("another result than in f64");
        }
    }
    free_numbers(op->n_inputs, in);
    free_numbers(op->n_outputs, got);
    free_numbers(op->n_outputs, want);
}

static void every_op_agrees_with_f64(const struct rp_graph *g) {
    struct rp_step_run s;
    rp_step_open(&s, g, RP_BIND_GRAPH);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        rp_step_run_op(&s, i);
        compare_op(&s, i);
    }
    rp_step_close(&s);
}

static void kernels_in_f32_agree_with_f64(void) {
    rp_case_all(RP_F32, every_op_agrees_with_f64);
}

static void kernels_in_16_bits_agree_with_f64(void) {
    rp_case_all(RP_F16, every_op_agrees_with_f64);
    rp_case_all(RP_BF16, every_op_agrees_with_f64);
}

static void a_second_run_gives_the_same_bits(void) {
    static const enum rp_dtype types[] = {RP_F32, RP_F16, RP_BF16};
    for (size_t d = 0; d < 3; d++) {
        struct rp_zoo_options o = rp_net_tiny();
        o.dtype = types[d];
        struct rp_graph g = rp_net_build("bert-base", o);
        struct rp_step_run s, t;
        rp_step_open(&s, &g, RP_BIND_GRAPH);
        rp_step_open(&t, &g, RP_BIND_GRAPH);
        rp_step_run_all(&s);
        rp_step_run_all(&t);
        for (uint32_t x = 0; x < g.n_tensors; x++)
            CU_ASSERT_EQUAL(rp_checksum(s.at[x], rp_step_bytes(&s, x)),
                            rp_checksum(t.at[x], rp_step_bytes(&t, x)));
        rp_step_close(&s);
        rp_step_close(&t);
        rp_graph_fini(&g);
    }
}

void suite_kernels(void) {
    RP_SUITE("kernels");
    RP_TEST(a_convolution_slides_pads_and_adds_its_bias);
    RP_TEST(dilation_spreads_taps_and_groups_keep_channels_apart);
    RP_TEST(a_transposed_convolution_spreads_each_element);
    RP_TEST(the_first_of_equal_maxima_gets_the_gradient);
    RP_TEST(padding_is_never_the_maximum);
    RP_TEST(gradients_of_overlapping_windows_are_added);
    RP_TEST(the_index_is_that_of_the_first_of_equal_maxima);
    RP_TEST(unpooling_puts_each_element_where_its_maximum_was);
    RP_TEST(an_index_out_of_range_does_no_harm);
    RP_TEST(averages_count_the_padding_if_asked_to);
    RP_TEST(adaptive_windows_overlap_where_sizes_do_not_divide);
    RP_TEST(alpha_scales_the_product_and_not_the_bias);
    RP_TEST(a_batch_dimension_that_c_lacks_is_summed_over);
    RP_TEST(a_bias_gradient_sums_all_but_the_axis);
    RP_TEST(elementwise_functions_give_known_values);
    RP_TEST(dropout_keeps_the_elements_its_generator_draws);
    RP_TEST(broadcasts_repeat_over_the_other_dimensions);
    RP_TEST(concat_and_split_work_along_the_axis);
    RP_TEST(gradients_of_repeated_ids_are_added);
    RP_TEST(softmax_sums_to_one_over_the_visible_elements);
    RP_TEST(cross_entropy_is_the_weighted_mean_over_labels);
    RP_TEST(large_logits_do_not_overflow);
    RP_TEST(batch_norm_divides_by_m_and_its_running_variance_by_m_minus_1);
    RP_TEST(gradient_descent_subtracts_the_gradient_and_what_decays);
    RP_TEST(adam_divides_by_the_root_of_the_second_moment);
    RP_TEST(adam_corrects_its_moments_less_and_less);
    RP_TEST(a_16_bit_parameter_is_its_f32_copy_rounded);
    RP_TEST(steps_are_counted_and_gradients_added_up);
    RP_TEST(row_norms_use_their_own_row_only);
    RP_TEST(rotary_turns_pairs_by_the_token_position);
    RP_TEST(an_lstm_cell_reads_its_gates_as_i_f_g_o);
    RP_TEST(all_numbers_of_16_bits_survive_a_round_trip);
    RP_TEST(floats_round_to_the_nearest_number_of_16_bits);
    RP_TEST(a_nan_with_low_bits_only_stays_a_nan);
    RP_TEST(kernels_in_f32_agree_with_f64);
    RP_TEST(kernels_in_16_bits_agree_with_f64);
    RP_TEST(a_second_run_gives_the_same_bits);
}
