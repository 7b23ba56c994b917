#include "model/device.h"

#include <string.h>
#include <strings.h>

/* Sources of the figures:
 *   [P]  NVIDIA Tesla P100 white paper WP-08019 (2016), comparison with earlier GPUs,
 *        and the Tesla P100 and Tesla M40 data sheets
 *   [V]  NVIDIA Tesla V100 white paper WP-08608 (2017) and V100 data sheet (2020)
 *   [T]  NVIDIA's TITAN V product page (2017); its FP32 figure as NVIDIA gave it at launch
 *        (AnandTech, "The NVIDIA Titan V Deep Learning Deep Dive", table 1)
 *   [D]  NVIDIA Ada GPU architecture white paper v2 (2022), appendix A
 *   [A]  NVIDIA A100 data sheet (2021)
 *   [H]  NVIDIA H100 data sheet (2023); its tensor rates are with sparsity, so halved here
 *   [X]  NVIDIA H200 data sheet (2024); likewise
 *   [I]  IBM Power System S822LC for High Performance Computing, REDP-5405, section 1.7
 *   [N]  NVIDIA's own servers, their data sheets: DGX-1 (512 GB for 8 GPUs), DGX-2 (1.5 TB
 *        for 16), DGX A100 (1 TB for 8 GPUs of 40 GB, 2 TB for 8 of 80 GB), DGX H100 and
 *        H200 (2 TB for 8), DGX Station (256 GB for 4)
 *   [M]  the server of Meng et al. (policy/alibaba.c): 128 GB
 *
 * f64 is that of tensor cores from the A100 on. The M40 and the RTX 4090 have one unit for
 * it where they have 32 and 64 for f32 ([P] and [D], per multiprocessor).
 *
 * Every sheet prints memory as "GB" and means a power-of-two size: a 40 GB A100 offers
 * 42,405,855,232 bytes to programs (deviceQuery, PC2 Paderborn). So GB is GiB here. The
 * driver and a CUDA context take some of it, so a budget should be smaller. Host memory is
 * the usual server's, divided by its GPUs. */
#define GIB(n) ((uint64_t)(n) << 30)
#define MEGA UINT64_C(1000000)
#define GIGA UINT64_C(1000000000)
#define TERA UINT64_C(1000000000000)

/* PCI Express with 16 lanes, in one direction: 8, 16 and 32 GT/s per lane with 128/130
 * coding (PCI-SIG, base specifications 3.0, 4.0, 5.0) are 15.75, 31.5 and 63 * 10^9 bytes
 * per second. */
#define PCIE3 (16 * UINT64_C(8000000000) / 8 * 128 / 130)
#define PCIE4 (2 * PCIE3)
#define PCIE5 (4 * PCIE3)

static const struct rp_device_model models[] = {
    {
        .name = "m40-12g", /* [P]; no f16 arithmetic */
        .title = "Tesla M40 12 GB",
        .f64_flops = 6840 * GIGA / 32,
        .f32_flops = 6840 * GIGA,
        .f16_flops = 6840 * GIGA,
        .bf16_flops = 6840 * GIGA,
        .tensor_cores = false,
        .memory_bytes = GIB(12),
        .memory_bytes_per_s = 288 * GIGA,
        .link_bytes_per_s = PCIE3,
        .host_memory_bytes = GIB(128), /* [M] */
    },
    {
        .name = "p100-16g", /* [P]; f16 is twice as fast as f32 */
        .title = "Tesla P100 SXM2 16 GB",
        .f64_flops = 5300 * GIGA,
        .f32_flops = 10600 * GIGA,
        .f16_flops = 21200 * GIGA,
        .bf16_flops = 10600 * GIGA,
        .tensor_cores = false,
        .memory_bytes = GIB(16),
        .memory_bytes_per_s = 732 * GIGA,
        .link_bytes_per_s = PCIE3,
        .host_memory_bytes = GIB(64), /* DGX-1 [N] */
    },
    {
        .name = "p100-16g-nvlink", /* [P]; two NVLinks to the host [I] */
        .title = "Tesla P100 SXM2 16 GB on POWER8",
        .f64_flops = 5300 * GIGA,
        .f32_flops = 10600 * GIGA,
        .f16_flops = 21200 * GIGA,
        .bf16_flops = 10600 * GIGA,
        .tensor_cores = false,
        .memory_bytes = GIB(16),
        .memory_bytes_per_s = 732 * GIGA,
        .link_bytes_per_s = 40 * GIGA,
        .host_memory_bytes = GIB(256), /* 1 TB for 4 GPUs [I] */
    },
    {
        .name = "v100-16g", /* [V] */
        .title = "Tesla V100 SXM2 16 GB",
        .f64_flops = 7800 * GIGA,
        .f32_flops = 15700 * GIGA,
        .f16_flops = 125 * TERA,
        .bf16_flops = 15700 * GIGA,
        .tensor_cores = true,
        .memory_bytes = GIB(16),
        .memory_bytes_per_s = 900 * GIGA,
        .link_bytes_per_s = PCIE3,
        .host_memory_bytes = GIB(64), /* DGX-1 [N] */
    },
    {
        .name = "v100-32g", /* [V] */
        .title = "Tesla V100 SXM2 32 GB",
        .f64_flops = 7800 * GIGA,
        .f32_flops = 15700 * GIGA,
        .f16_flops = 125 * TERA,
        .bf16_flops = 15700 * GIGA,
        .tensor_cores = true,
        .memory_bytes = GIB(32),
        .memory_bytes_per_s = 900 * GIGA,
        .link_bytes_per_s = PCIE3,
        .host_memory_bytes = GIB(96), /* DGX-2 [N] */
    },
    {
        .name = "titan-v", /* [T] */
        .title = "TITAN V 12 GB",
        .f64_flops = 6900 * GIGA,
        .f32_flops = 13800 * GIGA,
        .f16_flops = 110 * TERA,
        .bf16_flops = 13800 * GIGA,
        .tensor_cores = true,
        .memory_bytes = GIB(12),
        .memory_bytes_per_s = 652800 * MEGA,
        .link_bytes_per_s = PCIE3,
        .host_memory_bytes = GIB(64), /* DGX Station [N], whose V100 is the same chip */
    },
    {
        .name = "rtx4090", /* [D]; tensor rates with f32 sums */
        .title = "GeForce RTX 4090 24 GB",
        .f64_flops = 82600 * GIGA / 64,
        .f32_flops = 82600 * GIGA,
        .f16_flops = 165200 * GIGA,
        .bf16_flops = 165200 * GIGA,
        .f8_flops = 330300 * GIGA,
        .tensor_cores = true,
        .memory_bytes = GIB(24),
        .memory_bytes_per_s = 1008 * GIGA,
        .link_bytes_per_s = PCIE4,
        .host_memory_bytes = GIB(64), /* as for the TITAN V */
    },
    {
        .name = "a100-40g", /* [A] */
        .title = "A100 SXM4 40 GB",
        .f64_flops = 19500 * GIGA,
        .f32_flops = 19500 * GIGA,
        .f16_flops = 312 * TERA,
        .bf16_flops = 312 * TERA,
        .tensor_cores = true,
        .memory_bytes = GIB(40),
        .memory_bytes_per_s = 1555 * GIGA,
        .link_bytes_per_s = PCIE4,
        .host_memory_bytes = GIB(128), /* [N] */
    },
    {
        .name = "a100-80g", /* [A] */
        .title = "A100 SXM4 80 GB",
        .f64_flops = 19500 * GIGA,
        .f32_flops = 19500 * GIGA,
        .f16_flops = 312 * TERA,
        .bf16_flops = 312 * TERA,
        .tensor_cores = true,
        .memory_bytes = GIB(80),
        .memory_bytes_per_s = 2039 * GIGA,
        .link_bytes_per_s = PCIE4,
        .host_memory_bytes = GIB(256), /* [N] */
    },
    {
        .name = "h100", /* [H] */
        .title = "H100 SXM5 80 GB",
        .f64_flops = 67 * TERA,
        .f32_flops = 67 * TERA,
        .f16_flops = 989500 * GIGA,
        .bf16_flops = 989500 * GIGA,
        .f8_flops = 1979 * TERA,
        .tensor_cores = true,
        .memory_bytes = GIB(80),
        .memory_bytes_per_s = 3350 * GIGA,
        .link_bytes_per_s = PCIE5,
        .host_memory_bytes = GIB(256), /* [N] */
    },
    {
        .name = "h200", /* [X] */
        .title = "H200 SXM5 141 GB",
        .f64_flops = 67 * TERA,
        .f32_flops = 67 * TERA,
        .f16_flops = 989500 * GIGA,
        .bf16_flops = 989500 * GIGA,
        .f8_flops = 1979 * TERA,
        .tensor_cores = true,
        .memory_bytes = GIB(141),
        .memory_bytes_per_s = 4800 * GIGA,
        .link_bytes_per_s = PCIE5,
        .host_memory_bytes = GIB(256), /* [N] */
    },
};

const struct rp_device_model *rp_device_models(size_t *n) {
    *n = sizeof models / sizeof models[0];
    return models;
}

const struct rp_device_model *rp_device_find(const char *name) {
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (strcasecmp(models[i].name, name) == 0 || strcmp(models[i].title, name) == 0)
            return &models[i];
    return NULL;
}
