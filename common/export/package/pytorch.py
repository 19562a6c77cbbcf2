"""The kernels as an operator of PyTorch: with gradients, and under torch.compile."""

from typing import Optional, Tuple

import torch
from torch import Tensor

from . import attention as kernels

# A kernel relies on how its arguments lie in memory, and a compiler must leave that alone. Before 2.7 PyTorch has no word
# for it.
EXACT = {"tags": (torch.Tag.needs_exact_strides,)} if hasattr(torch.Tag, "needs_exact_strides") else {}


def settings_of(scale, causal, window, sinks, dropout, seed) -> dict:
    return {"scale": scale, "causal": causal, "window": window, "sinks": sinks, "dropout": dropout, "seed": seed}


# [operator]
@torch.library.custom_op(f"{__package__}::forward", mutates_args=(), **EXACT)
def forward(Q: Tensor, K: Tensor, V: Tensor, sink: Optional[Tensor], scale: float, causal: bool, window: int, sinks: int,
            dropout: float, seed: int) -> Tuple[Tensor, Tensor]:
    """O and lse."""
    Q, K, V, sink = detached(Q, K, V, sink)
    return kernels.forward(Q, K, V, sink, **settings_of(scale, causal, window, sinks, dropout, seed))


@forward.register_fake
def forward_shapes(Q, K, V, sink, scale, causal, window, sinks, dropout, seed):
    """What forward() gives, without numbers: all that a compiler needs to know."""
    return Q.new_empty(Q.shape), Q.new_empty(Q.shape[:3], dtype=torch.float32)
# [operator]


# [gradient]
@torch.library.custom_op(f"{__package__}::backward", mutates_args=(), **EXACT)
def backward(Q: Tensor, K: Tensor, V: Tensor, sink: Optional[Tensor], O: Tensor, lse: Tensor, dO: Tensor, scale: float,
             causal: bool, window: int, sinks: int, dropout: float, seed: int) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    """dQ, dK, dV and dsink, which is empty without a sink: an operator cannot give None."""
    Q, K, V, sink, O, lse, dO = detached(Q, K, V, sink, O, lse, dO)
    settings = settings_of(scale, causal, window, sinks, dropout, seed)
    dQ, dK, dV, dsink = kernels.backward(Q, K, V, O, lse, dO, sink, **settings)
    return dQ, dK, dV, lse.new_empty(0) if dsink is None else dsink


@backward.register_fake
def backward_shapes(Q, K, V, sink, O, lse, dO, scale, causal, window, sinks, dropout, seed):
    dsink = lse.new_empty(0 if sink is None else sink.shape)
    return Q.new_empty(Q.shape), K.new_empty(K.shape), V.new_empty(V.shape), dsink


def keep_for_backward(ctx, inputs, output):
    Q, K, V, sink, *ctx.settings = inputs
    O, lse = output
    ctx.save_for_backward(Q, K, V, sink, O, lse)
    ctx.mark_non_differentiable(lse)


def gradients(ctx, dO, _dlse):
    Q, K, V, sink, O, lse = ctx.saved_tensors
    dQ, dK, dV, dsink = backward(Q, K, V, sink, O, lse, readable(dO), *ctx.settings)
    return dQ, dK, dV, None if sink is None else dsink, *(None for _ in ctx.settings)


if kernels.BACKWARD is not None:
    forward.register_autograd(gradients, setup_context=keep_for_backward)
# [gradient]


def detached(*tensors):
    """The same numbers without a history: DLPack lends no tensor that has one."""
    return tuple(None if tensor is None else tensor.detach() for tensor in tensors)


def readable(dO: Tensor) -> Tensor:
    """dO with rows that kernels can read. Nobody chooses how a gradient lies in memory: that of a sum is one number
    with strides of 0."""
    chunk = 1 if dO.element_size() == 4 else 8  # kernels of 16 bits read 16 bytes at a time
    rows_fit = dO.stride(-1) == 1 and all(stride % chunk == 0 for stride in dO.stride()[:-1])
    return dO if rows_fit and dO.storage_offset() % chunk == 0 else dO.contiguous()


# [attention]
def attention(Q: Tensor, K: Tensor, V: Tensor, sink: Optional[Tensor] = None, **settings) -> Tensor:
    """O of attention, with gradients for Q, K, V and sink. Settings are scale, causal, window, sinks, dropout, seed."""
    return forward(Q, K, V, sink, **kernels.defaults(Q.shape[-1], **settings))[0]
# [attention]
