// Lesson 23: which of several compiled kernels is the fastest, on this device and for this size.

#include "autotuning.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device/cuda_check.hpp"
#include "device/staged_matmul.hpp"

namespace course {

// --- What a kernel takes, and how often a multiprocessor has it ---

Usage usage_of(const Configuration& configuration) {
  // TODO 1: threads, registers and bytes of shared memory, as the contract counts them.
  return {32, 1, configuration.stages};
}

/// The smallest multiple of `unit` that is not less than x.
int round_up(int x, int unit) { return (x + unit - 1) / unit * unit; }

int blocks_per_multiprocessor(const Usage& usage, const Device& device) {
  if (usage.threads < 1 || usage.registers < 1 || usage.shared_bytes < 0)
    throw std::invalid_argument("A kernel has threads and registers, but this usage has " +
                                std::to_string(usage.threads) + " threads, " +
                                std::to_string(usage.registers) + " registers and " +
                                std::to_string(usage.shared_bytes) + " bytes of shared memory.");
  // TODO 2: what does the device refuse whatever else is free?
  int blocks = device.blocks;
  // TODO 3: for how many blocks do the warps of a multiprocessor do?
  // TODO 4: and its registers? No warp has registers of two partitions.
  // TODO 5: and its shared memory? Mind what the system takes.
  return blocks;
}

std::vector<Configuration> configurations(const ProblemSize& size, const Device& device) {
  /// Whether at least half of a tile's side can lie within C.
  const auto fits = [](int tile, std::int64_t side) { return tile <= 2 * side || tile == kSmallestTile; };
  std::vector<Configuration> candidates;
  for (const Configuration& configuration : kCompiled) {
    // TODO 6: leave out what cannot run, and what would compute mostly zeros.
    static_cast<void>(fits);
    candidates.push_back(configuration);
  }
  return candidates;
}

// --- The kernels, and how long they take ---

using Kernel = void (*)(View<const float, 2>, View<const float, 2>, View<float, 2>, unsigned);

/// Naming a template with numbers compiles it: one kernel for each element of kCompiled.
template <std::size_t... kIndex>
constexpr std::array<Kernel, kCompiledCount> compile(std::index_sequence<kIndex...>) {
  return {
      device::staged_matmul_kernel<kCompiled[kIndex].rows, kCompiled[kIndex].cols, kCompiled[kIndex].depth,
                                   kCompiled[kIndex].warps, kCompiled[kIndex].stages>...};
}

/// Its place in kCompiled, if it is there.
std::optional<std::size_t> index_of(const Configuration& configuration) {
  const auto* found = std::find(std::begin(kCompiled), std::end(kCompiled), configuration);
  if (found == std::end(kCompiled)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(kCompiled));
}

std::string text_of(const Configuration& configuration) {
  std::ostringstream text;
  text << configuration.rows << ' ' << configuration.cols << ' ' << configuration.depth << ' '
       << configuration.warps << ' ' << configuration.stages;
  return text.str();
}

void require_product(const View<const float, 2>& A, const View<const float, 2>& B, const View<float, 2>& C) {
  const std::int64_t M = A.shape[0], N = B.shape[1], K = A.shape[1];
  if (B.shape[0] != K)
    throw std::invalid_argument("B must have " + std::to_string(K) +
                                " rows, as many as A has columns, but it has " + std::to_string(B.shape[0]) +
                                ".");
  if (C.shape[0] != M || C.shape[1] != N)
    throw std::invalid_argument("C must have " + std::to_string(M) + " rows and " + std::to_string(N) +
                                " columns, but it has " + std::to_string(C.shape[0]) + " and " +
                                std::to_string(C.shape[1]) + ".");
}

void matmul_with(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                 const Configuration& configuration) {
  require_product(A, B, C);
  const std::optional<std::size_t> index = index_of(configuration);
  if (!index)
    throw std::invalid_argument("The configuration " + text_of(configuration) + " is none of kCompiled.");
  if (C.shape[0] == 0 || C.shape[1] == 0) return;

  constexpr std::array<Kernel, kCompiledCount> kKernels = compile(std::make_index_sequence<kCompiledCount>());
  const Kernel kernel = kKernels[*index];
  const Usage usage = usage_of(configuration);
  // TODO 7: how many tiles lie across C, and how many down? Allow the kernel its shared memory. Launch it.
  static_cast<void>(kernel), static_cast<void>(usage);
}

/// A mark in the stream of what the device is told to do; owned.
class Event {
 public:
  Event() { CUDA_CHECK(cudaEventCreate(&event_)); }
  ~Event() { cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

double milliseconds(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                    const Configuration& configuration) {
  const Event begin, end;
  std::array<float, kRepetitions> times = {};
  // TODO 8: once for the caches and the clock. Then time each call: what does the host know once it returns?
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// --- The search ---

Configuration best_configuration(const ProblemSize& size, const Device& device, const Cost& cost,
                                 Cache& cache) {
  const std::vector<Configuration> candidates = configurations(size, device);
  const CacheKey key{device.name, size};
  // TODO 9: is the answer known? May it still be given?

  std::optional<Configuration> best;
  double least = std::numeric_limits<double>::infinity();
  for (const Configuration& candidate : candidates) {
    // TODO 10: ask for its cost. Keep it if it is the best so far. What if it does not run?
    static_cast<void>(candidate), static_cast<void>(cost), static_cast<void>(least);
  }
  if (!best)
    throw std::runtime_error("None of the " + std::to_string(candidates.size()) + " configurations that " +
                             device.name + " has room for runs.");
  // TODO 11: remember it.
  return *best;
}

// --- The cache as text ---

/// The line that a text with these further lines begins with.
std::string first_line(const std::string& lines) {
  char line[64];
  std::snprintf(line, sizeof line, "course-autotuning 1 %016llx",
                static_cast<unsigned long long>(checksum(lines)));
  return line;
}

std::string write_cache(const Cache& cache) {
  std::ostringstream lines;
  for (const auto& [key, configuration] : cache) {
    if (key.device.empty() || key.device[0] == ' ' || key.device.find('\n') != std::string::npos)
      throw std::invalid_argument("The cache cannot hold the device name \"" + key.device + "\".");
    // TODO 12: the line of this entry.
    static_cast<void>(configuration);
  }
  return first_line(lines.str()) + '\n' + lines.str();
}

Cache read_cache(const std::string& text, std::string& complaint) {
  complaint.clear();
  if (text.empty()) return {};
  const std::size_t end = text.find('\n');
  const std::string first = text.substr(0, end);
  const std::string lines = end == std::string::npos ? "" : text.substr(end + 1);
  // TODO 13: is it a cache, of this version, and complete? If not, say so in a sentence.
  Cache cache;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Configuration c = {};
    CacheKey key = {};
    // TODO 14: read the entry. What if the line does not hold one, or its kernel is no longer there?
  }
  return cache;
}

}  // namespace course
