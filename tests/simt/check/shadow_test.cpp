#include "simt/check/shadow.hpp"

#include "support/catch.hpp"

using namespace simt::check;

namespace {

constexpr std::uint64_t kPage = 16 * 1024;

}  // namespace

TEST_CASE("a stamp keeps when, who and where", "[simt][shadow]") {
  const Stamp stamp(4000000000u, 1023, Stamp::kMostSites - 1, true);
  CHECK(stamp.step() == 4000000000u);
  CHECK(stamp.thread() == 1023);
  CHECK(stamp.warp() == 31);
  CHECK(stamp.lane() == 31);
  CHECK(stamp.site() == Stamp::kMostSites - 1);
  CHECK(stamp.atomic());
  CHECK(stamp.with_lane(2).thread() == 31 * 32 + 2);
  CHECK(stamp.with_lane(2).site() == stamp.site());
}

TEST_CASE("a write by the host is a value without a step", "[simt][shadow]") {
  CHECK(Stamp().none());
  CHECK_FALSE(Stamp::of_host().none());
  CHECK(Stamp::of_host().step() == 0);
}

TEST_CASE("accesses of whole words have one cell a word", "[simt][shadow]") {
  Shadow shadow(4 * kPage);
  const Shadow::Units one = shadow.at(100, 4), four = shadow.at(112, 16);
  CHECK(one.count == 1);
  CHECK(one.unit_bytes == 4);
  CHECK(four.count == 4);
  CHECK(four.cell == one.cell + 3);
  CHECK(shadow.word(100) == one.cell);
}

TEST_CASE("memory that nobody touched has no cells", "[simt][shadow]") {
  Shadow shadow(4 * kPage);
  CHECK(shadow.word(0) == nullptr);
  shadow.at(0, 4);
  CHECK(shadow.word(4) != nullptr);
  CHECK(shadow.word(kPage) == nullptr);
}

TEST_CASE("the first smaller access of a page tells its bytes apart, and they inherit what their word knew",
          "[simt][shadow]") {
  Shadow shadow(4 * kPage);
  shadow.at(8, 4).cell->write = Stamp(7, 3, 1, false);
  const Shadow::Units byte = shadow.at(9, 1);
  CHECK(byte.count == 1);
  CHECK(byte.unit_bytes == 1);
  CHECK(byte.cell->write.step() == 7);
  CHECK(shadow.cell(11).write.thread() == 3);
  CHECK(shadow.cell(12).write.none());
  CHECK(shadow.word(8) == nullptr);

  byte.cell->write = Stamp(9, 4, 1, false);
  CHECK(shadow.cell(9).write.step() == 9);
  CHECK(shadow.cell(10).write.step() == 7);
  const Shadow::Units word = shadow.at(8, 4);
  CHECK(word.count == 4);
  CHECK(word.unit_bytes == 1);
}

TEST_CASE("words at odd places are told apart by bytes", "[simt][shadow]") {
  Shadow shadow(4 * kPage);
  const Shadow::Units units = shadow.at(6, 4);
  CHECK(units.count == 4);
  CHECK(units.unit_bytes == 1);
}

TEST_CASE("an access that leaves its page ends there", "[simt][shadow]") {
  Shadow shadow(4 * kPage);
  CHECK(shadow.at(kPage - 2, 4).count == 2);
}

TEST_CASE("clearing forgets the range and nothing beside it", "[simt][shadow]") {
  Shadow shadow(4 * kPage);
  const Stamp stamp(7, 3, 1, false);
  for (const std::uint64_t offset : {kPage - 8, kPage - 4, kPage, kPage + 4})
    shadow.at(offset, 4).cell->write = stamp;
  shadow.at(2 * kPage + 1, 1).cell->write = stamp;
  shadow.at(2 * kPage + 2, 1).cell->write = stamp;
  shadow.clear(kPage - 4, kPage + 4);
  shadow.clear(2 * kPage + 1, 2 * kPage + 2);
  CHECK_FALSE(shadow.cell(kPage - 8).write.none());
  CHECK(shadow.cell(kPage - 4).write.none());
  CHECK(shadow.cell(kPage).write.none());
  CHECK_FALSE(shadow.cell(kPage + 4).write.none());
  CHECK(shadow.cell(2 * kPage + 1).write.none());
  CHECK_FALSE(shadow.cell(2 * kPage + 2).write.none());
}

TEST_CASE("forgetting accesses keeps what has a value", "[simt][shadow]") {
  Shadow shadow(4 * kPage);
  Cell& written = *shadow.at(0, 4).cell;
  written.write = written.read = Stamp(7, 3, 1, false);
  shadow.at(4, 4).cell->read = Stamp(8, 3, 1, false);
  shadow.forget_accesses();
  CHECK(shadow.cell(0).write.step() == 0);
  CHECK_FALSE(shadow.cell(0).write.none());
  CHECK(shadow.cell(0).read.none());
  CHECK(shadow.cell(4).write.none());
  CHECK(shadow.cell(4).read.none());
}

TEST_CASE("memory beyond what may be kept counts as written by the host", "[simt][shadow]") {
  constexpr std::uint64_t kTwoPagesOfWords = 2 * kPage / 4 * sizeof(Cell);
  Shadow shadow(8 * kPage, kTwoPagesOfWords);
  shadow.at(0, 4).cell->write = Stamp(7, 1, 2, false);
  (void)shadow.at(kPage, 4);
  CHECK(shadow.take_unwatched() == 0);
  const Shadow::Units beyond = shadow.at(2 * kPage + 8, 8);
  CHECK(beyond.count == 2);
  CHECK_FALSE(beyond.cell[1].write.none());
  CHECK(beyond.cell[1].write.step() == 0);
  beyond.cell[0].write = Stamp(9, 1, 2, false);
  CHECK(shadow.at(2 * kPage + 8, 8).cell[0].write.step() == 0);  // forgotten
  CHECK(shadow.at(kPage + 1, 1).count == 1);                     // no room to tell its bytes apart
  CHECK(shadow.take_unwatched() == 3);
  CHECK(shadow.take_unwatched() == 0);
  CHECK(shadow.at(0, 4).cell->write.step() == 7);
}
