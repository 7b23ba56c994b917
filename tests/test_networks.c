#include <math.h>
#include <string.h>

#include "networks.h"
#include "run.h"

/* ---- published figures ---- */

static void parameter_counts_and_multiply_adds_are_the_published_ones(void) {
    for (size_t i = 0; i < rp_zoo_n_entries; i++) {
        const struct rp_zoo_entry *row = rp_zoo_registry[i];
        struct rp_zoo_options o = rp_net_defaults();
        o.batch = 1;
        struct rp_graph g = rp_net_build(row->name, o);
        if (row->params != 0)
            CU_ASSERT_EQUAL(rp_zoo_n_params(&g), row->params);
        CU_ASSERT_EQUAL(row->params != 0, row->params_source != NULL);
        rp_graph_fini(&g);
        o.no_aux = (row->takes & RP_TAKES_NO_AUX) != 0;
        g = rp_net_build(row->name, o);
        if (row->macs > 0)
            CU_ASSERT_TRUE(fabs((double)rp_zoo_macs(&g) / row->macs - 1) < 0.02);
        CU_ASSERT_EQUAL(row->macs > 0, row->macs_source != NULL);
        rp_graph_fini(&g);
    }
}

/* From torchvision: num_params of googlenet does not count the auxiliary classifiers. */
static void googlenet_without_auxiliary_classifiers_has_the_published_parameters(void) {
    struct rp_zoo_options o = rp_net_defaults();
    o.no_aux = true;
    struct rp_graph g = rp_net_build("googlenet", o);
    CU_ASSERT_EQUAL(rp_zoo_n_params(&g), 6624904);
    rp_graph_fini(&g);
}

/* Parameters: README of a study of U-SegNet variants, "SegNet (5 levels)", one class.
 * 286.03 GFLOP and 29.46 million parameters at 640x360: Paszke et al., "ENet", 2016, with
 * the 37 classes of SUN RGB-D. */
static void segnet_has_the_published_parameters_and_arithmetic(void) {
    struct rp_zoo_options o = rp_net_defaults();
    o.classes = 1;
    struct rp_graph g = rp_net_build("segnet", o);
    CU_ASSERT_EQUAL(rp_zoo_n_params(&g), 29443585);
    rp_graph_fini(&g);
    o.classes = 37;
    o.batch = 1;
    o.image[1] = 360;
    o.image[2] = 640;
    g = rp_net_build("segnet", o);
    CU_ASSERT_TRUE(fabs(2e-9 * (double)rp_zoo_macs(&g) / 286.03 - 1) < 0.02);
    CU_ASSERT_EQUAL((rp_zoo_n_params(&g) + 5000) / 10000, 2946);
    rp_graph_fini(&g);
}

/* The convolutions of VGG-16 up to the fourth stage, then 3x3 convolutions with 512, 768,
 * 384 and 192 input channels, and one to the classes. */
static void a_vgg_unet_ends_at_half_the_image_size(void) {
    struct rp_zoo_options o = rp_net_defaults();
    o.batch = 1;
    struct rp_graph g = rp_net_build("vgg_unet", o);
    const uint64_t vgg = 7635264, up = 9 * (512 * 512 + 768 * 256 + 384 * 128 + 192 * 64),
                   per_channel = 3 * (512 + 256 + 128 + 64), out = 9 * 64 * 19 + 19;
    CU_ASSERT_EQUAL(rp_zoo_n_params(&g), vgg + up + per_channel + out);
    for (uint32_t x = 0; x < g.n_tensors; x++)
        if (strcmp(g.tensors[x].name, "out") == 0)
            CU_ASSERT_EQUAL(g.tensors[x].bytes, (uint64_t)4 * 19 * 208 * 304);
    rp_graph_fini(&g);
}

static uint64_t n_params(const char *name, uint64_t width, uint64_t layers) {
    struct rp_zoo_options o = rp_net_defaults();
    o.width = width;
    o.layers = layers;
    struct rp_graph g = rp_net_build(name, o);
    const uint64_t n = rp_zoo_n_params(&g);
    rp_graph_fini(&g);
    return n;
}

/* The larger LLaMA models of Touvron et al., 2023, table 2. Llama 2 has a 13B of the same
 * shape, whose checkpoint states the same count. */
static void families_have_the_published_parameters_at_other_widths(void) {
    CU_ASSERT_EQUAL(n_params("llama-7b", 5120, 40), 13015864320);
    CU_ASSERT_EQUAL(n_params("llama-7b", 6656, 60), 32528943616);
    CU_ASSERT_EQUAL(n_params("llama-7b", 8192, 80), 65285660672);
    CU_ASSERT_EQUAL(n_params("gpt2", 1600, 48), rp_zoo_find("gpt2-xl")->params);
    CU_ASSERT_EQUAL(n_params("bert-base", 1024, 24), rp_zoo_find("bert-large")->params);
}

static void arithmetic_and_memory_grow_with_the_batch_but_parameters_do_not(void) {
    struct rp_zoo_options o = rp_net_defaults();
    o.batch = 1;
    struct rp_graph one = rp_net_build("resnet50", o);
    o.batch = 6;
    struct rp_graph six = rp_net_build("resnet50", o);
    CU_ASSERT_EQUAL(rp_zoo_macs(&six), 6 * rp_zoo_macs(&one));
    CU_ASSERT_EQUAL(rp_zoo_n_params(&six), rp_zoo_n_params(&one));
    CU_ASSERT_EQUAL(six.n_ops, one.n_ops);
    rp_graph_fini(&one);
    rp_graph_fini(&six);
}

static void refused(const char *name, struct rp_zoo_options o, const char *message) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL(rp_zoo_build(name, &o, &g, &err), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(err.msg, message);
    CU_ASSERT_EQUAL(g.n_tensors + g.n_ops, 0);
}

/* ---- options ---- */

static void bad_options_are_refused_in_one_line(void) {
    struct rp_zoo_options o = rp_net_defaults();
    refused("vgg17", o, "there is no network 'vgg17'");
    o.image[0] = o.image[1] = o.image[2] = 7;
    refused("vgg16", o, "vgg16: --image 7 is too small (at least 32)");
    o = rp_net_defaults();
    o.image[1] = 64;
    o.image[2] = 72;
    refused("unet", o, "unet: --image 72 is not a multiple of 16");
    o = rp_net_defaults();
    o.batch = 0;
    refused("vgg16", o, "vgg16: --batch 0: must be at least 1");
    o.batch = (uint64_t)1 << 63;
    refused("vgg16", o,
            "vgg16: --batch 9223372036854775808 is too large (at most "
            "9223372036854775807)");
    o = rp_net_defaults();
    o.classes = 0;
    refused("resnet50", o, "resnet50: --classes 0: must be at least 1");
    o = rp_net_defaults();
    o.steps = 3;
    refused("resnet50", o, "resnet50: --steps does not apply");
    o = rp_net_defaults();
    o.layers = 100;
    o.steps = 10000;
    refused("lstm-lm", o, "lstm-lm: more than 200000 ops");
    o = rp_net_defaults();
    o.no_aux = true;
    refused("resnet50", o, "resnet50: --no-aux does not apply");
    o = rp_net_defaults();
    o.dtype = RP_I32;
    refused("resnet50", o, "resnet50: --dtype must be f32, f16 or bf16");
    o = rp_net_defaults();
    o.width = 100;
    refused("gpt2", o, "gpt2: --width 100 is not a multiple of 64, the width of a head");
    refused("resnet50", o, "resnet50: --width does not apply");
    o = rp_net_defaults();
    o.micro_batches = 0;
    refused("resnet50", o, "resnet50: --micro-batches 0: must be at least 1");
    o = rp_net_defaults();
    o.seed = UINT64_MAX;
    refused("resnet50", o, "resnet50: --seed: too large");
}

/* First the sum of flops overflows, then a product within one op. */
static void sizes_that_overflow_are_refused(void) {
    for (int shift = 0; shift < 63; shift++) {
        struct rp_zoo_options o = rp_net_tiny();
        struct rp_graph g;
        struct rp_err err = {{0}};
        o.batch = (uint64_t)1 << shift;
        rp_rc rc = rp_zoo_build("resnet18", &o, &g, &err);
        CU_ASSERT_EQUAL(rc, shift < 43 ? RP_OK : RP_USAGE);
        if (rc != RP_OK)
            CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "2^63-1"));
        rp_graph_fini(&g);
    }
}

static void the_smallest_image_works_and_one_pixel_less_does_not(void) {
    for (size_t i = 0; i < rp_zoo_n_entries; i++) {
        const struct rp_zoo_entry *row = rp_zoo_registry[i];
        struct rp_zoo_options o = rp_net_tiny();
        struct rp_err err = {{0}};
        struct rp_graph g;
        if ((row->takes & RP_TAKES_IMAGE) == 0)
            continue;
        o.image[0] = o.image[1] = o.image[2] = row->min_image;
        g = rp_net_build(row->name, o);
        rp_graph_fini(&g);
        o.image[2]--;
        CU_ASSERT_EQUAL(rp_zoo_build(row->name, &o, &g, &err), RP_USAGE);
    }
}

void suite_networks(void) {
    RP_SUITE("networks");
    RP_TEST(parameter_counts_and_multiply_adds_are_the_published_ones);
    RP_TEST(googlenet_without_auxiliary_classifiers_has_the_published_parameters);
    RP_TEST(segnet_has_the_published_parameters_and_arithmetic);
    RP_TEST(a_vgg_unet_ends_at_half_the_image_size);
    RP_TEST(families_have_the_published_parameters_at_other_widths);
    RP_TEST(arithmetic_and_memory_grow_with_the_batch_but_parameters_do_not);
    RP_TEST(bad_options_are_refused_in_one_line);
    RP_TEST(sizes_that_overflow_are_refused);
    RP_TEST(the_smallest_image_works_and_one_pixel_less_does_not);
}
