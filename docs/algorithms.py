"""The algorithms of the attention lessons in NumPy, with the loops and the tiles of the kernels.

Q, O and dO are (Nq, D), K and V are (Nk, D), lse is (Nq), all of one head; in lessons 11 and 16 to 18 the heads come
first: (H, Nq, D) and (H_kv, Nk, D). The notes of the lessons show these functions. tests/docs/algorithms_test.py holds
each of them against results of PyTorch in float64, with tiles that are smaller than here.
"""

import numpy as np

QUERIES, KEYS = 128, 64  # of a tile
NEVER = np.iinfo(np.int64).max  # a window that hides nothing


# [07]
def naive_attention(Q, K, V, scale):
    S = Q @ K.T * scale
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return P @ V
# [07]


# [tiles]
def tiles(begin, end, size):
    """The tiles of so many rows that hold rows begin to end - 1. The last one ends there."""
    return [slice(i, min(i + size, end)) for i in range(begin // size * size, end, size)]


def powers(S, m):
    """e^(S - m), row by row. In a row that has seen nothing yet, m is -inf, and so are its scores: they give 0."""
    return np.exp(S - np.where(m == -np.inf, 0, m)[:, None])


def divided(O, l):
    return O / np.where(l == 0, 1, l)[:, None]
# [tiles]


# [08]
def flash1_forward(Q, K, V, scale):
    O, l, m = np.zeros((len(Q), V.shape[1])), np.zeros(len(Q)), np.full(len(Q), -np.inf)
    for j in tiles(0, len(K), KEYS):  # a tile of keys stays
        for i in tiles(0, len(Q), QUERIES):  # and all tiles of queries pass by
            S = Q[i] @ K[j].T * scale
            m_new = np.maximum(m[i], S.max(axis=1))
            P = powers(S, m_new)
            kept = l[i] * powers(m[i][:, None], m_new)[:, 0]
            l_new = kept + P.sum(axis=1)
            O[i] = divided(kept[:, None] * O[i] + P @ V[j], l_new)
            l[i], m[i] = l_new, m_new
    return O, l, m
# [08]


# [09]
def begin(rows, D):
    return np.full(rows, -np.inf), np.zeros(rows), np.zeros((rows, D))


def fold(S, V, m, l, O):
    """What a tile of keys, with the scores S and the values V, makes of m, l and O."""
    m_new = np.maximum(m, S.max(axis=1))
    P, factor = powers(S, m_new), powers(m[:, None], m_new)
    return m_new, factor[:, 0] * l + P.sum(axis=1), factor * O + P @ V


def flash2_forward(Q, K, V, scale):
    O, lse = np.empty((len(Q), V.shape[1])), np.empty(len(Q))
    for i in tiles(0, len(Q), QUERIES):  # a block each
        m, l, acc = begin(len(Q[i]), V.shape[1])
        for j in tiles(0, len(K), KEYS):
            m, l, acc = fold(Q[i] @ K[j].T * scale, V[j], m, l, acc)
        O[i], lse[i] = divided(acc, l), m + np.log(l)
    return O, lse
# [09]


# [10]
def numbers(tile):
    return np.arange(tile.start, tile.stop)


def causal_attention(Q, K, V, scale):
    O, lse, offset = np.empty((len(Q), V.shape[1])), np.empty(len(Q)), len(K) - len(Q)
    for i in tiles(0, len(Q), QUERIES):
        m, l, acc = begin(len(Q[i]), V.shape[1])
        seen_by_all, seen_by_any = i.start + offset + 1, i.stop + offset
        for j in tiles(0, seen_by_any, KEYS):  # the tiles ahead are left out
            S = Q[i] @ K[j].T * scale
            if j.stop > seen_by_all:  # a tile on the diagonal
                S[numbers(j) > numbers(i)[:, None] + offset] = -np.inf
            m, l, acc = fold(S, V[j], m, l, acc)
        O[i], lse[i] = divided(acc, l), m + np.log(l)
    return O, lse
# [10]


# [11]
def grouped_query(Q, K, V, scale, causal):
    H, Nq, D = Q.shape
    group, offset = H // len(K), K.shape[1] - Nq
    O, lse = np.empty_like(Q), np.empty((H, Nq))
    for kv_head in range(len(K)):
        heads = slice(kv_head * group, (kv_head + 1) * group)
        rows = Q[heads].swapaxes(0, 1).reshape(-1, D)  # row = query · group + member
        for i in tiles(0, len(rows), QUERIES):
            query, head = numbers(i) // group, heads.start + numbers(i) % group
            m, l, acc = begin(len(query), D)
            for j in tiles(0, query[-1] + offset + 1 if causal else K.shape[1], KEYS):
                S = rows[i] @ K[kv_head][j].T * scale
                if causal:
                    S[numbers(j) > query[:, None] + offset] = -np.inf
                m, l, acc = fold(S, V[kv_head][j], m, l, acc)
            O[head, query], lse[head, query] = divided(acc, l), m + np.log(l)
    return O, lse
# [11]


# [12]
def sliding_window(Q, K, V, scale, window):
    O, lse, offset = np.empty((len(Q), V.shape[1])), np.empty(len(Q)), len(K) - len(Q)
    for i in tiles(0, len(Q), QUERIES):
        m, l, acc = begin(len(Q[i]), V.shape[1])
        first, last = i.start + offset, i.stop - 1 + offset  # where the tile's queries stand
        for j in tiles(max(first - window + 1, 0), last + 1, KEYS):
            S = Q[i] @ K[j].T * scale
            if j.start < last - window + 1 or j.stop > first + 1:  # some query does not see some key
                p = numbers(i)[:, None] + offset
                S[(numbers(j) > p) | (numbers(j) <= p - window)] = -np.inf
            m, l, acc = fold(S, V[j], m, l, acc)
        O[i], lse[i] = divided(acc, l), m + np.log(l)
    return O, lse
# [12]


# [13]
def attention_sinks(Q, K, V, scale, window, sinks, sink):
    O, lse, offset = np.empty((len(Q), V.shape[1])), np.empty(len(Q)), len(K) - len(Q)
    for i in tiles(0, len(Q), QUERIES):
        m, l, acc = begin(len(Q[i]), V.shape[1])
        if sink > -np.inf:  # a key that has been seen before all others, with the value 0
            m, l = np.full_like(m, sink), l + 1
        p, last = numbers(i)[:, None] + offset, i.stop - 1 + offset
        in_window = tiles(max(i.start + offset - window + 1, 0), last + 1, KEYS)
        end_of_sinks = min(sinks, in_window[0].start) if in_window else 0
        for j in tiles(0, end_of_sinks, KEYS) + in_window:
            S, key = Q[i] @ K[j].T * scale, numbers(j)
            S[(key > p) | ((key <= p - window) & (key >= sinks))] = -np.inf
            m, l, acc = fold(S, V[j], m, l, acc)
        O[i], lse[i] = divided(acc, l), m + np.log(l)
    return O, lse
# [13]


# [15 unfused]
def unfused_backward(Q, K, V, dO, scale):
    S = Q @ K.T * scale
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    dV = P.T @ dO
    dP = dO @ V.T
    dS = P * (dP - (P * dP).sum(axis=1, keepdims=True))
    return dS @ K * scale, dS.T @ Q * scale, dV
# [15 unfused]


# [15]
def flash2_backward(Q, K, V, O, lse, dO, scale, causal):
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    offset, delta = len(K) - len(Q), (dO * O).sum(axis=1)

    def recomputed(i, j):
        S = Q[i] @ K[j].T * scale
        hidden = causal & (numbers(j) > numbers(i)[:, None] + offset)
        P = np.where(hidden, 0, np.exp(S - lse[i][:, None]))
        return P, P * (dO[i] @ V[j].T - delta[i][:, None])  # P and dS

    for j in tiles(0, len(K), KEYS):  # keys_kernel: a tile of keys stays
        for i in tiles(max(j.start - offset, 0) if causal else 0, len(Q), QUERIES):
            P, dS = recomputed(i, j)
            dV[j], dK[j] = dV[j] + P.T @ dO[i], dK[j] + dS.T @ Q[i] * scale
    for i in tiles(0, len(Q), QUERIES):  # queries_kernel: a tile of queries stays
        for j in tiles(0, i.stop + offset if causal else len(K), KEYS):
            dQ[i] += recomputed(i, j)[1] @ K[j] * scale
    return dQ, dK, dV
# [15]


# [16]
def grouped_query_backward(Q, K, V, O, lse, dO, scale, causal):
    dQ, dK, dV, group = np.empty_like(Q), np.zeros_like(K), np.zeros_like(V), len(Q) // len(K)
    for head in range(len(Q)):
        kv_head = head // group
        dQ[head], of_K, of_V = flash2_backward(
            Q[head], K[kv_head], V[kv_head], O[head], lse[head], dO[head], scale, causal)  # fmt: skip
        dK[kv_head] += of_K  # in the kernel: one sum in registers, over the heads of the group
        dV[kv_head] += of_V
    return dQ, dK, dV
# [16]


# [17 masks]
def hidden(i, j, offset, causal, window, sinks):
    p, key = numbers(i)[:, None] + offset, numbers(j)
    return (causal & (key > p)) | ((p - key >= window) & (key >= sinks))


def queries_of(j, Nq, offset, causal, window, sinks):
    """The first query that sees a key of the tile, and one past the last."""
    first = max(j.start - offset, 0) if causal else 0
    ends = window < NEVER and j.start >= sinks  # later queries have lost the whole tile
    return first, min(j.stop - 1 + window - offset, Nq) if ends else Nq
# [17 masks]


# [17]
def full_keys_kernel(Q, K, V, lse, dO, delta, scale, causal, window, sinks):
    dK, dV, offset = np.zeros_like(K), np.zeros_like(V), len(K) - len(Q)
    for j in tiles(0, len(K), KEYS):
        for i in tiles(*queries_of(j, len(Q), offset, causal, window, sinks), QUERIES):
            P = np.exp(Q[i] @ K[j].T * scale - lse[i][:, None])
            P[hidden(i, j, offset, causal, window, sinks)] = 0
            dS = P * (dO[i] @ V[j].T - delta[i][:, None]) * scale
            dV[j], dK[j] = dV[j] + P.T @ dO[i], dK[j] + dS.T @ Q[i]
    return dK, dV


def gradient_of_sink(sink, lse, delta):
    """Of one head, over all of its queries; 0 where there is no sink."""
    weight = np.where(lse == -np.inf, 0, np.exp(sink - lse))
    return -(weight * delta).sum()
# [17]


# [18]
def fold_with_dropout(S, V, Z, m, l, O):
    """Z is 0 for a weight that is dropped, and 1 / (1 - dropout) for one that is kept."""
    m_new = np.maximum(m, S.max(axis=1))
    P, factor = powers(S, m_new), powers(m[:, None], m_new)
    return m_new, factor[:, 0] * l + P.sum(axis=1), factor * O + (P * Z) @ V


def backward_with_dropout(P, Z, Q, K, V, dO, delta, scale):
    """What a pair of tiles adds to dQ, dK and dV. delta = rowsum(dO ∘ O), with the O that dropout has made."""
    dV = (P * Z).T @ dO
    dP = (dO @ V.T) * Z
    dS = P * (dP - delta[:, None]) * scale
    return dS @ K, dS.T @ Q, dV
# [18]


# [19]
def fold_in_powers_of_2(QK, V, to_log2, m, l, O):
    """QK are products that nothing has scaled, m their maximum, to_log2 the scale times log2 e."""
    m_new = np.maximum(m, QK.max(axis=1))
    base = np.where(m_new == -np.inf, 0, m_new)
    P, factor = np.exp2((QK - base[:, None]) * to_log2), np.exp2((m - base) * to_log2)
    return m_new, factor * l + P.sum(axis=1), factor[:, None] * O + P @ V  # lse = m * scale + log l
# [19]


# [22]
def fold_in_16_bits(QK, V, to_log2, m, l, O):
    """Arrays are float32, Q, K and V of numbers that float16 has. Only P is rounded, and only for its product with V."""
    m_new = np.maximum(m, QK.max(axis=1))
    base = np.where(m_new == -np.inf, 0, m_new)
    P, factor = np.exp2((QK - base[:, None]) * to_log2), np.exp2((m - base) * to_log2)
    return m_new, factor * l + P.sum(axis=1), factor[:, None] * O + P.astype(np.float16).astype(np.float32) @ V
# [22]


# [30]
def attend_split(Q, K_pages, V_pages, table, keys, position, scale):
    """O and lse over some keys of a sequence. Pages are (pages, tokens, D); row i of Q stands at position[i]."""
    page, row = table[keys // K_pages.shape[1]], keys % K_pages.shape[1]
    S = np.where(keys > position[:, None], -np.inf, Q @ K_pages[page, row].T * scale)
    m = S.max(axis=1, initial=-np.inf)
    P = powers(S, m)
    l = P.sum(axis=1)
    return divided(P @ V_pages[page, row], l), m + np.log(l)


def decode(Q, K_pages, V_pages, table, length, Nq, scale, splits):
    """The rows of Q are Nq tokens for each head of a group."""
    position = length - Nq + np.arange(len(Q)) % Nq
    parts = [attend_split(Q, K_pages, V_pages, table, keys, position, scale)
             for keys in np.array_split(np.arange(length), splits)]  # fmt: skip
    O, lse = (np.stack(part) for part in zip(*parts))
    base = lse.max(axis=0)
    weight = powers(lse.T, base).T  # of each split in each row
    l = weight.sum(axis=0)
    return divided((weight[:, :, None] * O).sum(axis=0), l), base + np.log(l)
# [30]
