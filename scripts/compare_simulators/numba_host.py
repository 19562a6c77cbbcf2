"""Runs one kernel in numba's CUDA simulator.

    numba_host.py version
    numba_host.py speed FILE.py WORKLOAD REPETITIONS RESULT
    numba_host.py case FILE.py BLOCKS THREADS N [no_input | null]...

Every case kernel takes (x, y, n): x holds i % 7, y holds zeros, n elements each.
"""

import importlib.util
import os
import sys
import time

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"

import numba
import numpy as np
from numba import cuda

import workloads


def kernel_from(file):
    spec = importlib.util.spec_from_file_location("case", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return next(value for name, value in vars(module).items() if name.endswith("_kernel"))


def time_workload(file, name, repetitions, result_file):
    _, grid, block, _, elements, _, _ = workloads.WORKLOADS[name]
    kernel = kernel_from(file)
    arrays = [cuda.to_device(values) for values in workloads.inputs_of(name)]
    result = cuda.to_device(np.zeros(elements, np.float32))
    best = (float("inf"), 0)
    for _ in range(repetitions):
        start, cpu_start = time.perf_counter(), time.process_time()
        kernel[grid, block](*arrays, result)
        cuda.synchronize()
        best = min(best, (time.perf_counter() - start, time.process_time() - cpu_start))
    print(f"kernel: {best[0]:.6f} s, {best[1]:.6f} s of CPU time, best of {repetitions}")
    result.copy_to_host().tofile(result_file)


def run_case(file, blocks, threads, n, options):
    kernel = kernel_from(file)
    x = cuda.to_device((np.arange(n) % 7).astype(np.float32))
    if "no_input" in options:
        x = cuda.device_array(n, np.float32)
    elif "null" in options:
        x = None
    kernel[blocks, threads](x, cuda.to_device(np.zeros(n, np.float32)), n)
    cuda.synchronize()


def main():
    if sys.argv[1] == "version":
        print(f"numba {numba.__version__}")
    elif sys.argv[1] == "speed":
        file, name, repetitions, result_file = sys.argv[2:]
        time_workload(file, name, int(repetitions), result_file)
    else:
        file, blocks, threads, n = sys.argv[2:6]
        run_case(file, int(blocks), int(threads), int(n), sys.argv[6:])


main()
