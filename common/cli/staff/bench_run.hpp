#pragma once
/// @file
/// Runs a benchmark program, and asks the GPU for its clocks.

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "grading/build/bench_results.hpp"

namespace course::cli {

struct BenchmarkCommand {
  std::filesystem::path program;
  std::filesystem::path directory;  ///< where it runs
  std::filesystem::path scratch;    ///< folder for its results on the way
  std::chrono::duration<double> timeout = std::chrono::minutes(30);
  /// Called a few times a second with what was measured so far.
  std::function<void(const grading::BenchmarkResults&)> on_progress;
};

/// How a benchmark ran.
struct BenchmarkRun {
  grading::BenchmarkResults results;  ///< also of one that did not come to its end
  std::string problem{};              ///< why it did not, in a sentence; empty if it did
};

/// @brief Runs a benchmark with caches flushed between the calls that it times, and collects its results.
/// @throws grading::MachineError if it cannot be started
/// @throws grading::Interrupted
BenchmarkRun run_benchmark(const BenchmarkCommand& benchmark);

/// @brief Clocks, power and temperature of the GPU at this bus, by nvidia-smi; nothing if that is not there
/// or does not know this GPU. Empty: of the first GPU.
/// @throws grading::Interrupted
std::optional<grading::GpuReading> read_gpu(const std::string& pci_bus_id);

}  // namespace course::cli
