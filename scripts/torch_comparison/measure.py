"""Times by events with a cold L2, memory, and what the GPU reports of itself."""

import statistics
import subprocess
import threading
import time

import torch

WARMUPS, REPETITIONS, FEW = 5, 20, 7
PAUSE = 0.15  # seconds before a way is timed: none inherits the clocks to which the power of the one before has led
LONG = 100.0  # milliseconds: what takes longer is repeated fewer times
FLUSH_BYTES = 256 << 20  # more than any L2
FLUSHES_OF_TRITON = 4  # a launch by Triton goes through more of Python than one by PyTorch
QUERY = ("clocks.sm", "clocks.mem", "power.draw", "temperature.gpu")


class Stopwatch:
    """Times work on the default stream, the L2 overwritten before each run and outside of the events."""

    def __init__(self):
        free, _ = torch.cuda.mem_get_info()
        self.flush = torch.empty(min(FLUSH_BYTES, free // 16), dtype=torch.int8, device="cuda")

    def once(self, work, flushes: int = 1) -> float:
        for _ in range(flushes):
            self.flush.zero_()
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        work()
        stop.record()
        stop.synchronize()
        return start.elapsed_time(stop)

    def median(self, work, flushes: int = 1) -> dict:
        """Median milliseconds, how many runs it is of, and the quickest and slowest. While the L2 is overwritten, `work`
        can be launched; what takes Python longer than that needs more `flushes`, or its launch would be timed."""
        time.sleep(PAUSE)
        first = self.once(work, flushes)
        long = min(first, self.once(work, flushes)) > LONG
        for _ in range(0 if long else WARMUPS - 2):
            self.once(work, flushes)
        times = [self.once(work, flushes) for _ in range(FEW if long else REPETITIONS)]
        return {"milliseconds": round(statistics.median(times), 4), "repetitions": len(times),
                "quickest": round(min(times), 4), "slowest": round(max(times), 4)}


def extra_bytes(work) -> int:
    """The most memory that PyTorch's allocator gave out during `work`, beside what was in use before."""
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = work()
    torch.cuda.synchronize()
    del result
    return torch.cuda.max_memory_allocated() - before


def nvidia_smi(*words: str) -> list[str]:
    """The lines that nvidia-smi prints, or none if it is not there."""
    try:
        run = subprocess.run(["nvidia-smi", *words], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return run.stdout.splitlines() if run.returncode == 0 else []


def number(text: str):
    try:
        return float(text)
    except ValueError:
        return None  # "[N/A]"


def read_state(line: str) -> dict | None:
    """Clocks in MHz, power in W and temperature in degrees Celsius from a line of nvidia-smi."""
    fields = [field.strip() for field in line.split(",")]
    return dict(zip(QUERY, map(number, fields))) if len(fields) == len(QUERY) else None


class Monitor:
    """Asks nvidia-smi twice a second, beside the work, for clocks, power and temperature."""

    def __init__(self, device: str):
        self.samples, self.process = [], None
        try:
            self.process = subprocess.Popen(
                ["nvidia-smi", "-i", device, "--query-gpu=" + ",".join(QUERY), "--format=csv,noheader,nounits",
                 "-lms", "500"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            return
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            state = read_state(line)
            if state:
                self.samples.append((time.monotonic(), state))

    def since(self, start: float) -> dict | None:
        """Lowest and highest of each number since `start` on time.monotonic()'s clock; None without a sample."""
        states = [state for when, state in list(self.samples) if when >= start]
        ranges = {}
        for name in QUERY:
            values = [state[name] for state in states if state[name] is not None]
            if values:
                ranges[name] = [min(values), max(values)]
        return ranges or None

    def stop(self):
        if self.process:
            self.process.terminate()


def time_copy(stopwatch: Stopwatch, count: int) -> float:
    """Milliseconds of a copy of so many floats."""
    source = torch.randn(count, device="cuda")
    target = torch.empty_like(source)
    return stopwatch.median(lambda: target.copy_(source))["milliseconds"]


def time_product(stopwatch: Stopwatch, size: int, dtype=torch.float32) -> float:
    """Milliseconds of a product of two square matrices."""
    A, B = (torch.randn(size, size, device="cuda").to(dtype) for _ in range(2))
    C = torch.empty_like(A)
    return stopwatch.median(lambda: torch.matmul(A, B, out=C))["milliseconds"]


def ceilings(stopwatch: Stopwatch) -> dict:
    """What the device reaches at most in this process: a copy in device memory, and products by cuBLAS."""
    free, _ = torch.cuda.mem_get_info()
    count, size = min(1 << 30, free // 4) // 4, 8192 if free > 2 << 30 else 4096
    copy, product = time_copy(stopwatch, count), time_product(stopwatch, size)
    product_16 = time_product(stopwatch, size, torch.bfloat16)
    torch.cuda.empty_cache()
    return {"copy_gigabytes_per_second": round(8 * count / copy * 1e-6, 1), "copy_bytes": 4 * count,
            "matmul_teraflops": round(2 * size**3 / product * 1e-9, 2),
            "matmul_bfloat16_teraflops": round(2 * size**3 / product_16 * 1e-9, 1), "matmul_size": size}


def machine() -> dict:
    """Names and versions of GPU, driver, CUDA and PyTorch."""
    properties = torch.cuda.get_device_properties(0)
    identity = f"GPU-{properties.uuid}" if hasattr(properties, "uuid") else "0"
    if not nvidia_smi("-i", identity, "--query-gpu=name", "--format=csv,noheader"):
        identity = "0"
    driver = nvidia_smi("-i", identity, "--query-gpu=driver_version", "--format=csv,noheader")
    limits = nvidia_smi("-i", identity, "--query-gpu=power.limit,clocks.max.sm,clocks.max.mem",
                        "--format=csv,noheader,nounits")
    limits = [number(field.strip()) for field in limits[0].split(",")] if limits else []
    return {"gpu": properties.name, "capability": f"{properties.major}.{properties.minor}",
            "memory_bytes": properties.total_memory, "multiprocessors": properties.multi_processor_count,
            "driver": driver[0].strip() if driver else None, "cuda": torch.version.cuda, "torch": torch.__version__,
            "cudnn": torch.backends.cudnn.version(),
            "limits": dict(zip(("power_watts", "sm_megahertz", "memory_megahertz"), limits)) or None,
            "device": identity}
