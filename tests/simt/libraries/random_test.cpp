#include "simt/shim/simt_random_abi.h"

#include "support/catch.hpp"

namespace {

bool same(const SimtXorwow& a, const SimtXorwow& b) {
  for (int word = 0; word < 5; ++word)
    if (a.x[word] != b.x[word]) return false;
  return a.counter == b.counter;
}

}  // namespace

TEST_CASE("xorwow steps as Marsaglia wrote it", "[random]") {
  SimtXorwow state{{123456789u, 362436069u, 521288629u, 88675123u, 5783321u}, 6615241u};
  std::uint32_t x = 123456789u, y = 362436069u, z = 521288629u, w = 88675123u, v = 5783321u, d = 6615241u;
  for (int step = 0; step < 1000; ++step) {
    const std::uint32_t t = x ^ (x >> 2);
    x = y, y = z, z = w, w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    REQUIRE(simt::shim::next(state) == (d += 362437u) + v);
  }
}

TEST_CASE("a leap of xorwow is as many steps", "[random]") {
  for (const std::uint64_t steps : {0u, 1u, 2u, 31u, 32u, 33u, 1000u, 65537u}) {
    SimtXorwow walked = simt_xorwow(7, 0, 0);
    for (std::uint64_t step = 0; step < steps; ++step) simt::shim::next(walked);
    CHECK(same(walked, simt_xorwow_skip(simt_xorwow(7, 0, 0), 0, steps)));
    CHECK(same(walked, simt_xorwow(7, 0, steps)));
  }
}

TEST_CASE("a subsequence of xorwow is 2^67 steps", "[random]") {
  SimtXorwow leapt = simt_xorwow(7, 0, 0);
  for (int half = 0; half < 16; ++half) leapt = simt_xorwow_skip(leapt, 0, std::uint64_t{1} << 63);
  CHECK(same(leapt, simt_xorwow(7, 1, 0)));
  CHECK(same(simt_xorwow_skip(simt_xorwow(7, 5, 0), 6, 0), simt_xorwow(7, 11, 0)));
  CHECK_FALSE(same(simt_xorwow(7, 0, 0), simt_xorwow(8, 0, 0)));
}
