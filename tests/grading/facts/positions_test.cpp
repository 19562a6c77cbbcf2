#include "grading/facts/positions.hpp"

#include <vector>

#include "support/catch.hpp"

using course::Shape;
using course::grading::locate;
using course::grading::to_words;

namespace {

using Indices = std::vector<std::int64_t>;

std::string describe_positions(const Shape& shape, const Indices& indices,
                               const std::vector<std::string>& axes = {}) {
  return to_words(locate(shape, axes, indices));
}

/// The indices of a tensor of this many elements that satisfy a predicate.
template <class Predicate>
Indices where(std::int64_t size, Predicate predicate) {
  Indices chosen;
  for (std::int64_t i = 0; i < size; ++i)
    if (predicate(i)) chosen.push_back(i);
  return chosen;
}

}  // namespace

TEST_CASE("wrong elements of a vector are described by their pattern") {
  CHECK(describe_positions({1}, {0}) == "the only element");
  CHECK(describe_positions({3}, {0, 1, 2}) == "all of them");
  CHECK(describe_positions({1000}, {31}) == "only element 31");
  CHECK(describe_positions({1000}, where(1000, [](auto i) { return i >= 992; })) ==
        "all from element 992 on");
  CHECK(describe_positions({1000}, where(1000, [](auto i) { return i < 32; })) == "the first 32 elements");
  CHECK(describe_positions({1000}, where(1000, [](auto i) { return i >= 10 && i < 20; })) ==
        "elements 10 to 19");
  CHECK(describe_positions({1000}, where(1000, [](auto i) { return i % 2 == 1; })) ==
        "every 2nd element from 1 on");
  CHECK(describe_positions({1000}, where(1000, [](auto i) { return i % 3 == 0; })) ==
        "every 3rd element from 0 on");
  CHECK(describe_positions({1000}, {1, 3, 5, 7}) == "every 2nd element from 1 to 7");
  CHECK(describe_positions({1000}, {3, 17, 400}) == "elements 3, 17 and 400");
  CHECK(describe_positions({1000}, {3, 17, 400, 401, 999}) ==
        "no simple pattern, between elements 3 and 999");
}

TEST_CASE("wrong elements that repeat with a warp or a block are described by it") {
  CHECK(describe_positions({1000}, where(1000, [](auto i) { return i % 256 == 255; })) ==
        "every 256th element from 255 on");
  CHECK(describe_positions({1024}, where(1024, [](auto i) { return i % 32 >= 16; })) ==
        "all from element 16 on of every 32");
  CHECK(describe_positions({1024}, where(1024, [](auto i) { return i % 256 < 32; })) ==
        "the first 32 elements of every 256");
}

TEST_CASE("wrong elements of a matrix are described by rows and columns") {
  const Shape shape = {8, 10};
  CHECK(describe_positions(shape, where(80, [](auto i) { return i / 10 == 3; })) == "row 3 of 8");
  CHECK(describe_positions(shape, where(80, [](auto i) { return i / 10 >= 4; })) == "the last 4 rows");
  CHECK(describe_positions(shape, where(80, [](auto i) { return i % 10 == 9; })) == "column 9 of 10");
  CHECK(describe_positions(shape, where(80, [](auto i) { return i % 10 % 2 == 0; })) ==
        "every 2nd column from 0 on");
  CHECK(describe_positions(shape, where(80, [](auto i) { return i / 10 >= 6 && i % 10 >= 5; })) ==
        "the last 2 rows, the last 5 columns");
  CHECK(describe_positions({20, 4}, where(80, [](auto i) { return i / 4 >= 9; })) == "rows from 9 on");
  CHECK(describe_positions({70, 4}, where(280, [](auto i) { return i / 4 >= 64; })) == "rows from 64 on");
  CHECK(describe_positions({70, 4}, where(280, [](auto i) { return i / 4 >= 65; })) == "the last 5 rows");
  CHECK(describe_positions(shape, {42}) == "row 4 of 8, column 2 of 10");
  CHECK(describe_positions(shape, where(80, [](auto i) { return i / 10 >= 6 && i % 10 < i / 10; })) ==
        "some within the last 2 rows, the first 7 columns");
}

TEST_CASE("whole heads and rows are counted where no axis alone tells which they are") {
  const Shape shape = {2, 3, 5, 4};
  const std::vector<std::string> axes{"batch", "head", "query", "column"};
  const auto where_head = [&](auto holds) {
    return where(120, [&](auto i) { return holds(i / 60, i / 20 % 3); });
  };
  CHECK(describe_positions(shape, where_head([](auto b, auto h) { return b != h; }), axes) == "4 of 6 heads");
  CHECK(describe_positions(shape, where(120, [](auto i) { return i % 7 == 0; }), axes) ==
        "no simple pattern, between elements 0 and 119");
}

TEST_CASE("the axes of a tensor are called by their names") {
  const std::vector<std::string> axes{"batch", "head", "query"};
  const Shape shape = {2, 4, 100};
  const auto at = [](std::int64_t head, std::int64_t first) {
    return where(800, [=](auto i) { return i / 100 % 4 == head && i % 100 >= first; });
  };
  CHECK(describe_positions(shape, at(1, 0), axes) == "head 1 of 4");
  CHECK(describe_positions(shape, at(1, 64), axes) == "head 1 of 4, queries from 64 on");
  CHECK(describe_positions(shape, where(800, [](auto i) { return i >= 400; }), axes) == "batch 1 of 2");
  CHECK(describe_positions(shape, where(800, [](auto i) { return i / 100 % 4 % 2 == 1; }), axes) ==
        "heads 1 and 3");
}

TEST_CASE("without names the leading axes of a tensor count as rows") {
  CHECK(describe_positions({2, 3, 4}, where(24, [](auto i) { return i / 4 == 5; })) == "row 5 of 6");
}
