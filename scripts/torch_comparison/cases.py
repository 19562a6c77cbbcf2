"""Which problems are compared, and how many operations and bytes each has by its formula. Needs no PyTorch."""

import dataclasses

TOKENS, WIDTH = 16384, 2048  # batches * length, heads * dim
LENGTHS = (4096, 1024, 16384, 2048, 8192)  # in the order of what is worth knowing first
DIMS = (64, 128)
GROUPED = (32, 8)  # heads of Q, and of K and V
WINDOWS = (1024, 4096)
SINKS = 4
DROPOUT = 0.1
FORWARD, BACKWARD = "forward", "backward"

FOLDERS = {
    7: "07_naive_attention", 8: "08_flash1_forward", 9: "09_flash2_forward", 10: "10_causal", 11: "11_grouped_query",
    12: "12_sliding_window", 13: "13_attention_sinks", 15: "15_flash2_backward", 16: "16_grouped_query_backward",
    17: "17_full_backward", 18: "18_dropout", 19: "19_register_tiling", 22: "22_tensor_core_attention",
    24: "24_tensor_core_backward",
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Case:
    """One problem: self-attention of N tokens, as one lesson's kernel sees it.

    layout   "bhnd" or "bnhd": the order of the axes in memory
    spread   standard deviation of Q, K and V
    dtype    of Q, K, V, O and their gradients: "float32", "bfloat16" or "float16"; rows are float32 always
    """

    lesson: int
    direction: str
    B: int
    H: int
    H_kv: int
    N: int
    D: int
    causal: bool = False
    window: int | None = None
    sinks: int = 0
    dropout: float = 0.0
    layout: str = "bhnd"
    spread: float = 1.0
    dtype: str = "float32"

    def pairs(self) -> int:
        """Pairs of a query and a key that it sees, in one head."""
        N = self.N
        if not self.causal:
            return N * N
        if self.window is None:
            return N * (N + 1) // 2
        W = min(self.window, N)
        in_window = W * (W + 1) // 2 + (N - W) * W
        hidden = max(N - W, 0)  # the last query has so many keys before its window
        few = min(self.sinks, hidden)
        return in_window + few * (few + 1) // 2 + (hidden - few) * few

    def operations(self) -> int:
        """Of the products: 4 * D a pair forward, 10 * D backward, where seven products count as the usual five."""
        return (4 if self.direction == FORWARD else 10) * self.B * self.H * self.D * self.pairs()

    def bytes(self) -> int:
        """What every implementation has to move: inputs and results once; backward dO twice, for delta."""
        q, kv, row = self.B * self.H * self.N * self.D, self.B * self.H_kv * self.N * self.D, self.B * self.H * self.N
        each = 4 if self.dtype == "float32" else 2
        if self.direction == FORWARD:
            return each * (2 * q + 2 * kv) + 4 * row
        return each * (5 * q + 4 * kv) + 16 * row

    def mask(self) -> str:
        """The mask in words."""
        if not self.causal:
            return "all keys"
        if self.window is None:
            return "causal"
        return f"window {self.window}" + (f", {self.sinks} sinks" if self.sinks else "")

    def label(self) -> str:
        """The case in words, the same for the same case."""
        heads = f"{self.H}" if self.H == self.H_kv else f"{self.H}:{self.H_kv}"
        words = [f"{self.lesson:02} {self.direction}", f"N {self.N}", f"D {self.D}", f"B {self.B}", f"heads {heads}",
                 self.mask()]
        if self.dropout:
            words.append(f"dropout {self.dropout:g}")
        if self.layout != "bhnd":
            words.append(self.layout)
        if self.spread != 1:
            words.append(f"data x {self.spread:g}")
        if self.dtype != "float32":
            words.append(self.dtype)
        return ", ".join(words)

    def as_json(self) -> dict:
        return dataclasses.asdict(self)


def problem(lesson: int, direction: str, N: int, D: int, grouped: bool = False, **settings) -> Case:
    """A case with the usual number of batches and heads."""
    H, H_kv = GROUPED if grouped else (WIDTH // D, WIDTH // D)
    return Case(lesson, direction, max(TOKENS // N, 1), H, H_kv, N, D, **settings)


def _windows(N: int) -> list[int]:
    return [window for window in WINDOWS if window < N]


def cases_of(lesson: int, N: int, D: int) -> list[Case]:
    """What a lesson is compared by at one length and dim: each mask that it has."""
    if lesson in (7, 8, 9):
        return [problem(lesson, FORWARD, N, D)]
    if lesson == 10:
        return [problem(10, FORWARD, N, D, causal=True)]
    if lesson == 11:
        return [problem(11, FORWARD, N, D, grouped=True, causal=causal) for causal in (True, False)]
    if lesson == 19:
        return [problem(19, FORWARD, N, D, causal=causal) for causal in (False, True)]
    if lesson in (22, 24):
        types = ("bfloat16", "float16") if N == LENGTHS[0] else ("bfloat16",)
        return [problem(lesson, FORWARD if lesson == 22 else BACKWARD, N, D, causal=causal, dtype=dtype)
                for dtype in types for causal in (False, True)]
    if lesson in (12, 13):
        return [problem(lesson, FORWARD, N, D, causal=True, window=window, sinks=SINKS if lesson == 13 else 0)
                for window in _windows(N)]
    if lesson == 15:
        return [problem(15, BACKWARD, N, D, causal=causal) for causal in (False, True)]
    if lesson == 16:
        return [problem(16, BACKWARD, N, D, grouped=True, causal=True)]
    if lesson == 17:
        plain = [problem(17, direction, N, D, causal=True) for direction in (FORWARD, BACKWARD)]
        masked = [problem(17, direction, N, D, grouped=True, causal=True, window=window, sinks=SINKS)
                  for window in _windows(N)[:1] for direction in (FORWARD, BACKWARD)]
        return plain + masked
    if lesson == 18 and N <= 4096:  # beyond it, the reference's own random numbers take longest
        return [problem(18, direction, N, D, causal=True, dropout=DROPOUT) for direction in (FORWARD, BACKWARD)]
    return []


FAR = 65536  # tokens


def far_cases(lesson: int) -> list[Case]:
    """What no table of lengths has: of 16 bits the widest rows, grouped heads, and 64 K tokens."""
    if lesson not in (22, 24):
        return []
    direction = FORWARD if lesson == 22 else BACKWARD
    wide = [problem(22, FORWARD, LENGTHS[0], 256, causal=causal, dtype="bfloat16") for causal in (False, True)]
    return [*(wide if lesson == 22 else []),  # lesson 24 ends at 128
            problem(lesson, direction, LENGTHS[0], 128, grouped=True, causal=True, dtype="bfloat16"),
            problem(lesson, direction, FAR, 128, causal=True, dtype="bfloat16")]


def choose_cases(lessons: list[int], quick: bool = False) -> list[Case]:
    """All cases of these lessons, in the order in which they are worth knowing, so that a budget cuts off the tail.

    At the first length both orders of axes are compared, elsewhere [batch, head, seq, dim]. `quick`: the first two
    lengths, one order of axes.
    """
    chosen = []
    for N in LENGTHS[:2] if quick else LENGTHS:
        for lesson in lessons:
            chosen += [case for D in DIMS for case in cases_of(lesson, N, D)]
        if N == LENGTHS[0]:
            far = sorted((case for lesson in lessons for case in far_cases(lesson)), key=lambda case: case.N)
            chosen += [case for case in far if case.N == N or not quick]
    if not quick:
        first = [case for case in chosen if case.N == LENGTHS[0]]  # and after them 64 K tokens
        chosen[len(first):len(first)] = [dataclasses.replace(case, layout="bnhd") for case in first]
    return chosen


ERROR_LESSONS = (9, 10, 17)
ERROR_LENGTHS = (256, 1024, 4096, 16384)
SPREADS = (1.0, 4.0, 16.0, 64.0)


def error_cases(lessons: list[int], quick: bool = False) -> list[Case]:
    """Cases for errors alone: each length with data of spread 1, and each spread at 1024 tokens; D = 64."""
    chosen = []
    for lesson in (number for number in ERROR_LESSONS if number in lessons):
        sizes = [(N, 1.0) for N in ERROR_LENGTHS[:2 if quick else None]]
        sizes += [(1024, spread) for spread in SPREADS if spread != 1]
        for N, spread in sizes:
            for direction in (FORWARD, BACKWARD) if lesson == 17 else (FORWARD,):
                chosen.append(Case(lesson, direction, 1, 8, 8, N, 64, causal=lesson != 9, spread=spread))
    return chosen


def read_lessons(text: str) -> list[int]:
    """Numbers from "9", "7-10" or "7,9,15-17". Only those that attention kernels have.

    @throws ValueError with a sentence if a part is no number or names no such lesson
    """
    found = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdigit() or (dash and not last.isdigit()):
            word = part.strip() or "nothing"
            raise ValueError(f"--lessons {text}: {word} is neither a number nor a range like 7-10.")
        numbers = range(int(first), int(last if dash else first) + 1)
        known = [number for number in numbers if number in FOLDERS]
        if not known:
            raise ValueError(f"--lessons {text}: there is nothing to compare in {part.strip()}; the lessons with "
                             "attention are 7-13, 15-19, 22 and 24.")
        found.update(known)
    return sorted(found)
