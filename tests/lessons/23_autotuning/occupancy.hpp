#pragma once
/// @file
/// How many blocks of a kernel a multiprocessor holds, and the mistakes that are known of counting them.

#include <vector>

#include "23_autotuning/autotuning.hpp"
#include "tensor/random.hpp"

namespace course::lesson_23 {

/// A usage, and what cuda_occupancy.h (CUDA 13.0) says of it with all shared memory carved out.
struct Pair {
  Usage usage;
  int blocks;
};

/// As the contract counts them.
int blocks_of(const Usage& u, const Device& d);

void check_occupancy(const std::vector<Pair>& pairs, const Device& device);

/// Usages that nobody knows beforehand, with every number up to these.
std::vector<Pair> random_pairs(const Usage& largest, const Device& device, Random& random);

}  // namespace course::lesson_23
