#pragma once
/// @file
/// How far a kernel's copies run ahead, with as many stages as it is to have.

#include <cstdint>

namespace course::products {

/// How many bytes of its own copies a thread has under way on average while it works on one of `rounds`, of
/// which each takes `bytes` and the next stages - 1 are on their way.
double ahead_on_average(std::int64_t rounds, int stages, std::int64_t bytes);

/// `sum` is of CopiesAhead, `accessed` how many bytes were accessed.
double mean_ahead(std::uint64_t sum, std::uint64_t accessed);

}  // namespace course::products
