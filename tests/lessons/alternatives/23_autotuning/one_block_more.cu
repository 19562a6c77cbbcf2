// Alternative for lesson 23: blocks are counted by putting one more into a multiprocessor until it does not
// fit; the search collects all costs first.

#include "autotuning.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdio>
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

Usage usage_of(const Configuration& configuration) {
  const int threads = 32 * configuration.warps;
  const int sums =
      configuration.rows * configuration.cols / threads;  // elements of C in a thread's registers
  if (configuration.type == Type::bfloat16)
    return {threads, device::tensor_core_matmul_registers(sums),
            2 * configuration.stages * configuration.depth * (configuration.rows + configuration.cols)};
  const int slab_floats = configuration.depth * (configuration.rows + 4 + configuration.cols + 4);
  return {threads, device::staged_matmul_registers(sums),
          static_cast<int>(sizeof(float)) * configuration.stages * slab_floats};
}

/// The smallest multiple of `unit` that is not less than x.
int round_up(int x, int unit) { return (x + unit - 1) / unit * unit; }

int blocks_per_multiprocessor(const Usage& usage, const Device& device) {
  if (usage.threads < 1 || usage.registers < 1 || usage.shared_bytes < 0)
    throw std::invalid_argument("A kernel has threads and registers, but this usage has " +
                                std::to_string(usage.threads) + " threads, " +
                                std::to_string(usage.registers) + " registers and " +
                                std::to_string(usage.shared_bytes) + " bytes of shared memory.");
  if (usage.threads > device.block_threads || usage.registers > device.thread_registers ||
      usage.shared_bytes > device.block_shared_bytes)
    return 0;
  const int warps = round_up(usage.threads, 32) / 32;
  const int warp_registers = round_up(32 * usage.registers, kRegisterUnit);
  const int block_bytes = round_up(usage.shared_bytes + device.reserved_shared_bytes, kSharedUnit);

  std::array<int, kPartitions> registers_left;
  registers_left.fill(device.registers / kPartitions);
  int blocks = 0, warps_left = device.warps, bytes_left = device.shared_bytes;
  while (blocks < device.blocks && warps_left >= warps && bytes_left >= block_bytes) {
    for (int warp = 0; warp < warps; ++warp) {  // each goes where the most registers are left
      int& most = *std::max_element(registers_left.begin(), registers_left.end());
      if (most < warp_registers) return blocks;
      most -= warp_registers;
    }
    ++blocks, warps_left -= warps, bytes_left -= block_bytes;
  }
  return blocks;
}

std::vector<Configuration> configurations(const ProblemSize& size, const Device& device) {
  /// Whether at least half of a tile's side can lie within C.
  const auto fits = [](int tile, std::int64_t side) { return tile <= 2 * side || tile == kSmallestTile; };
  std::vector<Configuration> candidates;
  for (const Configuration& configuration : kCompiled) {
    if (configuration.type != size.type) continue;
    if (!fits(configuration.rows, size.M) || !fits(configuration.cols, size.N)) continue;
    if (blocks_per_multiprocessor(usage_of(configuration), device) == 0) continue;
    candidates.push_back(configuration);
  }
  return candidates;
}

// --- The kernels, and how long they take ---

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

constexpr const char* kTypeNames[] = {"float32", "bfloat16"};  // in the order of Type

std::string text_of(const Configuration& configuration) {
  std::ostringstream text;
  text << kTypeNames[static_cast<int>(configuration.type)] << ' ' << configuration.rows << ' '
       << configuration.cols << ' ' << configuration.depth << ' ' << configuration.warps << ' '
       << configuration.stages;
  return text.str();
}

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
  const std::int64_t across = (C.shape[1] - 1) / configuration.cols + 1;
  const std::int64_t down = (C.shape[0] - 1) / configuration.rows + 1;
  const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, usage.shared_bytes);
  if (allowed != cudaSuccess) cudaGetLastError();  // else the next launch that is checked would report it
  CUDA_CHECK(allowed);
  kernel<<<static_cast<unsigned>(across * down), usage.threads, usage.shared_bytes>>>(
      A, B, C, static_cast<unsigned>(across));
  CUDA_CHECK(cudaGetLastError());
}

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

/// T is float or bfloat16.
template <class T>
double median_of_calls(const View<const T, 2>& A, const View<const T, 2>& B, const View<float, 2>& C,
                       const Configuration& configuration) {
  const Event begin, end;
  std::array<float, kRepetitions> times = {};
  matmul_with(A, B, C, configuration);
  for (float& time : times) {
    CUDA_CHECK(cudaEventRecord(begin.get()));
    matmul_with(A, B, C, configuration);
    CUDA_CHECK(cudaEventRecord(end.get()));
    CUDA_CHECK(cudaEventSynchronize(end.get()));  // the launch has returned long before the kernel ends
    CUDA_CHECK(cudaEventElapsedTime(&time, begin.get(), end.get()));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

double milliseconds(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                    const Configuration& configuration) {
  return median_of_calls(A, B, C, configuration);
}
double milliseconds(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                    const Configuration& configuration) {
  return median_of_calls(A, B, C, configuration);
}

// --- The search ---

Configuration best_configuration(const ProblemSize& size, const Device& device, const Cost& cost,
                                 Cache& cache) {
  const std::vector<Configuration> candidates = configurations(size, device);
  const CacheKey key{device.name, size};
  const auto known = cache.find(key);
  if (known != cache.end() &&
      std::find(candidates.begin(), candidates.end(), known->second) != candidates.end())
    return known->second;

  std::vector<std::pair<double, std::size_t>> measured;  // equal costs stay in the order of the list
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    double own = NAN;
    try {
      own = cost(candidates[i]);
    } catch (const std::runtime_error&) {
    }
    if (std::isfinite(own)) measured.emplace_back(own, i);
  }
  if (measured.empty()) throw std::runtime_error("No configuration runs on " + device.name + ".");
  const Configuration best = candidates[std::min_element(measured.begin(), measured.end())->second];
  cache.insert_or_assign(key, best);
  return best;
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
    if (key.device.find_first_of(" \t\n\v\f\r") == 0 || key.device.empty() ||
        key.device.find('\n') != std::string::npos)
      throw std::invalid_argument("The cache cannot hold the device name \"" + key.device + "\".");
    lines << text_of(configuration) << ' ' << key.size.M << ' ' << key.size.N << ' ' << key.size.K << ' '
          << key.device << '\n';
  }
  return first_line(lines.str()) + '\n' + lines.str();
}

/// Reads the name of a type; of another word, the stream becomes false.
std::istream& operator>>(std::istream& stream, Type& type) {
  std::string name;
  stream >> name;
  const auto* found = std::find(std::begin(kTypeNames), std::end(kTypeNames), name);
  if (found == std::end(kTypeNames)) stream.setstate(std::ios::failbit);
  type = static_cast<Type>(found - std::begin(kTypeNames));
  return stream;
}

Cache read_cache(const std::string& text, std::string& complaint) {
  complaint.clear();
  if (text.empty()) return {};
  const std::size_t end = text.find('\n');
  const std::string first = text.substr(0, end);
  const std::string lines = end == std::string::npos ? "" : text.substr(end + 1);
  if (first != first_line(lines)) {
    const bool ours = first.rfind("course-autotuning ", 0) == 0;
    const bool version_1 = first.rfind("course-autotuning 1 ", 0) == 0;
    complaint = version_1 ? "The cache is damaged: its checksum is another one."
                : ours    ? "The cache has another version than 1."
                          : "This is no cache: the first line is not \"course-autotuning 1\" and a checksum.";
    return {};
  }
  Cache cache;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    Configuration c = {};
    CacheKey key = {};
    words >> c.type >> c.rows >> c.cols >> c.depth >> c.warps >> c.stages;
    words >> key.size.M >> key.size.N >> key.size.K;
    const bool is_separate = std::isspace(words.peek()) != 0;
    words >> std::ws;
    key.size.type = c.type;
    if (!is_separate || !std::getline(words, key.device) || !index_of(c)) {
      complaint = "The cache has a line that is no entry: \"" + line + "\".";
      return {};
    }
    cache[key] = c;
  }
  return cache;
}

}  // namespace course
