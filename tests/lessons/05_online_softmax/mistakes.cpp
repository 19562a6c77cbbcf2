#include "05_online_softmax/mistakes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "grading/facts/poison.hpp"
#include "reference/row_stats.hpp"
#include "reference/softmax.hpp"
#include "tensor/tensor.hpp"

namespace course::lesson_05 {

using namespace grading;

namespace {

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

Tensor<double> softmax_with(const Problem& p, const StatsUsed& used, double base = kE, bool divided = true) {
  Tensor<double> y({p.rows(), p.cols()});
  for (std::int64_t row = 0; row < p.rows(); ++row)
    for (Col col = 0; col < p.cols(); ++col)
      if (const double sum = used.sum(row, col); sum != 0)
        y(row, col) =
            std::pow(base, static_cast<double>(p.x(row, col)) - used.max(row, col)) / (divided ? sum : 1.0);
  return y;
}

}  // namespace

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

}  // namespace course::lesson_05
