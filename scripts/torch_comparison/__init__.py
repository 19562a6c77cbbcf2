"""What scripts/compare_torch.py is made of: the kernels of the lessons beside PyTorch on one GPU.

cases      which problems there are, their operations and bytes
library    builds a lesson's library and calls its entries, without a copy
reference  attention and its gradients in float64, chunk by chunk
baselines  the same problem in PyTorch, one way each
twins      the lessons' twins in Triton on the same tensors
measure    times, memory, clocks
judge      one case from tensors to numbers
worker     the process that has the GPU
client     the process that asks it, case by case
tables     results in words
results    the files that results are kept in
"""
