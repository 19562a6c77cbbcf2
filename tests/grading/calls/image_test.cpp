#include "grading/calls/image.hpp"

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "grading/facts/poison.hpp"
#include "support/catch.hpp"
#include "tensor/float16.hpp"

using namespace course;
using namespace course::grading;

namespace {

/// An array on its way through a call, without the call.
template <class T = float>
struct Trip {
  Trip(Tensor<T>& tensor, Access access)
      : array(grading::detail::describe("c", access, Place::device, tensor,
                                        access == Access::in ? nullptr : &tensor)),
        image(image_bytes(array)) {
    fill_image(array, image.data());
  }
  T read(std::int64_t element) const {
    T value{};
    std::memcpy(&value, at(element), sizeof value);
    return value;
  }
  void write(std::int64_t element, T value) { std::memcpy(at(element), &value, sizeof value); }
  std::vector<std::string> violations() const {
    std::vector<std::string> sentences;
    for (const Violation& one : image_violations(array, image.data(), "c")) sentences.push_back(one.sentence);
    return sentences;
  }

  ArrayArgument array;
  std::vector<std::byte> image;

 private:
  std::byte* at(std::int64_t element) { return image.data() + position(element); }
  const std::byte* at(std::int64_t element) const { return image.data() + position(element); }
  static std::size_t position(std::int64_t element) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(kGuardBytes) +
                                    std::int64_t{sizeof(T)} * element);
  }
};

}  // namespace

TEST_CASE("guards are at least a KiB, on both sides, and whole pages") {
  Tensor<float> tensor({1000});
  const Trip trip(tensor, Access::out);
  CHECK(kGuardBytes >= 1024);
  CHECK(trip.image.size() >= 2 * kGuardBytes + 4000);
  CHECK(trip.image.size() % 4096 == 0);
}

TEST_CASE("an untouched image violates nothing") {
  Tensor<float> tensor({1000}, 1.5f), empty({0}), strided({4, 3}, {5, 1}, 2.0f);
  for (Tensor<float>* each : {&tensor, &empty, &strided})
    for (const Access access : {Access::in, Access::out, Access::inout})
      CHECK(Trip(*each, access).violations().empty());
}

TEST_CASE("outputs start as poison, inputs as they are") {
  Tensor<float> tensor({3}, 1.5f);
  CHECK(is_poison(Trip(tensor, Access::out).read(2)));
  CHECK(Trip(tensor, Access::in).read(2) == 1.5f);
  CHECK(Trip(tensor, Access::inout).read(0) == 1.5f);
}

TEST_CASE("guard words are NaNs, so that reading one spoils a result") {
  Tensor<float> tensor({3});
  const Trip trip(tensor, Access::in);
  for (const std::int64_t element : {-2048, -1, 3, 4, 2000}) {
    const float value = trip.read(element);
    CHECK(value != value);
  }
}

TEST_CASE("what lies past the end of an input is no output's guard") {
  Tensor<float> tensor({3});
  const Trip input(tensor, Access::in), output(tensor, Access::out), both(tensor, Access::inout);
  for (std::int64_t i = 3; i < 2048; ++i) {  // a NaN from an input, computed with, keeps its bits
    REQUIRE(output.read(i) != input.read(i));
    REQUIRE(output.read(i) == output.read(i));
    REQUIRE(both.read(i) == both.read(i));
  }
}

TEST_CASE("writes past the end are counted and placed") {
  Tensor<float> tensor({1000});
  Trip trip(tensor, Access::out);
  for (std::int64_t i = 1000; i < 1024; ++i) trip.write(i, 1);
  REQUIRE(trip.violations().size() == 1);
  CHECK(trip.violations()[0] ==
        "Your code wrote 24 elements past the end of c, which has room for 1000: elements 1000 to 1023 were "
        "overwritten. "
        "Compare the index with the size before you write; if you do, look at the strides that the place is "
        "computed with.");
}

TEST_CASE("one element past the end is enough, and so is one byte") {
  Tensor<float> tensor({7});
  Trip one(tensor, Access::out);
  one.write(7, 0);
  CHECK_THAT(one.violations().at(0), Catch::Matchers::ContainsSubstring("1 element past the end of c"));
  Trip byte(tensor, Access::out);
  byte.image[kGuardBytes + 28] ^= std::byte{1};
  CHECK(byte.violations().size() == 1);
  Trip last(tensor, Access::out);
  last.image.back() ^= std::byte{1};
  CHECK(last.violations().size() == 1);
}

TEST_CASE("writes before the start are counted and placed") {
  Tensor<float> tensor({7});
  Trip trip(tensor, Access::out);
  trip.write(-1, 0);
  CHECK(trip.violations().at(0) ==
        "Your code wrote 1 element before the start of c: element -1 was overwritten. Look for an index that "
        "becomes negative.");
  trip.write(-3, 0);
  CHECK_THAT(trip.violations().at(0), Catch::Matchers::ContainsSubstring("some between -3 and -1"));
}

TEST_CASE("an empty array has guards too") {
  Tensor<float> tensor({0});
  Trip trip(tensor, Access::out);
  trip.write(0, 1);
  CHECK(trip.violations().size() == 1);
}

TEST_CASE("an input that changed is told with its first element") {
  Tensor<float> tensor({7}, 1.0f);
  Trip trip(tensor, Access::in);
  trip.write(3, 2);
  trip.write(5, 2);
  CHECK_THAT(trip.violations().at(0), Catch::Matchers::ContainsSubstring("changed its input c: 2 elements"));
  CHECK_THAT(trip.violations().at(0), Catch::Matchers::ContainsSubstring("position 3"));
  Trip inout(tensor, Access::inout);
  inout.write(3, 2);
  CHECK(inout.violations().empty());
}

TEST_CASE("gaps between rows must stay as they were, for outputs as well") {
  Tensor<float> tensor({4, 3}, {5, 1}, 2.0f);
  for (const Access access : {Access::in, Access::out, Access::inout}) {
    Trip trip(tensor, access);
    CHECK(trip.read(3) == 2.0f);
    trip.write(3, 9);
    CHECK(trip.violations().size() == 1);
  }
  Trip out(tensor, Access::out);
  CHECK(is_poison(out.read(5)));
  out.write(3, 9);
  CHECK_THAT(out.violations().at(0), Catch::Matchers::ContainsSubstring("gaps between the rows of c"));
}

TEST_CASE("gaps within rows are not called gaps between them") {
  Tensor<float> columns({3, 4}, {1, 5}, 2.0f);  // each column is followed by two other numbers
  Trip trip(columns, Access::out);
  trip.write(3, 9);
  CHECK_THAT(trip.violations().at(0), Catch::Matchers::ContainsSubstring("gaps between the elements of c") &&
                                          Catch::Matchers::ContainsSubstring("the stride of its axis"));
}

TEST_CASE("results replace the elements and leave the gaps") {
  Tensor<float> tensor({2, 2}, {3, 1}, 2.0f);
  Trip trip(tensor, Access::out);
  for (std::int64_t i = 0; i < 5; ++i) trip.write(i, 7);
  read_image(trip.array, trip.image.data());
  CHECK(tensor(0, 1) == 7);
  CHECK(tensor(1, 0) == 7);
  CHECK(tensor.storage()[2] == 2.0f);
}

TEST_CASE("outputs of a call that did not come back hold poison") {
  Tensor<float> tensor({2, 2}, {3, 1}, 2.0f);
  const Trip trip(tensor, Access::out);
  poison_output(trip.array);
  CHECK(is_poison(tensor(1, 1)));
  CHECK(tensor.storage()[2] == 2.0f);
}

TEMPLATE_TEST_CASE("arrays of 16 bits have poison, guards and gaps as others have", "", bfloat16, float16) {
  const auto number = [](TestType x) { return static_cast<double>(x); };
  Tensor<TestType> tensor({7}, TestType(1.5f));
  const Trip input(tensor, Access::in), output(tensor, Access::out);
  CHECK(input.read(6) == TestType(1.5f));
  CHECK(is_poison(output.read(6)));
  for (std::int64_t i = 7; i < 4096; ++i) {
    REQUIRE(number(input.read(i)) != number(input.read(i)));  // NaN: reading it spoils a result
    REQUIRE(std::isfinite(number(output.read(i))));
    REQUIRE_FALSE(is_poison(input.read(i)));
    REQUIRE(input.read(i).bits != 0x7fff);  // the NaN that a GPU computes, which must not pass for the guard
  }
  for (std::int64_t i = -1; i > -4096; --i) REQUIRE(number(input.read(i)) != number(input.read(i)));

  Trip over(tensor, Access::out);
  for (std::int64_t i = 7; i < 32; ++i)
    over.write(i, input.read(i));  // a copy that runs past the end of both
  CHECK_THAT(over.violations().at(0),
             Catch::Matchers::ContainsSubstring(
                 "25 elements past the end of c, which has room for 7: elements 7 to 31"));

  Tensor<TestType> strided({2, 3}, {5, 1}, TestType(2.0f));
  Trip gap(strided, Access::out);
  CHECK(is_poison(gap.read(7)));
  CHECK(gap.read(4) == TestType(2.0f));
  gap.write(4, TestType(3.0f));
  CHECK_THAT(gap.violations().at(0),
             Catch::Matchers::ContainsSubstring("into the gaps between the rows of c"));
}
