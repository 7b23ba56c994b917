# SPDX-License-Identifier: MIT
"""The ops that may write their outputs to given tensors, by their `out` overload.

`tests/torch/test_out_forms.py` judges each: on every dtype, with inputs in odd layouts and the
outputs side by side in one buffer, the `out` overload must give what the op gives, write
nothing beside its outputs and move none. What is not here is copied. Left out on purpose are
ops that draw random numbers, losses that put each element's value into the storage of the
loss, and decompositions of matrices.
"""

from __future__ import annotations

UNARY = """
    abs acos acosh angle asin asinh atan atanh bitwise_not ceil cos cosh digamma erf erfc erfinv
    exp exp2 expm1 floor frac i0 isneginf isposinf lgamma log log10 log1p log2 logical_not neg
    reciprocal round rsqrt sgn sigmoid sign signbit sin sinc sinh sqrt tan tanh trunc
    special_entr special_erfcx special_i0e special_i1 special_i1e special_log_ndtr
    special_ndtri
    elu hardshrink hardsigmoid hardswish hardtanh leaky_relu mish silu softplus softshrink
    nan_to_num tril triu
"""
BINARY = """
    add.Tensor atan2 bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor clamp_max.Tensor
    clamp_min.Tensor copysign.Tensor div.Tensor eq.Tensor fmax fmin fmod.Tensor ge.Tensor
    gt.Tensor heaviside hypot le.Tensor logaddexp logaddexp2 logical_and logical_or logical_xor
    lt.Tensor maximum minimum mul.Tensor ne.Tensor nextafter pow.Tensor_Tensor remainder.Tensor
    sub.Tensor xlogy.Tensor
    gelu_backward hardsigmoid_backward sigmoid_backward silu_backward tanh_backward
"""
WITH_NUMBERS = """
    clamp clamp_max clamp_min div.Tensor_mode elu_backward eq.Scalar ge.Scalar gt.Scalar
    hardshrink_backward hardtanh_backward le.Scalar leaky_relu_backward lerp.Scalar lt.Scalar
    ne.Scalar pow.Scalar pow.Tensor_Scalar round.decimals softplus_backward
    softshrink_backward threshold threshold_backward
"""
OF_THREE = "addcdiv addcmul clamp.Tensor lerp.Tensor where.self"
OVER_DIMENSIONS = """
    all all.dim all.dims amax amin any any.dim any.dims argmax argmin cumprod cumsum
    linalg_vector_norm max.dim mean.dim min.dim prod.dim_int sum.dim_IntList
"""
PRODUCTS = "addbmm addmm addmv addr baddbmm bmm mm"
BY_INDEX = """
    cat gather index.Tensor index_add index_copy index_select scatter.src scatter.value
    scatter_add sort.stable topk
"""
OF_IMAGES = """
    adaptive_max_pool2d adaptive_max_pool2d_backward avg_pool2d avg_pool2d_backward
    max_pool2d_with_indices max_pool2d_with_indices_backward reflection_pad1d
    reflection_pad1d_backward replication_pad1d replication_pad1d_backward
    upsample_bilinear2d_backward upsample_linear1d upsample_linear1d_backward
    upsample_nearest1d upsample_nearest1d_backward upsample_nearest2d
    upsample_nearest2d_backward upsample_nearest3d upsample_nearest3d_backward
    upsample_trilinear3d upsample_trilinear3d_backward
"""
OF_LOSSES = """
    binary_cross_entropy_backward glu glu_backward huber_loss_backward log_sigmoid_backward
    mse_loss_backward nll_loss2d_forward nll_loss_backward nll_loss_forward
    smooth_l1_loss_backward
"""
# Wrong in other layouts: these kernels take their outputs for contiguous, or make new ones.
ONLY_CONTIGUOUS = """
    _log_softmax _log_softmax_backward_data _softmax _softmax_backward_data avg_pool3d
    avg_pool3d_backward col2im gelu im2col log_sigmoid_forward upsample_bicubic2d
    upsample_bicubic2d_backward upsample_bilinear2d
"""


def _kinds(*groups: str) -> frozenset[str]:
    """As `str` gives them for an overload."""
    words = " ".join(groups).split()
    return frozenset(f"aten.{w}" if "." in w else f"aten.{w}.default" for w in words)


ANY_LAYOUT = _kinds(
    *(UNARY, BINARY, WITH_NUMBERS, OF_THREE, OVER_DIMENSIONS, PRODUCTS, BY_INDEX),
    *(OF_IMAGES, OF_LOSSES),
)
CONTIGUOUS = _kinds(ONLY_CONTIGUOUS)


def may_write(kind: str, contiguous: bool) -> bool:
    """May the op write to given tensors, which are all contiguous or not?"""
    return kind in ANY_LAYOUT or (contiguous and kind in CONTIGUOUS)
