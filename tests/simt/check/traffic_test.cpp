#include "simt/check/traffic.hpp"

#include <array>
#include <ostream>

#include "support/catch.hpp"

using namespace simt::check;
using simt::LaneMask;

namespace {

constexpr LaneMask kAll = ~LaneMask{0};
using Offsets = std::array<std::uint64_t, 32>;

/// offsets[lane] = place(lane), in bytes
template <class Place>
Offsets each_lane(Place place) {
  Offsets offsets{};
  for (unsigned lane = 0; lane < 32; ++lane) offsets[lane] = place(lane);
  return offsets;
}

/// Elements of that many bytes, `stride` elements apart, from element `first` on.
Offsets strided(unsigned bytes, unsigned stride, unsigned first = 0) {
  return each_lane([=](unsigned lane) { return std::uint64_t{bytes} * (first + lane * stride); });
}

unsigned sectors(const Offsets& offsets, unsigned bytes, LaneMask lanes = kAll) {
  return count_sectors(offsets.data(), lanes, bytes).touched;
}
unsigned atomic_sectors(const Offsets& offsets, unsigned bytes, LaneMask lanes = kAll) {
  return count_atomic_sectors(offsets.data(), lanes, bytes).touched;
}
unsigned load(const Offsets& offsets, unsigned bytes, LaneMask lanes = kAll) {
  return count_wavefronts(offsets.data(), lanes, bytes, true).needed;
}
unsigned store(const Offsets& offsets, unsigned bytes, LaneMask lanes = kAll) {
  return count_wavefronts(offsets.data(), lanes, bytes, false).needed;
}
unsigned atomic(const Offsets& offsets, LaneMask lanes = kAll) {
  return count_atomic_wavefronts(offsets.data(), lanes, 4).needed;
}

}  // namespace

// The numbers of these tests are an H200's: tests/simt/counters/README.md.

TEST_CASE("sectors grow with the stride until each lane has its own", "[simt][traffic]") {
  CHECK(sectors(strided(4, 1), 4) == 4);
  CHECK(sectors(strided(4, 2), 4) == 8);
  CHECK(sectors(strided(4, 3), 4) == 12);
  CHECK(sectors(strided(4, 8), 4) == 32);
  CHECK(sectors(strided(4, 33), 4) == 32);
  CHECK(sectors(strided(8, 1), 8) == 8);
  CHECK(sectors(strided(16, 1), 16) == 16);
  CHECK(sectors(strided(1, 3), 1) == 3);
  CHECK(sectors(strided(2, 1), 2) == 2);
}

TEST_CASE("a start off a sector's boundary costs one sector more", "[simt][traffic]") {
  CHECK(sectors(strided(4, 1, 1), 4) == 5);
  CHECK(sectors(strided(4, 1, 8), 4) == 4);
}

TEST_CASE("sectors do not depend on the order of the lanes", "[simt][traffic]") {
  CHECK(sectors(each_lane([](unsigned lane) { return 4 * (31 - lane); }), 4) == 4);
  CHECK(sectors(each_lane([](unsigned lane) { return 4 * (lane * 7 % 32); }), 4) == 4);
  CHECK(sectors(each_lane([](unsigned) { return 400; }), 4) == 1);
}

TEST_CASE("an access that straddles two sectors touches both", "[simt][traffic]") {
  CHECK(sectors(strided(4, 1), 8, 1u << 7) == 2);
}

TEST_CASE("lanes that take no part count for nothing", "[simt][traffic]") {
  CHECK(sectors(strided(4, 8), 4, 0xffu) == 8);
  CHECK(sectors(strided(4, 1), 4, 0x101u) == 2);
  CHECK(load(strided(4, 32), 4, 0xffu) == 8);
  CHECK(load(strided(16, 1), 16, 0xffu) == 1);
}

TEST_CASE("ideal sectors hold the bytes that were asked for, and are never more than those touched",
          "[simt][traffic]") {
  CHECK(count_sectors(strided(4, 8).data(), kAll, 4).ideal == 4);
  CHECK(count_sectors(strided(4, 1).data(), 0x1ffu, 4).ideal == 2);
  CHECK(count_sectors(each_lane([](unsigned) { return 0; }).data(), kAll, 4).ideal == 1);
}

TEST_CASE("a global atomic visits a sector once for each lane that meets others at one address",
          "[simt][traffic]") {
  CHECK(atomic_sectors(strided(4, 1), 4) == 4);
  CHECK(atomic_sectors(each_lane([](unsigned) { return 0; }), 4) == 32);
  CHECK(atomic_sectors(each_lane([](unsigned lane) { return lane % 2 * 4; }), 4) == 16);
  CHECK(atomic_sectors(each_lane([](unsigned lane) { return lane % 2 * 32; }), 4) == 32);
  CHECK(atomic_sectors(each_lane([](unsigned) { return 0; }), 4, 0x7u) == 3);
}

TEST_CASE("lanes with different words of one bank wait for each other", "[simt][traffic]") {
  CHECK(load(strided(4, 1), 4) == 1);
  CHECK(load(strided(4, 2), 4) == 2);
  CHECK(load(strided(4, 3), 4) == 1);
  CHECK(load(strided(4, 8), 4) == 8);
  CHECK(load(strided(4, 32), 4) == 32);
  CHECK(load(strided(4, 33), 4) == 1);
}

TEST_CASE("lanes with one word share it", "[simt][traffic]") {
  CHECK(load(each_lane([](unsigned) { return 12; }), 4) == 1);
  CHECK(load(strided(1, 1), 1) == 1);
  CHECK(load(each_lane([](unsigned lane) { return lane % 2 * 128; }), 4) == 2);
}

TEST_CASE("8 bytes go by half warps and 16 bytes by quarter warps", "[simt][traffic]") {
  CHECK(load(strided(8, 1), 8) == 2);
  CHECK(load(strided(8, 2), 8) == 4);
  CHECK(load(strided(8, 17), 8) == 2);
  CHECK(load(strided(16, 1), 16) == 4);
  CHECK(load(strided(16, 2), 16) == 8);
  CHECK(load(strided(16, 32), 16) == 32);
}

TEST_CASE("wide loads whose lanes meet in pairs go twice as many lanes at a time, stores never",
          "[simt][traffic]") {
  const Offsets all_at_one = each_lane([](unsigned) { return 0; });
  CHECK(load(all_at_one, 8) == 1);
  CHECK(load(all_at_one, 16) == 2);
  CHECK(store(all_at_one, 8) == 2);
  CHECK(store(all_at_one, 16) == 4);
  CHECK(load(each_lane([](unsigned lane) { return lane / 2 * 8; }), 8) == 1);
  CHECK(load(each_lane([](unsigned lane) { return lane % 16 * 8; }), 8) == 2);
  CHECK(load(each_lane([](unsigned lane) { return lane % 16 * 16; }), 16) == 4);
}

TEST_CASE("conflicts are what a column of an unpadded tile costs", "[simt][traffic]") {
  const auto column = [](unsigned row_words) { return strided(4, row_words); };
  const Wavefronts unpadded = count_wavefronts(column(32).data(), kAll, 4, true);
  CHECK(32 * (unpadded.needed - unpadded.ideal) == 992);
  const Wavefronts padded = count_wavefronts(column(33).data(), kAll, 4, true);
  CHECK(padded.needed == padded.ideal);
}

TEST_CASE("a shared atomic serves one lane of each bank at a time, whether or not the words differ",
          "[simt][traffic]") {
  CHECK(atomic(strided(4, 1)) == 1);
  CHECK(atomic(strided(4, 2)) == 2);
  CHECK(atomic(each_lane([](unsigned) { return 0; })) == 32);
  CHECK(atomic(each_lane([](unsigned lane) { return lane % 8 * 4; })) == 4);
  CHECK(atomic(each_lane([](unsigned) { return 0; }), 0xfu) == 4);
}
