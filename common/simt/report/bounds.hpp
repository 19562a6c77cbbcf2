#pragma once
/// @file
/// How many cycles the units of a multiprocessor need at least for what was counted, each unit by itself and
/// as if it were never idle. Rates of an H200: NVIDIA H100 Tensor Core GPU Architecture, dense products, at
/// the clock of the published peaks.

#include <array>
#include <cstddef>

#include "simt/profile.hpp"

namespace simt::report {

enum class Unit : std::size_t { tensor, floats, special, shared };
inline constexpr std::size_t kUnits = 4;
inline constexpr const char* kUnitNames[kUnits] = {"tensor cores", "float32 units", "special-function units",
                                                   "shared memory"};

/// Multiply-adds a cycle, of tensor cores by format.
inline constexpr double kFloat16Rate = 2048, kTf32Rate = 1024, kByteRate = 4096, kF64Rate = 128;
/// Lanes a cycle.
inline constexpr double kFloatRate = 128, kSpecialRate = 16;

using Cycles = std::array<double, kUnits>;

/// @brief Cycles of one multiprocessor, by unit.
inline Cycles least_cycles(const Counters& counters) {
  const auto number = [](std::uint64_t count) { return static_cast<double>(count); };
  constexpr double kLanes = 32;  // an instruction takes its time for all lanes, whichever are active
  return {number(counters.matrix_float16) / kFloat16Rate + number(counters.matrix_tf32) / kTf32Rate +
              number(counters.matrix_float8 + counters.matrix_integer8) / kByteRate +
              number(counters.matrix_f64) / kF64Rate,
          number(counters.float_instructions) * kLanes / kFloatRate,
          number(counters.special_instructions) * kLanes / kSpecialRate,
          number(counters.shared_load.wavefronts + counters.shared_store.wavefronts +
                 counters.shared_atomic.wavefronts)};  // a wavefront is 128 bytes: one a cycle
}

/// @brief The unit that takes longest.
inline Unit busiest(const Cycles& cycles) {
  std::size_t most = 0;
  for (std::size_t unit = 1; unit < kUnits; ++unit)
    if (cycles[unit] > cycles[most]) most = unit;
  return static_cast<Unit>(most);
}

}  // namespace simt::report
