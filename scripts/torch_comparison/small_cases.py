"""The problems of scripts/compare_triton.py: lessons 01, 05, 06 and 30. Needs no PyTorch."""

import dataclasses

PAGE = 64  # tokens
TOKENS = 262144  # of all sequences of lesson 30, 64 sequences at most


@dataclasses.dataclass(frozen=True)
class SmallCase:
    """One problem. `sizes`: of 01 (n), of 05 (rows, cols), of 06 (M, N, K), of 30 (B, H, H_kv, N, D)."""

    lesson: int
    sizes: tuple
    dtype: str = "float32"

    def label(self) -> str:
        names = {1: ("n",), 5: ("rows", "cols"), 6: ("M", "N", "K"), 30: ("B", "H", "H_kv", "N", "D")}[self.lesson]
        words = [f"{name} {size}" for name, size in zip(names, self.sizes, strict=True)]
        return ", ".join([f"{self.lesson:02}", *words, *([self.dtype] if self.dtype != "float32" else [])])

    def operations(self) -> int:
        """Where they are what counts: of a product of matrices."""
        return 2 * self.sizes[0] * self.sizes[1] * self.sizes[2] if self.lesson == 6 else 0

    def bytes(self) -> int:
        """What has to be moved: inputs and results once; of lesson 30 the cache."""
        if self.lesson == 1:
            return 12 * self.sizes[0]
        if self.lesson == 5:
            return 8 * self.sizes[0] * self.sizes[1]
        if self.lesson == 6:
            M, N, K = self.sizes
            return 4 * (M * K + K * N + M * N)
        B, _, H_kv, N, D = self.sizes
        return 2 * B * H_kv * N * D * (4 if self.dtype == "float32" else 2)

    def as_json(self) -> dict:
        return {**dataclasses.asdict(self), "label": self.label(), "operations": self.operations(), "bytes": self.bytes()}


def decoding(N: int, H: int, dtype: str = "bfloat16") -> SmallCase:
    return SmallCase(30, (min(TOKENS // N, 64), H, 8, N, 128), dtype)


CASES = [
    SmallCase(1, (1 << 28,)), decoding(32768, 64), SmallCase(6, (4096, 4096, 4096)), SmallCase(5, (1 << 16, 4096)),
    decoding(8192, 64), decoding(32768, 8), decoding(32768, 32), decoding(131072, 64), decoding(1024, 64),
    decoding(32768, 64, "float32"), SmallCase(6, (8192, 8192, 8192)), SmallCase(6, (1024, 1024, 1024)),
    SmallCase(5, (1 << 20, 256)), SmallCase(5, (1 << 14, 16384)), SmallCase(5, (1 << 8, 1 << 20)),
]  # fmt: skip
