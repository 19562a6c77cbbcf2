#pragma once
/// @file
/// Random numbers that depend on nothing but where they are asked for: Philox4x32-10 (Salmon et al. 2011,
/// "Parallel Random Numbers: As Easy as 1, 2, 3"). A thread needs no state, and two kernels that ask for the
/// same place get the same number.

#include <cuda_runtime.h>

#include <cstdint>

namespace course::device {

// [philox]
/// @brief Four random words of 32 bits for a place (`counter`) and a seed (`key`): a bijection of the counter
/// for each key, in ten rounds. Cost: 20 products of 32 bits with results of 64, and 40 exclusive ors.
inline __host__ __device__ void philox(const std::uint32_t (&counter)[4], std::uint64_t key,
                                       std::uint32_t (&random)[4]) {
  constexpr std::uint32_t kMultiplier0 = 0xd2511f53u, kMultiplier1 = 0xcd9e8d57u;
  constexpr std::uint32_t kWeyl0 = 0x9e3779b9u, kWeyl1 = 0xbb67ae85u;  // the golden ratio and sqrt(3) - 1
  std::uint32_t x0 = counter[0], x1 = counter[1], x2 = counter[2], x3 = counter[3];
  std::uint32_t key0 = static_cast<std::uint32_t>(key), key1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{kMultiplier0} * x0,
                        product1 = std::uint64_t{kMultiplier1} * x2;
    x0 = static_cast<std::uint32_t>(product1 >> 32) ^ x1 ^ key0;
    x1 = static_cast<std::uint32_t>(product1);
    x2 = static_cast<std::uint32_t>(product0 >> 32) ^ x3 ^ key1;
    x3 = static_cast<std::uint32_t>(product0);
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  random[0] = x0;
  random[1] = x1;
  random[2] = x2;
  random[3] = x3;
}
// [philox]

}  // namespace course::device
