"""The problem of a case in PyTorch, one way each. Every way gives a function of no arguments that returns O."""

import contextlib
import warnings

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from . import reference
from .cases import BACKWARD, WINDOWS

FLEX_LENGTHS = (4096, 16384)
BACKENDS = {"math": SDPBackend.MATH, "efficient": SDPBackend.EFFICIENT_ATTENTION,
            "flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
SAME_BITS = ", deterministic"  # the end of the name of a way that must give the same bits every time


class Refused(Exception):
    """PyTorch does not do this case this way; the message says why, in its own words where it has any."""


def strict_float32():
    """No TF32 anywhere."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.set_float32_matmul_precision("highest")


@contextlib.contextmanager
def same_bits(wanted: bool):
    """While it lasts, PyTorch takes kernels that give the same bits every time, if `wanted`. They get no memory filled
    beforehand, which would be timed as well."""
    torch.utils.deterministic.fill_uninitialized_memory = False
    torch.use_deterministic_algorithms(wanted)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


def repeated(tensor, case):
    """K or V with a head for each head of Q: a copy if heads are grouped."""
    return tensor if case.H == case.H_kv else tensor.repeat_interleave(case.H // case.H_kv, dim=1)


def naive(case, Q, K, V):
    """Product, scale, mask, softmax, dropout, product: a tensor of all scores at each step."""
    hidden = reference.hidden_pairs(case, 0, case.N, Q.device)

    def attend():
        S = torch.matmul(Q, repeated(K, case).transpose(-2, -1)) * case.D**-0.5
        if hidden is not None:
            S = S.masked_fill(hidden, float("-inf"))
        P = torch.softmax(S, dim=-1)
        if case.dropout:
            P = F.dropout(P, case.dropout)
        return torch.matmul(P, repeated(V, case))

    return attend


def first_line(error: Exception) -> str:
    """What an error says, without the pages that may follow."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)[:300]


def explained(error: Exception, said: list) -> str:
    """PyTorch's reason in one line: where no kernel will do, its warnings name it."""
    reasons = [str(warning.message).split(" (Triggered")[0].strip() for warning in said]
    named = [reason for reason in reasons if not reason.endswith("because:") and "kernel not used" not in reason]
    return " ".join([first_line(error), *dict.fromkeys(named)])[:400]


def sdpa(backend: str, repeat: bool = False):
    """scaled_dot_product_attention by one backend; `repeat`: with heads of K and V repeated by hand."""

    def make(case, Q, K, V):
        plain = not case.causal or case.window is None
        mask = None if plain else ~reference.hidden_pairs(case, 0, case.N, Q.device)
        grouped = case.H != case.H_kv and not repeat

        def attend():
            keys, values = (repeated(K, case), repeated(V, case)) if repeat else (K, V)
            with sdpa_kernel(BACKENDS[backend]):
                return F.scaled_dot_product_attention(
                    Q, keys, values, attn_mask=mask, dropout_p=case.dropout, is_causal=case.causal and plain,
                    scale=case.D**-0.5, enable_gqa=grouped)

        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            try:
                attend()
            except RuntimeError as error:
                if isinstance(error, torch.OutOfMemoryError):
                    raise
                raise Refused(explained(error, said)) from error
        return attend

    return make


def flex(case, Q, K, V):
    """FlexAttention, compiled, which leaves out the tiles that its mask hides."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def seen(batch, head, query, key):
        visible = query >= key
        if case.window is not None:
            visible = visible & ((query - key < case.window) | (key < case.sinks))
        return visible

    torch._dynamo.reset()  # else the second shape is compiled for shapes of any size, which is slower
    mask = create_block_mask(seen, None, None, case.N, case.N, device=str(Q.device))
    compiled = torch.compile(flex_attention, dynamic=False)

    def attend():
        return compiled(Q, K, V, block_mask=mask, scale=case.D**-0.5, enable_gqa=case.H != case.H_kv)

    try:
        attend()
    except torch.OutOfMemoryError:
        raise
    except Exception as error:  # whatever the compiler may throw
        raise Refused(f"torch.compile failed: {first_line(error)}") from error
    return attend


def ways_of(case) -> dict:
    """By name, the ways that are worth trying for a case; each may still be refused.

    The second order of axes has the two that matter most. To compile FlexAttention takes far longer than to time it, so
    two lengths and one window have it.
    """
    backends = BACKENDS if case.layout == "bhnd" else ("efficient",)
    ways = {"naive": naive, **{name: sdpa(name) for name in backends}}
    if case.H != case.H_kv:
        ways["efficient, heads repeated"] = sdpa("efficient", repeat=True)
    if case.direction == BACKWARD and case.dtype != "float32" and case.layout == "bhnd":
        ways[f"flash{SAME_BITS}"] = sdpa("flash")
    if case.window == WINDOWS[0] and case.N in FLEX_LENGTHS and case.layout == "bhnd" and not case.dropout:
        ways["flex"] = flex
    return ways
