// Whether both modes did the same.
#include "grading/calls/agreement.hpp"

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "grading/facts/outcome.hpp"
#include "grading/facts/poison.hpp"
#include "support/catch.hpp"
#include "support/special_floats.hpp"
#include "tensor/float16.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using course::test::kInfinity, course::test::kNaN;

namespace {

template <class T>
std::string disagreement_of(const Tensor<T>& shaped, const std::vector<T>& run, const std::vector<T>& check,
                            double largest_of_call = 0) {
  Tensor<T> output = shaped;
  const ArrayArgument array = grading::detail::describe("y", Access::out, Place::device, shaped, &output);
  return disagreement(array, reinterpret_cast<const std::byte*>(run.data()),
                      reinterpret_cast<const std::byte*>(check.data()), "y", largest_of_call);
}

std::string of_floats(const std::vector<float>& run, const std::vector<float>& check) {
  return disagreement_of(Tensor<float>({static_cast<std::int64_t>(run.size())}), run, check);
}

}  // namespace

TEST_CASE("what rounding makes of a number is no difference") {
  CHECK(of_floats({1, 2, 3}, {1, 2.0001f, 3}).empty());
  CHECK(of_floats({1000, 1e-3f}, {1000, 2e-3f}).empty());  // cancelled, where large numbers meet
  CHECK(of_floats({kNaN, kInfinity, -kInfinity}, {kNaN, kInfinity, -kInfinity}).empty());
}

TEST_CASE("what is left where numbers as large as another output's cancel is no difference") {
  const Tensor<float> two({2});
  CHECK(disagreement_of<float>(two, {8e-8f, -4e-7f}, {6e-8f, -5e-7f}, 2.0).empty());
  CHECK_FALSE(disagreement_of<float>(two, {8e-8f, -4e-7f}, {6e-8f, -5e-7f}).empty());
  CHECK_FALSE(disagreement_of<float>(two, {8e-6f, 0}, {2e-6f, 0}, 2.0).empty());
  Tensor<float> output = two;
  const ArrayArgument array = grading::detail::describe("y", Access::out, Place::device, two, &output);
  const std::vector<float> numbers{-3, kNaN};
  CHECK(largest_number(array, reinterpret_cast<const std::byte*>(numbers.data())) == 3);
}

TEST_CASE("another number is a difference, and is told with its place") {
  CHECK_THAT(of_floats({1, 2, 3}, {1, 2.5f, 3}),
             ContainsSubstring("There y[1] was 2.5, and before it was 2."));
  CHECK_THAT(of_floats({1, 2}, {1, 0}), ContainsSubstring("y[1]"));
  CHECK_THAT(of_floats({kInfinity, 2}, {kNaN, 2}), ContainsSubstring("y[0]"));
  CHECK_THAT(of_floats({kInfinity, 2}, {3e38f, 2}), ContainsSubstring("y[0]"));
}

TEST_CASE(
    "an element that run mode never wrote is told of elsewhere, and one that check mode never wrote here") {
  CHECK(of_floats({poison<float>(), 2}, {7, 2}).empty());
  CHECK_THAT(of_floats({5, 2}, {kNaN, 2}), ContainsSubstring("y[0]"));
}

TEST_CASE("gaps between rows are not compared") {
  const Tensor<float> strided({2, 2}, Strides{3, 1}, 0.0f);
  CHECK(disagreement_of<float>(strided, {1, 2, 77, 3, 4}, {1, 2, 88, 3, 4}).empty());
  CHECK_THAT(disagreement_of<float>(strided, {1, 2, 77, 3, 4}, {1, 2, 77, 3, 9}),
             ContainsSubstring("y[1, 1]"));
}

TEST_CASE("numbers of 16 bits are compared as all others are") {
  const auto of_16_bits = [](auto type, std::initializer_list<double> run,
                             std::initializer_list<double> check) {
    using T = decltype(type);
    const auto all = [](const auto& numbers) {
      std::vector<T> list;
      for (const double number : numbers) list.push_back(T(number));
      return list;
    };
    return disagreement_of<T>(Tensor<T>({static_cast<std::int64_t>(run.size())}), all(run), all(check));
  };
  CHECK(of_16_bits(bfloat16(), {1, -2, kNaN, kInfinity}, {1.0078125, -2, kNaN, kInfinity})
            .empty());  // one step
  CHECK(of_16_bits(float16(), {1, -2, 1e-7}, {1.0009765625, -2, 2e-7}).empty());
  CHECK_THAT(of_16_bits(bfloat16(), {1, 2}, {1, 0}),
             ContainsSubstring("There y[1] was 0, and before it was 2."));
  CHECK_THAT(of_16_bits(float16(), {1, 2}, {1.25, 2}), ContainsSubstring("y[0]"));
  CHECK_THAT(of_16_bits(bfloat16(), {5, 2}, {kNaN, 2}), ContainsSubstring("y[0]"));
  const std::vector<bfloat16> run{poison<bfloat16>(), bfloat16(2.0)}, check{bfloat16(7.0), bfloat16(2.0)};
  CHECK(disagreement_of<bfloat16>(Tensor<bfloat16>({2}), run, check).empty());
}

TEST_CASE("integers must be equal") {
  const Tensor<std::int32_t> three({3});
  CHECK(disagreement_of<std::int32_t>(three, {1, 2, 3}, {1, 2, 3}).empty());
  CHECK_THAT(disagreement_of<std::int32_t>(three, {100000, 2, 3}, {100001, 2, 3}), ContainsSubstring("y[0]"));
}

TEST_CASE("the modes must launch and copy the same") {
  using Counters = std::map<std::string, std::int64_t>;
  const Counters one{{"blocks", 4}, {"launches", 1}}, two{{"blocks", 4}, {"launches", 2}};
  CHECK(disagreement(one, one).empty());
  CHECK_THAT(disagreement(one, two), ContainsSubstring("2 launches"));
  CHECK_THAT(disagreement(one, Counters{}), ContainsSubstring("0 blocks"));
  Counters copies = one;
  copies[kCopiedWithin] = 40;
  CHECK_THAT(disagreement(one, copies),
             ContainsSubstring("40 bytes copied within the device in it, and 0 before"));
}
