// Tests of lesson 04: safe_softmax against float64, within twice the error of a float32 softmax in 32 parts.

#include "04_safe_softmax/safe_softmax.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/facts/poison.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/softmax.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;

namespace {

using Col = std::int64_t;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr Col kWarp = 32;
/// Two columns for every thread, and a tail of 300: nine warps and twelve lanes.
constexpr Col kLongRow = 2 * kBlockThreads + 300;

/// What one call is given.
struct Problem {
  Tensor<float> x;  // (rows, cols), with a row stride of its own
  Col y_row_stride;

  Col rows() const { return x.shape()[0]; }
  Col cols() const { return x.shape()[1]; }
  Col x_row_stride() const { return x.strides()[0]; }
};

/// The gaps between rows hold a number far above all data, so that they show.
Problem with_row_strides(const Tensor<float>& dense, Col x_row_stride, Col y_row_stride) {
  Tensor<float> x(dense.shape(), {x_row_stride, 1}, 1e6f);
  for (Col i = 0; i < x.numel(); ++i) x.at_linear(i) = dense.at_linear(i);
  return {std::move(x), y_row_stride};
}

Problem dense(Tensor<float> x) {
  const Col cols = x.shape()[1];
  return {std::move(x), cols};
}

Problem random_problem(Col rows, Col cols, Col x_gap = 0, Col y_gap = 0) {
  return with_row_strides(uniform({rows, cols}, -3.0f, 5.0f, case_seed()), cols + x_gap, cols + y_gap);
}

// --- What a float32 program may lose ---

/// One sensible way to compute a softmax in float32.
struct Plain {
  bool near_first;  // the order in which partial sums are added
  bool exp2;        // exp(x) as 2^(x log2(e))
  bool divides;     // by the sum, or multiplies by its inverse
};

void softmax_row(Tensor<float>& y, const Tensor<float>& x, Col row, Plain plain) {
  const Col cols = x.shape()[1];
  float max = -kInf;
  for (Col col = 0; col < cols; ++col) max = std::max(max, x(row, col));
  if (max == -kInf) max = 0.0f;
  std::array<float, kWarp> sums{};
  for (Col col = 0; col < cols; ++col) {
    const volatile float below_max = x(row, col) - max;  // rounded, whatever the compiler would fuse
    const volatile float log2 = below_max * 1.44269504f;
    y(row, col) = plain.exp2 ? std::exp2(log2) : std::exp(below_max);
    sums[static_cast<std::size_t>(col % kWarp)] += y(row, col);
  }
  for (std::size_t step = 1; step < sums.size(); step *= 2) {
    const std::size_t apart = plain.near_first ? step : sums.size() / (2 * step);
    for (std::size_t i = 0; i + apart < sums.size(); ++i)
      if (plain.near_first ? i % (2 * apart) == 0 : i < apart) sums[i] += sums[i + apart];
  }
  if (sums[0] == 0.0f) return;
  const float scale = 1.0f / sums[0];
  for (Col col = 0; col < cols; ++col)
    y(row, col) = plain.divides ? y(row, col) / sums[0] : y(row, col) * scale;
}

double row_error(const Tensor<float>& y, const Tensor<double>& expected, Col row) {
  double largest = 0;
  for (Col col = 0; col < y.shape()[1]; ++col) {
    const double error = std::abs(static_cast<double>(y(row, col)) - expected(row, col));
    if (error > largest) largest = error;
  }
  return largest;
}

/// Each row in that one of eight ways that loses most: all eight are sensible ones.
Tensor<float> in_32_parts(const Tensor<float>& x, const Tensor<double>& expected) {
  Tensor<float> worst(x.shape()), y(x.shape());
  for (Col row = 0; row < x.shape()[0]; ++row) {
    double largest = -1;
    for (const bool near_first : {false, true}) {
      for (const bool exp2 : {false, true}) {
        for (const bool divides : {false, true}) {
          softmax_row(y, x, row, {near_first, exp2, divides});
          const double error = row_error(y, expected, row);
          if (error <= largest) continue;
          largest = error;
          for (Col col = 0; col < x.shape()[1]; ++col) worst(row, col) = y(row, col);
        }
      }
    }
  }
  return worst;
}

// --- Well-known mistakes: what they give ---

/// exp(x), but 0 and infinite where a float32 is.
double exp_in_float32(double x) {
  const double power = std::exp(x);
  const auto rounded = static_cast<float>(power);
  return rounded == 0.0f || std::isinf(rounded) ? static_cast<double>(rounded) : power;
}

bool every_column(Col, Col) { return true; }
Col whole_row(Col) { return 0; }
Col by_warp(Col col) { return col % kBlockThreads / kWarp; }
Col by_thread(Col col) { return col % kBlockThreads; }

/// Who takes part in the maximum and in the sum.
struct Parts {
  bool (*in_max)(Col col, Col cols) = every_column;
  bool (*in_sum)(Col col, Col cols) = every_column;
  Col (*max_group)(Col col) = whole_row;  // each group of columns has a maximum, and a sum, of its own
  Col (*sum_group)(Col col) = whole_row;
  bool minimum = false;  // stands where the maximum should
};

Tensor<double> softmax_of_parts(const Tensor<float>& x, const Parts& parts) {
  const Col rows = x.shape()[0], cols = x.shape()[1];
  const double sign = parts.minimum ? -1 : 1;
  Tensor<double> y({rows, cols});
  for (Col row = 0; row < rows; ++row) {
    std::vector<double> max(kBlockThreads, -HUGE_VAL), sum(kBlockThreads, 0.0);
    const auto group = [](Col index) { return static_cast<std::size_t>(index); };
    for (Col col = 0; col < cols; ++col) {
      double& largest = max[group(parts.max_group(col))];
      if (parts.in_max(col, cols)) largest = std::max(largest, sign * static_cast<double>(x(row, col)));
    }
    for (Col col = 0; col < cols; ++col) {
      const double m = sign * max[group(parts.max_group(col))];
      y(row, col) = exp_in_float32(static_cast<double>(x(row, col)) - (m == -HUGE_VAL ? 0.0 : m));
      if (parts.in_sum(col, cols)) sum[group(parts.sum_group(col))] += y(row, col);
    }
    for (Col col = 0; col < cols; ++col) {
      const double divisor = sum[group(parts.sum_group(col))];
      y(row, col) *= divisor == 0 ? 0 : 1 / divisor;
    }
  }
  return y;
}

bool is_minus_inf(const Tensor<float>& x, Col row) {
  for (Col col = 0; col < x.shape()[1]; ++col)
    if (x(row, col) != -kInf) return false;
  return true;
}

/// What a formula may be made of.
struct RowFacts {
  double max, sum_x;
  double sum_exp, sum_exp2;  // Σ exp(x - max), Σ 2^(x - max)
  double sum_plain, cols;    // Σ exp(x), as far as float32 goes; how many columns
};

RowFacts facts_of(const Tensor<float>& x, Col row) {
  RowFacts facts{-HUGE_VAL, 0, 0, 0, 0, static_cast<double>(x.shape()[1])};
  for (Col col = 0; col < x.shape()[1]; ++col) {
    const auto value = static_cast<double>(x(row, col));
    facts.max = std::max(facts.max, value), facts.sum_x += value;
    facts.sum_plain += exp_in_float32(value);
  }
  for (Col col = 0; col < x.shape()[1]; ++col) {
    const double below_max = static_cast<double>(x(row, col)) - facts.max;
    facts.sum_exp += std::exp(below_max), facts.sum_exp2 += std::exp2(below_max);
  }
  return facts;
}

Tensor<double> by_formula(const Tensor<float>& x, double (*formula)(double x, const RowFacts& row)) {
  Tensor<double> y(x.shape());
  for (Col row = 0; row < x.shape()[0]; ++row) {
    const RowFacts facts = facts_of(x, row);
    for (Col col = 0; col < x.shape()[1]; ++col)
      y(row, col) = is_minus_inf(x, row) ? 0 : formula(static_cast<double>(x(row, col)), facts);
  }
  return y;
}

/// Divided by what `sum` makes of the threads' own sums.
Tensor<double> divided_by(const Tensor<float>& x, double (*sum)(const std::vector<double>& sums_of_threads)) {
  Tensor<double> y(x.shape());
  for (Col row = 0; row < x.shape()[0]; ++row) {
    const double max = facts_of(x, row).max;
    std::vector<double> sums(kBlockThreads, 0.0);
    for (Col col = 0; col < x.shape()[1]; ++col) {
      y(row, col) = exp_in_float32(static_cast<double>(x(row, col)) - (max == -HUGE_VAL ? 0.0 : max));
      sums[static_cast<std::size_t>(by_thread(col))] += y(row, col);
    }
    const double divisor = sum(sums);
    for (Col col = 0; col < x.shape()[1]; ++col) y(row, col) *= divisor == 0 ? 0 : 1 / divisor;
  }
  return y;
}

double largest_of(const std::vector<double>& sums) {
  double largest = 0;
  for (const double sum : sums) largest = std::fmax(largest, sum);
  return largest;
}

/// Divided by a sum in which each thread goes on by 32 columns.
Tensor<double> sum_in_steps_of_a_warp(const Tensor<float>& x) {
  Tensor<double> y(x.shape());
  for (Col row = 0; row < x.shape()[0]; ++row) {
    const double max = facts_of(x, row).max;
    double sum = 0;
    for (Col col = 0; col < x.shape()[1]; ++col) {
      y(row, col) = exp_in_float32(static_cast<double>(x(row, col)) - (max == -HUGE_VAL ? 0.0 : max));
      sum += y(row, col) * static_cast<double>(std::min(col / kWarp, Col{kBlockThreads} / kWarp - 1) + 1);
    }
    for (Col col = 0; col < x.shape()[1]; ++col) y(row, col) *= sum == 0 ? 0 : 1 / sum;
  }
  return y;
}

/// Each row shifted by the maximum of row 0.
Tensor<double> with_maximum_of_row_0(const Tensor<float>& x) {
  Tensor<double> y(x.shape());
  for (Col row = 0; row < x.shape()[0]; ++row) {
    const double first = facts_of(x, 0).max, max = first == -HUGE_VAL ? 0 : first;
    double sum = 0;
    for (Col col = 0; col < x.shape()[1]; ++col)
      sum += y(row, col) = exp_in_float32(static_cast<double>(x(row, col)) - max);
    for (Col col = 0; col < x.shape()[1]; ++col) y(row, col) *= sum == 0 ? 0 : 1 / sum;
  }
  return y;
}

/// The softmax of what lies in x if row i begins i * step elements from its start.
Tensor<double> with_rows_at(const Tensor<float>& x, Col step) {
  Tensor<float> read(x.shape());
  const auto storage = x.storage();
  for (Col row = 0; row < x.shape()[0]; ++row)
    for (Col col = 0; col < x.shape()[1]; ++col)
      read(row, col) = storage[static_cast<std::size_t>(row * step + col)];
  return reference::softmax(read);
}

Tensor<double> along_columns(const Tensor<float>& x) {
  const Tensor<double> across = reference::softmax(x.transposed(0, 1).contiguous());
  return across.transposed(0, 1).contiguous();
}

/// Whether y is what writing row i to i * cols leaves: y without its gaps then holds other rows' elements.
bool written_without_stride(const Tensor<float>& y, const Problem& p) {
  if (p.y_row_stride == p.cols()) return false;
  const Tensor<double> right = reference::softmax(p.x);
  for (Col row = 0; row < p.rows(); ++row) {
    for (Col col = 0; col < p.cols(); ++col) {
      const Col place = row * p.y_row_stride + col;
      if (is_poison(y(row, col)) != (place >= y.numel())) return false;
      if (place < y.numel() && !(std::abs(static_cast<double>(y(row, col)) - right.at_linear(place)) <= 1e-6))
        return false;
    }
  }
  return true;
}

/// Whether exactly these columns of y were never written.
bool unwritten(const Tensor<float>& y, Col first_col, Col end_col) {
  if (first_col >= end_col) return false;
  for (Col row = 0; row < y.shape()[0]; ++row)
    for (Col col = 0; col < y.shape()[1]; ++col)
      if (is_poison(y(row, col)) != (col >= first_col && col < end_col)) return false;
  return true;
}

/// Rows with a NaN among nothing but -inf taken for rows of only -inf.
Tensor<double> without_lonely_nan(const Tensor<float>& x) {
  Tensor<double> y = reference::softmax(x);
  for (Col row = 0; row < x.shape()[0]; ++row)
    if (facts_of(x, row).max == -HUGE_VAL)
      for (Col col = 0; col < x.shape()[1]; ++col) y(row, col) = 0;
  return y;
}

/// Whether some rows lie far below 0, all these are zeros or NaN, and all others are right.
bool lost_below_zero(const Tensor<float>& y, const Tensor<float>& x) {
  const Tensor<double> right = reference::softmax(x);
  bool any = false;
  for (Col row = 0; row < y.shape()[0]; ++row) {
    const double max = facts_of(x, row).max;
    const bool low = max < -110 && max > -HUGE_VAL;
    any = any || low;
    for (Col col = 0; col < y.shape()[1]; ++col) {
      const float value = y(row, col);
      if (low ? value != 0.0f && !(std::isnan(value) && !is_poison(value))
              : !(std::abs(static_cast<double>(value) - right(row, col)) <= 1e-5))
        return false;
    }
  }
  return any;
}

Mistakes mistakes_of(const Problem& p) {
  const Tensor<float>& x = p.x;
  const auto parts = [&x](std::string name, Parts which, std::string sentence) {
    return gives(
        std::move(name), [&x, which] { return softmax_of_parts(x, which); }, std::move(sentence));
  };
  const auto formula = [&x](std::string name, double (*f)(double, const RowFacts&), std::string sentence) {
    return gives(
        std::move(name), [&x, f] { return by_formula(x, f); }, std::move(sentence));
  };
  return {
      // the maximum
      parts("no_maximum", {.in_max = [](Col, Col) { return false; }},
            "This is exp(x) without a maximum subtracted: from 88.73 on, it is infinite in float32."),
      formula(
          "no_maximum_in_the_output", [](double v, const RowFacts& r) { return std::exp(v) / r.sum_exp; },
          "The maximum is subtracted in the sum, but not in the output."),
      formula(
          "no_maximum_in_the_sum",
          [](double v, const RowFacts& r) { return std::exp(v - r.max) / (r.sum_exp * std::exp(r.max)); },
          "The maximum is subtracted in the output, but not in the sum."),
      parts("minimum_subtracted", {.minimum = true},
            "This is what subtracting the smallest number of a row gives: exp overflows all the more."),
      gives(
          "maximum_of_row_0", [&x] { return with_maximum_of_row_0(x); },
          "Every row is shifted by the maximum of row 0: each needs its own."),
      shows(
          "maximum_starts_at_0", [&x](const Tensor<float>& y) { return lost_below_zero(y, x); },
          "Rows whose numbers are all far below 0 are lost: their maximum was taken for 0, or for a tiny "
          "positive number such as FLT_MIN. Let it begin at -INFINITY."),
      parts(
          "max_of_the_first_columns", {.in_max = [](Col col, Col) { return col < kBlockThreads; }},
          "The maximum is that of the first kBlockThreads columns alone: where a larger number comes later, "
          "exp overflows."),
      parts("max_without_the_tail",
            {.in_max = [](Col col, Col cols) { return col < cols - cols % kBlockThreads; }},
            "The maximum leaves out the tail: the last cols % kBlockThreads columns, which do not fill the "
            "block."),
      parts("max_without_the_last_column", {.in_max = [](Col col, Col cols) { return col + 1 < cols; }},
            "The maximum leaves out the last column."),
      parts("max_of_warp_0", {.in_max = [](Col col, Col) { return by_warp(col) == 0; }},
            "The maximum is that of warp 0's columns alone. max_block<...>() combines the warps if its "
            "argument is the number of the block's threads, kBlockThreads, not that of its warps."),
      parts("max_of_lanes_0", {.in_max = [](Col col, Col) { return col % kWarp == 0; }},
            "The maximum is that of lane 0 of each warp: the lanes' maxima were never combined."),
      parts("max_not_combined", {.max_group = by_warp},
            "Each warp subtracts the maximum of its own columns. All elements of a row need the same one."),
      parts("max_of_each_thread", {.max_group = by_thread},
            "Each thread subtracts the maximum of its own columns. All elements of a row need the same one."),
      // the sum
      parts("sum_not_combined", {.sum_group = by_warp},
            "Each warp divides by the sum of its own columns, and so computes a softmax of these: the sums "
            "of the warps were never combined."),
      parts("sum_of_each_thread", {.sum_group = by_thread},
            "Each thread divides by the sum of its own columns."),
      parts("sum_of_the_first_columns", {.in_sum = [](Col col, Col) { return col < kBlockThreads; }},
            "The sum is that of the first kBlockThreads columns alone."),
      parts(
          "sum_without_the_tail",
          {.in_sum = [](Col col, Col cols) { return col < cols - cols % kBlockThreads; }},
          "The sum leaves out the tail: the last cols % kBlockThreads columns, which do not fill the block."),
      parts("sum_without_the_last_column", {.in_sum = [](Col col, Col cols) { return col + 1 < cols; }},
            "The sum leaves out the last column."),
      parts(
          "sum_of_warp_0", {.in_sum = [](Col col, Col) { return by_warp(col) == 0; }},
          "The sum is that of warp 0's columns alone. sum_block<...>() combines the warps if its argument is "
          "the number of the block's threads, kBlockThreads, not that of its warps."),
      parts("sum_of_lanes_0", {.in_sum = [](Col col, Col) { return col % kWarp == 0; }},
            "The sum is that of lane 0 of each warp: the lanes' sums were never combined."),
      gives(
          "largest_sum", [&x] { return divided_by(x, largest_of); },
          "Divided by the largest sum of a thread. The threads' sums have to be added: sum_block(), not "
          "max_block()."),
      gives(
          "sum_steps_by_the_warp", [&x] { return sum_in_steps_of_a_warp(x); },
          "Columns are in the sum more than once: each thread goes on by 32 columns. The block has "
          "kBlockThreads threads, so each has to go on by kBlockThreads."),
      formula(
          "sum_of_x", [](double v, const RowFacts& r) { return std::exp(v - r.max) / r.sum_x; },
          "Divided by the sum of x, where the sum of the exponentials is wanted."),
      // the output
      formula(
          "multiplied_by_the_sum",
          [](double v, const RowFacts& r) { return std::exp(v - r.max) * r.sum_exp; },
          "Multiplied by the sum, where it should be divided."),
      formula(
          "not_divided", [](double v, const RowFacts& r) { return std::exp(v - r.max); },
          "This is exp(x - max): the division by the sum is missing."),
      formula(
          "shift_outside_the_exponential",
          [](double v, const RowFacts& r) {
            return (exp_in_float32(v) - r.max) / (r.sum_plain - r.cols * r.max);
          },
          "This is made of exp(x) - max, where exp(x - max) is wanted: a bracket closes too early."),
      formula(
          "divided_by_the_columns", [](double v, const RowFacts& r) { return std::exp(v - r.max) / r.cols; },
          "Divided by the number of columns, not by the sum."),
      formula(
          "divided_by_the_maximum", [](double v, const RowFacts& r) { return std::exp(v - r.max) / r.max; },
          "Divided by the maximum, not by the sum."),
      formula(
          "power_of_2", [](double v, const RowFacts& r) { return std::exp2(v - r.max) / r.sum_exp2; },
          "This is a softmax of powers of 2; the contract's are powers of e."),
      formula(
          "logarithm", [](double v, const RowFacts& r) { return v - r.max - std::log(r.sum_exp); },
          "This is the logarithm of the softmax."),
      wrong_where(
          "sum_only_in_thread_0", [](const auto& at) { return by_thread(at[1]) != 0; },
          "Only thread 0's columns are right: the other threads never got the sum, or the maximum, of "
          "the block."),
      wrong_where(
          "right_only_in_warp_0", [](const auto& at) { return by_warp(at[1]) != 0; },
          "Only warp 0's columns are right: the other warps never got the sum, or the maximum, of the "
          "block."),
      shows(
          "tail_missing",
          [](const Tensor<float>& y) {
            const Col cols = y.shape()[1];
            return cols > 2 * kBlockThreads && unwritten(y, cols - cols % kBlockThreads, cols);
          },
          "The tail is missing: the last cols % kBlockThreads columns, which do not fill the block."),
      shows(
          "no_loop",
          [](const Tensor<float>& y) {
            return y.shape()[1] > 2 * kBlockThreads && unwritten(y, kBlockThreads, y.shape()[1]);
          },
          "Each thread wrote one column and stopped: it has to go on, kBlockThreads columns further, while "
          "there are columns left."),
      // rows and columns
      gives(
          "row_0_everywhere", [&x] { return with_rows_at(x, 0); },
          "Every row of y is the softmax of row 0 of x."),
      gives(
          "x_stride_ignored", [&x] { return with_rows_at(x, x.shape()[1]); },
          "The rows of x are read as if each began where the one before ends: they are x_row_stride elements "
          "apart."),
      shows(
          "y_stride_ignored", [&p](const Tensor<float>& y) { return written_without_stride(y, p); },
          "The rows of y are written as if each began where the one before ends: they are y_row_stride "
          "elements apart."),
      gives(
          "along_columns", [&x] { return along_columns(x); },
          "The columns of y add up to 1; its rows should."),
      // nothing to sum
      gives(
          "nan_lost", [&x] { return without_lonely_nan(x); },
          "A row with a NaN among nothing but -inf has become zeros. It should be NaN; its maximum, which "
          "passes over NaN, does not tell."),
      nan_where(
          "minus_inf_row_is_nan", [&x](const auto& at) { return is_minus_inf(x, at[0]); },
          "The rows of only -inf are NaN: -inf - -inf is NaN, and so is 0 / 0. They should be zeros."),
  };
}

// --- Calls and checks ---

/// y as the entry left it, without gaps.
Outcome run(const Problem& p, Tensor<float>& y, const CallOptions& options = {}) {
  Tensor<float> strided({p.rows(), p.cols()}, {p.y_row_stride, 1}, -2.0f);
  Outcome outcome = call_with(options, ENTRY(safe_softmax), in(p.x, "x"), p.x_row_stride(), out(strided, "y"),
                              p.y_row_stride, p.rows(), p.cols());
  y = strided.contiguous();
  return outcome;
}

void require_softmax(const Tensor<float>& y, const Problem& p) {
  const Tensor<double> expected = reference::softmax(p.x);
  require_matches(y, "y", expected, in_32_parts(p.x, expected), mistakes_of(p));
}

/// What the threads may read and must write, of any size.
void require_three_passes(const Profile& profile, const Problem& p) {
  const simt::GlobalTraffic &load = profile.global_load, &store = profile.global_store;
  const auto x_bytes = static_cast<std::uint64_t>(4 * p.rows() * p.cols());
  require(load.bytes_asked <= 3 * x_bytes,
          "The threads read " + std::to_string(load.bytes_asked) + " bytes in all. x has " +
              std::to_string(x_bytes) + ", and three passes over it read " + std::to_string(3 * x_bytes) +
              ": one for the maximum, one for the sum, one for the output.");
  require(store.bytes_asked == x_bytes,
          "The threads wrote " + std::to_string(store.bytes_asked) + " bytes to global memory. Each of the " +
              std::to_string(x_bytes / 4) +
              " elements of y should be written once, by one thread: " + std::to_string(x_bytes) + " bytes.");
}

void require_barriers(const Outcome& outcome, const Profile& profile, const Problem& p) {
  const Col warps_a_block = outcome.counters.at("threads") / outcome.counters.at("blocks") / kWarp;
  const auto row_warps = static_cast<std::uint64_t>(p.rows() * std::max<Col>(1, warps_a_block));
  require(meetings(profile) <= 6 * row_warps,
          meetings_told(profile, row_warps) + " for a row; 6 are enough. Inside a warp, shuffles need none.");
}

/// Runs the entry and compares.
Outcome check(const Problem& p, const CallOptions& options = {}) {
  INFO("rows = " << p.rows() << ", cols = " << p.cols() << ", x_row_stride = " << p.x_row_stride()
                 << ", y_row_stride = " << p.y_row_stride);
  Tensor<float> y;
  const Outcome outcome = run(p, y, options);
  require_ran(outcome);
  require_softmax(y, p);
  return outcome;
}

/// One column count after the other, each with rows that lie close together and rows that lie apart.
void check_columns(std::initializer_list<Col> column_counts) {
  for (const Col cols : column_counts) {
    check(random_problem(5, cols));
    check(random_problem(5, cols, 5, 3));
  }
}

void require_launch(const Outcome& outcome, Col rows) {
  const std::int64_t launches = outcome.counters.at("launches"), blocks = outcome.counters.at("blocks");
  require(launches == 1,
          "Your code launched " + std::to_string(launches) + " kernels; it should launch one.");
  require(blocks >= (rows - 1) / kWarp + 1, "The launch had only " + std::to_string(blocks) + " blocks for " +
                                                std::to_string(rows) +
                                                " rows. With more of them, more of a GPU works at once.");
}

/// For check mode's counters: whole sectors in every row, and in the gaps between them. No kernel knows the
/// sizes of the second beforehand. Most warps have columns, also if each of 1024 threads takes four.
std::vector<Problem> profiled_problems() {
  Random random(case_seed());
  return {random_problem(4, 3 * kBlockThreads + 296, 8, 16),
          random_problem(random.integer(2, 7), 8 * random.integer(400, 510), 8, 16)};
}

/// Of sizes, too, that no kernel knows beforehand, with gaps such as the problems of other cases have: who
/// tells those that are profiled apart, by whole sectors, is found out.
std::vector<Problem> problems_of_any_size() {
  Random random(case_seed() + 1);
  std::vector<Problem> problems;
  for (const auto& [x_gap, y_gap] : {std::pair<Col, Col>{0, 0}, {5, 3}}) {
    const Col rows = x_gap == 0 ? random.integer(2, 9) : random.integer(10, 60),
              cols = random.integer(34, 21'600 / rows);
    problems.push_back(random_problem(rows, cols, x_gap, y_gap));
  }
  // As long as calls can be that are counted.
  const Col rows = random.integer(1, 2);
  problems.push_back(random_problem(rows, random.integer(8000, 32'000 / rows)));
  return problems;
}

}  // namespace

TEST_CASE("turns the two rows of the notes into the same four numbers", "[l04][safe_softmax][points:1]") {
  const auto x = Tensor<float>::from({2, 4}, {1, 3, 2, 4, 101, 103, 102, 104});
  check(with_row_strides(x, 6, 5));
}

TEST_CASE("handles rows longer than a block, as long, and a little shorter",
          "[l04][safe_softmax][points:3]") {
  // The longest first: there most mistakes leave a pattern of their own.
  check_columns({kLongRow, kBlockThreads + 1, kBlockThreads, kBlockThreads - 1, 129});
}

TEST_CASE("handles rows of 1 to 33 columns", "[l04][safe_softmax][points:1]") {
  check_columns({33, 32, 31, 5, 2, 1});
}

TEST_CASE("handles 200 short rows, no rows, and rows of no columns", "[l04][safe_softmax][points:2]") {
  const Outcome outcome_of_many = check(random_problem(200, 7));
  require_launch(outcome_of_many, 200);
  if (const Profile* profile = profile_of(outcome_of_many)) require_busy_blocks(*profile, kWarp / 200.0);
  Random random(case_seed());  // for more rows, of which no kernel knows how many
  const Col few = drawn::few_columns(random);
  for (const bool have_gaps : {false, true}) {
    const Col x_gap = have_gaps ? drawn::few_between(random) : 0,
              y_gap = have_gaps ? drawn::few_between(random) : 0;
    check(with_row_strides(drawn::rows(random.integer(1100, 3000), few, random), few + x_gap, few + y_gap),
          {.check = CheckMode::never});
  }
  check(random_problem(1, 4096 * random.integer(2, 3)));  // whole tiles, which may have a fast path
  // Among them no rows of more columns than there may be rows.
  for (const auto& [rows, cols] : {std::pair<Col, Col>{0, 7}, {3, 0}, {0, 0}, {0, kMaxRows + 1}}) {
    const Outcome outcome = check(random_problem(rows, cols, 2, 2));
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute: no kernel should be launched for " + std::to_string(rows) +
                " rows of " + std::to_string(cols) + " columns.");
  }
}

TEST_CASE("reads and writes nothing between the rows", "[l04][safe_softmax][points:1]") {
  Problem p = random_problem(5, 300, 31, 40);
  for (Col row = 0; row + 1 < p.rows(); ++row)
    for (Col gap = 300; gap < 331; ++gap) p.x.storage()[static_cast<std::size_t>(row * 331 + gap)] = kNan;
  check(p);
  for (const CallOptions& shifted : with_shifted_arrays(2)) {
    INFO("x or y is a part of a larger matrix, and begins at no multiple of 16 bytes");
    check(random_problem(5, 300), shifted);
    // Whole fours, which may have a fast path.
    check(random_problem(2, 4 * Random(case_seed()).integer(300, 1300)), shifted);
  }
}

TEST_CASE("takes logits of 10,000 and of -10,000", "[l04][safe_softmax][points:3]") {
  check(dense(adversarial(Pattern::large, {4, kLongRow}, case_seed())));
  // Around the largest number whose exponential a float32 holds.
  check(dense(uniform({3, 300}, 80.0f, 95.0f, case_seed())));
  // Far below 0 all exponentials are 0, and so is their sum; the rows between are as usual or high.
  Tensor<float> low = uniform({6, 300}, -3.0f, 5.0f, case_seed());
  for (Col row = 0; row < 6; row += 2)
    for (Col col = 0; col < 300; ++col) low(row, col) -= 10'000.0f;
  for (Col col = 0; col < 300; ++col) low(5, col) += 200.0f;
  check(dense(low));
}

TEST_CASE("finds the maximum wherever it lies", "[l04][safe_softmax][points:2]") {
  // In first and last columns, threads, lanes and warps, in the middle, and in the tail.
  const std::vector<Col> places{0,
                                64,
                                40,
                                kBlockThreads - 1,
                                kBlockThreads,
                                2 * kBlockThreads - 20,
                                2 * kBlockThreads + 5,
                                kLongRow - 10,
                                kLongRow - 1};
  const auto rows = static_cast<Col>(places.size());
  Problem p = random_problem(rows, kLongRow);
  for (Col row = 0; row < rows; ++row)
    p.x(row, places[static_cast<std::size_t>(row)]) = 150.0f + 100.0f * static_cast<float>(row);
  check(p);
}

TEST_CASE("gives the same softmax if a constant is added to the row", "[l04][safe_softmax][points:2]") {
  Tensor<float> x = uniform({4, 400}, -8.0f, 8.0f, case_seed());
  for (Col i = 0; i < x.numel(); ++i) x.at_linear(i) = std::round(x.at_linear(i) * 1024) / 1024;
  const Tensor<double> expected = reference::softmax(x);
  for (const float constant : {0.0f, 512.0f, -512.0f, 8192.0f}) {
    Tensor<float> shifted = x;
    for (Col i = 0; i < x.numel(); ++i) shifted.at_linear(i) += constant;  // exact: multiples of 2^-10
    const Problem p = dense(shifted);
    INFO("x + " << constant << " must have the softmax of x, with x between -8 and 8");
    Tensor<float> y;
    require_ran(run(p, y));
    require_matches(y, "y", expected, in_32_parts(x, expected), mistakes_of(p));
  }
}

TEST_CASE("gives zeros for rows of only -inf, and for the elements that are -inf",
          "[l04][safe_softmax][points:3]") {
  check(dense(adversarial(Pattern::minus_inf_rows, {6, 300}, case_seed())));
  check(dense(adversarial(Pattern::minus_inf_holes, {6, 300}, case_seed())));
  // One number is left, in the first column, in the last, and in the second warp.
  Tensor<float> lonely({3, 300}, -kInf);
  lonely(0, 0) = -5.0f, lonely(1, 299) = 1000.0f, lonely(2, 33) = 0.0f;
  check(dense(lonely));
}

TEST_CASE("keeps NaN and +inf in their own row", "[l04][safe_softmax][points:3]") {
  Problem p = random_problem(9, 300);
  p.x(1, 0) = kNan;
  p.x(2, 299) = kNan;
  p.x(4, 40) = kInf;
  p.x(5, 0) = p.x(5, 299) = kInf;
  p.x(6, 7) = kInf, p.x(6, 270) = -kInf;
  p.x(8, 31) = -kInf;
  check(p);
  // A NaN among nothing but -inf, and nothing but NaN.
  Tensor<float> x({3, 300}, -kInf);
  x(0, 70) = kNan;
  for (Col col = 0; col < 300; ++col) x(2, col) = kNan;
  check(dense(x));
  Random random(case_seed());  // for sizes, gaps and rows that no kernel knows beforehand
  for (int i = 0; i < 3; ++i) {
    const Col rows = random.integer(5, 12), cols = drawn::length(random, 3000);
    const Col x_stride = drawn::row_stride(cols, random, i == 0),
              y_stride = drawn::row_stride(cols, random, i == 1);
    check(with_row_strides(drawn::rows(rows, cols, random), x_stride, y_stride),
          with_shifted_arrays(2)[static_cast<std::size_t>(random.integer(0, 1))]);
  }
  // Whole tiles and whole fours, which may have a fast path.
  for (const Col step : {Col{kBlockThreads}, Col{4}})
    for (const std::vector<Col>& gaps : drawn::gaps_around_fours(2, random)) {
      const Col cols = step * random.integer(1 + 600 / step, 4 * kBlockThreads / step);
      check(with_row_strides(drawn::rows(7, cols, random), cols + gaps[0], cols + gaps[1]));
    }
  for (const CallOptions& shifted : with_shifted_arrays(2)) {
    const Col cols = kBlockThreads * random.integer(1, 3);
    check(with_row_strides(drawn::rows(7, cols, random), cols, cols), shifted);
  }
}

TEST_CASE("takes the largest and the smallest numbers, and rows in order of size",
          "[l04][safe_softmax][points:1]") {
  for (const Pattern pattern : {Pattern::subnormal, Pattern::alternating_signs, Pattern::signed_zeros,
                                Pattern::huge, Pattern::increasing, Pattern::decreasing}) {
    INFO("data: " << pattern_name(pattern));
    check(dense(adversarial(pattern, {4, 500}, case_seed())));
  }
  check(dense(uniform({2, 300}, -3e38f, -1e30f, case_seed())));
}

TEST_CASE("gives rows of 100,000 columns that add up to 1", "[l04][safe_softmax][points:3]") {
  Random random(case_seed());
  for (const float sign : {1.0f, -1.0f}) {  // of rows far above 0, and far below
    const Col unknown = random.integer(20'000, 80'000);
    const float low = sign * static_cast<float>(random.integer(50, 1000));
    check(dense(uniform({2, unknown}, low, low + 1.0f, case_seed() + 1)));
  }
  Tensor<float> x = uniform({3, 100'000}, 0.0f, 1.0f, case_seed());
  for (Col col = 0; col < x.shape()[1]; ++col) x(2, col) = 7.0f;  // all alike
  const Problem p = dense(x);
  Tensor<float> y;
  require_ran(run(p, y));
  require_softmax(y, p);
  for (Col row = 0; row < p.rows(); ++row) {
    double sum = 0;
    for (Col col = 0; col < p.cols(); ++col) sum += static_cast<double>(y(row, col));
    require(std::abs(sum - 1) < 1e-5, "Row " + std::to_string(row) + " of y adds up to " +
                                          std::to_string(sum) + "; every row of a softmax adds up to 1.");
  }
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l04][safe_softmax][points:1]") {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const Problem& p : {random_problem(6, kBlockThreads + 77),
                           random_problem(random.integer(2, 9), random.integer(150, 2400))}) {
    Tensor<float> first;
    require_ran(run(p, first));
    require_softmax(first, p);
    std::uint64_t seed = order_seed();
    for (const Order order : {Order::reverse, Order::random, Order::random}) {
      CallOptions options;
      options.order = order;
      options.seed = seed++;
      Tensor<float> y;
      require_ran(run(p, y, options));
      require_softmax(y, p);
      INFO("The same call, with blocks, warps and threads in another order; y must have the same bits");
      require_same_bits(y, first, "y");
    }
  }
}

TEST_CASE("reads x three times, in whole sectors, and writes y once", "[l04][safe_softmax][points:3]") {
  for (const Problem& p : profiled_problems()) {
    const Outcome outcome = check(p);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_three_passes(*profile, p);
    const simt::GlobalTraffic &load = profile->global_load, &store = profile->global_store;
    require(load.sectors * 10 <= load.ideal_sectors * 11,
            "The warps' loads touch " + std::to_string(load.sectors) + " sectors of 32 bytes where " +
                std::to_string(load.ideal_sectors) +
                " would do, although every row begins with a whole sector. Let neighbouring threads read "
                "neighbouring columns.");
    require(load.requests * 16 * 4 <= load.bytes_asked,
            "The warps load " + std::to_string(load.bytes_asked / 4) + " numbers with " +
                std::to_string(load.requests) +
                " instructions, though each could bring 32 of them: most lanes have nothing to do.");
    require(store.sectors * 10 <= store.ideal_sectors * 11,
            "The warps' stores touch " + std::to_string(store.sectors) + " sectors of 32 bytes where " +
                std::to_string(store.ideal_sectors) +
                " would do. Let neighbouring threads write neighbouring columns.");
    require_full_sectors(store, "store");
    require_busy_lanes(*profile);
    require_busy_warps_of_rows(*profile, p.rows());
  }
  for (const Problem& p : problems_of_any_size()) {
    const Outcome outcome = check(p);
    require_launch(outcome, p.rows());
    if (const Profile* profile = profile_of(outcome)) require_three_passes(*profile, p);
  }
}

TEST_CASE("waits at no more than six barriers for a row", "[l04][safe_softmax][points:2]") {
  std::vector<Problem> problems = profiled_problems();
  for (Problem& p : problems_of_any_size()) problems.push_back(std::move(p));
  for (const Problem& p : problems) {
    const Outcome outcome = check(p);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_barriers(outcome, *profile, p);
    const std::uint64_t conflicts = profile->shared_load.conflicts() + profile->shared_store.conflicts();
    require(conflicts == 0,
            "Accesses to shared memory take " + std::to_string(conflicts) +
                " passes more than they need: lanes of a warp reach for different words of the "
                "same bank.");
  }
}

TEST_CASE("computes two rows, but refuses sizes and strides that make no sense",
          "[l04][safe_softmax][points:2]") {
  check(random_problem(2, 3, 1, 1));
  const Tensor<float> x({2, 40}, 1.0f);
  const auto require_refused = [&](Col x_row_stride, Col y_row_stride, Col rows, Col cols,
                                   const char* argument) {
    INFO("rows = " << rows << ", cols = " << cols << ", x_row_stride = " << x_row_stride
                   << ", y_row_stride = " << y_row_stride);
    Tensor<float> y({2, 40});
    require_throws<std::invalid_argument>(
        call(ENTRY(safe_softmax), in(x, "x"), x_row_stride, out(y, "y"), y_row_stride, rows, cols), argument);
  };
  require_refused(3, 3, -1, 3, "rows");
  require_refused(3, 3, kMaxRows + 1, 3, "rows");
  require_refused(3, 3, 2, -1, "cols");
  require_refused(2, 3, 2, 3, "x_row_stride");
  require_refused(3, 2, 2, 3, "y_row_stride");
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const Col wide = random.integer(4, 40), narrow = random.integer(-9, wide - 1);
  require_refused(wide, wide, -random.integer(2, 1000), wide, "rows");
  require_refused(wide, wide, kMaxRows + random.integer(2, 1000), wide, "rows");
  require_refused(wide, wide, 2, -random.integer(2, 1000), "cols");
  for (const Col rows : {2, 1, 0}) {
    require_refused(narrow, wide, rows, wide, "x_row_stride");
    require_refused(wide, narrow, rows, wide, "y_row_stride");
  }
  require_refused(wide, wide, 0, -1, "cols");
  require_refused(wide, wide, -1, 0, "rows");
}

TEST_CASE("reports a launch that CUDA refuses", "[l04][safe_softmax][points:1]") {
  // A grid limit of one block, where 200 rows and more need more. A GPU has no such switch and accepts the
  // launch; then the results must be right.
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const Problem p = random_problem(random.integer(200, 260), random.integer(5, 20));
  CallOptions options;
  options.max_grid_x = 1;
  Tensor<float> y;
  const Outcome unlimited = run(p, y, {});
  require_ran(unlimited);
  require_softmax(y, p);
  const Outcome outcome = run(p, y, options);
  if (!require_refused_launch(outcome, unlimited)) {
    require_softmax(y, p);
    // Along y and z there is room for fewer blocks than along x.
    if (const Col blocks = unlimited.counters.at("blocks"); blocks > 1)
      check(random_problem(drawn::rows_of_65536_blocks(p.rows(), blocks, random), 1),
            {.check = CheckMode::never});
  } else {
    // Nothing runs then, so that rows need no memory. At 8 threads a row or more, 2^29 + 1 rows have so many
    // threads that 32 bits keep only those of one row.
    for (const Col rows : {(Col{1} << 29) + 1, kMaxRows}) {
      INFO("With rows = " << rows << ", too, it is CUDA that refuses");
      Tensor<float> y_of_many({p.rows(), p.cols()});
      require_throws<std::runtime_error>(call_with(options, ENTRY(safe_softmax), in(p.x, "x"),
                                                   p.x_row_stride(), out(y_of_many, "y"), p.y_row_stride,
                                                   rows, p.cols()));
    }
  }
}

COURSE_RUN(RunContext& run) {
  const auto x = run.input<float>("x", {"rows", "cols"});
  Tensor<float> y(x.shape());
  run.call(ENTRY(safe_softmax), in(x, "x"), x.strides()[0], out(y, "y"), y.strides()[0], x.shape()[0],
           x.shape()[1]);
  run.output("y", y);
}
