"""Attention and its gradients by the formulas, in float64 or float32, piece by piece so that long sequences fit.

In float64 it is what everything is held against. In float32 it is the plain computation whose error a kernel may have
twice. Tensors are [batch, head, seq, dim] with any strides.
"""

import struct

import torch

SMALLEST, LARGEST = 1 << 20, 1 << 28  # elements of a piece of S
TENSORS = 10  # of the size of a piece that exist at a time, at most


def piece_elements(device) -> int:
    """How many elements of S a piece may have on this device."""
    if device.type != "cuda":
        return 1 << 22
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    return max(SMALLEST, min(LARGEST, free // (8 * TENSORS)))


def hidden_pairs(case, first: int, last: int, device):
    """True where queries `first` to `last` - 1 do not see a key; None if they see all."""
    if not case.causal:
        return None
    query = torch.arange(first, last, device=device)[:, None]
    key = torch.arange(case.N, device=device)[None, :]
    hidden = key > query
    if case.window is not None:
        hidden |= (query - key >= case.window) & (key >= case.sinks)
    return hidden


def multiply_words(word, factor: int):
    """High and low 32 bits of products of 32-bit words, which int64 holds without its sign."""
    low, high = word & 0xffff, word >> 16
    factor_low, factor_high = factor & 0xffff, factor >> 16
    lowest = low * factor_low
    middle = high * factor_low + (lowest >> 16)
    other = low * factor_high + (middle & 0xffff)
    return high * factor_high + (middle >> 16) + (other >> 16), ((other & 0xffff) << 16) | (lowest & 0xffff)


def philox(counter: list, seed: int) -> list:
    """Philox4x32-10 of four int64 tensors that hold 32-bit words; as common/device/philox.hpp."""
    x0, x1, x2, x3 = counter
    key0, key1 = seed & 0xffffffff, seed >> 32
    for _ in range(10):
        high0, low0 = multiply_words(x0, 0xd2511f53)
        high1, low1 = multiply_words(x2, 0xcd9e8d57)
        x0, x1, x2, x3 = high1 ^ x1 ^ key0, low1, high0 ^ x3 ^ key1, low0
        key0, key1 = (key0 + 0x9e3779b9) & 0xffffffff, (key1 + 0xbb67ae85) & 0xffffffff
    return [x0, x1, x2, x3]


def float32_of(value: float) -> float:
    return struct.unpack("f", struct.pack("f", value))[0]


def dropout_factors(case, heads, first: int, last: int, seed: int, device, dtype):
    """Z of lesson 18 for some rows of some heads, which are numbered batch * H + head: 0, or 1 / (1 - dropout)."""
    dropout = float32_of(case.dropout)
    places = torch.broadcast_tensors(torch.arange((case.N + 3) // 4, device=device)[None, None, :],
                                     torch.arange(first, last, device=device)[None, :, None],
                                     (heads % case.H)[:, None, None], (heads // case.H)[:, None, None])
    words = torch.stack(philox(list(places), seed), dim=-1).flatten(-2)[..., :case.N]
    kept = words >= int(dropout * 2.0**32)
    return kept.to(dtype) / (1.0 - dropout)


class Pieces:
    """Walks over S: some heads and some rows at a time."""

    def __init__(self, case, tensors: dict, dtype, seed: int):
        self.case, self.dtype, self.seed = case, dtype, seed
        self.scale = case.D ** -0.5
        self.device = tensors["Q"].device
        self.kv_of = torch.arange(case.B * case.H, device=self.device)  # which head of K and V a head of Q reads
        self.kv_of = (self.kv_of // case.H) * case.H_kv + (self.kv_of % case.H) // (case.H // case.H_kv)
        self.flat = {name: tensor.reshape(-1, case.N, tensor.shape[-1]) if tensor.dim() == 4
                     else tensor.reshape(-1, case.N) for name, tensor in tensors.items()}
        elements = piece_elements(self.device)
        self.heads = max(1, min(case.B * case.H, elements // (case.N * case.N)))
        self.rows = max(1, min(case.N, elements // case.N))

    def __iter__(self):
        case = self.case
        for first_head in range(0, case.B * case.H, self.heads):
            heads = torch.arange(first_head, min(first_head + self.heads, case.B * case.H), device=self.device)
            for first in range(0, case.N, self.rows):
                yield heads, slice(first, min(first + self.rows, case.N))

    def q_side(self, name: str, heads, rows):
        return self.flat[name][heads[0]:heads[-1] + 1, rows].to(self.dtype)

    def kv_side(self, name: str, heads):
        return self.flat[name][self.kv_of[heads]].to(self.dtype)

    def scores(self, heads, rows):
        """Scaled scores of a piece, -inf where hidden."""
        S = torch.matmul(self.q_side("Q", heads, rows), self.kv_side("K", heads).transpose(-2, -1))
        S *= self.scale
        hidden = hidden_pairs(self.case, rows.start, rows.stop, self.device)
        return S if hidden is None else S.masked_fill_(hidden, float("-inf"))

    def factors(self, heads, rows):
        """Z of dropout, or None."""
        if not self.case.dropout:
            return None
        return dropout_factors(self.case, heads, rows.start, rows.stop, self.seed, self.device, self.dtype)


def rounded(tensor, half):
    """What a type of 16 bits keeps of a tensor, in the tensor's own type; all of it if half is None."""
    return tensor if half is None else tensor.to(half).to(tensor.dtype)


def forward(case, tensors: dict, dtype, seed: int = 0, half=None) -> dict:
    """O, lse, and the maximum m and the sum l of each row, in `dtype`. P and O are rounded to the type `half`."""
    pieces = Pieces(case, tensors, dtype, seed)
    shape, device = (case.B * case.H, case.N), pieces.device
    O = torch.empty(*shape, case.D, dtype=dtype, device=device)
    lse, m, l = (torch.empty(shape, dtype=dtype, device=device) for _ in range(3))
    for heads, rows in pieces:
        S = pieces.scores(heads, rows)
        own = slice(int(heads[0]), int(heads[-1]) + 1)
        m[own, rows] = S.amax(-1)
        lse[own, rows] = torch.logsumexp(S, -1)
        l[own, rows] = torch.exp(S - m[own, rows, None]).sum(-1)
        P = torch.softmax(S, -1)
        del S
        Z = pieces.factors(heads, rows)
        P = rounded(P if Z is None else P * Z, half)
        O[own, rows] = rounded(torch.matmul(P, pieces.kv_side("V", heads)), half)
    per_row = (case.B, case.H, case.N)
    return {"O": O.view(*per_row, case.D), "lse": lse.view(per_row), "m": m.view(per_row), "l": l.view(per_row)}


def backward(case, tensors: dict, dtype, seed: int = 0, half=None) -> dict:
    """dQ, dK and dV in `dtype` for the gradient dO of O. P, dS and the results are rounded to the type `half`.

    With O and lse of a forward pass among the tensors, by the formulas that use them, as a kernel does it; without,
    from the scores alone, which is exact in float64.
    """
    saved = "lse" in tensors
    pieces = Pieces(case, tensors, dtype, seed)
    dQ = torch.empty(case.B * case.H, case.N, case.D, dtype=dtype, device=pieces.device)
    dK, dV = (torch.zeros(case.B * case.H_kv, case.N, case.D, dtype=dtype, device=pieces.device) for _ in range(2))
    for heads, rows in pieces:
        Q, dO = pieces.q_side("Q", heads, rows), pieces.q_side("dO", heads, rows)
        S = pieces.scores(heads, rows)
        P = torch.exp(S - pieces.q_side("lse", heads, rows)[..., None]) if saved else torch.softmax(S, -1)
        del S
        Z = pieces.factors(heads, rows)
        weights = rounded(P if Z is None else P * Z, half)
        dV.index_add_(0, pieces.kv_of[heads], torch.matmul(weights.transpose(-2, -1), dO))
        del weights
        dP = torch.matmul(dO, pieces.kv_side("V", heads).transpose(-2, -1))
        if Z is not None:
            dP *= Z
        delta = (dO * pieces.q_side("O", heads, rows) if saved else P * dP).sum(-1, keepdim=True)
        dS = rounded(P * (dP - delta), half)
        del P, dP, Z
        dQ[int(heads[0]):int(heads[-1]) + 1, rows] = torch.matmul(dS, pieces.kv_side("K", heads)) * pieces.scale
        dK.index_add_(0, pieces.kv_of[heads], torch.matmul(dS.transpose(-2, -1), Q) * pieces.scale)
    q_shape, kv_shape = (case.B, case.H, case.N, case.D), (case.B, case.H_kv, case.N, case.D)
    gradients = {"dQ": dQ.view(q_shape), "dK": dK.view(kv_shape), "dV": dV.view(kv_shape)}
    return {name: rounded(gradient, half) for name, gradient in gradients.items()}
