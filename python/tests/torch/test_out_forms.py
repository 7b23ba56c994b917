# SPDX-License-Identifier: MIT
"""Judges each op of the table in `out_forms.py`: it writes to its places, and only there,
what it gives without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import harness
import pytest
import torch
from torch import Tensor

from remat_plan.torch import arena, out_forms
from remat_plan.torch.captured import tensors_in

aten = torch.ops.aten
Make = Callable[..., Tensor]

DTYPES = (
    *(torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64),
    *(torch.int64, torch.int32, torch.uint8, torch.bool),
)
FILL = 0xA5


def rows(*numbers: int) -> Tensor:
    return torch.tensor(numbers)


def grid(n: int) -> Tensor:
    return torch.arange(4 * n).view(4, n) * 3 % n


IMAGE = (2, 3, 6, 6)
POOL = ([3, 3], [2, 2], [1, 1])
POOL3 = ([2, 2, 2], [2, 2, 2], [0, 0, 0])


def up(n: int, *more: Any) -> tuple[Any, Any]:
    """Examples of an upsampling and its backward pass, over n dimensions."""
    small, large = [2, 3, *[3] * n], [2, 3, *[7] * n]
    return (
        lambda t: (t(*small), [7] * n, *more),
        lambda t: (t(*large), [7] * n, small, *more),
    )


PADDED = (lambda t: (t(2, 3, 6), [1, 2]), lambda t: (t(2, 3, 9), t(2, 3, 6), [1, 2]))


def each(names: str, example: Any) -> dict[str, Any]:
    return dict.fromkeys(names.split(), example)


def with_backward(name: str, pair: tuple[Any, Any]) -> dict[str, Any]:
    return {name: pair[0], f"{name}_backward": pair[1]}


def one(t: Make) -> Any:
    return (t(4, 5),)


def two(t: Make) -> Any:
    return t(4, 5), t(4, 5)


def indices(t: Make, pool: Any, *args: Any) -> Any:
    """The indices of a maximum pooling, which its backward pass reads."""
    return pool(t(*IMAGE), *args)[1]


def softmaxed(t: Make) -> Any:
    return t(4, 5), t(4, 5), 1, t(1).dtype


def weight_of(x: Tensor, target: Tensor, loss: Any) -> Tensor:
    return loss(x, target, None, 1, -100)[1]


TARGET, TARGET2 = rows(1, 0, 4, 2), torch.arange(72).view(2, 6, 6) % 3

# By op a function from what makes a tensor to the arguments. Those by name come last, in a
# dictionary.
EXAMPLES: dict[str, Callable[[Make], Any]] = {
    **each(out_forms.UNARY, one),
    "gelu": one,
    **each(out_forms.BINARY, two),
    **each(out_forms.OF_THREE, lambda t: (*two(t), t(4, 5))),
    "where.self": lambda t: (t(4, 5) == t(4, 1), *two(t)),
    # with numbers
    "clamp": lambda t: (*one(t), -1, 1),
    "div.Tensor_mode": lambda t: (*two(t), {"rounding_mode": "floor"}),
    "elu_backward": lambda t: (t(4, 5), 1.0, 1.0, 1.0, False, t(4, 5)),
    "hardtanh_backward": lambda t: (*two(t), -1, 1),
    "leaky_relu_backward": lambda t: (*two(t), 0.1, False),
    "pow.Scalar": lambda t: (2, t(4, 5)),
    "round.decimals": lambda t: (*one(t), {"decimals": 1}),
    "softplus_backward": lambda t: (*two(t), 1, 20),
    "threshold": lambda t: (*one(t), 0, 2),
    **each(
        "clamp_max clamp_min eq.Scalar ge.Scalar gt.Scalar le.Scalar lt.Scalar ne.Scalar "
        "pow.Tensor_Scalar",
        lambda t: (*one(t), 2),
    ),
    **each(
        "hardshrink_backward lerp.Scalar softshrink_backward threshold_backward",
        lambda t: (*two(t), 0.5),
    ),
    # over dimensions
    "_log_softmax": lambda t: (*one(t), 0, False),
    "_softmax": lambda t: (*one(t), 0, False),
    "_log_softmax_backward_data": softmaxed,
    "_softmax_backward_data": softmaxed,
    **each("all any", one),
    **each(
        "all.dim any.dim argmax argmin cumprod cumsum max.dim min.dim prod.dim_int",
        lambda t: (*one(t), 1),
    ),
    **each(
        "all.dims amax amin any.dims mean.dim sum.dim_IntList",
        lambda t: (t(3, 4, 5), [0, 2], True),
    ),
    "linalg_vector_norm": lambda t: (*one(t), 2, [0]),
    # products
    "addbmm": lambda t: (t(3, 5), t(2, 3, 4), t(2, 4, 5)),
    "addmm": lambda t: (t(5), t(3, 4), t(4, 5)),
    "addmv": lambda t: (t(3), t(3, 4), t(4)),
    "addr": lambda t: (t(3, 4), t(3), t(4)),
    "baddbmm": lambda t: (t(2, 3, 5), t(2, 3, 4), t(2, 4, 5)),
    "bmm": lambda t: (t(2, 3, 4), t(2, 4, 5)),
    "mm": lambda t: (t(3, 4), t(4, 5)),
    # by index
    "cat": lambda t: ([t(4, 2), t(4, 3)], 1),
    "gather": lambda t: (*one(t), 1, grid(5)),
    "index.Tensor": lambda t: (*one(t), [None, rows(3, 0, 3)]),
    "index_add": lambda t: (*one(t), 0, rows(3, 0, 3), t(3, 5)),
    "index_copy": lambda t: (*one(t), 0, rows(3, 0), t(2, 5)),
    "index_select": lambda t: (*one(t), 1, rows(3, 0, 3)),
    "scatter.src": lambda t: (*one(t), 1, grid(5), t(4, 5)),
    "scatter.value": lambda t: (*one(t), 1, grid(5), 2),
    "scatter_add": lambda t: (*one(t), 1, grid(5), t(4, 5)),
    "sort.stable": lambda t: (*one(t), {"stable": True, "dim": 0}),
    "topk": lambda t: (*one(t), 3, 1),
    # of images
    "adaptive_max_pool2d": lambda t: (t(*IMAGE), [2, 2]),
    "adaptive_max_pool2d_backward": lambda t: (
        *(t(2, 3, 2, 2), t(*IMAGE)),
        indices(t, aten.adaptive_max_pool2d, [2, 2]),
    ),
    "avg_pool2d": lambda t: (t(*IMAGE), *POOL),
    "avg_pool2d_backward": lambda t: (t(2, 3, 3, 3), t(*IMAGE), *POOL, False, True, None),
    "avg_pool3d": lambda t: (t(2, 3, 4, 4, 4), *POOL3),
    "avg_pool3d_backward": lambda t: (
        *(t(2, 3, 2, 2, 2), t(2, 3, 4, 4, 4)),
        *(*POOL3, False, True, None),
    ),
    "col2im": lambda t: (t(2, 12, 25), [6, 6], [2, 2], [1, 1], [0, 0], [1, 1]),
    "im2col": lambda t: (t(*IMAGE), [2, 2], [1, 1], [0, 0], [1, 1]),
    "max_pool2d_with_indices": lambda t: (t(*IMAGE), *POOL),
    "max_pool2d_with_indices_backward": lambda t: (
        *(t(2, 3, 3, 3), t(*IMAGE), *POOL, [1, 1], False),
        indices(t, aten.max_pool2d_with_indices, *POOL),
    ),
    **with_backward("reflection_pad1d", PADDED),
    **with_backward("replication_pad1d", PADDED),
    **with_backward("upsample_bicubic2d", up(2, False)),
    **with_backward("upsample_bilinear2d", up(2, False)),
    **with_backward("upsample_linear1d", up(1, False)),
    **with_backward("upsample_nearest1d", up(1)),
    **with_backward("upsample_nearest2d", up(2)),
    **with_backward("upsample_nearest3d", up(3)),
    **with_backward("upsample_trilinear3d", up(3, False)),
    # of losses
    "binary_cross_entropy_backward": lambda t: (
        *(t(4, 5), t(4, 5).sigmoid(), t(4, 5).sigmoid(), None, 0),
    ),
    "glu": lambda t: (t(4, 6), 1),
    "glu_backward": lambda t: (t(4, 3), t(4, 6), 1),
    "huber_loss_backward": lambda t: (t(4, 5), *two(t), 0, 1.0),
    "log_sigmoid_forward": one,
    "log_sigmoid_backward": lambda t: (*two(t), aten.log_sigmoid_forward(t(4, 5))[1]),
    "mse_loss_backward": lambda t: (t(4, 5), *two(t), 0),
    "smooth_l1_loss_backward": lambda t: (t(4, 5), *two(t), 0, 1.0),
    "nll_loss_forward": lambda t: (t(4, 5), TARGET, None, 1, -100),
    "nll_loss_backward": lambda t: (
        *(t(), t(4, 5), TARGET, None, 1, -100),
        weight_of(t(4, 5), TARGET, aten.nll_loss_forward),
    ),
    "nll_loss2d_forward": lambda t: (t(*IMAGE), TARGET2, None, 1, -100),
}


# ---- layouts ----


def as_made(shape: tuple[int, ...]) -> Any:
    return torch.empty(shape, device="meta").stride(), 0


def turned(shape: tuple[int, ...]) -> Any:
    """The first of the inner dimensions is innermost, as in channels_last."""
    turn = torch.empty(shape, device="meta")
    if turn.dim() >= 2:
        first = 1 if turn.dim() > 2 else 0
        size = [n for i, n in enumerate(shape) if i != first] + [shape[first]]
        turn = torch.empty(size, device="meta").movedim(-1, first)
    return turn.stride(), 0


def with_gaps(shape: tuple[int, ...]) -> Any:
    return [2 * n for n in turned(shape)[0]], 3


LAYOUTS = (as_made, turned, with_gaps)


def extent(shape: Any, stride: Any, offset: int) -> int:
    """The elements that a storage needs."""
    return offset + 1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True))


def maker(dtype: torch.dtype, layout: Any, device: str) -> Make:
    def make(*shape: int) -> Tensor:
        stride, offset = layout(shape)
        whole = torch.randn(extent(shape, stride, offset)) * 2
        whole = whole.abs() if dtype in (torch.bool, torch.uint8) else whole
        return whole.to(dtype).to(device).as_strided(shape, stride, offset)

    return make


# ---- the judge ----


def judge(op: Any, args: Any, kwargs: Any, layout: Any) -> list[str]:
    """What is wrong with the op's out form. The outputs lie side by side in one arena, in
    this layout, or in that of the op's own outputs if it is None."""
    wanted = tensors_in(op(*args, **kwargs))
    writer = arena.out_form(op, wanted[0].device.type.upper())
    if writer is None or len(writer.outs) != len(wanted):
        return ["there is no out form with a kernel for the device"]
    at, layouts = [0], []
    for value in wanted:
        shape = tuple(value.shape)
        stride, offset = layout(shape) if layout else (value.stride(), 0)
        n_bytes = extent(shape, stride, offset) * value.itemsize
        layouts.append((n_bytes, shape, tuple(stride), offset, value.dtype))
        at.append(at[-1] + -(-n_bytes // arena.ALIGNMENT) * arena.ALIGNMENT)
    buffer = torch.full((at[-1],), FILL, dtype=torch.uint8, device=wanted[0].device)
    places = [arena.place(buffer, a, *x) for a, x in zip(at, layouts, strict=False)]
    before = [(p.data_ptr(), p.stride()) for p in places]
    writer.out_form(*args, **kwargs, **dict(zip(writer.outs, places, strict=True)))
    wrong = []
    if [(p.data_ptr(), p.stride()) for p in places] != before:
        wrong.append("moves an output")
    same = torch.equal if layout is None else close
    if not all(map(same, map(elements, wanted), map(elements, places))):
        wrong.append("gives other numbers")
    for place in places:
        unwrite(place)
    if not torch.all(buffer == FILL):
        wrong.append("writes beside its outputs")
    return wrong


def elements(tensor: Tensor) -> Tensor:
    """In order; NaN is equal to NaN."""
    return tensor.flatten().nan_to_num(12345.0)


def close(one: Tensor, other: Tensor) -> bool:
    """In another layout a kernel may round otherwise."""
    return torch.allclose(one, other, rtol=1e-2, atol=1e-2)


def unwrite(place: Tensor) -> None:
    """Fill the elements as the buffer was filled."""
    place = place.view(torch.uint8) if place.dtype is torch.bool else place
    n_bytes = place.numel() * place.itemsize
    filled = torch.full((n_bytes,), FILL, dtype=torch.uint8, device=place.device)
    place.copy_(filled.view(place.dtype).view(place.shape))


def split(given: Any) -> tuple[list[Any], dict[str, Any]]:
    """Arguments in order and by name."""
    *args, last = given
    return (args, last) if isinstance(last, dict) else ([*args, last], {})


@pytest.mark.parametrize("device", harness.DEVICES)
@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_out_form_is_right(name: str, device: str) -> None:
    op = getattr(aten, name.partition(".")[0])
    op = getattr(op, name.partition(".")[2] or "default")
    layouts = [None, turned, with_gaps] if str(op) in out_forms.ANY_LAYOUT else [as_made]
    cases = 0
    for dtype in DTYPES:
        for inputs in LAYOUTS:
            torch.manual_seed(0)
            try:  # what the op itself does not take is no case
                args, kwargs = split(EXAMPLES[name](maker(dtype, inputs, device)))
                op(*args, **kwargs)
            except (RuntimeError, TypeError):
                continue
            for outputs in layouts:
                wrong = judge(op, args, kwargs, outputs)
                assert not wrong, (dtype, inputs, outputs, wrong)
                cases += 1
    assert cases >= 6


def test_the_table_is_what_was_judged() -> None:
    names = {n if "." in n else f"{n}.default" for n in EXAMPLES}
    assert {f"aten.{n}" for n in names} == out_forms.ANY_LAYOUT | out_forms.CONTIGUOUS


@pytest.mark.parametrize(
    ("op", "args", "layout", "wrong"),
    [
        (aten.gelu.default, (torch.randn(4, 5),), turned, ["gives other numbers"]),
        (
            aten.reflection_pad2d.default,
            (torch.randn(IMAGE).to(memory_format=torch.channels_last), [1, 1, 1, 1]),
            as_made,
            ["moves an output"],
        ),
        (aten.relu.default, (torch.randn(4),), None, ["there is no out form"]),
    ],
)
def test_the_judge_sees(op: Any, args: Any, layout: Any, wrong: list[str]) -> None:
    found = judge(op, args, {}, layout)
    assert [f.startswith(w) for f, w in zip(found, wrong, strict=True)] == [True]


def test_the_judge_sees_what_is_written_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(x: Tensor, out: Tensor) -> None:
        whole = torch.empty(0).set_(out.untyped_storage())
        whole.fill_(1)
        torch.sin(x, out=out)

    writer = arena.Writer(careless, ("out",))
    monkeypatch.setattr(arena, "out_form", lambda *_: writer)
    wrong = judge(aten.sin.default, (torch.randn(4, 5),), {}, with_gaps)
    assert wrong == ["writes beside its outputs"]
