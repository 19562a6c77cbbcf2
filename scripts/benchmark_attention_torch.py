#!/usr/bin/env python3
"""Times the naive attention of lesson 07 in PyTorch on a GPU, in float32 without TF32, and prints JSON.

Four operations: a product, the scale, a softmax, a product. The sizes are those of the lesson's benchmark.
Needs PyTorch and a GPU.

Usage: scripts/benchmark_attention_torch.py > docs/results/07_naive_attention_torch_h200.json
"""

import datetime
import json

import torch

BATCHES, HEADS = 4, 16
WARMUPS, REPETITIONS = 5, 20


def attend(Q, K, V, scale):
    S = torch.matmul(Q, K.transpose(-2, -1)) * scale
    P = torch.softmax(S, dim=-1)
    return torch.matmul(P, V)


def median_milliseconds(work):
    times = []
    for repetition in range(WARMUPS + REPETITIONS):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        stop.record()
        stop.synchronize()
        if repetition >= WARMUPS:
            times.append(start.elapsed_time(stop))
    times.sort()
    return 0.5 * (times[REPETITIONS // 2 - 1] + times[REPETITIONS // 2])


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    results = []
    for D in (64, 128):
        for N in (1024, 2048, 4096, 8192):
            Q, K, V = (torch.rand(BATCHES, HEADS, N, D, device="cuda") * 2 - 1 for _ in range(3))
            milliseconds = median_milliseconds(lambda: attend(Q, K, V, D**-0.5))
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            attend(Q, K, V, D**-0.5)
            results.append({"N": N, "D": D, "milliseconds": round(milliseconds, 4),
                            "extra_bytes": torch.cuda.max_memory_allocated() - before})
    print(json.dumps({"lesson": 7, "gpu": torch.cuda.get_device_name(0), "torch": torch.__version__,
                      "cuda": torch.version.cuda, "date": datetime.date.today().isoformat(), "tf32": False,
                      "batches": BATCHES, "heads": HEADS, "torch_naive_attention": results}, indent=2))


if __name__ == "__main__":
    main()
