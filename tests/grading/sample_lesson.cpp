// A lesson's test program in small. lesson_program_test.cpp runs it and reads what it writes.
#include <stdexcept>
#include <string>

#include "grading/testing/lesson_test.hpp"
#include "kernels/contract.hpp"
#include "kernels/misdeeds.hpp"
#include "kernels/sixteen_bits.hpp"
#include "kernels/suspects.hpp"

using namespace course;
using namespace course::grading;

namespace {

[[maybe_unused]] const bool kOnHost = host_may_compute() = true;  // misbehave.cpp has no kernels

Outcome misbehave_with(Misdeed misdeed) {
  Tensor<float> c({10});
  return call(ENTRY(misbehave), static_cast<std::int32_t>(misdeed), out(c, "c"), c.numel());
}

/// Σ a·b + b²/2, whose gradient for b is a + b, which is what add() gives; for a, it is b.
double product_loss(const Tensor<float>& a, const Tensor<float>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) {
    const auto x = static_cast<double>(a.at_linear(i)), y = static_cast<double>(b.at_linear(i));
    sum += x * y + y * y / 2;
  }
  return sum;
}

}  // namespace

TEST_CASE("adds", "[sample][points:2]") {
  const Tensor<float> a({10}, 1.0f), b({10}, 2.0f);
  Tensor<float> c({10});
  require_ran(call(ENTRY(add), in(a, "a"), in(b, "b"), out(c, "c"), 10));
  require_matches(c, "c", Tensor<double>({10}, 3.0), Tensor<float>({10}, 3.0f));
  require_same_bits(c, Tensor<float>({10}, 3.0f), "c");
}

TEST_CASE("ends the program", "[sample][points:3]") { require_ran(misbehave_with(kExitZero)); }

TEST_CASE("is wrong for some sizes", "[sample][points:1]") {
  for (const int n : {1, 2}) {
    INFO("n = " << n);
    require_matches(Tensor<float>({n}, 1.0f), "c", Tensor<double>({n}, n),
                    Tensor<float>({n}, static_cast<float>(n)));
  }
}

TEST_CASE("throws as it should", "[sample][points:1]") {
  require_ran(misbehave_with(kNothing));
  require_throws<std::invalid_argument>(misbehave_with(kThrowInvalidArgument), "n");
  require_throws<std::logic_error>(misbehave_with(kThrowDerived), "n");
}

TEST_CASE("throws whatever it gets", "[sample]") {
  require_throws<std::invalid_argument>(misbehave_with(kThrowInvalidArgument), "n");
}

TEST_CASE("throws another type", "[sample]") {
  require_throws<std::out_of_range>(misbehave_with(kThrowInvalidArgument));
}

TEST_CASE("throws without the name", "[sample]") {
  require_throws<std::invalid_argument>(misbehave_with(kThrowInvalidArgument), "a");
}

TEST_CASE("does not throw", "[sample]") {
  require_throws<std::invalid_argument>(misbehave_with(kNothing), "n");
}

TEST_CASE("prints", "[sample]") { require_ran(misbehave_with(kPrint)); }

TEST_CASE("leaks", "[sample]") { require_ran(misbehave_with(kLeak)); }

TEST_CASE("leaks and prints and is wrong", "[sample]") {
  require_ran(misbehave_with(kPrint));
  for (const int n : {1, 2}) {
    INFO("n = " << n);
    Tensor<float> c({10});
    require_ran(call(ENTRY(misbehave), static_cast<std::int32_t>(kLeak), out(c, "c"), c.numel()));
    require_matches(c, "c", Tensor<double>({10}, n), Tensor<float>({10}, static_cast<float>(n)));
  }
}

TEST_CASE("shifts with a race", "[suspects]") {
  const Tensor<float> x({64}, 1.0f);
  Tensor<float> y({64});
  require_ran(call(ENTRY(shift), in(x, "x"), out(y, "y"), 64));
  require_same_bits(y, x, "y");
}

TEST_CASE("reverses in warps with a warning", "[suspects]") {
  const Tensor<float> x({64}, 1.0f);
  Tensor<float> y({64});
  require_ran(call(ENTRY(reverse_in_warps), in(x, "x"), out(y, "y"), 64));
}

TEST_CASE("insists on no warnings", "[suspects]") {
  const Tensor<float> x({64}, 1.0f);
  Tensor<float> y({64});
  require_no_warnings(call(ENTRY(reverse_in_warps), in(x, "x"), out(y, "y"), 64));
}

TEST_CASE("counts what a copy reads", "[suspects]") {
  const Tensor<float> x({64}, 1.0f);
  Tensor<float> y({64});
  const Outcome outcome = call(ENTRY(copy), in(x, "x"), out(y, "y"), 64);
  if (const Profile* profile = profile_of(outcome))
    require(profile->global_load.bytes == 255,
            "You read " + std::to_string(profile->global_load.bytes) + " bytes.");
}

TEST_CASE("counts what was left out", "[suspects]") {
  const Tensor<float> x({64}, 1.0f);
  Tensor<float> y({64});
  CallOptions options;
  options.check = CheckMode::never;
  (void)profile_of(call_with(options, ENTRY(copy), in(x, "x"), out(y, "y"), 64));
}

TEST_CASE("multiplies in 16 bits", "[sixteen_bits]") {
  const Tensor<bfloat16> A({3, 40}, bfloat16(0.1f)), B({40, 2}, bfloat16(3.0f));
  const double sum = 40 * 3 * static_cast<double>(bfloat16(0.1f));
  Tensor<bfloat16> C({3, 2});
  require_ran(call(ENTRY(multiply_bfloat16), in(A, "A"), in(B, "B"), out(C, "C")));
  require_matches(C, "C", Tensor<double>({3, 2}, sum), Tensor<float>({3, 2}, static_cast<float>(sum)));
}

TEST_CASE("sums in 16 bits", "[sixteen_bits]") {
  const Tensor<float16> A({3, 400}, float16(1.1f)), B({400, 2}, float16(1.0f));
  const double sum = 400 * static_cast<double>(float16(1.1f));
  Tensor<float16> C({3, 2});
  require_ran(call(ENTRY(multiply_narrow_float16), in(A, "A"), in(B, "B"), out(C, "C")));
  const Mistakes mistakes{off_by_a_factor("scaled", "Every element is {} times what it should be."),
                          gives(
                              "sum_of_16_bits",
                              [] {
                                return Tensor<double>({3, 2}, 427);
                              },
                              "The sum is rounded to 16 bits in every step: keep it in float.")};
  require_matches(C, "C", Tensor<double>({3, 2}, sum), Tensor<float>({3, 2}, static_cast<float>(sum)),
                  mistakes);
}

TEST_CASE("checks nothing", "[sample][points:1]") {}

TEST_CASE("compares numbers", "[sample]") {
  const int two = 2;
  CHECK(two == 3);
  CHECK(two == 4);
}

TEST_CASE("is a mistake in the test", "[sample]") { throw std::logic_error("the test is wrong"); }

TEST_CASE("has the gradient of a loss", "[gradients]") {
  Tensor<float> a = uniform({2, 3}, -1, 1, 1), b = uniform({2, 3}, -1, 1, 2), c({2, 3});
  require_ran(call(ENTRY(add), in(a, "a"), in(b, "b"), out(c, "c"), c.numel()));
  require_gradient(c, "db", b, [&] { return product_loss(a, b); });
}

TEST_CASE("has the gradient of another loss", "[gradients]") {
  Tensor<float> a = uniform({2, 3}, -1, 1, 1), b = uniform({2, 3}, -1, 1, 2), c({2, 3});
  require_ran(call(ENTRY(add), in(a, "a"), in(b, "b"), out(c, "c"), c.numel()));
  require_gradient(c, "da", a, [&] { return product_loss(a, b); });
}

COURSE_GRADCHECK(GradcheckContext& check) {
  const std::int64_t rows = check.random().integer(1, 4);
  const std::string wanted = check.boolean("other", check.seed() == 5) ? "a" : "b";
  const std::int64_t misdeed = check.integer("misdeed", kNothing);
  check.describe(std::to_string(rows) + " rows of 4, the gradient for " + wanted);
  if (check.boolean("nothing", false)) return;
  Tensor<float> a = check.normal({rows, 4}), b = check.normal({rows, 4}), c({rows, 4});
  if (misdeed == kNothing)
    check.call(ENTRY(add), in(a, "a"), in(b, "b"), out(c, "c"), c.numel());
  else
    check.call(ENTRY(misbehave), static_cast<std::int32_t>(misdeed), out(c, "c"), c.numel());
  check.compare("d" + wanted, c, wanted == "a" ? a : b, [&] { return product_loss(a, b); });
}

template <class T, class Function>
void run_multiply(RunContext& run, Entry<Function> entry) {
  const auto A = run.input<T>("A", {"M", "K"}), B = run.input<T>("B", {"K", "N"});
  Tensor<T> C({A.shape()[0], B.shape()[1]});
  run.call(entry, in(A, "A"), in(B, "B"), out(C, "C"));
  run.output("C", C);
}

COURSE_RUN(RunContext& run) {
  if (run.has_input("A"))
    return run.input_format("A") == Format16::bfloat16 ? run_multiply<bfloat16>(run, ENTRY(multiply_bfloat16))
                                                       : run_multiply<float16>(run, ENTRY(multiply_float16));
  const auto a = run.input<float>("a", {"n"}), b = run.input<float>("b", {"n"});
  Tensor<float> c(a.shape());
  const auto misbehave_if = [&](std::string_view setting, Misdeed misdeed) {
    if (run.integer(setting, 0) == 1)
      run.call(ENTRY(misbehave), static_cast<std::int32_t>(misdeed), out(c), c.numel());
  };
  misbehave_if("exit", kExitZero);
  misbehave_if("print", kPrint);
  misbehave_if("half", kWriteHalf);
  if (run.integer("half", 0) == 1) return run.output("c", c);
  run.call(ENTRY(add), in(a, "a"), in(b, "b"), out(c, "c"), a.numel());
  if (run.boolean("twice", run.has_input("twice")))
    for (float& value : c.storage()) value *= 2.0f;
  run.output("c", c);
}
