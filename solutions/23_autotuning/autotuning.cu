// Lesson 23: which of several compiled kernels is the fastest, on this device and for this size.

#include "autotuning.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/cuda_check.hpp"
#include "device/float16.hpp"
#include "device/staged_matmul.hpp"
#include "device/tensor_core_matmul.hpp"
#include "device/views.hpp"

namespace course {

// --- What a kernel takes, and how often a multiprocessor has it ---

// [usage]
Usage usage_of(const Configuration& configuration) {
  // TODO 1: threads, registers and bytes of shared memory, as the contract counts them.
  // stub| return {32, 1, configuration.stages};
  const int threads = 32 * configuration.warps;
  const int sums =
      configuration.rows * configuration.cols / threads;  // elements of C in a thread's registers
  if (configuration.type == Type::bfloat16)
    return {threads, device::tensor_core_matmul_registers(sums),
            2 * configuration.stages * configuration.depth * (configuration.rows + configuration.cols)};
  const int slab_floats = configuration.depth * (configuration.rows + 4 + configuration.cols + 4);
  return {threads, device::staged_matmul_registers(sums),
          static_cast<int>(sizeof(float)) * configuration.stages * slab_floats};
  // [done]
}
// [usage]

/// The smallest multiple of `unit` that is not less than x.
int round_up(int x, int unit) { return (x + unit - 1) / unit * unit; }

// [occupancy]
int blocks_per_multiprocessor(const Usage& usage, const Device& device) {
  if (usage.threads < 1 || usage.registers < 1 || usage.shared_bytes < 0)
    throw std::invalid_argument("A kernel has threads and registers, but this usage has " +
                                std::to_string(usage.threads) + " threads, " +
                                std::to_string(usage.registers) + " registers and " +
                                std::to_string(usage.shared_bytes) + " bytes of shared memory.");
  // TODO 2: what does the device refuse whatever else is free?
  if (usage.threads > device.block_threads || usage.registers > device.thread_registers ||
      usage.shared_bytes > device.block_shared_bytes)
    return 0;
  // [done]
  int blocks = device.blocks;
  // TODO 3: for how many blocks do the warps of a multiprocessor do?
  const int warps = round_up(usage.threads, 32) / 32;
  blocks = std::min(blocks, device.warps / warps);
  // [done]
  // TODO 4: and its registers? No warp has registers of two partitions.
  const int warp_registers = round_up(32 * usage.registers, kRegisterUnit);
  const int partition_warps = device.registers / kPartitions / warp_registers;
  blocks = std::min(blocks, kPartitions * partition_warps / warps);
  // [done]
  // TODO 5: and its shared memory? Mind what the system takes.
  const int block_bytes = round_up(usage.shared_bytes + device.reserved_shared_bytes, kSharedUnit);
  if (block_bytes > 0) blocks = std::min(blocks, device.shared_bytes / block_bytes);
  // [done]
  return blocks;
}
// [occupancy]

// [candidates]
std::vector<Configuration> configurations(const ProblemSize& size, const Device& device) {
  /// Whether at least half of a tile's side can lie within C.
  const auto fits = [](int tile, std::int64_t side) { return tile <= 2 * side || tile == kSmallestTile; };
  std::vector<Configuration> candidates;
  for (const Configuration& configuration : kCompiled) {
    // TODO 6: leave out what is for another type, what cannot run, and what would compute mostly zeros.
    // stub| static_cast<void>(fits);
    if (configuration.type != size.type) continue;
    if (!fits(configuration.rows, size.M) || !fits(configuration.cols, size.N)) continue;
    if (blocks_per_multiprocessor(usage_of(configuration), device) == 0) continue;
    // [done]
    candidates.push_back(configuration);
  }
  return candidates;
}
// [candidates]

// --- The kernels, and how long they take ---

// [kernels]
/// T is float or __nv_bfloat16.
template <class T>
using Kernel = void (*)(View<const T, 2>, View<const T, 2>, View<float, 2>, unsigned);

/// Naming a template with numbers compiles it.
template <class T, std::size_t kIndex>
constexpr Kernel<T> kernel_at() {
  constexpr Configuration c = kCompiled[kIndex];
  constexpr bool kFloat32 = c.type == Type::float32;
  if constexpr (kFloat32 != std::is_same_v<T, float>)
    return nullptr;  // it is for the other type
  else if constexpr (kFloat32)
    return device::staged_matmul_kernel<c.rows, c.cols, c.depth, c.warps, c.stages>;
  else
    return device::tensor_core_matmul_kernel<c.rows, c.cols, c.depth, c.warps, c.stages, device::Major::k,
                                             device::Major::rows, T, float>;
}

/// A list that can be chosen from at run time, in the order of kCompiled.
template <class T, std::size_t... kIndex>
constexpr std::array<Kernel<T>, kCompiledCount> compile(std::index_sequence<kIndex...>) {
  return {kernel_at<T, kIndex>()...};
}

/// Its place in kCompiled, if it is there.
std::optional<std::size_t> index_of(const Configuration& configuration) {
  const auto* found = std::find(std::begin(kCompiled), std::end(kCompiled), configuration);
  if (found == std::end(kCompiled)) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(kCompiled));
}
// [kernels]

constexpr const char* kTypeNames[] = {"float32", "bfloat16"};  // in the order of Type

std::string text_of(const Configuration& configuration) {
  std::ostringstream text;
  text << kTypeNames[static_cast<int>(configuration.type)] << ' ' << configuration.rows << ' '
       << configuration.cols << ' ' << configuration.depth << ' ' << configuration.warps << ' '
       << configuration.stages;
  return text.str();
}

// [launch]
/// T is float or __nv_bfloat16.
template <class T>
void launch(const View<const T, 2>& A, const View<const T, 2>& B, const View<float, 2>& C,
            const Configuration& configuration) {
  device::require_shape("B", B, {A.shape[1], B.shape[1]});
  device::require_shape("C", C, {A.shape[0], B.shape[1]});
  constexpr std::array<Kernel<T>, kCompiledCount> kKernels =
      compile<T>(std::make_index_sequence<kCompiledCount>());
  const std::optional<std::size_t> index = index_of(configuration);
  if (!index || kKernels[*index] == nullptr)
    throw std::invalid_argument("The configuration " + text_of(configuration) +
                                " is none of kCompiled for A and B of this type.");
  if (C.shape[0] == 0 || C.shape[1] == 0) return;

  const Kernel<T> kernel = kKernels[*index];
  const Usage usage = usage_of(configuration);
  // TODO 7: how many tiles lie across C, and how many down? Allow the kernel its shared memory. Launch it.
  // stub| static_cast<void>(kernel), static_cast<void>(usage);
  const std::int64_t across = (C.shape[1] - 1) / configuration.cols + 1;
  const std::int64_t down = (C.shape[0] - 1) / configuration.rows + 1;
  const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, usage.shared_bytes);
  if (allowed != cudaSuccess) cudaGetLastError();  // else the next launch that is checked would report it
  CUDA_CHECK(allowed);
  kernel<<<static_cast<unsigned>(across * down), usage.threads, usage.shared_bytes>>>(
      A, B, C, static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
  // [done]
}
// [launch]

void matmul_with(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                 const Configuration& configuration) {
  launch(A, B, C, configuration);
}
void matmul_with(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                 const Configuration& configuration) {
  device::require_chunks_along("A", A, 1);
  device::require_chunks_along("B", B, 1);
  launch(device::on_device(A), device::on_device(B), C, configuration);
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

// [time]
/// T is float or bfloat16.
template <class T>
double median_of_calls(const View<const T, 2>& A, const View<const T, 2>& B, const View<float, 2>& C,
                       const Configuration& configuration) {
  const Event begin, end;
  std::array<float, kRepetitions> times = {};
  // TODO 8: once for the caches and the clock. Then time each call: what does the host know once it returns?
  matmul_with(A, B, C, configuration);
  for (float& time : times) {
    CUDA_CHECK(cudaEventRecord(begin.get()));
    matmul_with(A, B, C, configuration);
    CUDA_CHECK(cudaEventRecord(end.get()));
    CUDA_CHECK(cudaEventSynchronize(end.get()));  // the launch has returned long before the kernel ends
    CUDA_CHECK(cudaEventElapsedTime(&time, begin.get(), end.get()));
  }
  // [done]
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}
// [time]

double milliseconds(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                    const Configuration& configuration) {
  return median_of_calls(A, B, C, configuration);
}
double milliseconds(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                    const Configuration& configuration) {
  return median_of_calls(A, B, C, configuration);
}

// --- The search ---

// [search]
Configuration best_configuration(const ProblemSize& size, const Device& device, const Cost& cost,
                                 Cache& cache) {
  const std::vector<Configuration> candidates = configurations(size, device);
  const CacheKey key{device.name, size};
  // TODO 9: is the answer known? May it still be given?
  const auto known = cache.find(key);
  if (known != cache.end() &&
      std::find(candidates.begin(), candidates.end(), known->second) != candidates.end())
    return known->second;
  // [done]

  std::optional<Configuration> best;
  double least = std::numeric_limits<double>::infinity();
  for (const Configuration& candidate : candidates) {
    // TODO 10: ask for its cost. Keep it if it is the best so far. What if it does not run?
    // stub| static_cast<void>(candidate), static_cast<void>(cost), static_cast<void>(least);
    try {
      const double own = cost(candidate);
      if (!std::isfinite(own) || own >= least) continue;
      best = candidate;
      least = own;
    } catch (const std::runtime_error&) {
      continue;  // it does not run here: the others may
    }
    // [done]
  }
  if (!best)
    throw std::runtime_error("None of the " + std::to_string(candidates.size()) + " configurations that " +
                             device.name + " has room for runs.");
  // TODO 11: remember it.
  cache[key] = *best;
  // [done]
  return *best;
}
// [search]

// --- The cache as text ---

/// The line that a text with these further lines begins with.
std::string first_line(const std::string& lines) {
  char line[64];
  std::snprintf(line, sizeof line, "course-autotuning 1 %016llx",
                static_cast<unsigned long long>(checksum(lines)));
  return line;
}

// [write]
std::string write_cache(const Cache& cache) {
  std::ostringstream lines;
  for (const auto& [key, configuration] : cache) {
    if (key.device.empty() || std::isspace(static_cast<unsigned char>(key.device[0])) != 0 ||
        key.device.find('\n') != std::string::npos)
      throw std::invalid_argument("The cache cannot hold the device name \"" + key.device + "\".");
    // TODO 12: the line of this entry.
    // stub| static_cast<void>(configuration);
    lines << text_of(configuration) << ' ' << key.size.M << ' ' << key.size.N << ' ' << key.size.K << ' '
          << key.device << '\n';
    // [done]
  }
  return first_line(lines.str()) + '\n' + lines.str();
}
// [write]

/// Reads the name of a type; of another word, the stream becomes false.
std::istream& operator>>(std::istream& stream, Type& type) {
  std::string name;
  stream >> name;
  const auto* found = std::find(std::begin(kTypeNames), std::end(kTypeNames), name);
  if (found == std::end(kTypeNames)) stream.setstate(std::ios::failbit);
  type = static_cast<Type>(found - std::begin(kTypeNames));
  return stream;
}

// [read]
Cache read_cache(const std::string& text, std::string& complaint) {
  complaint.clear();
  if (text.empty()) return {};
  const std::size_t end = text.find('\n');
  const std::string first = text.substr(0, end);
  const std::string lines = end == std::string::npos ? "" : text.substr(end + 1);
  // TODO 13: is it a cache, of this version, and complete? If not, say so in a sentence.
  if (first != first_line(lines)) {
    const bool ours = first.rfind("course-autotuning ", 0) == 0;
    const bool version_1 = first.rfind("course-autotuning 1 ", 0) == 0;
    complaint = version_1 ? "The cache is damaged: its checksum is another one."
                : ours    ? "The cache has another version than 1."
                          : "This is no cache: the first line is not \"course-autotuning 1\" and a checksum.";
    return {};
  }
  // [done]
  Cache cache;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Configuration c = {};
    CacheKey key = {};
    // TODO 14: read the entry. What if the line does not hold one, or its kernel is no longer there?
    words >> c.type >> c.rows >> c.cols >> c.depth >> c.warps >> c.stages;
    words >> key.size.M >> key.size.N >> key.size.K;
    const bool is_separate = std::isspace(words.peek()) != 0;  // whether K ends here: "64.5" is no number
    words >> std::ws;
    key.size.type = c.type;
    if (!is_separate || !std::getline(words, key.device) || !index_of(c)) {
      complaint = "The cache has a line that is no entry: \"" + line + "\".";
      return {};
    }
    cache[key] = c;
    // [done]
  }
  return cache;
}
// [read]

}  // namespace course
