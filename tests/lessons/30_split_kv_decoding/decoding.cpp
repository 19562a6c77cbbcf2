#include "30_split_kv_decoding/decoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "grading/testing/case.hpp"
#include "tensor/random.hpp"

namespace course::lesson_30 {

using grading::case_seed;

namespace {

/// Row i of every head of batch b of a tensor (B, H, N, D), for i < rows.
Tensor<float> rows_of_batch(const Tensor<float>& x, Int b, Int rows) {
  Tensor<float> part({1, x.shape()[1], rows, x.shape()[3]});
  for (Int h = 0; h < x.shape()[1]; ++h)
    for (Int i = 0; i < rows; ++i)
      for (Int d = 0; d < x.shape()[3]; ++d) part(0, h, i, d) = x(b, h, i, d);
  return part;
}

}  // namespace

std::string type_name(Type type) { return type ? std::string(name_of(*type)) : "float32"; }

std::string describe(const Decoding& x) {
  std::string lengths;
  for (Int b = 0; b < x.B(); ++b) lengths += (b > 0 ? ", " : "") + std::to_string(x.lengths(b));
  const Problem& p = x.first();
  return fmt::format(
      "B = {}, H = {}, H_kv = {}, Nq = {}, D = {}, {}, lengths {}, pages of {} tokens, {} splits", x.B(),
      p.H(), p.H_kv(), p.Nq(), p.D(), type_name(p.format), lengths, x.cache.page_size, x.cache.splits);
}

Decoding in_pages(Problem p, const std::vector<Int>& lengths, Type type, Cache cache) {
  p.mask.causal = true;
  if (type) p = in_16_bits(std::move(p), *type);
  Decoding x{.sequences = {}, .cache = cache};
  const Int B = p.B(), P = cache.page_size, longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::int32_t> free_pages;  // the last one stays unused
  Int pages = 1;
  for (const Int length : lengths) pages += divided_up(length, P);
  for (Int page = 0; page < pages; ++page) free_pages.push_back(static_cast<std::int32_t>(page));
  Random random(case_seed() + 7);
  for (Int i = pages - 1; i > 0; --i)
    std::swap(free_pages[static_cast<std::size_t>(i)],
              free_pages[static_cast<std::size_t>(random.integer(0, i))]);

  const Shape shape{pages, p.H_kv(), P, p.D()};
  x.K_pages = Tensor<float>(shape, strides_of(shape, cache.layout), kNan);
  x.V_pages = Tensor<float>(shape, strides_of(shape, cache.layout_of_V.value_or(cache.layout)), kNan);
  x.lengths = Tensor<std::int32_t>({B});
  const Int columns = divided_up(longest, P) + cache.spare_columns, gap = cache.table_gap;
  x.table = Tensor<std::int32_t>(
      {B, columns}, cache.table_by_columns ? Strides{1, B + gap} : Strides{columns + gap, 1}, -1234567);
  for (Int b = 0; b < B; ++b) {
    const Int length = lengths[static_cast<std::size_t>(b)];
    x.lengths(b) = static_cast<std::int32_t>(length);
    Problem sequence = p;
    sequence.Q = rows_of_batch(p.Q, b, p.Nq());
    sequence.K = rows_of_batch(p.K, b, length);
    sequence.V = rows_of_batch(p.V, b, length);
    for (Int t = 0; t < length; ++t) {
      if (t % P == 0) {
        x.table(b, t / P) = free_pages.back();
        free_pages.pop_back();
      }
      for (Int h = 0; h < p.H_kv(); ++h)
        for (Int d = 0; d < p.D(); ++d) {
          x.K_pages(x.table(b, t / P), h, t % P, d) = sequence.K(0, h, t, d);
          x.V_pages(x.table(b, t / P), h, t % P, d) = sequence.V(0, h, t, d);
        }
    }
    x.sequences.push_back(std::move(sequence));
  }
  return x;
}

Decoding random_decoding(const Heads& n, const std::vector<Int>& lengths, Type type, Cache cache) {
  const Int longest = *std::max_element(lengths.begin(), lengths.end());
  return in_pages(random_problem({static_cast<Int>(lengths.size()), n.H, n.Nq, longest, n.D, n.H_kv}),
                  lengths, type, cache);
}

}  // namespace course::lesson_30
