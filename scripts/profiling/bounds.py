"""Measurements of the benchmarks, and the numbers of ncu that tell what bounds a kernel."""

import pathlib

from . import ncu
from .ncu import ROOT, ProfileError

# One shape or two of each lesson, as `./course bench` names them; what the notes quote most comes first.
MEASUREMENTS = [
    ("09_flash2_forward", "flash2_forward N=4096 D=64 H=16"),
    ("09_flash2_forward", "flash2_forward N=4096 D=128 H=16"),
    ("15_flash2_backward", "flash2_backward N=4096 D=64 H=16"),
    ("15_flash2_backward", "flash2_backward N=4096 D=128 H=16"),
    ("06_block_matmul", "matmul M=4096 N=4096 K=4096"),
    ("01_vector_add", "vector_add elements=268435456"),
    ("02_matrix_strides", "copy_rows_to_rows rows=16384 cols=16384"),
    ("02_matrix_strides", "copy_columns_to_rows rows=16384 cols=16384"),
    ("02_matrix_strides", "transpose rows=16384 cols=16384"),
    ("03_weighted_row_sum", "weighted_row_sum rows=65536 cols=4096"),
    ("04_safe_softmax", "safe_softmax rows=65536 cols=4096"),
    ("05_online_softmax", "online_softmax rows=262144 cols=1024"),
    ("05_online_softmax", "online_softmax rows=32768 cols=8192"),
    ("07_naive_attention", "naive_attention N=4096 D=64 H=16"),
    ("07_naive_attention", "naive_attention N=4096 D=128 H=16"),
    ("08_flash1_forward", "flash1_forward N=4096 D=64 H=16"),
    ("08_flash1_forward", "flash1_forward N=4096 D=128 H=16"),
    ("10_causal", "causal_attention N=4096 D=64 H=16"),
    ("10_causal", "causal_attention N=4096 D=128 H=16"),
    ("11_grouped_query", "many_queries N=4096 D=64 H=32:8 causal"),
    ("11_grouped_query", "many_queries N=4096 D=128 H=32:8 causal"),
    ("11_grouped_query", "one_query Nq=1 Nk=8192 D=128 H=32:8 causal"),
    ("12_sliding_window", "sliding_window_attention N=16384 D=64 H=16 window=1024"),
    ("12_sliding_window", "sliding_window_attention N=16384 D=128 H=16 window=1024"),
    ("13_attention_sinks", "attention_with_sinks N=16384 D=64 H=16 window=256 sinks=4"),
    ("13_attention_sinks", "attention_with_sinks N=16384 D=128 H=16 window=256 sinks=4"),
    ("14_gradients", "matmul_backward M=4096 N=4096 K=4096"),
    ("14_gradients", "softmax_backward rows=65536 cols=4096"),
    ("17_full_backward", "attention_forward N=4096 D=64 H=16 causal"),
    ("17_full_backward", "attention_forward N=4096 D=128 H=16 causal"),
    ("17_full_backward", "attention_backward N=4096 D=64 H=16 causal"),
    ("17_full_backward", "attention_backward N=4096 D=128 H=16 causal"),
    ("18_dropout", "attention_forward N=4096 D=64 H=16 causal dropout=0.1"),
    ("18_dropout", "attention_forward N=4096 D=128 H=16 causal dropout=0.1"),
    ("18_dropout", "attention_backward N=4096 D=64 H=16 causal dropout=0.1"),
    ("18_dropout", "attention_backward N=4096 D=128 H=16 causal dropout=0.1"),
    ("16_grouped_query_backward", "grouped_query_backward N=4096 D=64 H=32:8 causal"),
    ("16_grouped_query_backward", "grouped_query_backward N=4096 D=128 H=32:8 causal"),
]

OF_ACTIVE, OF_ELAPSED = "avg.pct_of_peak_sustained_active", "avg.pct_of_peak_sustained_elapsed"

# Percentages are of what the unit can do at most: in the cycles in which a multiprocessor has work, or in all.
METRICS = {
    "nanoseconds": "gpu__time_duration.sum",
    "clock_hertz": "gpc__cycles_elapsed.avg.per_second",
    "busy_multiprocessors_percent": "sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
    "occupancy_percent": f"sm__warps_active.{OF_ACTIVE}",
    "active_warps": "smsp__warps_active.avg.per_cycle_active",
    "eligible_warps": "smsp__warps_eligible.avg.per_cycle_active",
    "issue_slots_percent": f"sm__inst_issued.{OF_ACTIVE}",
    "instructions_per_cycle": "sm__inst_executed.avg.per_cycle_active",
    "warp_instructions": "smsp__inst_executed.sum",
    "lanes_per_instruction": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "fma_pipe_percent": f"sm__pipe_fma_cycles_active.{OF_ACTIVE}",
    "fma_instructions_percent": f"sm__inst_executed_pipe_fma.{OF_ACTIVE}",
    "alu_pipe_percent": f"sm__inst_executed_pipe_alu.{OF_ACTIVE}",
    "special_pipe_percent": f"sm__inst_executed_pipe_xu.{OF_ACTIVE}",
    "load_store_pipe_percent": f"sm__inst_executed_pipe_lsu.{OF_ACTIVE}",
    "l1_percent": f"l1tex__throughput.{OF_ACTIVE}",
    "l1_data_pipe_percent": f"l1tex__data_pipe_lsu_wavefronts.{OF_ACTIVE}",
    "l1_data_pipe_elapsed_percent": f"l1tex__data_pipe_lsu_wavefronts.{OF_ELAPSED}",
    "shared_data_pipe_percent": f"l1tex__data_pipe_lsu_wavefronts_mem_shared.{OF_ACTIVE}",
    "l1_requests_percent": f"l1tex__lsuin_requests.{OF_ELAPSED}",
    "l1_hit_percent": "l1tex__t_sector_hit_rate.pct",
    "l2_percent": f"lts__throughput.{OF_ELAPSED}",
    "l2_bytes": "lts__t_bytes.sum",
    "l2_hit_percent": "lts__t_sector_hit_rate.pct",
    "dram_percent": f"gpu__dram_throughput.{OF_ELAPSED}",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "sectors_a_load": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio",
    "sectors_a_store": "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_load_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "local_load_requests": "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "local_store_requests": "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "cycles_between_instructions": "smsp__average_warp_latency_per_inst_issued.ratio",
}
# Of the launch itself; ncu knows them with the sections below.
LAUNCH = {
    "registers": "launch__registers_per_thread",
    "shared_memory_bytes": "launch__shared_mem_per_block",
    "waves": "launch__waves_per_multiprocessor",
    "possible_occupancy_percent": "sm__maximum_warps_per_active_cycle_pct",
}
SECTIONS = ["LaunchStats", "Occupancy"]
# Blocks on a multiprocessor that each allows.
LIMITS = {name: f"launch__occupancy_limit_{name}" for name in ("registers", "shared_mem", "blocks", "warps")}
# Why a warp that has an instruction waits: warps for each instruction that is issued.
STALLS = ("barrier branch_resolving dispatch_stall drain imc_miss lg_throttle long_scoreboard math_pipe_throttle "
          "membar mio_throttle misc no_instruction not_selected selected short_scoreboard sleeping tex_throttle wait").split()
STALL_METRIC = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
ALL_METRICS = [*METRICS.values(), *(STALL_METRIC.format(reason) for reason in STALLS)]


def build_command(lesson: str, program: pathlib.Path) -> list:
    """What compiles a lesson's benchmark with the worked solution."""
    folder = f"tests/lessons/bench/{lesson}_bench.cu"
    command = ["nvcc", "-std=c++20", "-O3", "-lineinfo", "-arch=native", "-I", "common", "-I", "lessons",
               "-I", f"lessons/{lesson}", "-I", "tests/lessons", folder,
               f"solutions/{lesson}/{lesson.partition('_')[2]}.cu", "-o", str(program)]  # fmt: skip
    has_cublas = "<cublas_v2.h>" in (ROOT / folder).read_text(encoding="utf-8")
    return [*command, "-lcublas"] if has_cublas else command


def kernel_of(action) -> dict:
    """The numbers of one kernel."""
    kernel = ncu.launch_of(action)
    for name, metric in (METRICS | LAUNCH).items():
        kernel[name] = ncu.metric_value(action, metric)
    kernel["blocks_allowed_by"] = {name: ncu.metric_value(action, metric) for name, metric in LIMITS.items()}
    stalls = {reason: ncu.metric_value(action, STALL_METRIC.format(reason)) for reason in STALLS}
    kernel["waiting_warps"] = dict(sorted(((reason, value) for reason, value in stalls.items() if value),
                                          key=lambda item: -item[1]))
    return kernel


def profile_measurement(ncu_report, program, measurement: str, folder: pathlib.Path, seconds: float) -> list:
    """The kernels of one call of a measurement, behind one to warm up.

    @throws ProfileError if there are none
    """
    options = ["--profile-from-start", "off"]
    for section in SECTIONS:
        options += ["--section", section]
    command = [program, "--profile", "--only", measurement]
    report = folder / "measurement.ncu-rep"
    try:
        return ncu.profile(ncu_report, kernel_of, command, report, [*options, "--metrics", ",".join(ALL_METRICS)],
                           seconds)
    except ProfileError as problem:
        if "metric" not in str(problem):
            raise
        known = [metric for metric in ALL_METRICS if metric not in str(problem)]
        return ncu.profile(ncu_report, kernel_of, command, report, [*options, "--metrics", ",".join(known)], seconds)
