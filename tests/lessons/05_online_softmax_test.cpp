// Tests of lesson 05: row_stats and online_softmax against float64, within twice the error of a plain float32
// computation in 32 parts.

#include "05_online_softmax/online_softmax.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/facts/poison.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/row_stats.hpp"
#include "reference/softmax.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kWarp = 32;

/// A row of one column may be exact in float32 by chance, so the floor allows two roundings of the largest
/// result besides twice the error of the baseline.
const Bound kBound{2, 2.5e-7};

/// What one call is given: x (rows, cols), with a row stride of its own.
struct Problem {
  Tensor<float> x;
  bool tells_guards =
      false;  ///< made by minus_inf_problem(): which rows are NaN tells which guard is missing

  std::int64_t rows() const { return x.shape()[0]; }
  std::int64_t cols() const { return x.shape()[1]; }
  std::int64_t x_row_stride() const { return x.strides()[0]; }
};

Tensor<float> with_row_stride(const Tensor<float>& dense, std::int64_t row_stride, float gap = 1000.0f) {
  Tensor<float> x(dense.shape(), {row_stride, 1}, gap);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.at_linear(i) = dense.at_linear(i);
  return x;
}

Problem random_problem(std::int64_t rows, std::int64_t cols, std::int64_t x_row_stride) {
  return {with_row_stride(uniform({rows, cols}, -4.0f, 4.0f, case_seed()), x_row_stride)};
}

/// Rows of -inf but for the columns 0, 1024, 2048, ...: one thread folds them all, whether 32 threads or 1024
/// share a row.
Problem problem_of_one_thread(const std::vector<std::vector<float>>& rows) {
  const auto count = static_cast<std::int64_t>(rows[0].size());
  Problem p{Tensor<float>({static_cast<std::int64_t>(rows.size()), (count - 1) * 1024 + 1}, -kInf)};
  for (std::int64_t row = 0; row < p.rows(); ++row)
    for (std::int64_t j = 0; j < count; ++j)
      p.x(row, j * 1024) = rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(j)];
  return p;
}

/// Rows of -inf but for two columns of thread 0, which hold `mine`, and one of another thread, `theirs`.
Problem problem_of_two_threads(std::int64_t their_col) {
  const std::array<std::array<float, 2>, 4> mine_theirs{{{3, 5}, {5, 3}, {-2, -1}, {-9, 4}}};
  Problem p{Tensor<float>({4, std::max<std::int64_t>(1024, their_col) + 1}, -kInf)};
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    const auto [mine, theirs] = mine_theirs[static_cast<std::size_t>(row)];
    p.x(row, 0) = p.x(row, 1024) = mine;
    p.x(row, their_col) = theirs;
  }
  return p;
}

// --- What a float32 program may lose ---

struct Stats32 {
  float max = -kInf, sum = 0.0f;
};

/// A way to compute in float32: with the exponential of base 2, with the recurrence or with the maximum known
/// first.
struct Way {
  bool base_2, recurrence, near_first, reciprocal;

  float exp(float x) const { return base_2 ? std::exp2(x * 1.44269504f) : std::exp(x); }
};
constexpr std::array kWays{Way{false, true, false, true}, Way{false, true, true, false},
                           Way{false, false, false, true}, Way{true, true, false, true},
                           Way{true, false, true, false}};

Stats32 merge(const Way& way, Stats32 a, Stats32 b) {
  if (a.sum == 0.0f) return b;
  if (b.sum == 0.0f) return a;
  const float max = std::max(a.max, b.max);
  return {max, a.sum * way.exp(a.max - max) + b.sum * way.exp(b.max - max)};
}

/// The statistics of a row in 32 parts, then merged in pairs, near or far apart. Finite or -inf columns only.
Stats32 stats_in_32_parts(const Problem& p, std::int64_t row, const Way& way) {
  std::array<Stats32, kWarp> parts;
  Stats32 whole;
  if (!way.recurrence)
    for (std::int64_t col = 0; col < p.cols(); ++col) whole.max = std::max(whole.max, p.x(row, col));
  for (std::int64_t col = 0; col < p.cols(); ++col) {
    Stats32& part = parts[static_cast<std::size_t>(col % kWarp)];
    const float x = p.x(row, col);
    if (x == -kInf) continue;
    const float max = way.recurrence ? std::max(part.max, x) : whole.max;
    const float kept = part.sum == 0.0f ? 0.0f : part.sum * way.exp(part.max - max);
    part = {max, kept + way.exp(x - max)};
  }
  for (std::size_t step = 1; step < kWarp; step *= 2) {
    const std::size_t apart = way.near_first ? step : kWarp / (2 * step);
    for (std::size_t i = 0; i + apart < kWarp; ++i)
      if (way.near_first ? i % (2 * apart) == 0 : i < apart)
        parts[i] = merge(way, parts[i], parts[i + apart]);
  }
  return parts[0];
}

bool has_nan_or_inf(const Problem& p, std::int64_t row) {
  for (std::int64_t col = 0; col < p.cols(); ++col)
    if (!(p.x(row, col) < kInf)) return true;
  return false;
}

/// Each row in that one of several sensible ways that loses most.
Tensor<float> sums_in_float32(const Problem& p, const Tensor<double>& expected) {
  Tensor<float> sums({p.rows()}, kNan);
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    if (has_nan_or_inf(p, row)) continue;
    double largest = -1;
    for (const Way& way : kWays) {
      const float sum = stats_in_32_parts(p, row, way).sum;
      const double error = std::abs(static_cast<double>(sum) - expected(row));
      if (error <= largest) continue;
      largest = error;
      sums(row) = sum;
    }
  }
  return sums;
}

Tensor<float> softmax_in_float32(const Problem& p, const Tensor<double>& expected) {
  Tensor<float> y({p.rows(), p.cols()}, kNan);
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    if (has_nan_or_inf(p, row)) continue;
    double largest = -1;
    for (const Way& way : kWays) {
      const Stats32 stats = stats_in_32_parts(p, row, way);
      std::vector<float> results;
      double error = 0;
      for (std::int64_t col = 0; col < p.cols(); ++col) {
        const float e = p.x(row, col) == -kInf ? 0.0f : way.exp(p.x(row, col) - stats.max);
        const float result = e == 0.0f ? 0.0f : way.reciprocal ? e * (1.0f / stats.sum) : e / stats.sum;
        results.push_back(result);
        error = std::max(error, std::abs(static_cast<double>(result) - expected(row, col)));
      }
      if (error <= largest) continue;
      largest = error;
      for (std::int64_t col = 0; col < p.cols(); ++col) y(row, col) = results[static_cast<std::size_t>(col)];
    }
  }
  return y;
}

// --- Which well-known mistake explains a wrong result ---
// Where a mistake's result depends on which thread has which column, it is that of the stub's layout: thread
// t of a team takes the columns t, t + team, ...

constexpr std::int64_t kBlockTeam = 1024;
std::int64_t team_of(std::int64_t cols) { return cols <= 4096 ? kWarp : kBlockTeam; }

struct Stats {
  double max = -std::numeric_limits<double>::infinity(), sum = 0;
};

Stats merge(Stats a, Stats b) {
  if (a.sum == 0) return b;
  if (b.sum == 0) return a;
  const double max = std::max(a.max, b.max);
  return {max, a.sum * std::exp(a.max - max) + b.sum * std::exp(b.max - max)};
}

Stats of_column(float x) { return x == -kInf ? Stats{} : Stats{static_cast<double>(x), 1.0}; }

/// The statistics from which every column's result is computed: (rows, cols) each. row_stats returns those of
/// column 0.
struct StatsUsed {
  Tensor<double> max, sum;
};

using Col = std::int64_t;

/// A mistake by which only columns of one group are merged. Columns of a group below 0 are lost, and the
/// others' statistics are used for all.
struct Groups {
  const char* name;
  Col (*group)(Col col, Col cols);
  const char* sentence;
};
constexpr std::array kGroups{
    Groups{"lanes_not_merged", [](Col col, Col cols) { return col % team_of(cols); },
           "Each thread used the statistics of its own columns: the threads never merged theirs."},
    Groups{"first_offset_too_small", [](Col col, Col) { return col % kWarp / 16; },
           "The lower and the upper 16 lanes of a warp were never merged: the first offset has to be 16."},
    Groups{"last_offset_missing", [](Col col, Col) { return col % 2; },
           "Even and odd lanes were never merged: the last offset has to be 1."},
    Groups{"warps_not_merged", [](Col col, Col) { return col % kBlockTeam / kWarp; },
           "Each warp used the statistics of its own columns: the warps never merged theirs."},
    Groups{"last_warp_missing",
           [](Col col, Col) { return col % kBlockTeam < kBlockTeam - kWarp ? Col{0} : Col{-1}; },
           "The columns of the block's last warp are missing in the statistics."},
    Groups{"tail_missing",
           [](Col col, Col cols) { return col < cols - cols % team_of(cols) ? Col{0} : Col{-1}; },
           "The tail is missing in the statistics: the last columns, of which only some threads have one."},
    Groups{"first_columns_only", [](Col col, Col cols) { return col < team_of(cols) ? Col{0} : Col{-1}; },
           "Each thread folded one column and stopped: it has to go on while there are columns."},
    Groups{"last_column_missing", [](Col col, Col cols) { return col + 1 < cols ? Col{0} : Col{-1}; },
           "The last column is missing in the statistics."},
};

StatsUsed in_groups(const Problem& p, const Groups& groups) {
  StatsUsed used{Tensor<double>({p.rows(), p.cols()}), Tensor<double>({p.rows(), p.cols()})};
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    std::vector<Stats> stats(kBlockTeam);
    const auto group_of = [&](Col col) {
      return static_cast<std::size_t>(std::max(Col{0}, groups.group(col, p.cols())));
    };
    for (Col col = 0; col < p.cols(); ++col)
      if (groups.group(col, p.cols()) >= 0) {
        Stats& group = stats[group_of(col)];
        group = merge(group, of_column(p.x(row, col)));
      }
    for (Col col = 0; col < p.cols(); ++col) {
      used.max(row, col) = stats[group_of(col)].max;
      used.sum(row, col) = stats[group_of(col)].sum;
    }
  }
  return used;
}

/// A mistake in the recurrence: what a thread computes from its statistics so far and one more column.
struct WrongFold {
  const char* name;
  Stats (*fold)(Stats seen, double x);
  const char* sentence;
};
constexpr std::array kWrongFolds{
    WrongFold{"sum_not_rescaled",
              [](Stats seen, double x) {
                const double max = std::max(seen.max, x);
                return Stats{max, seen.sum + std::exp(x - max)};
              },
              "When the maximum grew, the sum so far was not rescaled: its terms still refer to the old "
              "maximum. Multiply it by exp(old maximum - new maximum) first."},
    WrongFold{
        "rescaled_inversely",
        [](Stats seen, double x) {
          const double max = std::max(seen.max, x);
          const double kept = seen.sum == 0 ? 0 : seen.sum * std::exp(max - seen.max);
          return Stats{max, kept + std::exp(x - max)};
        },
        "When the maximum grew, the sum so far was multiplied by exp(new maximum - old maximum). It has "
        "to shrink: exp(old - new)."},
    WrongFold{"late_maximum_ignored",
              [](Stats seen, double x) {
                const double max = seen.sum == 0 ? x : seen.max;
                return Stats{max, seen.sum + std::exp(x - max)};
              },
              "Each thread kept its first column as the maximum, though larger ones came later."},
    WrongFold{"sum_starts_anew",
              [](Stats seen, double x) {
                return x > seen.max ? Stats{x, 1.0} : Stats{seen.max, seen.sum + std::exp(x - seen.max)};
              },
              "When the maximum grew, the sum so far was thrown away. It stays, rescaled."},
};

/// A mistake in merge(): the statistics of two threads.
struct WrongMerge {
  const char* name;
  Stats (*merge)(Stats low, Stats high);  // low.max <= high.max
  const char* sentence;
  bool in_any_order = false;  // more than two threads get the same, whoever merges first
};
constexpr std::array kWrongMerges{
    WrongMerge{"merge_not_rescaled",
               [](Stats low, Stats high) {
                 return Stats{high.max, high.sum + low.sum};
               },
               "Two sums were added although they refer to different maxima: rescale the one of the smaller "
               "maximum first.",
               true},
    WrongMerge{"merge_rescaled_inversely",
               [](Stats low, Stats high) {
                 return Stats{high.max, high.sum + low.sum * std::exp(high.max - low.max)};
               },
               "In merge, the sum of the smaller maximum was multiplied by exp(larger - smaller). It has to "
               "shrink: exp(smaller - larger)."},
    WrongMerge{"merge_rescales_both",
               [](Stats low, Stats high) {
                 return Stats{high.max, (low.sum + high.sum) * std::exp(low.max - high.max)};
               },
               "In merge, both sums were rescaled. The one of the larger maximum refers to it already."},
    WrongMerge{
        "merge_rescales_the_larger",
        [](Stats low, Stats high) {
          return Stats{high.max, low.sum + high.sum * std::exp(low.max - high.max)};
        },
        "In merge, the sum of the larger maximum was rescaled. It refers to the right maximum already; "
        "the other one does not."},
    WrongMerge{"merge_takes_the_smaller_maximum",
               [](Stats low, Stats high) {
                 return Stats{low.max, low.sum + high.sum * std::exp(high.max - low.max)};
               },
               "The smaller of two maxima was kept: the exponentials then pass 1, and may overflow."},
    WrongMerge{"merge_drops_a_side", [](Stats, Stats high) { return high; },
               "Of two sums, only the one of the larger maximum was kept. The other one belongs to it, "
               "rescaled.",
               true},
};

/// The row's statistics if each thread folds so, and the rest is right.
template <class Fold>
Stats folded_by_threads(const Problem& p, std::int64_t row, const Fold& fold) {
  Stats all;
  const Col team = team_of(p.cols());
  for (Col thread = 0; thread < team; ++thread) {
    Stats own;
    for (Col col = thread; col < p.cols(); col += team)
      if (p.x(row, col) != -kInf) own = fold(own, static_cast<double>(p.x(row, col)));
    all = merge(all, own);
  }
  return all;
}

/// Whether some row has columns above -inf of more than two threads.
bool has_more_than_two_threads(const Problem& p) {
  const Col team = team_of(p.cols());
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    std::set<Col> threads;
    for (Col col = 0; col < p.cols() && threads.size() < 3; ++col)
      if (p.x(row, col) != -kInf) threads.insert(col % team);
    if (threads.size() > 2) return true;
  }
  return false;
}

/// The row's statistics if the threads merge theirs so, one after the other by their maxima.
Stats merged_by_threads(const Problem& p, std::int64_t row, const WrongMerge& wrong) {
  std::vector<Stats> parts;
  const Col team = team_of(p.cols());
  for (Col thread = 0; thread < std::min(team, p.cols()); ++thread) {
    Stats own;
    for (Col col = thread; col < p.cols(); col += team) own = merge(own, of_column(p.x(row, col)));
    if (own.sum != 0) parts.push_back(own);
  }
  if (parts.empty()) return {};
  std::stable_sort(parts.begin(), parts.end(), [](Stats a, Stats b) { return a.max < b.max; });
  Stats merged = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) merged = wrong.merge(merged, parts[i]);
  return merged;
}

template <class RowStatsOf>
StatsUsed used_everywhere(const Problem& p, const RowStatsOf& stats_of) {
  StatsUsed used{Tensor<double>({p.rows(), p.cols()}), Tensor<double>({p.rows(), p.cols()})};
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    const Stats stats = stats_of(row);
    for (Col col = 0; col < p.cols(); ++col) used.max(row, col) = stats.max, used.sum(row, col) = stats.sum;
  }
  return used;
}

/// What the lanes of one warp hold if they pass their statistics downwards: only lane 0 has those of all.
StatsUsed shuffled_down(const Problem& p) {
  StatsUsed used{Tensor<double>({p.rows(), p.cols()}), Tensor<double>({p.rows(), p.cols()})};
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    std::array<Stats, kWarp> lanes;
    for (Col col = 0; col < p.cols(); ++col) {
      Stats& lane = lanes[static_cast<std::size_t>(col % kWarp)];
      lane = merge(lane, of_column(p.x(row, col)));
    }
    for (std::size_t offset = kWarp / 2; offset > 0; offset /= 2) {
      const auto before = lanes;  // a lane that nobody is above gets its own statistics back
      for (std::size_t lane = 0; lane < kWarp; ++lane)
        lanes[lane] = merge(before[lane], before[lane + offset < kWarp ? lane + offset : lane]);
    }
    for (Col col = 0; col < p.cols(); ++col) {
      used.max(row, col) = lanes[static_cast<std::size_t>(col % kWarp)].max;
      used.sum(row, col) = lanes[static_cast<std::size_t>(col % kWarp)].sum;
    }
  }
  return used;
}

/// As merge(), but a sum of 0 says nothing of the maximum beside it, for it may be a maximum itself.
Stats merge_with_any_sum(Stats a, Stats b) {
  if (a.max < b.max) std::swap(a, b);
  if (b.sum != 0) a.sum += b.sum * std::exp(b.max - a.max);
  return a;
}

/// What the lanes of one warp hold if the second shuffle brings the maximum again, for the sum.
StatsUsed maximum_for_sum(const Problem& p) {
  StatsUsed used{Tensor<double>({p.rows(), p.cols()}), Tensor<double>({p.rows(), p.cols()})};
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    std::array<Stats, kWarp> lanes;
    for (Col col = 0; col < p.cols(); ++col) {
      Stats& lane = lanes[static_cast<std::size_t>(col % kWarp)];
      lane = merge(lane, of_column(p.x(row, col)));
    }
    for (std::size_t bit = kWarp / 2; bit > 0; bit /= 2) {
      const auto before = lanes;
      for (std::size_t lane = 0; lane < kWarp; ++lane) {
        const double other = before[lane ^ bit].max;
        lanes[lane] = merge_with_any_sum(before[lane], {other, other});
      }
    }
    for (Col col = 0; col < p.cols(); ++col) {
      used.max(row, col) = lanes[static_cast<std::size_t>(col % kWarp)].max;
      used.sum(row, col) = lanes[static_cast<std::size_t>(col % kWarp)].sum;
    }
  }
  return used;
}

constexpr double kE = 2.718281828459045, kLowest = std::numeric_limits<float>::lowest();

std::int64_t count(const Problem& p, std::int64_t row, float value) {
  std::int64_t found = 0;
  for (Col col = 0; col < p.cols(); ++col) found += p.x(row, col) == value;
  return found;
}

bool has_nan(const Problem& p, std::int64_t row) {
  for (Col col = 0; col < p.cols(); ++col)
    if (std::isnan(p.x(row, col))) return true;
  return false;
}

/// Σ base^(x - max) over the row.
Stats relative_to(const Problem& p, std::int64_t row, double max, double base) {
  double sum = 0;
  for (Col col = 0; col < p.cols(); ++col)
    if (p.x(row, col) != -kInf) sum += std::pow(base, static_cast<double>(p.x(row, col)) - max);
  return {max, sum};
}

/// What the contract asks for, or that of the row's other columns if it has NaN.
Stats right_stats(const Problem& p, std::int64_t row, bool without_nan = false) {
  Stats stats;
  for (Col col = 0; col < p.cols(); ++col)
    if (!without_nan || !std::isnan(p.x(row, col))) stats = merge(stats, of_column(p.x(row, col)));
  if (count(p, row, kInf) > 0) stats.sum = std::numeric_limits<double>::quiet_NaN();
  return stats;
}

/// A mistake that shows in the statistics. `used` refers to the problem, which outlives the comparison.
struct WrongStats {
  std::string name;
  std::function<StatsUsed()> used;
  std::string sentence;
};

std::vector<WrongStats> wrong_stats(const Problem& p) {
  std::vector<WrongStats> all;
  for (const Groups& groups : kGroups)
    all.push_back({groups.name, [&p, &groups] { return in_groups(p, groups); }, groups.sentence});
  for (const WrongFold& wrong : kWrongFolds) {
    const auto row_stats = [&p, &wrong](std::int64_t row) { return folded_by_threads(p, row, wrong.fold); };
    all.push_back({wrong.name, [&p, row_stats] { return used_everywhere(p, row_stats); }, wrong.sentence});
  }
  // What most of them give depends on the order when more than two threads merge: of that nothing is known.
  const bool any_order_only = has_more_than_two_threads(p);
  for (const WrongMerge& wrong : kWrongMerges) {
    if (any_order_only && !wrong.in_any_order) continue;
    const auto row_stats = [&p, &wrong](std::int64_t row) { return merged_by_threads(p, row, wrong); };
    all.push_back({wrong.name, [&p, row_stats] { return used_everywhere(p, row_stats); }, wrong.sentence});
  }
  if (team_of(p.cols()) == kWarp) {
    bool any_nan = false;  // where it ends up depends on how a lane folds it
    for (std::int64_t row = 0; row < p.rows(); ++row) any_nan = any_nan || has_nan(p, row);
    if (!any_nan)
      all.push_back({"maximum_for_sum", [&p] { return maximum_for_sum(p); },
                     "The shuffles bring the other lane's maximum twice. The second is to bring its sum."});
  } else {
    all.push_back({"steps_by_the_warp",
                   [&p] {
                     return used_everywhere(p, [&p](std::int64_t row) {
                       Stats stats;
                       for (Col col = 0; col < p.cols(); ++col)
                         for (Col taker = 0; taker <= std::min(col / kWarp, kBlockTeam / kWarp - 1); ++taker)
                           stats = merge(stats, of_column(p.x(row, col)));
                       return stats;
                     });
                   },
                   "Columns are folded more than once: each thread goes on by 32 columns, but here a whole "
                   "block shares "
                   "the row. Each has to go on by the threads of its team."});
    all.push_back({"own_warp_32_times",
                   [&p] {
                     StatsUsed used = in_groups(p, kGroups[3]);  // each warp's own
                     for (std::int64_t i = 0; i < used.sum.numel(); ++i) used.sum.at_linear(i) *= 32;
                     return used;
                   },
                   "Each warp merged its own statistics 32 times: when the warps merge theirs, lane k has to "
                   "take those of warp k."});
  }
  const auto add = [&](const char* name, Stats (*stats_of)(const Problem&, std::int64_t),
                       const char* sentence) {
    const auto row_stats = [&p, stats_of](std::int64_t row) { return stats_of(p, row); };
    all.push_back({name, [&p, row_stats] { return used_everywhere(p, row_stats); }, sentence});
  };
  add(
      "base_2",
      [](const Problem& q, std::int64_t row) { return relative_to(q, row, right_stats(q, row).max, 2.0); },
      "The sum is that of powers of 2: exp2f(x) is 2^x. For e^x multiply x by log2(e), or call expf.");
  add(
      "starts_at_zero",
      [](const Problem& q, std::int64_t row) {
        return relative_to(q, row, std::max(0.0, right_stats(q, row).max), kE);
      },
      "The maximum started at 0, which is larger than all columns of some rows. Start with -inf.");
  add(
      "starts_at_lowest",
      [](const Problem& q, std::int64_t row) {
        return relative_to(q, row, std::max(kLowest, right_stats(q, row).max), kE);
      },
      "The maximum started at the lowest finite number. The maximum of no columns is -inf.");
  add(
      "nan_ignored", [](const Problem& q, std::int64_t row) { return right_stats(q, row, true); },
      "A NaN was passed over. It has to reach its whole row, as the sum has a term that is NaN; but fmaxf, "
      "and each comparison with NaN, passes over it.");
  add(
      "infinity_taken_for_a_number",
      [](const Problem& q, std::int64_t row) {
        const Stats right = right_stats(q, row);
        return count(q, row, kInf) == 1 && !has_nan(q, row) ? Stats{right.max, 1.0} : right;
      },
      "A row with +inf has the sum 1, as if exp(inf - inf) were 1. It is NaN, and so is the whole row.");
  return all;
}

/// Column 0 of what is used everywhere: what row_stats returns.
Tensor<double> first_column(const Tensor<double>& used) {
  Tensor<double> result({used.shape()[0]});
  if (used.shape()[1] > 0)
    for (std::int64_t row = 0; row < used.shape()[0]; ++row) result(row) = used(row, 0);
  return result;
}

/// Rows of minus_inf_problem(), by what must be guarded.
bool is_row_of_minus_inf(const Index& index) { return index[0] == 1; }
bool has_empty_threads(const Index& index) { return index[0] == 1 || index[0] == 3; }
bool has_threads_that_begin_with_minus_inf(const Index& index) { return index[0] > 0; }

Mistakes mistakes_with_minus_inf(const Problem& p) {
  if (!p.tells_guards) return {};
  return {nan_where("row_of_minus_inf", is_row_of_minus_inf,
                    "NaN stands in the row that holds only -inf: -inf - -inf is NaN, and so is 0 / 0. Its "
                    "softmax is 0 everywhere, its statistics are {-inf, 0}."),
          nan_where("merge_of_empty_sides", has_empty_threads,
                    "NaN stands in rows in which some threads have seen nothing above -inf. Merging two such "
                    "threads must not compute exp(-inf - -inf): that is NaN."),
          nan_where(
              "nan_from_the_start", [](const Index& index) { return index[0] != 1; },
              "NaN stands in every row, also in one without -inf. The first column of a thread meets "
              "{-inf, 0}: the factor of the sum has to be exp(-inf - x) = 0 then, as 0 * inf is NaN."),
          nan_where("fold_of_minus_inf", has_threads_that_begin_with_minus_inf,
                    "NaN stands in rows in which the first column of some threads is -inf: x - max is then "
                    "-inf - -inf, which is NaN. Such a column adds nothing.")};
}

/// x if row i began `step` * i elements into it.
Problem with_rows_at(const Problem& p, std::int64_t step) {
  Problem q{Tensor<float>({p.rows(), p.cols()})};
  for (std::int64_t row = 0; row < p.rows(); ++row)
    for (Col col = 0; col < p.cols(); ++col)
      q.x(row, col) = p.x.storage()[static_cast<std::size_t>(row * step + col)];
  return q;
}

struct WrongRows {
  const char* name;
  std::int64_t step;
  const char* sentence;
};

/// Only as many rows written as there are blocks, where eight teams share a block.
Mistake rows_of_the_blocks(const Problem& p) {
  const std::int64_t teams = team_of(p.cols()) == kWarp ? 8 : 1, blocks = (p.rows() - 1) / teams + 1;
  const auto pattern = [blocks, rows = p.rows()](const Tensor<float>& result) {
    if (rows <= blocks) return false;
    for (std::int64_t i = 0; i < result.numel(); ++i)
      if (is_poison(result.at_linear(i)) != (result.unravel(i)[0] >= blocks)) return false;
    return true;
  };
  return shows(
      "rows_of_the_blocks", pattern,
      "Only as many rows are written as there are blocks. Several teams share a block, so a row's number "
      "is made from threadIdx.y, too: blockIdx.x * blockDim.y + threadIdx.y.");
}

/// Whether y is what a kernel leaves that writes row i from i * step on; step is less than the row stride of
/// y.
bool written_with_row_step(const Tensor<float>& y, const Problem& p, std::int64_t step) {
  const Tensor<double> right = reference::softmax(p.x);
  for (std::int64_t row = 0; row < p.rows(); ++row) {
    for (Col col = 0; col < p.cols(); ++col) {
      const std::int64_t place = row * y.strides()[0] + col, from_row = place / step, from_col = place % step;
      const bool written = from_row < p.rows() && from_col < p.cols();
      if (is_poison(y(row, col)) == written) return false;
      if (!written) continue;
      const double off = std::abs(static_cast<double>(y(row, col)) - right(from_row, from_col));
      if (!(off <= 1e-6) && !std::isnan(right(from_row, from_col))) return false;
    }
  }
  return true;
}

std::vector<WrongRows> wrong_rows(const Problem& p) {
  std::vector<WrongRows> all{{"row_ignored", 0, "Every row holds what belongs to row 0 of x."}};
  if (p.x_row_stride() > p.cols())
    all.push_back({"stride_ignored", p.cols(),
                   "The rows of x are read as if each began where the one before ends: they are x_row_stride "
                   "elements apart."});
  return all;
}

Mistakes mistakes_in_max(const Problem& p) {
  Mistakes mistakes{rows_of_the_blocks(p)};
  for (const WrongStats& wrong : wrong_stats(p))
    mistakes.push_back(gives(
        wrong.name, [used = wrong.used] { return first_column(used().max); }, wrong.sentence));
  return mistakes;
}

Mistakes mistakes_in_sum(const Problem& p) {
  Mistakes mistakes = mistakes_with_minus_inf(p);
  mistakes.push_back(rows_of_the_blocks(p));
  for (const WrongStats& wrong : wrong_stats(p))
    mistakes.push_back(gives(
        wrong.name, [used = wrong.used] { return first_column(used().sum); }, wrong.sentence));
  for (const WrongRows& wrong : wrong_rows(p))
    mistakes.push_back(gives(
        wrong.name, [&p, step = wrong.step] { return reference::row_stats(with_rows_at(p, step).x).sum; },
        wrong.sentence));
  return mistakes;
}

Tensor<double> softmax_with(const Problem& p, const StatsUsed& used, double base = kE, bool divided = true) {
  Tensor<double> y({p.rows(), p.cols()});
  for (std::int64_t row = 0; row < p.rows(); ++row)
    for (Col col = 0; col < p.cols(); ++col)
      if (const double sum = used.sum(row, col); sum != 0)
        y(row, col) =
            std::pow(base, static_cast<double>(p.x(row, col)) - used.max(row, col)) / (divided ? sum : 1.0);
  return y;
}

Mistakes mistakes_in_softmax(const Problem& p, std::int64_t y_row_stride) {
  Mistakes mistakes = mistakes_with_minus_inf(p);
  mistakes.push_back(rows_of_the_blocks(p));
  const auto step_in_y = [&](const char* name, std::int64_t step, const char* sentence) {
    if (step > 0 && step < y_row_stride && p.rows() > 1)
      mistakes.push_back(shows(
          name, [&p, step](const Tensor<float>& y) { return written_with_row_step(y, p, step); }, sentence));
  };
  if (p.x_row_stride() > p.cols())
    step_in_y("stride_of_x_for_y", p.x_row_stride(),
              "The rows of y are written x_row_stride elements apart: they lie y_row_stride apart.");
  step_in_y(
      "y_stride_ignored", p.cols(),
      "The rows of y are written as if each began where the one before ends: they are y_row_stride elements "
      "apart.");
  for (const WrongStats& wrong : wrong_stats(p))
    mistakes.push_back(gives(
        wrong.name, [&p, used = wrong.used] { return softmax_with(p, used()); }, wrong.sentence));
  mistakes.push_back(gives(
      "lanes_disagree", [&p] { return softmax_with(p, shuffled_down(p)); },
      "Only lane 0 of each warp has the statistics of the whole row, and every lane used its own. Either all "
      "lanes get the same result, by __shfl_xor_sync, or lane 0 hands it to them."));
  const auto right = [&p] {
    return used_everywhere(p, [&p](std::int64_t row) { return right_stats(p, row); });
  };
  mistakes.push_back(gives(
      "not_divided", [&p, right] { return softmax_with(p, right(), kE, false); },
      "The results are exp(x - max), which were never divided by their row's sum."));
  mistakes.push_back(gives(
      "multiplied_by_the_sum",
      [&p, right] {
        StatsUsed used = right();
        for (std::int64_t i = 0; i < used.sum.numel(); ++i)
          if (double& sum = used.sum.at_linear(i); sum != 0) sum = 1 / sum;
        return softmax_with(p, used);
      },
      "The exponentials are multiplied by their row's sum. They have to be divided by it."));
  mistakes.push_back(gives(
      "maximum_not_subtracted",
      [&p, right] {
        StatsUsed used = right();
        used.max = Tensor<double>(used.max.shape());
        return softmax_with(p, used);
      },
      "The results are exp(x) / sum, but the sum is that of exp(x - max)."));
  mistakes.push_back(gives(
      "base_2",
      [&p] {
        const auto base_2 = [&p](std::int64_t row) {
          return relative_to(p, row, right_stats(p, row).max, 2.0);
        };
        return softmax_with(p, used_everywhere(p, base_2), 2.0);
      },
      "The results are powers of 2: exp2f(x) is 2^x. For e^x multiply x by log2(e), or call expf."));
  for (const WrongRows& wrong : wrong_rows(p))
    mistakes.push_back(gives(
        wrong.name, [&p, step = wrong.step] { return reference::softmax(with_rows_at(p, step).x); },
        wrong.sentence));
  return mistakes;
}

// --- Calls and checks ---

Outcome get_stats(const Problem& p, Tensor<float>& max, Tensor<float>& sum, const CallOptions& options = {}) {
  return call_with(options, ENTRY(row_stats), in(p.x, "x"), p.x_row_stride(), out(max, "max"),
                   out(sum, "sum"), p.rows(), p.cols());
}

void require_stats(const Tensor<float>& max, const Tensor<float>& sum, const Problem& p) {
  reference::RowStats expected = reference::row_stats(p.x);
  for (std::int64_t row = 0; row < p.rows(); ++row)  // beside a sum of NaN, any maximum will do
    if (std::isnan(expected.sum(row))) expected.max(row) = static_cast<double>(max(row));
  // The sum first: it tells most mistakes apart. It may be large, and then its roundings are.
  const Bound bound{kBound.factor, kBound.floor * std::max(1.0, largest_magnitude(expected.sum))};
  require_matches(sum, {"sum", {"row"}}, expected.sum, sums_in_float32(p, expected.sum), mistakes_in_sum(p),
                  bound);
  require_matches(max, {"max", {"row"}}, expected.max, expected.max.to<float>(), mistakes_in_max(p));
}

Outcome check_stats(const Problem& p, const CallOptions& options = {}) {
  INFO("row_stats, rows = " << p.rows() << ", cols = " << p.cols()
                            << ", x_row_stride = " << p.x_row_stride());
  Tensor<float> max({p.rows()}), sum({p.rows()});
  const Outcome outcome = get_stats(p, max, sum, options);
  require_ran(outcome);
  require_stats(max, sum, p);
  return outcome;
}

Outcome get_softmax(const Problem& p, Tensor<float>& y, const CallOptions& options = {}) {
  return call_with(options, ENTRY(online_softmax), in(p.x, "x"), p.x_row_stride(), out(y, "y"),
                   y.strides()[0], p.rows(), p.cols());
}

void require_softmax(const Tensor<float>& y, const Problem& p) {
  const Tensor<double> expected = reference::softmax(p.x);
  require_matches(y, "y", expected, softmax_in_float32(p, expected), mistakes_in_softmax(p, y.strides()[0]),
                  kBound);
}

/// y_gap: how much further apart the rows of y lie than they are long.
Outcome check_softmax(const Problem& p, std::int64_t y_gap = 0, const CallOptions& options = {}) {
  INFO("rows = " << p.rows() << ", cols = " << p.cols() << ", x_row_stride = " << p.x_row_stride()
                 << ", y_row_stride = " << p.cols() + y_gap);
  Tensor<float> y(p.x.shape(), {p.cols() + y_gap, 1}, 0.0f);
  const Outcome outcome = get_softmax(p, y, options);
  require_ran(outcome);
  require_softmax(y, p);
  return outcome;
}

void require_launch(const Outcome& outcome, std::int64_t rows) {
  const std::int64_t launches = outcome.counters.at("launches"), blocks = outcome.counters.at("blocks");
  require(launches == 1,
          "Your code launched " + std::to_string(launches) + " kernels; it should launch one.");
  require(blocks >= (rows - 1) / kWarp + 1, "The launch had only " + std::to_string(blocks) + " blocks for " +
                                                std::to_string(rows) +
                                                " rows. With more of them, more of a GPU works at once.");
}

void require_whole_sectors(const simt::GlobalTraffic& traffic, const std::string& what) {
  require(traffic.sectors * 10 <= traffic.ideal_sectors * 11,
          "The warps' " + what + " touch " + std::to_string(traffic.sectors) + " sectors of 32 bytes where " +
              std::to_string(traffic.ideal_sectors) +
              " would do, although every row begins with a whole sector. Let neighbouring threads take "
              "neighbouring columns.");
  require_full_sectors(traffic, what == "loads" ? "load" : "store");
}

/// What the threads may read and must write, of any size.
void require_passes(const Profile& profile, const Problem& p, std::uint64_t passes, std::uint64_t stored) {
  const auto pass_bytes = static_cast<std::uint64_t>(4 * p.rows() * p.cols());
  const simt::GlobalTraffic &load = profile.global_load, &store = profile.global_store;
  require(load.bytes_asked <= passes * pass_bytes,
          "The threads read " + std::to_string(load.bytes_asked) + " bytes in all. Reading x once takes " +
              std::to_string(pass_bytes) + ", and " +
              (passes == 1 ? "the statistics take one pass."
                           : "two passes are enough: one for the statistics, "
                             "one for the output."));
  require(store.bytes_asked == stored, "The threads wrote " + std::to_string(store.bytes_asked) +
                                           " bytes to global memory. Writing each result once takes " +
                                           std::to_string(stored) + ".");
}

/// The traffic that the contract promises, where x is read `passes` times. Rows must begin at multiples of 32
/// bytes.
void require_traffic(const Profile& profile, const Problem& p, std::uint64_t passes, std::uint64_t stored) {
  require_passes(profile, p, passes, stored);
  const simt::GlobalTraffic& load = profile.global_load;
  require_whole_sectors(load, "loads");
  const std::uint64_t floats = load.bytes_asked / 4;
  require(load.requests * 16 <= floats,
          "The warps load " + std::to_string(floats) + " numbers with " + std::to_string(load.requests) +
              " instructions, though each could bring 32 of them: most lanes have nothing to do.");
  require_busy_lanes(profile);
  require_busy_warps(profile);
}

void require_barriers(const Outcome& outcome, const Profile& profile, std::int64_t rows) {
  const std::int64_t warps_a_block = outcome.counters.at("threads") / outcome.counters.at("blocks") / kWarp;
  const auto row_warps = static_cast<std::uint64_t>(rows * std::max<std::int64_t>(1, warps_a_block));
  require(meetings(profile) <= 2 * row_warps,
          meetings_told(profile, row_warps) + " for a row; 2 are enough. Inside a warp, shuffles need none.");
}

/// Rows that end, begin or rest with -inf, as the predicates above name them.
Problem minus_inf_problem(std::int64_t cols) {
  Problem p = random_problem(4, cols, cols);
  p.tells_guards = true;
  for (Col col = 0; col < p.cols(); ++col) {
    p.x(1, col) = -kInf;
    if (col < 1024) p.x(2, col) = -kInf;
    if (col > 0) p.x(3, col) = -kInf;
  }
  return p;
}

/// An increasing row, a decreasing one, and rows whose maximum comes late: in the last column, and first in
/// the last batch.
Problem problem_of_orders(std::int64_t cols) {
  Problem p{uniform({5, cols}, -1.0f, 0.0f, case_seed())};
  for (Col col = 0; col < cols; ++col) {
    const float step = 20.0f * static_cast<float>(col) / static_cast<float>(cols);
    p.x(0, col) = step;
    p.x(1, col) = -step;
    p.x(4, col) += 0.01f * step;
  }
  p.x(2, cols - 1) = 9.0f;
  p.x(3, cols - cols / 5) = 9.0f;
  return p;
}

/// The same with rows of large numbers: see counted_problems().
Problem made_wild(Problem p) {
  for (Col col = 0; col < p.cols(); ++col) {
    const float step = 200.0f * static_cast<float>(col) / static_cast<float>(p.cols());
    p.x(0, col) += step;
    p.x(1, col) -= step;
    p.x(2, col) += 10'000.0f;
    p.x(3, col) -= 10'000.0f;
    if (2 * col < p.cols()) p.x(4, col) = -kInf;
  }
  return p;
}

/// Rows to count accesses of, five short and five long ones, and as many and as long as no kernel knows,
/// all whole sectors that end in a tail: with tame numbers, and with rows that rise and fall by 200, that lie
/// at 10,000 and -10,000, and that begin with -inf. Whoever goes through some rows once more goes through one
/// of these.
std::vector<Problem> counted_problems() {
  std::vector<Problem> problems;
  Random random(case_seed());
  const Col many = random.integer(5, 12);
  for (const auto& [rows, cols] :
       {std::pair<Col, Col>{5, 1000}, {5, 5000}, {many, 8 * random.integer(130, 3960 / many)}}) {
    const Problem tame = random_problem(rows, cols, cols + 8);
    problems.insert(problems.end(), {tame, made_wild(tame)});
  }
  return problems;
}

/// The same of sizes that no kernel knows, and with gaps such as the problems of other cases have: who tells
/// counted problems apart, by whole sectors, is found out.
std::vector<Problem> counted_problems_of_any_size() {
  Random random(case_seed() + 1);
  std::vector<Problem> problems;
  for (const Col gap : {0, 3}) {
    const Col rows = gap == 0 ? random.integer(5, 12) : random.integer(13, random.integer(60, 300)),
              cols = random.integer(34, 31'200 / rows);
    const Problem tame = random_problem(rows, cols, cols + gap);
    problems.insert(problems.end(), {tame, made_wild(tame)});
  }
  return problems;
}

}  // namespace

TEST_CASE("stats: merges the columns of two threads", "[l05][row_stats][points:2]") {
  // Of neighbouring lanes, of lanes 16 apart, and of the first and the last warp of a block.
  for (const std::int64_t their_col : {1, 16, 5119}) check_stats(problem_of_two_threads(their_col));
}

TEST_CASE("stats: folds the columns of the notes in one thread", "[l05][row_stats][points:2]") {
  check_stats(problem_of_one_thread({{3, 2, 5, 1}, {1, 2, 3, 4}, {4, 3, 2, 1}, {-3, -3, -3, -1}}));
  Random random(case_seed());  // others, which no kernel has by heart
  std::vector<std::vector<float>> rows(4, std::vector<float>(4));
  for (std::vector<float>& row : rows)
    for (float& x : row) x = static_cast<float>(random.integer(-5, 5));
  check_stats(problem_of_one_thread(rows));
}

TEST_CASE("stats: of rows of 1000, 5000, 257 and fewer columns, and of none", "[l05][row_stats][points:2]") {
  // 1000 first: there most mistakes leave a pattern of their own.
  for (const std::int64_t cols : {1000, 5000, 1024, 257, 33, 32, 31, 2, 1, 0}) {
    check_stats(random_problem(9, cols, cols));
    check_stats(random_problem(9, cols, cols + 3));
  }
}

TEST_CASE("stats: of rows below zero, and of the largest numbers", "[l05][row_stats][points:1]") {
  check_stats({uniform({6, 300}, -9.0f, -5.0f, case_seed())});
  check_stats({adversarial(Pattern::large, {6, 300}, case_seed())});
}

TEST_CASE("stats: give -inf and 0 for nothing above -inf, and NaN where the sum has NaN",
          "[l05][row_stats][points:1]") {
  for (const std::int64_t cols : {2100, 5200}) check_stats(minus_inf_problem(cols));
  Problem p = random_problem(4, 300, 300);
  p.x(1, 7) = kNan, p.x(2, 290) = kInf;
  check_stats(p);
}

TEST_CASE("stats: read x once, in whole sectors", "[l05][row_stats][points:2]") {
  for (const Problem& p : counted_problems()) {
    const Outcome outcome = check_stats(p);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_traffic(*profile, p, 1, static_cast<std::uint64_t>(8 * p.rows()));
    require_barriers(outcome, *profile, p.rows());
  }
  for (const Problem& p : counted_problems_of_any_size()) {
    const Outcome outcome = check_stats(p);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_passes(*profile, p, 1, static_cast<std::uint64_t>(8 * p.rows()));
    require_barriers(outcome, *profile, p.rows());
  }
}

TEST_CASE("turns the row of the notes into its softmax", "[l05][online_softmax][points:1]") {
  check_softmax({Tensor<float>::from({2, 4}, {3, 2, 5, 1, 0, 0, 0, 0})});
}

TEST_CASE("takes rows of 1000, 5000, 4097, 4096, 1025 and 257 columns", "[l05][online_softmax][points:2]") {
  for (const std::int64_t cols : {1000, 5000, 4097, 4096, 1025, 257}) {
    check_softmax(random_problem(9, cols, cols));
    check_softmax(random_problem(9, cols, cols + 3), 5);
    check_softmax(random_problem(9, cols, cols + 5), 3);
  }
}

TEST_CASE("takes rows of 1 to 33 columns", "[l05][online_softmax][points:1]") {
  for (const std::int64_t cols : {33, 32, 31, 16, 3, 2, 1}) check_softmax(random_problem(9, cols, cols));
}

TEST_CASE("takes logits of 10,000 and of -10,000", "[l05][online_softmax][points:2]") {
  check_softmax({adversarial(Pattern::large, {12, 700}, case_seed())});
  check_softmax({uniform({12, 70}, 9'990.0f, 10'000.0f, case_seed())});
  check_softmax({uniform({12, 70}, -10'000.0f, -9'990.0f, case_seed())});
}

TEST_CASE("takes rows that increase, decrease, or have their maximum late",
          "[l05][online_softmax][points:2]") {
  for (const std::int64_t cols : {1000, 6000}) check_softmax(problem_of_orders(cols));
}

TEST_CASE("takes -inf for a column that adds nothing, and makes zeros of a row of -inf",
          "[l05][online_softmax][points:2]") {
  for (const std::int64_t cols : {2100, 5200}) check_softmax(minus_inf_problem(cols));
  for (const Pattern pattern : {Pattern::minus_inf_rows, Pattern::minus_inf_holes}) {
    INFO("data: " << pattern_name(pattern));
    check_softmax({adversarial(pattern, {12, 700}, case_seed())});
    check_softmax({adversarial(pattern, {12, 5}, case_seed())});
  }
}

TEST_CASE("fills a row with NaN if it holds NaN or +inf, and no other row",
          "[l05][online_softmax][points:2]") {
  for (const std::int64_t cols : {300, 5000}) {
    Problem p = random_problem(8, cols, cols);
    p.x(1, 0) = kNan;
    p.x(3, cols - 1) = kNan;
    p.x(4, 40) = kInf;
    p.x(5, 5) = kInf, p.x(5, cols - 5) = kInf;
    p.x(6, 5) = kInf, p.x(6, 6) = -kInf;
    check_softmax(p);
  }
  check_softmax({Tensor<float>::from({4, 1}, {1.0f, kInf, kNan, -kInf})});
  check_softmax({Tensor<float>::from({3, 2}, {1.0f, 2.0f, kInf, -kInf, kNan, -kInf})});
  Random random(case_seed());  // for sizes, gaps and rows that no kernel knows beforehand
  for (int i = 0; i < 3; ++i) {
    const Col rows = random.integer(7, 12), cols = i == 0   ? drawn::length(random, 700)
                                                   : i == 1 ? random.integer(701, 2500)
                                                            : random.integer(2501, 6000);
    const Problem p{with_row_stride(drawn::rows(rows, cols, random), drawn::row_stride(cols, random))};
    check_softmax(p, random.integer(0, 5), with_shifted_arrays(2)[static_cast<std::size_t>(i % 2)]);
    check_stats(p, with_shifted_arrays(3)[static_cast<std::size_t>(i)]);
  }
}

TEST_CASE("takes 100,000 columns without losing digits", "[l05][online_softmax][points:2]") {
  check_softmax({uniform({3, 100'000}, -4.0f, 4.0f, case_seed())});
  const Problem of_unknown_length{
      uniform({2, Random(case_seed()).integer(20'000, 80'000)}, -4.0f, 4.0f, case_seed() + 1)};
  check_softmax(of_unknown_length);
  check_stats(of_unknown_length);
}

TEST_CASE("takes 3000 short rows, one, no rows, and rows of no columns", "[l05][online_softmax][points:1]") {
  const Problem p = random_problem(3000, 7, 7);
  for (const Outcome& outcome : {check_softmax(p), check_stats(p)}) {
    require_launch(outcome, p.rows());
    if (const Profile* profile = profile_of(outcome)) require_busy_blocks(*profile, kWarp / 3000.0);
  }
  check_softmax(random_problem(1, 7, 7));
  check_stats(random_problem(1, 7, 7));
  const auto require_no_launch = [](const Outcome& outcome, const std::string& entry, const Problem& empty) {
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute: " + entry + " should launch no kernel for " +
                std::to_string(empty.rows()) + " rows of " + std::to_string(empty.cols()) + " columns.");
  };
  // Among them no rows of more columns than there may be rows.
  for (const auto& [rows, cols] : {std::pair<Col, Col>{0, 7}, {0, kMaxRows + 1}, {5, 0}}) {
    const Problem empty = random_problem(rows, cols, cols);
    require_no_launch(check_softmax(empty), "online_softmax", empty);
    if (rows == 0) require_no_launch(check_stats(empty), "row_stats", empty);
  }
  // Nor are rows written that hold nothing but what lies between them.
  const Problem apart = random_problem(5, 0, 4);
  require_no_launch(check_softmax(apart, 3), "online_softmax", apart);
}

TEST_CASE("leaves alone what lies between the rows", "[l05][online_softmax][points:1]") {
  const Problem p{with_row_stride(uniform({6, 300}, -4.0f, 4.0f, case_seed()), 331, kNan)};
  check_softmax(p, 17);
  check_stats(p);
  INFO("One of the arrays is a part of a larger one, and begins at no multiple of 16 bytes");
  const Problem close = random_problem(6, 300, 300);
  for (const CallOptions& shifted : with_shifted_arrays(2)) check_softmax(close, 0, shifted);
  for (const CallOptions& shifted : with_shifted_arrays(3)) check_stats(close, shifted);
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l05][online_softmax][points:1]") {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const auto& [rows, cols] :
       {std::pair<Col, Col>{10, 777}, {10, 4777}, {random.integer(2, 12), random.integer(150, 6000)}}) {
    const Problem p = random_problem(rows, cols, cols);
    Tensor<float> first(p.x.shape()), first_max({p.rows()}), first_sum({p.rows()});
    require_ran(get_softmax(p, first));
    require_softmax(first, p);
    require_ran(get_stats(p, first_max, first_sum));
    require_stats(first_max, first_sum, p);
    std::uint64_t seed = order_seed();
    for (const Order order : {Order::reverse, Order::random, Order::random}) {
      CallOptions options;
      options.order = order;
      options.seed = seed++;
      Tensor<float> y(p.x.shape()), max({p.rows()}), sum({p.rows()});
      require_ran(get_softmax(p, y, options));
      require_softmax(y, p);
      require_ran(get_stats(p, max, sum, options));
      require_stats(max, sum, p);
      INFO(
          "The same calls, with blocks, warps and threads in another order; results must have the same bits");
      require_same_bits(y, first, "y");
      require_same_bits(max, first_max, "max");
      require_same_bits(sum, first_sum, "sum");
    }
  }
}

TEST_CASE("reads x twice, in whole sectors, and waits at no more than two barriers",
          "[l05][online_softmax][points:3]") {
  for (const Problem& p : counted_problems()) {
    const Outcome outcome = check_softmax(p, 16);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_traffic(*profile, p, 2, static_cast<std::uint64_t>(4 * p.rows() * p.cols()));
    require_whole_sectors(profile->global_store, "stores");
    require_barriers(outcome, *profile, p.rows());
  }
  for (const Problem& p : counted_problems_of_any_size()) {
    const Outcome outcome = check_softmax(p, 3);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_passes(*profile, p, 2, static_cast<std::uint64_t>(4 * p.rows() * p.cols()));
    require_barriers(outcome, *profile, p.rows());
  }
}

TEST_CASE("takes two rows, but refuses sizes and strides that make no sense",
          "[l05][online_softmax][points:2]") {
  check_softmax(random_problem(2, 3, 4), 1);
  check_stats(random_problem(2, 3, 4));
  const Tensor<float> x({2, 3}, 1.0f);
  const auto require_refused = [&](std::int64_t x_row_stride, std::int64_t y_row_stride, std::int64_t rows,
                                   std::int64_t cols, const char* argument) {
    INFO("rows = " << rows << ", cols = " << cols << ", x_row_stride = " << x_row_stride
                   << ", y_row_stride = " << y_row_stride);
    Tensor<float> y({2, 3}), max({2}), sum({2});
    require_throws<std::invalid_argument>(
        call(ENTRY(online_softmax), in(x, "x"), x_row_stride, out(y, "y"), y_row_stride, rows, cols),
        argument);
    if (y_row_stride < cols) return;
    require_throws<std::invalid_argument>(
        call(ENTRY(row_stats), in(x, "x"), x_row_stride, out(max, "max"), out(sum, "sum"), rows, cols),
        argument);
  };
  require_refused(3, 3, -1, 3, "rows");
  require_refused(3, 3, kMaxRows + 1, 3, "rows");
  require_refused(3, 3, 2, -1, "cols");
  require_refused(2, 3, 2, 3, "x_row_stride");
  require_refused(3, 2, 2, 3, "y_row_stride");
}

TEST_CASE("reports a launch that CUDA refuses", "[l05][online_softmax][points:1]") {
  // A grid limit of one block, where 200 rows and more need more. A GPU has no such switch and accepts the
  // launch; then the results must be right.
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t rows_of_p = random.integer(200, 260), cols = random.integer(5, 20);
  const Problem p = random_problem(rows_of_p, cols, cols);
  CallOptions options;
  options.max_grid_x = 1;
  // Nothing runs then, so that rows need no memory. At 8 threads a row or more, 2^29 + 1 rows have so many
  // threads that 32 bits keep only those of one row.
  const std::array many{(Col{1} << 29) + 1, kMaxRows};
  Tensor<float> y(p.x.shape()), max({p.rows()}), sum({p.rows()});
  const Outcome softmax = get_softmax(p, y, {});
  require_ran(softmax);
  if (require_refused_launch(get_softmax(p, y, options), softmax)) {
    for (const Col rows : many) {
      INFO("With rows = " << rows << ", too, it is CUDA that refuses");
      require_throws<std::runtime_error>(call_with(options, ENTRY(online_softmax), in(p.x, "x"),
                                                   p.x_row_stride(), out(y, "y"), y.strides()[0], rows,
                                                   p.cols()));
    }
  } else {
    require_softmax(y, p);
  }
  const Outcome stats = get_stats(p, max, sum, {});
  require_ran(stats);
  if (require_refused_launch(get_stats(p, max, sum, options), stats)) {
    for (const Col rows : many) {
      INFO("With rows = " << rows << ", too, it is CUDA that refuses");
      require_throws<std::runtime_error>(call_with(options, ENTRY(row_stats), in(p.x, "x"), p.x_row_stride(),
                                                   out(max, "max"), out(sum, "sum"), rows, p.cols()));
    }
  } else {
    require_stats(max, sum, p);
  }
}

COURSE_RUN(RunContext& run) {
  const auto x = run.input<float>("x", {"rows", "cols"});
  Tensor<float> y(x.shape());
  run.call(ENTRY(online_softmax), in(x, "x"), x.strides()[0], out(y, "y"), y.strides()[0], x.shape()[0],
           x.shape()[1]);
  run.output("y", y);
}
