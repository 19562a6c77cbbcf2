#pragma once
// Philox4x32-10 (Salmon et al. 2011): four random words for a counter and a key.

#include <cstdint>

namespace simt::shim {

struct PhiloxWords {
  std::uint32_t at[4];
};

inline PhiloxWords philox(PhiloxWords counter, std::uint32_t key0, std::uint32_t key1) noexcept {
  auto& [x0, x1, x2, x3] = counter.at;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xd2511f53u} * x0,
                        product1 = std::uint64_t{0xcd9e8d57u} * x2;
    x0 = static_cast<std::uint32_t>(product1 >> 32) ^ x1 ^ key0;
    x2 = static_cast<std::uint32_t>(product0 >> 32) ^ x3 ^ key1;
    x1 = static_cast<std::uint32_t>(product1);
    x3 = static_cast<std::uint32_t>(product0);
    key0 += 0x9e3779b9u;  // the golden ratio
    key1 += 0xbb67ae85u;  // sqrt(3) - 1
  }
  return counter;
}

}  // namespace simt::shim
