#pragma once
/// @file
/// Contract of lesson 23: which of several compiled kernels is the fastest, on this device and for this size.

#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/float16.hpp"
#include "tensor/view.hpp"

namespace course {

// [types]
/// Of the elements of A and B. C is float32.
enum class Type { float32, bfloat16 };

/// How a kernel divides the product C = A·B.
struct Configuration {
  int rows, cols;             ///< of the tile of C that a block computes
  int depth;                  ///< steps of k in one stage
  int warps;                  ///< of a block
  int stages;                 ///< slabs of A and of B in shared memory
  Type type = Type::float32;  ///< lesson 20's kernel for float32, lesson 21's for bfloat16
  bool operator==(const Configuration&) const = default;
};

/// The kernels that there are. Those that need less shared memory come first among kernels that do the same.
inline constexpr Configuration kCompiled[] = {
    {128, 128, 8, 8, 2},
    {128, 128, 8, 8, 3},
    {128, 128, 16, 8, 3},
    {128, 128, 32, 8, 4},
    {128, 64, 16, 4, 3},
    {64, 128, 16, 4, 3},
    {64, 64, 16, 2, 3},
    {64, 64, 16, 4, 3},
    {64, 64, 16, 8, 2},
    {32, 32, 16, 2, 2},
    {128, 128, 32, 4, 4, Type::bfloat16},
    {128, 256, 64, 8, 3, Type::bfloat16},  // lesson 21's
    {64, 128, 64, 4, 3, Type::bfloat16},
    {64, 64, 64, 2, 3, Type::bfloat16},
    {32, 32, 64, 1, 3, Type::bfloat16},
};
inline constexpr int kCompiledCount = sizeof(kCompiled) / sizeof(kCompiled[0]);
inline constexpr int kSmallestTile = 32;  ///< rows and columns of the smallest of them
inline constexpr int kRepetitions = 5;    ///< measurements that milliseconds() takes the median of

/// What a kernel takes of a multiprocessor.
struct Usage {
  int threads;       ///< of a block
  int registers;     ///< of a thread
  int shared_bytes;  ///< of a block
};

/// The limits of a device; as they stand here, those of an H100.
struct Device {
  std::string name;
  int multiprocessors = 132;
  int warps = 64, blocks = 32, registers = 65536;  ///< of a multiprocessor
  int shared_bytes = 228 * 1024;                   ///< of a multiprocessor
  int block_shared_bytes = 227 * 1024;             ///< that a block may ask for
  int reserved_shared_bytes = 1024;                ///< that each block takes besides, for the system
  int block_threads = 1024;                        ///< that a block may have
  int thread_registers = 255;                      ///< that a thread may have
};
inline constexpr int kPartitions = 4;      ///< of a multiprocessor; each has a quarter of the registers
inline constexpr int kRegisterUnit = 256;  ///< registers are given to warps, in multiples of this
inline constexpr int kSharedUnit = 128;    ///< shared memory is given to blocks, in multiples of this

/// A is (M, K), B is (K, N), and C is (M, N).
struct ProblemSize {
  std::int64_t M, N, K;
  Type type = Type::float32;
  auto operator<=>(const ProblemSize&) const = default;
};

/// What is to be as small as possible. Throws std::runtime_error if the configuration does not run.
using Cost = std::function<double(const Configuration&)>;

/// What earlier searches have found.
struct CacheKey {
  std::string device;  ///< its name
  ProblemSize size;
  auto operator<=>(const CacheKey&) const = default;
};
using Cache = std::map<CacheKey, Configuration>;

/// FNV-1a, 64 bits: changes with every byte of the text.
constexpr std::uint64_t checksum(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}
// [types]

// [contract]
/// @brief What the kernel of this configuration takes.
/// Threads:       32 a warp.
/// Registers:     for a thread's elements of C, device::staged_matmul_registers() says, and for bfloat16
///                device::tensor_core_matmul_registers().
/// Shared memory: for each stage and step of k the rows of A and the columns of B; in float32 4 floats of
///                padding more for each of the two.
Usage usage_of(const Configuration& configuration);

/// @brief How many blocks a multiprocessor holds at a time; 0 if not even one.
/// A warp gets 32 * registers, rounded up to kRegisterUnit, all of them in one partition. A block gets its
/// shared memory and reserved_shared_bytes, rounded up together to kSharedUnit.
/// Source: CUDA C++ Best Practices Guide, "Occupancy"; the result is that of cuda_occupancy.h (CUDA 13.0).
/// @throws std::invalid_argument if threads or registers is less than 1, or shared_bytes is negative.
int blocks_per_multiprocessor(const Usage& usage, const Device& device);

/// @brief Those of kCompiled, in their order, that are for the problem's type, of which the device holds at
/// least one block, and whose tiles are not too large: a tile has at most 2 * M rows and 2 * N columns, or
/// kSmallestTile.
std::vector<Configuration> configurations(const ProblemSize& size, const Device& device);

/// @brief The configuration of least cost among configurations(), the first of those if there are several.
/// The cost is asked once for each, in order. Those for which it throws std::runtime_error, or gives a number
/// that is not finite, are left out; any other exception passes through. The result goes to the cache. If the
/// cache has it already, and configurations() as well, the cost is not asked at all.
/// @throws std::runtime_error if none is left; the cache stays as it is.
Configuration best_configuration(const ProblemSize& size, const Device& device, const Cost& cost,
                                 Cache& cache);

/// @brief C = A·B by the kernel of this configuration.
/// Shapes: A is (M, K), B is (K, N), C is (M, N), in device memory, strides as in lesson 20. Of bfloat16, A
///         and B have rows that can be copied 16 bytes at a time, as in lesson 21. An empty C launches
///         nothing.
/// Launch: one kernel, a block for each tile of C. Returns once it has been accepted.
/// Error:  as in lessons 20 and 21; every configuration for float32 gives the same bits.
/// @throws std::invalid_argument if the configuration is none of kCompiled for this type, if A, B and C do
///         not fit together, or if rows of bfloat16 cannot be copied in this way.
/// @throws std::runtime_error if CUDA refuses the launch; no error is left behind.
void matmul_with(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                 const Configuration& configuration);
void matmul_with(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                 const Configuration& configuration);

/// @brief The time that matmul_with() takes on the device: the median of kRepetitions calls, after one that
/// does not count, each between two events.
/// @throws as matmul_with().
double milliseconds(View<const float, 2> A, View<const float, 2> B, View<float, 2> C,
                    const Configuration& configuration);
double milliseconds(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                    const Configuration& configuration);

/// @brief The cache as text: "course-autotuning 1 CHECKSUM", where the checksum of all further lines has 16
/// hexadecimal digits, and in the order of the keys a line "TYPE ROWS COLS DEPTH WARPS STAGES M N K DEVICE"
/// each, where TYPE is float32 or bfloat16.
/// @throws std::invalid_argument if a device's name is empty, begins with white space or contains a line
///         break.
std::string write_cache(const Cache& cache);

/// @brief The cache that write_cache() has written. An empty cache, and in `complaint` a sentence that says
/// why, of a text that has no such first line, another version, another checksum, a line that does not say
/// what it should, or a configuration that is none of kCompiled. Otherwise `complaint` becomes empty. An
/// empty text is an empty cache, without complaint.
Cache read_cache(const std::string& text, std::string& complaint);
// [contract]

// [calls]
// What the tests call. They run in another process, so everything is a number or an array.

inline constexpr int kTextBytes = 2048;  ///< of a text, with the zeros after it

inline Device device_of(const char* name, const int* limits) {
  return {name,      limits[0], limits[1], limits[2], limits[3],
          limits[4], limits[5], limits[6], limits[7], limits[8]};
}

inline void put_text(const std::string& text, char* buffer) {
  if (text.size() >= kTextBytes)
    throw std::length_error("This text is longer than the tests expect: " + text);
  std::memset(buffer, 0, kTextBytes);
  std::memcpy(buffer, text.data(), text.size());
}

/// A configuration as a row of kFields numbers.
inline constexpr int kFields = 6;
inline Configuration read_row(const int* row) {
  return {row[0], row[1], row[2], row[3], row[4], Type{row[5]}};
}
inline void write_row(const Configuration& c, int* to) {
  const int row[kFields] = {c.rows, c.cols, c.depth, c.warps, c.stages, static_cast<int>(c.type)};
  std::memcpy(to, row, sizeof row);
}

/// usages: (count, 3); configurations: (count, kFields).
inline void call_usage_of(const int* configurations, int* usages, int count) {
  for (int i = 0; i < count; ++i) {
    const Usage usage = usage_of(read_row(configurations + kFields * i));
    usages[3 * i] = usage.threads;
    usages[3 * i + 1] = usage.registers;
    usages[3 * i + 2] = usage.shared_bytes;
  }
}

/// usages: (count, 3); limits: (9), in the order of Device; blocks: (count).
inline void call_blocks_per_multiprocessor(const int* usages, const int* limits, int* blocks, int count) {
  const Device device = device_of("a device", limits);
  for (int i = 0; i < count; ++i)
    blocks[i] = blocks_per_multiprocessor({usages[3 * i], usages[3 * i + 1], usages[3 * i + 2]}, device);
}

/// found: (kCompiledCount, kFields), of which `count` rows are written.
inline void call_configurations(std::int64_t M, std::int64_t N, std::int64_t K, int type, const int* limits,
                                int* found, int* count) {
  *count = 0;
  for (const Configuration& c : configurations({M, N, K, Type{type}}, device_of("a device", limits))) {
    if (*count < kCompiledCount) write_row(c, found + kFields * *count);
    ++*count;
  }
}

/// The costs are those of kCompiled: kRefused throws std::runtime_error, kBroken std::logic_error, and
/// kOutOfMemory std::bad_alloc. asked counts, for each of them, how often its cost was asked for. It grows by
/// kTooLate as well if a later one came first. cache: a text, before and after.
inline constexpr double kRefused = -1, kBroken = -2, kOutOfMemory = -3;
inline constexpr int kTooLate = 1000;
inline void call_best_configuration(std::int64_t M, std::int64_t N, std::int64_t K, int type,
                                    const char* device, const int* limits, const double* costs, int* asked,
                                    int* best, char* cache) {
  for (int i = 0; i < kCompiledCount; ++i) asked[i] = 0;
  int last = 0;
  const Cost cost = [&](const Configuration& c) {
    for (int i = 0; i < kCompiledCount; ++i) {
      if (!(kCompiled[i] == c)) continue;
      asked[i] += i < last ? kTooLate + 1 : 1;
      last = i > last ? i : last;
      if (costs[i] == kRefused) throw std::runtime_error("CUDA has refused the launch.");
      if (costs[i] == kBroken) throw std::logic_error("The cost function is broken.");
      if (costs[i] == kOutOfMemory) throw std::bad_alloc();
      return costs[i];
    }
    throw std::logic_error("The cost was asked for a configuration that is none of kCompiled.");
  };
  std::string complaint;
  Cache known = read_cache(cache, complaint);
  try {
    write_row(best_configuration({M, N, K, Type{type}}, device_of(device, limits), cost, known), best);
  } catch (...) {
    put_text(write_cache(known), cache);
    throw;
  }
  put_text(write_cache(known), cache);
}

/// Calls product(A, B, C). If CUDA refuses a launch, a corner of C, for which a block is enough, comes after
/// it: an error that was left behind would be reported there.
template <class T, class Product>
void call_with_a_corner(View<const T, 2> A, View<const T, 2> B, View<float, 2> C, const Product& product) {
  try {
    product(A, B, C);
  } catch (const std::runtime_error&) {
    const auto cut = [](std::int64_t& size) { size = size < kSmallestTile ? size : kSmallestTile; };
    cut(A.shape[0]), cut(C.shape[0]), cut(B.shape[1]), cut(C.shape[1]);
    try {
      product(A, B, C);
    } catch (const std::runtime_error& error) {
      throw std::logic_error(std::string("The launch after the one that was refused fails, too: ") +
                             error.what());
    }
    throw;
  }
}

inline void call_matmul_with(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, int rows,
                             int cols, int depth, int warps, int stages) {
  call_with_a_corner(A, B, C, [&](auto a, auto b, auto c) {
    matmul_with(a, b, c, {rows, cols, depth, warps, stages});
  });
}
inline void call_matmul_with_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                                      int rows, int cols, int depth, int warps, int stages) {
  call_with_a_corner(A, B, C, [&](auto a, auto b, auto c) {
    matmul_with(a, b, c, {rows, cols, depth, warps, stages, Type::bfloat16});
  });
}

/// time: how long it is changes from call to call.
inline void call_milliseconds(View<const float, 2> A, View<const float, 2> B, View<float, 2> C, int index,
                              double* time) {
  call_with_a_corner(A, B, C,
                     [&](auto a, auto b, auto c) { *time = milliseconds(a, b, c, kCompiled[index]); });
}
inline void call_milliseconds_bfloat16(View<const bfloat16, 2> A, View<const bfloat16, 2> B, View<float, 2> C,
                                       int index, double* time) {
  call_with_a_corner(A, B, C,
                     [&](auto a, auto b, auto c) { *time = milliseconds(a, b, c, kCompiled[index]); });
}

/// text: read as a cache, which is written again.
inline void call_read_cache(const char* text, char* written, char* complaint) {
  std::string why = "no complaint";
  const Cache cache = read_cache(text, why);
  put_text(why, complaint);
  put_text(write_cache(cache), written);
}
// [calls]

}  // namespace course
