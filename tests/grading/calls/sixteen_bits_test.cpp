// A kernel for bfloat16 and float16, from the call to the sentence that a student reads.
#include <string>

#include "grading/testing/call.hpp"
#include "grading/testing/compare.hpp"
#include "kernels/sixteen_bits.hpp"
#include "reference/matmul.hpp"
#include "support/catch.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/random.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

SessionConfig sixteen_bits() {
  const std::filesystem::path folder = COURSE_TEST_KERNELS;
  SessionConfig config;
  config.worker = COURSE_TEST_WORKER;
  config.kernel = folder / "sixteen_bits.so";
  config.check_kernel = folder / "sixteen_bits_checked.so";
  return config;
}

/// The entries of one type.
template <class T>
struct Entries {
  using Multiply = Entry<void(View<const T, 2>, View<const T, 2>, View<T, 2>)>;
  using Copy = Entry<void(const T*, T*, std::int64_t)>;
  static constexpr bool is_bfloat16 = format_of<T> == Format16::bfloat16;
  static Multiply multiply() { return {is_bfloat16 ? "multiply_bfloat16" : "multiply_float16"}; }
  static Multiply multiply_narrow() {
    return {is_bfloat16 ? "multiply_narrow_bfloat16" : "multiply_narrow_float16"};
  }
  static Copy copy_pairs() { return {is_bfloat16 ? "copy_pairs_bfloat16" : "copy_pairs_float16"}; }
};

/// A product of matrices of 16 bits, the exact one, and that of float32.
template <class T>
struct Product {
  Tensor<T> A, B;
  Tensor<double> expected = reference::matmul(widened(A), widened(B));
  Tensor<float> baseline = in_float32();

  Tensor<float> in_float32() const {
    Tensor<float> C(expected.shape());
    for (std::int64_t row = 0; row < C.shape()[0]; ++row)
      for (std::int64_t k = 0; k < B.shape()[0]; ++k)
        for (std::int64_t col = 0; col < C.shape()[1]; ++col)
          C(row, col) += static_cast<float>(A(row, k)) * static_cast<float>(B(k, col));
    return C;
  }
};

template <class T>
Product<T> random_product(std::int64_t M, std::int64_t N, std::int64_t K) {
  return {normal<T>({M, K}, 1), normal<T>({K, N}, 2)};
}

}  // namespace

TEMPLATE_TEST_CASE("a kernel of 16 bits is right to half a step, in run mode and in check mode", "", bfloat16,
                   float16) {
  Session session(sixteen_bits());
  for (const std::int64_t n : {1, 5, 33}) {
    const auto p = random_product<TestType>(n, n + 2, 40);
    Tensor<TestType> C(p.expected.shape());
    const Outcome outcome =
        call_in(session, {}, Entries<TestType>::multiply(), in(p.A, "A"), in(p.B, "B"), out(C, "C"));
    CHECK(why_not_clean(outcome).empty());
    CHECK(outcome.checking == Checking::done);
    CHECK(outcome.findings.empty());
    const Comparison comparison = compare(C, "C", p.expected, p.baseline);
    INFO(comparison.message);
    CHECK(comparison.passed);
  }
}

TEMPLATE_TEST_CASE("views of 16 bits may have gaps and exchanged axes", "", bfloat16, float16) {
  Session session(sixteen_bits());
  auto p = random_product<TestType>(6, 7, 8);
  Tensor<TestType> A({6, 8}, {1, 9}, TestType(1000.0f)), C({6, 7}, {11, 1}, TestType(-7.0f));
  for (std::int64_t row = 0; row < 6; ++row)
    for (std::int64_t k = 0; k < 8; ++k) A(row, k) = p.A(row, k);
  CHECK(why_not_clean(
            call_in(session, {}, Entries<TestType>::multiply(), in(A, "A"), in(p.B, "B"), out(C, "C")))
            .empty());
  CHECK(compare(C, "C", p.expected, p.baseline).passed);
  CHECK(C.storage()[8] == TestType(-7.0f));
}

TEMPLATE_TEST_CASE("sums in 16 bits are rejected, in numbers of 16 bits", "", bfloat16, float16) {
  Session session(sixteen_bits());
  const auto p = random_product<TestType>(9, 9, 200);
  Tensor<TestType> C(p.expected.shape());
  CHECK(why_not_clean(call_in(session, {}, Entries<TestType>::multiply_narrow(), in(p.A, "A"), in(p.B, "B"),
                              out(C, "C")))
            .empty());
  const Comparison comparison = compare(C, "C", p.expected, p.baseline);
  CHECK_FALSE(comparison.passed);
  CHECK_THAT(comparison.message, ContainsSubstring("C[0, 0] is ") && ContainsSubstring(", expected ") &&
                                     ContainsSubstring("is allowed)"));
  CHECK(comparison.values.got.size() <= 8);  // no more digits than 16 bits have
}

TEMPLATE_TEST_CASE("every number of 16 bits passes through a kernel as it is", "", bfloat16, float16) {
  Session session(sixteen_bits());
  Tensor<TestType> x({64}), y({64});
  int wrong = 0;
  for (unsigned first = 0; first < 0x10000u; first += 64 * 61) {  // a part of them, for time
    for (unsigned i = 0; i < 64; ++i) x(i) = TestType::from_bits(static_cast<std::uint16_t>(first + 61 * i));
    CallOptions options;
    options.check = CheckMode::never;
    CHECK(call_in(session, options, Entries<TestType>::copy_pairs(), in(x, "x"), out(y, "y"), 64).status ==
          Status::returned);
    wrong += compare_bits(y, x, "y").passed ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEMPLATE_TEST_CASE("adversarial data of 16 bits follow the same arithmetic", "", bfloat16, float16) {
  Session session(sixteen_bits());
  for (const Pattern pattern : all_patterns()) {
    INFO(pattern_name(pattern));
    const Product<TestType> p{adversarial<TestType>(pattern, {5, 12}, 3), normal<TestType>({12, 6}, 4)};
    Tensor<TestType> C(p.expected.shape());
    CHECK(why_not_clean(
              call_in(session, {}, Entries<TestType>::multiply(), in(p.A, "A"), in(p.B, "B"), out(C, "C")))
              .empty());
    const Comparison comparison = compare(C, "C", p.expected, p.baseline);
    INFO(comparison.message);
    CHECK(comparison.passed);
  }
}

TEMPLATE_TEST_CASE("half a word without a value, and one past the end, are found at their lines", "",
                   bfloat16, float16) {
  Session session(sixteen_bits());
  const Tensor<TestType> x({7}, TestType(2.0f));
  Tensor<TestType> y({7});
  const Outcome outcome = call_in(session, {}, Entries<TestType>::copy_pairs(), in(x, "x"), out(y, "y"), 7);
  REQUIRE(outcome.findings.size() == 2);
  CHECK(outcome.findings[0].kind == "out_of_bounds");
  CHECK(outcome.findings[0].here.line == 33);
  CHECK_THAT(outcome.findings[0].message(),
             ContainsSubstring("writes y[7] out of bounds: y has 7 elements (14 bytes)"));
  CHECK(outcome.findings[1].kind == "uninitialised_read");
  CHECK(outcome.findings[1].here.line == 31);
  CHECK_THAT(outcome.findings[1].message(), ContainsSubstring("reads tile[7] in shared memory"));
  CHECK_THAT(outcome.violations.at(0).sentence,
             ContainsSubstring("1 element past the end of y, which has room for 7"));
}
