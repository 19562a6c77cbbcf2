#pragma once
/// @file
/// Configurations and sizes of lesson 23: in words, in arrays, and drawn.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "23_autotuning/autotuning.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_23 {

inline constexpr ProblemSize kLarge{4096, 4096, 4096}, kLarge16{4096, 4096, 4096, Type::bfloat16};

std::string text_of(const Configuration& c);
std::string text_of(const ProblemSize& size);

Configuration row_of(const Tensor<int>& rows, std::int64_t i);

bool contains(std::span<const Configuration> list, const Configuration& c);

/// Where this one of kCompiled stands.
std::size_t place_of(const Configuration& c);

std::int64_t tiles_of(const ProblemSize& size, const Configuration& c);

Type drawn_type(Random& random);
ProblemSize drawn_size(Random& random, std::int64_t least, std::int64_t most);

/// Of one of kCompiled, of that type.
std::size_t random_index(Type type, Random& random);

/// None of kCompiled: one of them with another number in one place.
Configuration unknown_configuration(Type type, Random& random);

/// Configurations that are not in kCompiled, and that nobody knows beforehand.
std::vector<Configuration> other_configurations();

}  // namespace course::lesson_23
