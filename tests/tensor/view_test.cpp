#include "tensor/view.hpp"

#include <cstdint>

#include "support/catch.hpp"

using course::View;

TEST_CASE("an element of a view lies where the strides say, in any layout") {
  float numbers[24];
  for (int i = 0; i < 24; ++i) numbers[i] = static_cast<float>(i);
  const View<float, 3> rows{numbers, {2, 3, 4}, {12, 4, 1}};
  const View<const float, 3> cols{numbers, {4, 3, 2}, {1, 4, 12}};
  CHECK(rows(1, 2, 3) == 23.0f);
  CHECK(rows(0, 1, 2) == 6.0f);
  CHECK(cols(2, 1, 0) == 6.0f);
  CHECK(View<float, 1>{numbers + 23, {4}, {-2}}(3) == 17.0f);
  rows(1u, std::int64_t{0}, 1) = -1.0f;
  CHECK(numbers[13] == -1.0f);
}
