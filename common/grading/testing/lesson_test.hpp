#pragma once
// Everything a lesson's test file needs: Catch2, calls into the kernel library, checks, `./course run` and
// `./course gradcheck`.

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>  // 2.13, as on Debian 12
#endif

#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "grading/facts/outcome.hpp"
#include "grading/testing/call.hpp"
#include "grading/testing/case.hpp"
#include "grading/testing/compare.hpp"
#include "grading/testing/gradcheck.hpp"
#include "grading/testing/listing.hpp"
#include "grading/testing/mistakes.hpp"
#include "grading/testing/run.hpp"
#include "grading/testing/traffic.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

namespace course::grading {

/// The line of a test that a check stands in. std::source_location would do, but clang before 16 lacks it.
struct TestLine {
  const char* file;
  int line;
  static constexpr TestLine here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// @brief Fails the case unless the call came back and left nothing behind: no broken guards, changed inputs,
/// leaked device memory or unread CUDA error.
/// After a call that came back the case goes on, so that wrong results are compared and told first; what the
/// call left behind comes last.
void require_ran(const Outcome& outcome, TestLine where = TestLine::here());

/// @brief What check mode counted in this call, or nullptr where there is none, as on a GPU:
/// ```
/// if (const Profile* profile = profile_of(outcome))
///   require(profile->global_load.bytes <= 8 * n, "Each element should be read once.");
/// ```
/// Fails the case if check mode did not see the call to its end: what was not counted is not right. Fails it
/// also if the call was left out as too large, since such a test could never fail: use smaller arrays, or
/// CallOptions::check.
const Profile* profile_of(const Outcome& outcome, TestLine where = TestLine::here());

/// @brief As profile_of(), for what is asked in every call that check mode counts: nothing for those that it
/// does not.
std::optional<Profile> profile_if_counted(const Outcome& outcome, TestLine where = TestLine::here());

/// @brief Fails the case if check mode gave a warning. (Errors fail it by themselves.)
void require_no_warnings(const Outcome& outcome, TestLine where = TestLine::here());

namespace detail {
void require_threw(const Outcome& outcome, const std::type_info& type, std::string_view mentions,
                   TestLine where);
/// Fails the case with this sentence unless the check passed.
void report(bool passed, const std::string& message, TestLine where);
/// Fails the case with all of these, if there are any.
void report(const std::vector<Failure>& failures, TestLine where);
}  // namespace detail

/// @brief Fails the case unless the entry threw Exception (or something derived from it), with `mentions` as
/// a word of its message, and changed nothing.
template <class Exception>
void require_throws(const Outcome& outcome, std::string_view mentions = {},
                    TestLine where = TestLine::here()) {
  detail::require_threw(outcome, typeid(Exception), mentions, where);
}

/// @brief For a call in which CUDA is to refuse a launch, by CallOptions::max_grid_x: fails the case unless
/// the entry threw std::runtime_error. Who launched nothing and returned has swallowed the error.
/// @return False if the launches were accepted, as on a GPU, which has no such switch; then the call came
/// back and its results are to be right: `if (!require_refused_launch(outcome)) require_sum(c, a, b);`
/// `unlimited`: the same call without the limit, which has run. If that launched nothing, nothing can be
/// refused: false, so that a stub hears of its results, as elsewhere.
bool require_refused_launch(const Outcome& outcome, const std::optional<Outcome>& unlimited = {},
                            TestLine where = TestLine::here());

/// @brief A call in which one of so many arrays on the device begins so many bytes past a multiple of 256, as
/// a part of a larger array may.
CallOptions with_shifted_array(std::size_t arrays, std::size_t array, std::uint32_t bytes);

/// @brief Options of one call after the other, for arrays of 4-byte elements: one of the arrays begins at no
/// multiple of 16 bytes, each in turn; then all, alike; then all but the last, alike; then each somewhere.
std::vector<CallOptions> with_shifted_arrays(std::size_t arrays);

/// @brief Fails the case unless every element lies within the bound of the float64 reference; see compare().
/// T is float, bfloat16 or float16.
template <class T>
void require_matches(const Tensor<T>& got, const ArrayName& name, const Tensor<double>& expected,
                     const Tensor<float>& baseline, const Bound& bound = {},
                     TestLine where = TestLine::here()) {
  if (findings_only()) return;
  const Comparison comparison = compare(got, name, expected, baseline, bound);
  if (!comparison.passed) detail::report({comparison.failure()}, where);
  detail::report(true, {}, where);
}

/// @brief The same; the mistakes are held against a wrong result. Of those that explain it, the report tells
/// the one that no other failed case contradicts.
void require_matches(const Tensor<float>& got, const ArrayName& name, const Tensor<double>& expected,
                     const Tensor<float>& baseline, const Mistakes& mistakes, const Bound& bound = {},
                     TestLine where = TestLine::here());
template <class T>
requires is_16_bit<T>
void require_matches(const Tensor<T>& got, const ArrayName& name, const Tensor<double>& expected,
                     const Tensor<float>& baseline, const Mistakes& mistakes, Bound bound = {},
                     TestLine where = TestLine::here()) {
  bound.format = format_of<T>;
  require_matches(widened(got), name, expected, baseline, mistakes, bound, where);
}

/// @brief Fails the case unless `got` is the gradient of the loss for `input`, held against central
/// differences; see central_differences() for what a loss is. `input` is as before afterwards.
/// Cost: 2 · numel evaluations of the loss.
inline void require_gradient(const Tensor<float>& got, std::string_view name, Tensor<float>& input,
                             const Loss& loss, GradientBound bound = {}, TestLine where = TestLine::here()) {
  if (findings_only() || rehearsing()) return;
  const GradientResult result = check_gradient(name, got, input, loss, bound);
  detail::report(result.passed(), result.message(), where);
}
template <class T>
requires is_16_bit<T>
void require_gradient(const Tensor<T>& got, std::string_view name, Tensor<float>& input, const Loss& loss,
                      GradientBound bound = GradientBound::of(format_of<T>),
                      TestLine where = TestLine::here()) {
  require_gradient(widened(got), name, input, loss, bound, where);
}

/// @brief Fails the case with this message, a sentence for the student, unless the condition holds.
inline void require(bool condition, const std::string& message, TestLine where = TestLine::here()) {
  detail::report(condition, message, where);
}

/// @brief Fails the case if the launches read more than `bytes` bytes in whole sectors; see reads_too_much().
inline void require_loads_at_most(const Profile& profile, std::uint64_t bytes, std::string_view what,
                                  TestLine where = TestLine::here()) {
  const std::string why = reads_too_much(profile, bytes, what);
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case unless the threads write exactly `bytes` bytes; see writes_not_exactly().
inline void require_stores(const Profile& profile, std::uint64_t bytes, std::string_view what,
                           TestLine where = TestLine::here()) {
  const std::string why = writes_not_exactly(profile, bytes, what);
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case if a launch touches more sectors than its bytes fill; see scattered_accesses().
inline void require_whole_sectors(const Profile& profile, TestLine where = TestLine::here()) {
  const std::string why = scattered_accesses(profile);
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case if so few lanes load or store at a time that sectors are half empty; see
/// half_empty_sectors().
inline void require_full_sectors(const simt::GlobalTraffic& traffic, std::string_view verb,
                                 TestLine where = TestLine::here()) {
  const std::string why = half_empty_sectors(traffic, verb);
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case if blocks of a launch that start last have more work than the mean; see
/// last_is_largest().
inline void require_largest_first(const Profile& profile, TestLine where = TestLine::here()) {
  const std::string why = last_is_largest(profile);
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case if most lanes of the warps have nothing to load, or nothing to do; see
/// few_lanes_load() and few_lanes_work().
inline void require_busy_lanes(const Profile& profile, TestLine where = TestLine::here()) {
  for (const std::string& why : {few_lanes_load(profile), few_lanes_work(profile)})
    detail::report(why.empty(), why, where);
}

/// @brief Fails the case if other units than tensor cores multiply matrices; see
/// products_beside_tensor_cores().
inline void require_tensor_cores(const Profile& profile, TestLine where = TestLine::here()) {
  const std::string why = products_beside_tensor_cores(profile);
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case if check mode counted the call, and tensor cores do too little of it; see
/// few_on_tensor_cores().
inline void require_on_tensor_cores(const Outcome& outcome, std::uint64_t multiply_adds,
                                    TestLine where = TestLine::here()) {
  const std::string why = outcome.profile ? few_on_tensor_cores(*outcome.profile, multiply_adds) : "";
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case if one warp of a block does most of the work; see few_warps_work().
inline void require_busy_warps(const Profile& profile, double times = 2, TestLine where = TestLine::here()) {
  const std::string why = few_warps_work(profile, times);
  detail::report(why.empty(), why, where);
}

/// @brief The same of kernels that go through so many rows; see few_warps_of_rows_work().
inline void require_busy_warps_of_rows(const Profile& profile, std::int64_t rows, double times = 2,
                                       TestLine where = TestLine::here()) {
  const std::string why = few_warps_of_rows_work(profile, static_cast<std::uint64_t>(rows), times);
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case if one block has more than this share of a launch's work; see one_block_works().
inline void require_busy_blocks(const Profile& profile, double share, TestLine where = TestLine::here()) {
  const std::string why = one_block_works(profile, share);
  detail::report(why.empty(), why, where);
}

/// @brief Fails the case unless both tensors have the same bits.
template <class T>
void require_same_bits(const Tensor<T>& got, const Tensor<T>& expected, const ArrayName& name,
                       TestLine where = TestLine::here()) {
  const Comparison comparison = compare_bits(got, expected, name);
  if (!comparison.passed) detail::report({comparison.failure()}, where);
  detail::report(true, {}, where);
}

}  // namespace course::grading
