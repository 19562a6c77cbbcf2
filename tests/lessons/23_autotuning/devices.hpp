#pragma once
/// @file
/// The devices of lesson 23's tests.

#include "23_autotuning/autotuning.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

inline const Device kH100{.name = "H100"};
inline const Device kA100{
    .name = "A100", .multiprocessors = 108, .shared_bytes = 164 * 1024, .block_shared_bytes = 163 * 1024};
inline const Device kL40{.name = "L40",
                         .multiprocessors = 142,
                         .warps = 48,
                         .blocks = 24,
                         .shared_bytes = 100 * 1024,
                         .block_shared_bytes = 99 * 1024};

/// As the entries take them.
Tensor<int> limits_of(const Device& d);

/// A device whose limits nobody knows beforehand.
Device random_device(Random& random);

}  // namespace course::lesson_23
