#pragma once
/// @file
/// What a benchmark program measured, and what bounds each of its kernels.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace course::grading {

/// The unit of a multiprocessor that does a kernel's operations.
enum class Unit { float32, tensor_cores };

/// One kernel at one shape.
struct Measurement {
  std::string series;            ///< what was measured, as a name
  std::string label;             ///< the shape, for people
  nlohmann::ordered_json shape;  ///< the same, for programs
  double milliseconds = 0;       ///< median
  int repetitions = 0;
  double operations = 0;  ///< that the problem needs; a multiply-add is two
  Unit unit = Unit::float32;
  double bytes = 0;  ///< that the problem must read from device memory or write to it

  double teraflops() const { return operations / milliseconds * 1e-9; }
  double gigabytes_per_second() const { return bytes / milliseconds * 1e-6; }
};

/// A shape that was not measured.
struct LeftOut {
  std::string series, label, reason;
};

/// What a program wrote to the file of its option --lines.
struct BenchmarkResults {
  nlohmann::ordered_json machine;  ///< of the program's first line: "gpu", "driver", "cuda", "date" and more
  std::vector<Measurement> measurements;
  std::vector<LeftOut> left_out;
  bool complete = false;  ///< the program came to its end
};

/// @brief Reads the lines that a benchmark wrote so far. A last line without its end is not read.
/// @throws std::runtime_error that names the line that is none of a benchmark's
BenchmarkResults parse_benchmark(std::string_view lines);

/// The rates that kernels are held against, measured on the same GPU in the same run.
struct Ceilings {
  double copy_gigabytes_per_second = 0;              ///< bytes read and written by a copy
  std::optional<double> float32_matmul_teraflops{};  ///< of cuBLAS, without TF32; nothing if that is not here
  std::optional<double>
      bfloat16_matmul_teraflops{};  ///< of cuBLAS on tensor cores; nothing if that is not here
  std::string why_no_matmul{};      ///< a clause, where one of these rates is not there
};

/// @brief The ceilings that tests/lessons/bench/ceilings.cu measured.
/// @throws std::runtime_error if there is no rate of a copy
Ceilings ceilings_of(const BenchmarkResults& results);

/// Which of the two floors is the higher one.
enum class Limit { bytes, operations };

/// "float32" or "tensor cores".
const char* unit_name(Unit unit);

/// "bytes" or "operations".
const char* limit_name(Limit limit);

/// The time that a problem takes at the rates of the ceilings.
struct Floor {
  Limit limit = Limit::bytes;
  double milliseconds = 0;
};

/// @brief Bytes at the rate of a copy, or operations at that of a matrix product on the same unit, whichever
/// takes longer. Where the latter is unknown, only bytes count.
Floor floor_of(const Measurement& measurement, const Ceilings& ceilings);

/// What nvidia-smi reads at one moment; nothing where it says that it does not know.
struct GpuReading {
  std::optional<double> sm_megahertz, memory_megahertz, watts, celsius;
};

/// @brief Reads the answer to --query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu as csv without
/// header and units. Nothing if it is no such line.
std::optional<GpuReading> parse_gpu_reading(std::string_view answer);

}  // namespace course::grading
