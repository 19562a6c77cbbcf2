#pragma once
/// @file
/// Which weights lesson 18 drops, computed without its kernels, and what wrong kernels would drop instead.

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "attention/problem.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::attention_tests {

/// @brief A probability from 0.0005 to 0.95, as often below 0.1 as above.
float drawn_dropout(Random& random);

/// Below 0, 1 and above, some of them drawn, and NaN.
std::vector<float> refused_dropouts();

/// @brief Philox4x32 as Salmon et al. (2011) define it: four random words for a counter and a key.
constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> x, std::uint64_t key,
                                              int rounds = 10) {
  auto low = static_cast<std::uint32_t>(key), high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < rounds; ++round, low += 0x9e3779b9u, high += 0xbb67ae85u) {
    const std::uint64_t a = std::uint64_t{0xd2511f53u} * x[0], b = std::uint64_t{0xcd9e8d57u} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ low, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ high, static_cast<std::uint32_t>(a)};
  }
  return x;
}

/// The counter that decides about a weight, and which of its four words does.
struct Decision {
  Int counter[4];
  Int word;
};
using Decide = std::function<Decision(Int b, Int h, Int i, Int j)>;

/// @brief As lesson 18's contract says: word j % 4 of {j / 4, i, h, b}.
Decision decision_of(Int b, Int h, Int i, Int j);

std::uint32_t word_of(const Decision& decision, std::uint64_t seed);

/// @brief The problem with dropout: a weight is dropped if its word is less than ⌊dropout · 2³²⌋.
Problem dropped(const Problem& p, float dropout, std::uint64_t seed, const Decide& decide);

/// What a well-known mistake makes of each weight, instead of the problem's factors.
struct WrongFactors {
  const char* name;
  Tensor<float> factors;
  std::string sentence;
};

/// @brief None right, though two may be alike; several may have the same name. Nothing for a problem without
/// dropout.
std::vector<WrongFactors> wrong_factors(const Problem& p);

}  // namespace course::attention_tests
