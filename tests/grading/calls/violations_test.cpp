// What the grader finds by itself after a call that returned: guards, gaps, inputs; and what the device tells
// it.
#include <algorithm>
#include <string>

#include "grading/facts/poison.hpp"
#include "grading/testing/compare.hpp"
#include "support/catch.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("writes past the end of an array are found") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kPastEnd);
  CHECK(outcome.status == Status::returned);
  CHECK_THAT(why_not_clean(outcome), ContainsSubstring("wrote 24 elements past the end of c"));
}

TEST_CASE("writes before the start of an array are found") {
  Session session(library("misbehave"));
  CHECK_THAT(why_not_clean(misbehave(session, kBeforeStart)),
             ContainsSubstring("1 element before the start of c"));
}

TEST_CASE("elements that nobody wrote keep their poison") {
  Session session(library("misbehave"));
  Tensor<float> result({10});
  const Outcome outcome = call_in(session, {}, ENTRY(course::misbehave),
                                  static_cast<std::int32_t>(kWriteHalf), out(result, "c"), result.numel());
  REQUIRE(why_not_clean(outcome).empty());
  CHECK(result(4) == 1.0f);
  CHECK(is_poison(result(5)));
  CHECK_THAT(compare(result, "c", Tensor<double>({10}, 1.0), Tensor<float>({10}, 1.0f)).message,
             ContainsSubstring("5 of 10 elements were never written: all from element 5 on."));
}

TEST_CASE("outputs of a call that died hold poison") {
  Session session(library("misbehave"));
  Tensor<float> result({10}, 5.0f);
  call_in(session, {}, ENTRY(course::misbehave), static_cast<std::int32_t>(kExitZero), out(result),
          result.numel());
  CHECK(is_poison(result(0)));
}

TEST_CASE("a changed input is found, and the array is called by its place if it has no name") {
  Session session(library("mischief"));
  const Tensor<float> a({10}, 1.0f), b({10}, 1.0f);
  Tensor<float> c({10});
  CHECK_THAT(why_not_clean(call_in(session, {}, ENTRY(course::add), in(a, "a"), in(b, "b"), out(c, "c"), 10)),
             ContainsSubstring("changed its input a: 1 element, the first at position 3"));
  CHECK_THAT(why_not_clean(call_in(session, {}, ENTRY(course::add), in(a), in(b), out(c), 10)),
             ContainsSubstring("changed its input argument 1"));
  CHECK(a(3) == 1.0f);

  CallOptions unchecked;
  unchecked.verify_inputs = false;
  CHECK(why_not_clean(call_in(session, unchecked, ENTRY(course::add), in(a), in(b), out(c), 10)).empty());
}

TEST_CASE("guards and inputs of host arrays are checked as well") {
  Session session(library("mischief"));
  const Tensor<float> a({10}, 1.0f), b({10}, 1.0f);
  Tensor<float> c({10});
  const std::string why = why_not_clean(
      call_in(session, {}, ENTRY(course::add_host), host_in(a, "a"), host_in(b, "b"), host_out(c, "c"), 10));
  CHECK_THAT(why, ContainsSubstring("1 element past the end of c"));
  CHECK_THAT(why, ContainsSubstring("changed its input b"));
}

TEST_CASE("writes into the gaps between rows are found") {
  Session session(library("mischief"));
  const Tensor<float> x({3, 2}, {4, 1}, 1.0f);
  Tensor<float> y({3, 2}, {4, 1}, 0.0f);
  CHECK_THAT(why_not_clean(call_in(session, {}, ENTRY(course::scale), in(x, "x"), out(y, "y"), 1.0f)),
             ContainsSubstring("into the gaps between the rows of y"));
}

TEST_CASE("device memory that is never freed is found") {
  Session session(library("misbehave"));
  CHECK_THAT(why_not_clean(misbehave(session, kLeak)),
             ContainsSubstring("1 device allocation (4000 bytes) is never"));
  const Outcome outcome = misbehave(session, kLeakTwice);
  CHECK(outcome.leak_count == 2);  // the leak of the call before is not counted again
  CHECK(outcome.leak_bytes == 8000);
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
}

TEST_CASE("a CUDA error that nobody looked at is found, and is gone for the next call") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kLeaveError);
  INFO(outcome.message);
  CHECK(outcome.status == Status::cuda_error);
  CHECK_THAT(outcome.message, ContainsSubstring("cudaErrorInvalidValue"));
  CHECK_THAT(outcome.message, ContainsSubstring("nobody looked"));
  CHECK(why_not_clean(misbehave(session, kNothing)).empty());
  CHECK(why_not_clean(misbehave(session, kConsumeError)).empty());
}
