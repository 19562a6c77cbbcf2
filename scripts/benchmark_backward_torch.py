#!/usr/bin/env python3
"""Times naive attention with autograd in PyTorch on a GPU, forward and backward, in float32 without TF32; prints JSON.

S = Q·Kᵀ·scale, a causal mask if there is one, softmax, P·V, and autograd's gradients of Q, K and V for a given dO. The
sizes are those of the benchmark of lesson 17. `extra_bytes` is the most memory in use during both passes beside the
inputs Q, K, V and dO. Needs PyTorch and a GPU.

Usage: scripts/benchmark_backward_torch.py > docs/results/17_full_backward_torch_h200.json
"""

import datetime
import json

import torch

BATCHES, HEADS = 4, 16
WARMUPS, REPETITIONS = 5, 20


def attend(Q, K, V, scale, hidden):
    S = torch.matmul(Q, K.transpose(-2, -1)) * scale
    if hidden is not None:
        S = S.masked_fill(hidden, float("-inf"))
    return torch.matmul(torch.softmax(S, dim=-1), V)


def median(times):
    times = sorted(times)
    return 0.5 * (times[(len(times) - 1) // 2] + times[len(times) // 2])


def milliseconds_of_passes(forward, dO, inputs):
    """Medians of the forward pass, of the backward pass, and of both together."""
    each = []
    for repetition in range(WARMUPS + REPETITIONS):
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        marks[0].record()
        O = forward()
        marks[1].record()
        torch.autograd.grad(O, inputs, dO)
        marks[2].record()
        marks[2].synchronize()
        del O
        if repetition >= WARMUPS:
            each.append([marks[0].elapsed_time(marks[1]), marks[1].elapsed_time(marks[2]),
                         marks[0].elapsed_time(marks[2])])
    return [round(median(times), 4) for times in zip(*each)]


def measure(N, D, causal):
    Q, K, V, dO = (torch.rand(BATCHES, HEADS, N, D, device="cuda") * 2 - 1 for _ in range(4))
    inputs = [x.requires_grad_() for x in (Q, K, V)]
    hidden = torch.ones(N, N, dtype=torch.bool, device="cuda").triu(1) if causal else None

    def forward():
        return attend(Q, K, V, D**-0.5, hidden)

    forward_ms, backward_ms, both_ms = milliseconds_of_passes(forward, dO, inputs)
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    torch.autograd.grad(forward(), inputs, dO)
    return {"N": N, "D": D, "causal": causal, "forward_milliseconds": forward_ms, "backward_milliseconds": backward_ms,
            "milliseconds": both_ms, "extra_bytes": torch.cuda.max_memory_allocated() - before}


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    results = [measure(4096, D, causal) for D in (64, 128) for causal in (True, False)]
    print(json.dumps({"lesson": 17, "gpu": torch.cuda.get_device_name(0), "torch": torch.__version__,
                      "cuda": torch.version.cuda, "date": datetime.date.today().isoformat(), "tf32": False,
                      "batches": BATCHES, "heads": HEADS, "torch_naive_attention_with_autograd": results}, indent=2))


if __name__ == "__main__":
    main()
