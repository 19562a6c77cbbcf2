#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "14_gradients/gradients.hpp"
#include "14_gradients/mistakes.hpp"
#include "grading/facts/poison.hpp"
#include "reference/gradients.hpp"

namespace course::lesson_14 {

using namespace grading;

namespace {

using Col = std::int64_t;
constexpr Col kWarp = 32;
bool every_column(Col, Col) { return true; }
Col whole_row(Col) { return 0; }
Col by_warp(Col col) { return col % kBlockThreads / kWarp; }
Col by_thread(Col col) { return col % kBlockThreads; }

/// dS if only some columns take part in the sum, or if each group of columns has a sum of its own.
Tensor<double> with_sum_of(const Rows& p, bool (*in_sum)(Col col, Col cols), Col (*group)(Col col)) {
  Tensor<double> dS(p.P.shape());
  for (Col row = 0; row < p.rows(); ++row) {
    std::vector<double> sums(kBlockThreads, 0.0);
    const auto sum = [&](Col col) -> double& { return sums[static_cast<std::size_t>(group(col))]; };
    const auto weight = [&](Col col) { return static_cast<double>(p.P(row, col)); };
    const auto gradient = [&](Col col) { return static_cast<double>(p.dP(row, col)); };
    for (Col col = 0; col < p.cols(); ++col)
      if (in_sum(col, p.cols()) && weight(col) != 0) sum(col) += weight(col) * gradient(col);
    for (Col col = 0; col < p.cols(); ++col)
      dS(row, col) = weight(col) == 0 ? 0 : weight(col) * (gradient(col) - sum(col));
  }
  return dS;
}

/// What a formula may be made of.
struct RowSums {
  double p_dp = 0, p = 0, dp = 0, p_p = 0, cols = 0;  // Σ P·dP, Σ P, Σ dP, Σ P·P and the number of columns
};
using Formula = double (*)(double p, double dp, const RowSums& row);

/// Which elements a kernel leaves out where P is 0: those of the sums, those of dS (which are 0), or none.
struct Guards {
  bool in_sums, in_output;
};

RowSums sums_of(const Rows& p, Col row, bool guarded) {
  RowSums sums;
  sums.cols = static_cast<double>(p.cols());
  for (Col col = 0; col < p.cols(); ++col) {
    const auto weight = static_cast<double>(p.P(row, col)), gradient = static_cast<double>(p.dP(row, col));
    if (guarded && weight == 0) continue;
    sums.p_dp += weight * gradient, sums.p += weight, sums.dp += gradient, sums.p_p += weight * weight;
  }
  if (std::isinf(static_cast<float>(sums.dp))) sums.dp = static_cast<double>(static_cast<float>(sums.dp));
  return sums;
}

Tensor<double> by_formula(const Rows& p, Formula formula, Guards guards) {
  Tensor<double> dS(p.P.shape());
  for (Col row = 0; row < p.rows(); ++row) {
    const RowSums sums = sums_of(p, row, guards.in_sums);
    for (Col col = 0; col < p.cols(); ++col) {
      const auto weight = static_cast<double>(p.P(row, col)), gradient = static_cast<double>(p.dP(row, col));
      dS(row, col) = guards.in_output && weight == 0 ? 0 : formula(weight, gradient, sums);
    }
  }
  return dS;
}

/// dS with the sum of P ∘ dP down each column in place of that along each row.
Tensor<double> with_sums_of_columns(const Rows& p) {
  const Tensor<float> P = p.P.transposed(0, 1).contiguous(), dP = p.dP.transposed(0, 1).contiguous();
  return reference::softmax_backward(P, dP).transposed(0, 1).contiguous();
}

/// x, if row i is read i * step elements from its start.
Tensor<float> with_rows_at(const Tensor<float>& x, Col step) {
  Tensor<float> read(x.shape());
  const auto storage = x.storage();
  for (Col row = 0; row < x.shape()[0]; ++row)
    for (Col col = 0; col < x.shape()[1]; ++col) {
      const auto place = static_cast<std::size_t>(row * step + col);
      read(row, col) = place < storage.size() ? storage[place] : 0.0f;
    }
  return read;
}

/// Whether exactly these columns of dS were never written.
bool unwritten(const Tensor<float>& dS, Col first_col, Col end_col) {
  if (first_col >= end_col) return false;
  for (Col row = 0; row < dS.shape()[0]; ++row)
    for (Col col = 0; col < dS.shape()[1]; ++col)
      if (is_poison(dS(row, col)) != (col >= first_col && col < end_col)) return false;
  return true;
}

/// Whether dS is what writing row i to i * cols leaves: without its gaps, it then holds other rows' elements.
bool written_without_stride(const Tensor<float>& dS, const Rows& p) {
  if (p.ds_row_stride == p.cols()) return false;
  const Tensor<double> right = reference::softmax_backward(p.P, p.dP);
  for (Col row = 0; row < p.rows(); ++row) {
    for (Col col = 0; col < p.cols(); ++col) {
      const Col place = row * p.ds_row_stride + col;
      if (is_poison(dS(row, col)) != (place >= dS.numel())) return false;
      if (place < dS.numel() &&
          !(std::abs(static_cast<double>(dS(row, col)) - right.at_linear(place)) <= 1e-6))
        return false;
    }
  }
  return true;
}

/// The formula.
Mistakes mistakes_in_formula(const Rows& p) {
  const auto formula = [&p](std::string name, Formula f, std::string sentence) {
    list_mistake(name, sentence);
    return Mistake{
        std::move(name),
        [&p, f, sentence = std::move(sentence)](const WrongResult& result) -> std::optional<std::string> {
          for (const Guards guards : {Guards{true, true}, {true, false}, {false, true}, {false, false}}) {
            const Mistake one = gives(
                "", [&] { return by_formula(p, f, guards); }, sentence);
            if (const auto told = one.explain(result)) return told;
          }
          return std::nullopt;
        }};
  };
  return {
      formula(
          "rowsum_missing", [](double w, double g, const RowSums&) { return w * g; },
          "This is P ∘ dP: the sum of the row is not subtracted. A score raises its own weight and lowers "
          "all others."),
      formula(
          "rowsum_of_dp", [](double w, double g, const RowSums& row) { return w * (g - row.dp); },
          "What is subtracted is the sum of dP: each dP of the row has to be weighted with its P."),
      formula(
          "mean_of_dp", [](double w, double g, const RowSums& row) { return w * (g - row.dp / row.cols); },
          "What is subtracted is the mean of dP. It should be the mean of dP weighted with P: each dP of the "
          "row has to be weighted with its P."),
      formula(
          "sum_divided", [](double w, double g, const RowSums& row) { return w * (g - row.p_dp / row.cols); },
          "The sum of P ∘ dP is divided by the number of columns; it is to be subtracted as it is."),
      formula(
          "rowsum_of_p_squared", [](double w, double g, const RowSums& row) { return w * (g - row.p_p); },
          "What is subtracted is the sum of P ∘ P; it should be that of P ∘ dP."),
      formula(
          "dp_twice", [](double, double g, const RowSums& row) { return g * (g - row.p_dp); },
          "This is dP ∘ (dP - rowsum(P ∘ dP)): the factor before the bracket is P."),
      formula(
          "rowsum_of_p", [](double w, double g, const RowSums& row) { return w * (g - row.p); },
          "What is subtracted is the sum of P, which is 1: each P of the row has to be multiplied with its "
          "dP."),
      formula(
          "sum_not_weighted", [](double w, double g, const RowSums& row) { return w * g - row.p_dp; },
          "This is P ∘ dP - rowsum(P ∘ dP): the sum, too, has to be multiplied with P of the element."),
      formula(
          "p_missing", [](double, double g, const RowSums& row) { return g - row.p_dp; },
          "This is dP - rowsum(P ∘ dP): all of it has to be multiplied with P."),
      formula(
          "sum_added", [](double w, double g, const RowSums& row) { return w * (g + row.p_dp); },
          "The sum of the row is added; it has to be subtracted."),
      formula(
          "diagonal_only", [](double w, double g, const RowSums&) { return w * (1 - w) * g; },
          "This is P ∘ (1 - P) ∘ dP, the diagonal of the Jacobian alone: a score changes the other weights "
          "of its row, too, so that the sum goes over the whole row."),
      gives(
          "p_and_dp_exchanged", [&p] { return reference::softmax_backward(p.dP, p.P); },
          "This is dP ∘ (P - rowsum(P ∘ dP)): P and dP have changed places."),
      off_by_a_factor("factor", "Every element is {} times what it should be."),
  };
}

/// Which elements are summed. Where a sum of too few is none, or that of the element alone, the formula's
/// mistakes say so.
Mistakes mistakes_in_sum(const Rows& p) {
  const auto parts = [&p](std::string name, bool (*in_sum)(Col, Col), Col (*group)(Col),
                          std::string sentence) {
    return gives(
        std::move(name), [&p, in_sum, group] { return with_sum_of(p, in_sum, group); }, std::move(sentence));
  };
  Mistakes mistakes{
      parts("sum_not_combined", every_column, by_warp,
            "Each warp subtracts the sum of its own columns: the warps' sums were never added."),
      parts(
          "sum_of_the_first_columns", [](Col col, Col) { return col < kBlockThreads; }, whole_row,
          "The sum is that of the first kBlockThreads columns alone: a thread has to go on to its other "
          "columns."),
  };
  if (p.rows() > 1)
    mistakes.push_back(gives(
        "sum_along_columns", [&p] { return with_sums_of_columns(p); },
        "The sums go down the columns; they have to go along the rows, which are what the softmax turned "
        "into weights."));
  if (p.cols() > kBlockThreads) {
    mistakes.push_back(
        parts("sum_of_each_thread", every_column, by_thread,
              "Each thread subtracts the sum of its own columns: the threads' sums were never added."));
    mistakes.push_back(parts(
        "sum_without_the_tail", [](Col col, Col cols) { return col < cols - cols % kBlockThreads; },
        whole_row,
        "The sum leaves out the tail: the last cols % kBlockThreads columns, which do not fill the block."));
  }
  return mistakes;
}

/// Where rows lie, which columns are written, and what has no weight.
Mistakes mistakes_in_rows(const Rows& p) {
  const auto has_no_weight = [&p](Col row, Col col) { return p.P(row, col) == 0.0f; };
  // Whether somewhere in the row 0 meets NaN or an infinity.
  const auto is_spoilt = [&p](Col row) {
    for (Col col = 0; col < p.cols(); ++col)
      if (p.P(row, col) == 0.0f && !std::isfinite(p.dP(row, col))) return true;
    return false;
  };
  return {
      gives(
          "p_row_0", [&p] { return reference::softmax_backward(with_rows_at(p.P, 0), p.dP); },
          "Every row uses P of row 0: a row of scores has the Jacobian of its own weights."),
      gives(
          "stride_of_p_for_dp",
          [&p] { return reference::softmax_backward(p.P, with_rows_at(p.dP, p.P.strides()[0])); },
          "The rows of dP are taken to lie as far apart as those of P: use dP.strides[0] for dP."),
      gives(
          "strides_ignored",
          [&p] {
            return reference::softmax_backward(with_rows_at(p.P, p.cols()), with_rows_at(p.dP, p.cols()));
          },
          "The rows of P and dP are read as if they followed each other without gaps: they lie strides[0] "
          "elements apart."),
      gives(
          "stride_of_p_ignored",
          [&p] { return reference::softmax_backward(with_rows_at(p.P, p.cols()), p.dP); },
          "The rows of P are read as if they followed each other without gaps: they lie P.strides[0] "
          "elements apart."),
      gives(
          "stride_of_dp_ignored",
          [&p] { return reference::softmax_backward(p.P, with_rows_at(p.dP, p.cols())); },
          "The rows of dP are read as if they followed each other without gaps: they lie dP.strides[0] "
          "elements apart."),
      shows(
          "ds_stride_ignored", [&p](const Tensor<float>& dS) { return written_without_stride(dS, p); },
          "Row i of dS was written to i * cols: its rows lie dS.strides[0] elements apart."),
      // which columns are written
      shows(
          "tail_missing",
          [&p](const Tensor<float>& dS) {
            return p.cols() > kBlockThreads && unwritten(dS, p.cols() - p.cols() % kBlockThreads, p.cols());
          },
          "The tail is missing: the last cols % kBlockThreads columns, which do not fill the block."),
      // what has no weight
      nan_where(
          "no_weight_in_the_sum",
          [=](const Index& at) { return is_spoilt(at[0]) && !has_no_weight(at[0], at[1]); },
          "Where P is 0, dP is NaN or infinite here, and 0 times that is NaN: such elements must not enter "
          "the sum of the row."),
      nan_where(
          "no_weight_in_the_output",
          [=, &p](const Index& at) {
            return has_no_weight(at[0], at[1]) && !std::isfinite(p.dP(at[0], at[1]));
          },
          "Where P is 0, dP is NaN or infinite here, and 0 times that is NaN: dS has to be 0 there."),
      nan_where(
          "no_weight_anywhere", [=](const Index& at) { return is_spoilt(at[0]); },
          "Where P is 0, dP is NaN or infinite here, and 0 times that is NaN: such elements must not enter "
          "the sum of the row, and their dS has to be 0."),
  };
}

}  // namespace

Mistakes mistakes_in_ds(const Rows& p) {
  Mistakes mistakes = mistakes_in_formula(p);
  for (const Mistakes& more : {mistakes_in_sum(p), mistakes_in_rows(p)})
    mistakes.insert(mistakes.end(), more.begin(), more.end());
  return mistakes;
}

}  // namespace course::lesson_14
