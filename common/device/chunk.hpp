#pragma once
/// @file
/// Eight numbers of 16 bits that are read at once.

#include <cuda_runtime.h>

#include "device/float16.hpp"

namespace course::device {

/// Eight neighbours of a row, in pairs.
template <class T>
struct alignas(16) Chunk {
  pair_of<T> pairs[4];
};

/// @brief The chunk that begins at `from`, at a multiple of 16 bytes.
template <class T>
__device__ Chunk<T> chunk_at(const T* from) {
  Chunk<T> chunk;
  *reinterpret_cast<uint4*>(&chunk) = *reinterpret_cast<const uint4*>(from);  // else nvcc reads pair by pair
  return chunk;
}

}  // namespace course::device
