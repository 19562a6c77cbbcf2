#!/usr/bin/env python3
"""Trains a tiny transformer twice from the same weights on the same data, once with the kernels of this package and once
with PyTorch's own attention, and prints both losses.

    train_transformer.py [--steps N] [--device cpu|cuda]

The task: of a row of random letters that is written twice, tell each next letter. The first half is chance; the second
can be copied, by a model that finds the letter before it in the first half. On the CPU the kernels run in the simulator.
"""

import argparse
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn

import @NAME@ as course
from @NAME@ import pytorch

TYPE = getattr(torch, course.BUILD["types"][0])  # that the kernels take


@dataclasses.dataclass
class Size:
    """letters in the alphabet, tokens of a row, rows of a batch, layers, heads, numbers of a head"""

    alphabet: int
    tokens: int
    batch: int
    layers: int
    heads: int
    dim: int


SIZES = {"cpu": Size(alphabet=8, tokens=16, batch=8, layers=2, heads=2, dim=16),
         "cuda": Size(alphabet=64, tokens=256, batch=32, layers=2, heads=4, dim=64)}


def by_course(Q, K, V):
    return pytorch.attention(Q, K, V, causal=True)


def by_pytorch(Q, K, V):
    return F.scaled_dot_product_attention(Q, K, V, is_causal=True)


class Layer(nn.Module):
    def __init__(self, size, attend):
        super().__init__()
        self.size, self.attend = size, attend
        width = size.heads * size.dim
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.to_heads, self.from_heads = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.wider = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        heads = self.to_heads(self.norms[0](x)).unflatten(-1, (3, self.size.heads, self.size.dim))
        Q, K, V = (heads[:, :, part].transpose(1, 2).to(TYPE) for part in range(3))  # (B, H, N, D), without a copy
        x = x + self.from_heads(self.attend(Q, K, V).transpose(1, 2).flatten(2).to(x.dtype))
        return x + self.wider(self.norms[1](x))


class Transformer(nn.Module):
    def __init__(self, size, attend):
        super().__init__()
        width = size.heads * size.dim
        self.letters, self.places = nn.Embedding(size.alphabet, width), nn.Embedding(size.tokens, width)
        self.layers = nn.Sequential(*(Layer(size, attend) for _ in range(size.layers)))
        self.last = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, size.alphabet))

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.last(self.layers(self.letters(tokens) + self.places(places)))


def loss_of(model, rows):
    """Of the letters that can be known: those of the second half."""
    guesses = model(rows[:, :-1])
    half = rows.shape[1] // 2
    return F.cross_entropy(guesses[:, half - 1:].flatten(0, 1), rows[:, half:].flatten())


def train(steps, device):
    size = SIZES[device]
    torch.manual_seed(1)
    models = [Transformer(size, attend).to(device) for attend in (by_course, by_pytorch)]
    models[1].load_state_dict(models[0].state_dict())
    optimizers = [torch.optim.AdamW(model.parameters(), lr=3e-3) for model in models]
    print(f"step   {'course':>8} {'PyTorch':>8} {'apart':>8}")
    losses = []
    for step in range(steps):
        half = torch.randint(size.alphabet, (size.batch, size.tokens // 2))
        rows = torch.cat([half, half], 1).to(device)
        losses = []
        for model, optimizer in zip(models, optimizers):
            loss = loss_of(model, rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if step % max(1, steps // 10) == 0 or step == steps - 1:
            print(f"{step:4}   {losses[0]:8.4f} {losses[1]:8.4f} {abs(losses[0] - losses[1]):8.1e}", flush=True)
    return losses


def main():
    on_gpu = torch.cuda.is_available() and "gpu" in course.BUILD["backends"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if on_gpu else "cpu")
    arguments = parser.parse_args()
    if course.BUILD["backward"] is None:
        parser.exit(2, "This package has no kernels for gradients, and so cannot train.\n")
    train(arguments.steps or (100 if arguments.device == "cpu" else 500), arguments.device)


if __name__ == "__main__":
    main()
