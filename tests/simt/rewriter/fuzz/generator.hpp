#pragma once

#include <string>

#include "random.hpp"

namespace simt::fuzz {

/// A piece of CUDA source and what the rewriter has to make of it.
struct Sample {
  std::string source;
  std::string expected;
};

/// @brief A file of random CUDA code without mistakes, with its translation put together piece by piece.
Sample generate(Random& random);

/// @brief Some of the text's bytes changed, dropped, doubled or mixed with what matters to the rewriter.
std::string mutate(std::string text, Random& random);

}  // namespace simt::fuzz
