#include "tensor/tensor.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "support/catch.hpp"
#include "tensor/view.hpp"

using namespace course;

namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// A tensor whose elements are their own linear indices, and whose gaps hold -1.
Tensor<float> counting(Shape shape, Strides strides) {
  Tensor<float> tensor(std::move(shape), std::move(strides), -1.0f);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.at_linear(i) = static_cast<float>(i);
  return tensor;
}

}  // namespace

TEST_CASE("a default tensor is an empty vector") {
  const Tensor<float> tensor;
  CHECK(tensor.shape() == Shape{0});
  CHECK(tensor.strides() == Strides{1});
  CHECK(tensor.numel() == 0);
  CHECK(tensor.storage().empty());
}

TEST_CASE("a tensor is row-major and filled with zero or the given value") {
  const Tensor<float> zeros({2, 3, 4});
  CHECK(zeros.strides() == Strides{12, 4, 1});
  CHECK(zeros.rank() == 3);
  CHECK(zeros.numel() == 24);
  CHECK(zeros.is_contiguous());
  CHECK(zeros(1, 2, 3) == 0.0f);

  const Tensor<std::int32_t> sevens({2, 2}, 7);
  for (const std::int32_t value : sevens.storage()) CHECK(value == 7);
}

TEST_CASE("a tensor of rank 0 is one element, reached without an index") {
  Tensor<double> scalar(Shape{}, 2.5);
  CHECK(scalar.rank() == 0);
  CHECK(scalar.numel() == 1);
  CHECK(scalar() == 2.5);
  CHECK(scalar.at_linear(0) == 2.5);
  CHECK(scalar.unravel(0).empty());
  CHECK(scalar.contiguous()() == 2.5);
}

TEST_CASE("from() takes values in row-major order") {
  const auto tensor = Tensor<float>::from({2, 3}, {0, 1, 2, 10, 11, 12});
  CHECK(tensor(0, 2) == 2.0f);
  CHECK(tensor(1, 0) == 10.0f);
  CHECK(tensor.is_contiguous());
}

TEST_CASE("from() refuses the wrong number of values") {
  REQUIRE_THROWS_AS(Tensor<float>::from({2, 3}, {1, 2, 3}), std::invalid_argument);
  REQUIRE_THROWS_WITH(Tensor<float>::from({2, 3}, {1, 2, 3}),
                      "A tensor of shape (2, 3) has 6 elements, but got 3 values.");
}

TEST_CASE("rows that are further apart than they are long leave gaps in the storage") {
  const Tensor<float> tensor = counting({2, 3}, {5, 1});
  CHECK_FALSE(tensor.is_contiguous());
  REQUIRE(tensor.storage().size() == 8);  // no gap after the last row
  const float expected[] = {0, 1, 2, -1, -1, 3, 4, 5};
  for (std::size_t i = 0; i < 8; ++i) CHECK(tensor.storage()[i] == expected[i]);
}

TEST_CASE("a fill value reaches the gaps too") {
  const Tensor<float> tensor({2, 1}, {4, 1}, 9.0f);
  for (const float value : tensor.storage()) CHECK(value == 9.0f);
}

TEST_CASE("offsets follow the strides for index and linear index alike") {
  const Tensor<float> tensor({2, 3, 4}, {40, 1, 5}, 0.0f);
  for (std::int64_t i = 0; i < tensor.numel(); ++i) {
    const auto index = tensor.unravel(i);
    CHECK(i == index[0] * 12 + index[1] * 4 + index[2]);
    CHECK(tensor.offset_of(i) == index[0] * 40 + index[1] + index[2] * 5);
    CHECK(tensor.offset_at(index) == tensor.offset_of(i));
  }
}

TEST_CASE("a transposed tensor keeps its storage and exchanges its strides") {
  const Tensor<float> tensor = counting({2, 3}, {5, 1});
  const Tensor<float> transposed = tensor.transposed(0, 1);
  CHECK(transposed.shape() == Shape{3, 2});
  CHECK(transposed.strides() == Strides{1, 5});
  for (std::size_t i = 0; i < 8; ++i) CHECK(transposed.storage()[i] == tensor.storage()[i]);
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t col = 0; col < 3; ++col) CHECK(transposed(col, row) == tensor(row, col));
  }
}

TEST_CASE("transposing twice gives a contiguous tensor back") {
  const Tensor<float> tensor({4, 6}, 1.0f);
  CHECK_FALSE(tensor.transposed(0, 1).is_contiguous());
  CHECK(tensor.transposed(0, 1).transposed(0, 1).is_contiguous());
  CHECK(tensor.transposed(1, 1).is_contiguous());
}

TEST_CASE("a transposed tensor has the same contiguity as one built with its strides") {
  CHECK(Tensor<float>({1, 6}).transposed(0, 1).is_contiguous());  // an axis of one element moves nothing
  CHECK(Tensor<float>({0, 6}).transposed(0, 1).is_contiguous());
}

TEST_CASE("transposing an axis that is not there is refused") {
  const Tensor<float> tensor({2, 3});
  for (const std::int64_t axis : {-1, 2}) {
    REQUIRE_THROWS_AS(tensor.transposed(0, axis), std::invalid_argument);
    REQUIRE_THROWS_AS(tensor.transposed(axis, 0), std::invalid_argument);
  }
  REQUIRE_THROWS_WITH(tensor.transposed(0, 2),
                      "A tensor of shape (2, 3) has 2 axes, counted from 0; there is no axis 2.");
}

TEST_CASE("contiguous() drops gaps and puts elements in row-major order") {
  const Shape shape{3, 2, 4};
  for (const Strides& strides : {Strides{8, 4, 1}, Strides{1, 3, 6}, Strides{20, 9, 2}, Strides{2, 1, 100}}) {
    const Tensor<float> tensor = counting(shape, strides);
    const Tensor<float> packed = tensor.contiguous();
    CHECK(packed.shape() == shape);
    CHECK(packed.strides() == Strides{8, 4, 1});
    REQUIRE(packed.storage().size() == 24);
    for (std::size_t i = 0; i < 24; ++i) CHECK(packed.storage()[i] == static_cast<float>(i));
  }
}

TEST_CASE("to() converts every stored value and keeps shape, strides and gaps") {
  const Tensor<float> tensor = counting({2, 3}, {5, 1});
  const Tensor<double> wide = tensor.to<double>();
  CHECK(wide.shape() == tensor.shape());
  CHECK(wide.strides() == tensor.strides());
  REQUIRE(wide.storage().size() == 8);
  CHECK(wide.storage()[3] == -1.0);
  CHECK(wide(1, 2) == 5.0);
  CHECK(Tensor<double>({1}, 0.1).to<float>()(0) == 0.1f);
}

TEST_CASE("an empty tensor of any rank is legal") {
  const Tensor<float> tensor({3, 0, 4});
  CHECK(tensor.numel() == 0);
  CHECK(tensor.storage().empty());
  CHECK(tensor.is_contiguous());
  CHECK(tensor.contiguous().shape() == Shape{3, 0, 4});
  CHECK(Tensor<float>({3, 0}, {100, 100}, 0.0f).storage().empty());
  REQUIRE_THROWS_AS(tensor(0, 0, 0), std::out_of_range);
}

TEST_CASE("an index outside the shape is named together with the shape") {
  Tensor<float> tensor({2, 3});
  const Tensor<float>& constant = tensor;
  REQUIRE_THROWS_AS(tensor(2, 0), std::out_of_range);
  REQUIRE_THROWS_AS(constant(0, 3), std::out_of_range);
  REQUIRE_THROWS_AS(tensor(-1, 0), std::out_of_range);
  REQUIRE_THROWS_AS(tensor(std::uint64_t{1} << 63, 0), std::out_of_range);
  REQUIRE_THROWS_WITH(tensor(1, 3), "The index [1, 3] lies outside a tensor of shape (2, 3).");
}

TEST_CASE("an index that would fall into a gap is outside the shape") {
  REQUIRE_THROWS_AS(counting({2, 3}, {5, 1})(0, 4), std::out_of_range);
}

TEST_CASE("the number of indices must be the rank") {
  const Tensor<float> tensor({2, 3});
  REQUIRE_THROWS_AS(tensor(1), std::invalid_argument);
  REQUIRE_THROWS_AS(tensor(), std::invalid_argument);
  REQUIRE_THROWS_WITH(tensor(1, 2, 0), "A tensor of shape (2, 3) takes 2 indices, but got 3.");
}

TEST_CASE("a linear index outside the tensor is named together with the shape") {
  Tensor<float> tensor({2, 3}, {5, 1}, 0.0f);
  REQUIRE_THROWS_AS(tensor.at_linear(6), std::out_of_range);  // 6 is inside the storage
  REQUIRE_THROWS_AS(tensor.offset_of(-1), std::out_of_range);
  REQUIRE_THROWS_AS(tensor.unravel(6), std::out_of_range);
  REQUIRE_THROWS_WITH(tensor.at_linear(6),
                      "The linear index 6 lies outside a tensor of shape (2, 3), which has 6 elements.");
}

TEST_CASE("negative and overflowing shapes are refused") {
  REQUIRE_THROWS_AS(Tensor<float>({2, -1}), std::invalid_argument);
  REQUIRE_THROWS_WITH(Tensor<float>({2, -1}),
                      "The shape (2, -1) has a negative axis; an axis has 0 or more elements.");
  REQUIRE_THROWS_AS(Tensor<float>({kHuge, 2}), std::invalid_argument);
  REQUIRE_THROWS_AS(Tensor<float>({0, kHuge, 2}), std::invalid_argument);  // its strides would overflow
  REQUIRE_THROWS_WITH(Tensor<float>({kHuge, 2}),
                      "The shape (9223372036854775807, 2) has more than 2^63 - 1 elements.");
}

TEST_CASE("a tensor larger than any memory is refused before memory is asked for") {
  REQUIRE_THROWS_AS(Tensor<float>({kHuge / 2}), std::invalid_argument);
  REQUIRE_THROWS_AS(Tensor<float>({3}, {kHuge / 2 + 1}, 0.0f), std::invalid_argument);
  REQUIRE_THROWS_WITH(
      Tensor<float>({3}, {kHuge / 2 + 1}, 0.0f),
      "A tensor of shape (3) with strides (4611686018427387904) is larger than any memory can be.");
}

TEST_CASE("strides under which two indices share an element are refused") {
  REQUIRE_THROWS_AS(Tensor<float>({2, 3}, {2, 1}, 0.0f), std::invalid_argument);
  REQUIRE_THROWS_AS(Tensor<float>({4}, {0}, 0.0f), std::invalid_argument);
  REQUIRE_THROWS_WITH(Tensor<float>({2, 3}, {2, 1}, 0.0f),
                      "Different indices would share an element in shape (2, 3) with strides (2, 1): "
                      "the stride of axis 0 must be at least 3.");
}

TEST_CASE("strides of axes with at most one element may be anything that is not negative") {
  CHECK(Tensor<float>({1, 3}, {0, 1}, 0.0f).is_contiguous());
  CHECK(Tensor<float>({1, 3}, {kHuge, 1}, 0.0f).storage().size() == 3);
}

TEST_CASE("negative strides and the wrong number of strides are refused") {
  REQUIRE_THROWS_WITH(Tensor<float>({3}, {-1}, 0.0f),
                      "A stride must not be negative, but got shape (3) with strides (-1).");
  REQUIRE_THROWS_WITH(Tensor<float>({3, 4}, {1}, 0.0f),
                      "A tensor needs one stride for each axis, but got shape (3, 4) with strides (1).");
}

TEST_CASE("a copied tensor is independent of the original") {
  Tensor<float> original({2}, 1.0f);
  Tensor<float> copy = original;
  copy(0) = 5.0f;
  CHECK(original(0) == 1.0f);
}

TEST_CASE("a view is a plain aggregate that fits a kernel argument") {
  using Rows = View<const float, 2>;
  STATIC_REQUIRE(std::is_aggregate_v<Rows>);
  STATIC_REQUIRE(std::is_trivially_copyable_v<Rows>);
  STATIC_REQUIRE(sizeof(Rows) == sizeof(float*) + 4 * sizeof(std::int64_t));

  const Tensor<float> tensor = counting({2, 3}, {5, 1});
  const Rows view{tensor.data(), {2, 3}, {5, 1}};
  CHECK(view.data[1 * view.strides[0] + 2 * view.strides[1]] == tensor(1, 2));
}
