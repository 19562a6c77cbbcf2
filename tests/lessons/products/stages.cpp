#include "products/stages.hpp"

#include <algorithm>

namespace course::products {

double ahead_on_average(std::int64_t rounds, int stages, std::int64_t bytes) {
  std::int64_t sum = 0;
  for (std::int64_t round = 0; round < rounds; ++round)
    sum += std::min<std::int64_t>(stages - 1, rounds - 1 - round);
  return static_cast<double>(sum * bytes) / static_cast<double>(rounds);
}

double mean_ahead(std::uint64_t sum, std::uint64_t accessed) {
  return static_cast<double>(sum) / static_cast<double>(std::max<std::uint64_t>(1, accessed));
}

}  // namespace course::products
