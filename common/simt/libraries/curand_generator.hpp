#pragma once
/// @file
/// A generator of cuRAND for host code, and Sobol's sequences.

#include <cstdint>
#include <random>

#include "simt/runtime/context.hpp"
#include "simt/shim/curand_api.h"

struct curandGenerator_st {
  curandRngType type = CURAND_RNG_PSEUDO_XORWOW;
  bool fills_host_memory = false;
  cudaStream_t stream = nullptr;
  std::uint64_t seed = 0, place = 0;  ///< the place is that of the next word, in each dimension
  unsigned dimensions = 1;            ///< of a quasi-random generator
  std::mt19937 twister{0};            ///< at that place
};

namespace simt {

constexpr unsigned kSobolDimensions = 3667;

/// The direction vectors of a dimension, which is counted from 0: 32 of 32 bits, or 64 of 64.
const std::uint32_t* sobol_vectors_32(unsigned dimension);
const std::uint64_t* sobol_vectors_64(unsigned dimension);

}  // namespace simt
