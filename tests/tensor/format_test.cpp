#include "tensor/format.hpp"

#include "support/catch.hpp"

using course::format_index;
using course::format_shape;

TEST_CASE("shapes are written in parentheses") {
  CHECK(format_shape({2, 3}) == "(2, 3)");
  CHECK(format_shape({1000}) == "(1000)");
  CHECK(format_shape(std::vector<std::int64_t>{}) == "()");
}

TEST_CASE("indices are written in brackets, ready to follow a name") {
  CHECK(format_index({2, 3}) == "[2, 3]");
  CHECK(format_index({-1}) == "[-1]");
  CHECK(format_index(std::vector<std::int64_t>{}) == "[]");
}
