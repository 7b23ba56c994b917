/* Tests of how the options of networks are parsed. */
#include "cmd/zoo_options.h"

#include <errno.h>

#include "base/mem.h"
#include "run.h"

static rp_rc parse_image(const char *network, const char *image, struct rp_zoo_options *z) {
    const struct rp_zoo_texts texts = {.image = image};
    struct rp_err err;
    rp_zoo_options_init(z);
    errno = ERANGE; /* of something before */
    return rp_zoo_options_parse("test", network, &texts, z, &err);
}

static void images_have_one_size_or_all(void) {
    struct rp_zoo_options z;
    CU_ASSERT_EQUAL(parse_image("vgg16", "64", &z), RP_OK);
    CU_ASSERT(z.image[0] == 64 && z.image[1] == 64 && z.image[2] == 64);
    CU_ASSERT_EQUAL(parse_image("vgg16", "32x64", &z), RP_OK);
    CU_ASSERT(z.image[1] == 32 && z.image[2] == 64);
    CU_ASSERT_EQUAL(parse_image("unet3d", "16x32x64", &z), RP_OK);
    CU_ASSERT(z.image[0] == 16 && z.image[1] == 32 && z.image[2] == 64);
    CU_ASSERT_EQUAL(parse_image("unet3d", "16x32", &z), RP_USAGE);
    CU_ASSERT_EQUAL(parse_image("unet3d", "16x32x64x64", &z), RP_USAGE);
    CU_ASSERT_EQUAL(parse_image("vgg16", "16x32x64", &z), RP_USAGE);
}

static void images_have_sizes_of_63_bits(void) {
    struct rp_zoo_options z;
    CU_ASSERT_EQUAL(parse_image("vgg16", "9223372036854775807", &z), RP_OK);
    CU_ASSERT_EQUAL(z.image[2], RP_MAX_QUANTITY);
    CU_ASSERT_EQUAL(parse_image("vgg16", "9223372036854775808", &z), RP_USAGE);
    CU_ASSERT_EQUAL(parse_image("vgg16", "18446744073709551617", &z), RP_USAGE);
}

void suite_zoo_options(void) {
    RP_SUITE("zoo_options");
    RP_TEST(images_have_one_size_or_all);
    RP_TEST(images_have_sizes_of_63_bits);
}
