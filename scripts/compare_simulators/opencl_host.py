"""Runs one OpenCL kernel on PoCL, or on Oclgrind when that wraps this program.

    opencl_host.py version
    opencl_host.py speed FILE.cl WORKLOAD REPETITIONS RESULT
    opencl_host.py case FILE.cl BLOCKS THREADS N [no_input | host_address | null | leak]...

Every case kernel takes (x, y, n): x holds i % 7, y holds zeros, n elements each.
"""

import os
import pathlib
import sys
import time

os.environ["PYOPENCL_NO_CACHE"] = "1"  # a binary from the cache has lost its source lines

import numpy as np
import pyopencl as cl

import workloads


def kernel_from(context, file):
    program = cl.Program(context, pathlib.Path(file).read_text(encoding="utf-8")).build()
    return program.all_kernels()[0]


def zeroed_buffer(context, queue, elements):
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, 4 * elements)
    cl.enqueue_copy(queue, buffer, np.zeros(elements, np.float32))
    return buffer


def time_workload(context, queue, file, name, repetitions, result_file):
    _, grid, block, _, elements, _, _ = workloads.WORKLOADS[name]
    kernel = kernel_from(context, file)
    buffers = []
    for values in workloads.inputs_of(name):
        buffers.append(cl.Buffer(context, cl.mem_flags.READ_WRITE, values.nbytes))
        cl.enqueue_copy(queue, buffers[-1], values)
    result = zeroed_buffer(context, queue, elements)
    kernel.set_args(*buffers, result)
    queue.finish()
    threads = tuple(blocks * size for blocks, size in zip(grid, block))
    best = (float("inf"), 0)
    for _ in range(repetitions):
        start, cpu_start = time.perf_counter(), time.process_time()
        cl.enqueue_nd_range_kernel(queue, kernel, threads, block)
        queue.finish()
        best = min(best, (time.perf_counter() - start, time.process_time() - cpu_start))
    print(f"kernel: {best[0]:.6f} s, {best[1]:.6f} s of CPU time, best of {repetitions}")
    values = np.empty(elements, np.float32)
    cl.enqueue_copy(queue, values, result)
    values.tofile(result_file)


def run_case(context, queue, file, blocks, threads, n, options):
    kernel = kernel_from(context, file)
    values = (np.arange(n) % 7).astype(np.float32)
    x = cl.Buffer(context, cl.mem_flags.READ_WRITE, values.nbytes)
    if "no_input" not in options:
        cl.enqueue_copy(queue, x, values)
    if "host_address" in options:
        x = np.uint64(values.ctypes.data)
    elif "null" in options:
        x = None
    y = zeroed_buffer(context, queue, n)
    kernel.set_args(x, y, np.int32(n))
    try:
        cl.enqueue_nd_range_kernel(queue, kernel, (blocks * threads,), (threads,))
    except cl.Error:
        pass  # a host program that looks at no error; whether anybody tells it is the question
    queue.finish()
    cl.enqueue_copy(queue, values, y)
    if "leak" in options:
        sys.stdout.flush()
        os._exit(0)  # no destructor releases x


def main():
    platforms = {platform.name: platform for platform in cl.get_platforms()}
    platform = platforms.get("Oclgrind") or platforms.get("Portable Computing Language")
    if platform is None:
        sys.exit("neither Oclgrind nor PoCL is here, but " + (", ".join(platforms) or "no platform at all"))
    device = platform.get_devices()[0]
    if sys.argv[1] == "version":
        print(platform.version)
        return
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    if sys.argv[1] == "speed":
        file, name, repetitions, result_file = sys.argv[2:]
        time_workload(context, queue, file, name, int(repetitions), result_file)
    else:
        file, blocks, threads, n = sys.argv[2:6]
        run_case(context, queue, file, int(blocks), int(threads), int(n), sys.argv[6:])


main()
