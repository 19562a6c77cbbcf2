// Tests of lesson 30: O and lse of decode_bfloat16, _float16 and _float32 for every sequence, against float64
// on the same inputs; the partial results; what is read of the cache; and the number of splits.

#include "30_split_kv_decoding/split_kv_decoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "30_split_kv_decoding/decoding.hpp"
#include "30_split_kv_decoding/mistakes.hpp"
#include "attention/checks.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::attention_tests;
using namespace course::grading;
using namespace course::lesson_30;

namespace {

const Kernel kKernel = kernel_of_lesson();

// --- Calls ---

struct Arrays {
  Tensor<float> O, lse, partial_O, partial_lse;
};

Arrays results_of(const Decoding& x, Layout layout = Layout::heads_outside) {
  const Int B = x.B(), H = x.first().H(), Nq = x.first().Nq(), D = x.first().D(), splits = x.cache.splits;
  const Shape O{B, H, Nq, D}, lse{B, H, Nq};
  return {Tensor<float>(O, strides_of(O, layout), 0.0f), Tensor<float>(lse, strides_of(lse, layout), 0.0f),
          Tensor<float>({splits, B, H, Nq, D}), Tensor<float>({splits, B, H, Nq})};
}

Tensor<float> queries_of(const Decoding& x, Layout layout = Layout::heads_outside) {
  const Problem& p = x.first();
  const Shape shape{x.B(), p.H(), p.Nq(), p.D()};
  Tensor<float> Q(shape, strides_of(shape, layout), 1000.0f);
  for (Int b = 0; b < x.B(); ++b)
    for (Int i = 0; i < p.Q.numel(); ++i)
      Q.at_linear(b * p.Q.numel() + i) = x.sequences[static_cast<std::size_t>(b)].Q.at_linear(i);
  return Q;
}

/// Calls `call(entry, arguments...)`.
template <class T, class Function, class Call>
void decode_with(const Call& call, Entry<Function> entry, const Decoding& x, const Tensor<float>& Q,
                 Arrays& got) {
  const auto in_type = [](const Tensor<float>& values) {
    if constexpr (is_16_bit<T>)
      return narrowed<T>(values);
    else
      return values;
  };
  Tensor<T> O = in_type(got.O);
  call(entry, in(in_type(Q), "Q"), in(in_type(x.K_pages), "K_pages"), in(in_type(x.V_pages), "V_pages"),
       in(x.table, "table"), in(x.lengths, "lengths"), out(O, "O"), out(got.lse, "lse"),
       out(got.partial_O, "partial_O"), out(got.partial_lse, "partial_lse"), x.first().scale);
  if constexpr (is_16_bit<T>)
    got.O = widened(O);
  else
    got.O = O;
}
template <class Call>
void decode_with(const Call& call, const Decoding& x, const Tensor<float>& Q, Arrays& got) {
  const Type type = x.first().format;
  if (!type)
    decode_with<float>(call, ENTRY(decode_float32), x, Q, got);
  else if (*type == Format16::bfloat16)
    decode_with<bfloat16>(call, ENTRY(decode_bfloat16), x, Q, got);
  else
    decode_with<float16>(call, ENTRY(decode_float16), x, Q, got);
}

Outcome decode(const Decoding& x, const Tensor<float>& Q, Arrays& got, const CallOptions& options = {}) {
  Outcome outcome;
  decode_with([&](auto entry, auto&&... arguments) { outcome = call_with(options, entry, arguments...); }, x,
              Q, got);
  return outcome;
}
// --- Checks ---

/// The results of sequence b.
Forward results_of_sequence(const Decoding& x, const Arrays& got, std::size_t b) {
  Forward of_b = attention_tests::results_of(x.sequences[b]);
  const Int rows = of_b.lse.numel(), numbers = of_b.O.numel(), at = static_cast<Int>(b);
  for (Int i = 0; i < rows; ++i) of_b.lse.at_linear(i) = got.lse.at_linear(at * rows + i);
  for (Int i = 0; i < numbers; ++i) of_b.O.at_linear(i) = got.O.at_linear(at * numbers + i);
  return of_b;
}

void require_results(const Decoding& x, const Arrays& got, const Outcome& outcome, TestLine where) {
  compare_sequences_of(x);
  for (std::size_t b = 0; b < x.sequences.size(); ++b) {
    INFO("sequence " << b << ", " << x.lengths(static_cast<Int>(b)) << " tokens");
    attention_tests::require_results(kKernel, x.sequences[b], results_of_sequence(x, got, b), outcome, where);
  }
}

/// What the kernel of the splits has to load.
struct Bytes {
  Int cache, queries, table_and_lengths;

  Int all() const { return cache + queries + table_and_lengths; }
};

/// A block has kPackedRows rows of a group. For all of them it reads keys and values once.
Bytes bytes_for_splits(const Decoding& x, Int bytes_of_row) {
  const Problem& p = x.first();
  Int tokens = 0, tiles = 0;
  for (const Problem& of_sequence : x.sequences)
    tokens += of_sequence.Nk(), tiles += divided_up(of_sequence.Nk(), kTileKeys);
  const Int blocks = p.H_kv() * divided_up(x.group() * p.Nq(), kPackedRows);  // of a sequence and a split
  const Int splits = x.B() * x.cache.splits;
  return {2 * blocks * tokens * bytes_of_row, splits * p.H() * p.Nq() * bytes_of_row,
          32 * blocks * (tiles + splits * kWarps)};
}

/// @brief Fails the case if the call was counted, and loads more than twice what the contract allows. Holds
/// for all sizes, since a kernel may tell them apart.
void require_cache_shared(const Decoding& x, const Outcome& outcome, TestLine where) {
  const std::optional<Profile> profile = profile_if_counted(outcome, where);
  if (!profile) return;
  const Problem& p = x.first();
  const Int merged = x.cache.splits * x.B() * p.H() * p.Nq() * divided_up(p.D(), 8) * (32 + 2 * 32);
  const Int most = 2 * (bytes_for_splits(x, attention_tests::bytes_of_row(p)).all() + merged);
  require_loads_at_most(*profile, static_cast<std::uint64_t>(most),
                        "to read the cache twice for all heads of a group, and twice what is merged,", where);
}

/// @brief Fails the case if the call was counted, and is not two launches: of a block for each split of
/// kPackedRows rows of a group, which stores its part once, and of the merge, which stores the results once.
void require_parts_once(const Decoding& x, const Outcome& outcome, TestLine where) {
  const Problem& p = x.first();
  const Int rows = x.B() * p.H() * p.Nq();
  const std::optional<Profile> profile = profile_if_counted(outcome, where);
  if (!profile || rows == 0) return;
  const std::vector<simt::LaunchProfile>& launches = profile->launches;
  require(launches.size() == 2, "There should be two launches: the splits, and their merge.", where);
  const Int wanted = x.cache.splits * x.B() * p.H_kv() * divided_up(x.group() * p.Nq(), kPackedRows),
            bytes_of_part = 4 * (p.D() + 1);
  const auto& grid = launches[0].grid;
  const Int blocks = Int{grid[0]} * grid[1] * grid[2];
  require(
      blocks == wanted,
      fmt::format("The splits have {} blocks. With one for each split of {} rows of a group, for every head "
                  "of K_pages and every sequence, they should have {}.",
                  blocks, kPackedRows, wanted),
      where);
  const auto bytes = [](Int count) { return static_cast<std::uint64_t>(count); };
  require(launches[0].stores.largest <= bytes(kPackedRows * bytes_of_part),
          fmt::format("A block of the splits stores {} bytes; the parts of {} rows have {}.",
                      launches[0].stores.largest, kPackedRows, kPackedRows * bytes_of_part),
          where);
  require_stores(make_profile({launches[0]}), bytes(x.cache.splits * rows * bytes_of_part),
                 "to write O and lse of each split once", where);
  require_stores(make_profile({launches[1]}), bytes(rows * (p.D() * (p.format ? 2 : 4) + 4)),
                 "to write O and lse once", where);
}

Outcome check(const Decoding& x, CallOptions options = {}, TestLine where = TestLine::here()) {
  INFO(describe(x));
  Arrays got = results_of(x);
  const Outcome outcome = decode(x, queries_of(x), got, options);
  require_ran(outcome, where);
  require_results(x, got, outcome, where);
  require_no_warnings(outcome, where);
  if (options.check != CheckMode::always) require_cache_shared(x, outcome, where);  // which ask for more
  require_parts_once(x, outcome, where);
  if (!x.first().format) return outcome;
  std::uint64_t products = 0;  // Q·Kᵀ and P·V
  for (const Problem& p : x.sequences) products += multiply_adds_of(p, 2);
  require_on_tensor_cores(outcome, products, where);
  return outcome;
}
/// Without check mode, which takes many times as long: for what other calls have had checked.
void check_values(const Decoding& x, TestLine where = TestLine::here()) {
  check(x, {.check = CheckMode::never}, where);
}

std::string show(std::uint64_t n) { return std::to_string(n); }

}  // namespace

TEST_CASE("decodes one token for 40 in two pages, in all types", "[l30][split_kv_decoding][points:3]") {
  for (const Type type : kTypes) check(random_decoding({.H = 4, .H_kv = 1}, {40}, type));
}

TEST_CASE("takes a sequence of 0, 1, a tile, a page, and one more or less of these",
          "[l30][split_kv_decoding][points:3]") {
  check(random_decoding({.H = 2, .H_kv = 1, .D = 8}, {33, 0, 1, 16}, Format16::bfloat16));
  check(random_decoding({.H = 2, .H_kv = 1, .D = 8}, {17, 32, 0, 5}, std::nullopt));
  for (const Type type : kTypes)
    check_values(
        random_decoding({.H = 2, .H_kv = 2, .D = 16}, {0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200}, type));
}

TEST_CASE("gives with one split what it gives with many", "[l30][split_kv_decoding][points:3]") {
  check(random_decoding({.H = 2, .H_kv = 1, .D = 16}, {150, 20}, Format16::bfloat16, {.splits = 5}));
  Random random(case_seed());  // for numbers of splits that no kernel knows beforehand
  for (const Type type : kTypes) {
    for (const Int splits : {Int{1}, random.integer(2, 7), random.integer(8, 40)})
      check_values(
          random_decoding({.H = 2, .H_kv = 1, .D = 16}, {70, 300, 1, 520}, type, {.splits = splits}));
    // As many as choose_splits() may give, and more: each has a tile.
    for (const Int splits : {random.integer(kMostSplits - 8, kMostSplits), random.integer(129, 400)})
      check_values(random_decoding({.H = 2, .H_kv = 1, .D = 8 * random.integer(1, 3)},
                                   {kTileKeys * splits - random.integer(0, 15)}, type, {.splits = splits}));
    check_values(
        random_decoding({.H = 1, .H_kv = 1, .D = 8}, {50}, type, {.splits = random.integer(1025, 1500)}));
  }
}

TEST_CASE("finds tokens through the table, in pages of any size", "[l30][split_kv_decoding][points:3]") {
  check(random_decoding({.H = 2, .H_kv = 2, .D = 8}, {100, 41}, Format16::float16, {.page_size = 16}));
  Random random(case_seed());  // for pages that no kernel knows beforehand
  for (const Type type : kTypes) {
    for (const Int page_size : {Int{16}, 16 * random.integer(2, 16)})
      check_values(
          random_decoding({.H = 4, .H_kv = 2, .D = 32}, {130, 65, 257}, type, {.page_size = page_size}));
    check_values(random_decoding({.H = 1, .H_kv = 1, .D = 8}, {16 * random.integer(70, 130)}, type,
                                 {.page_size = 16, .splits = 1}));
    const Int large = 16 * random.integer(17, 64);
    check_values(random_decoding({.H = 2, .H_kv = 1, .D = 8 * random.integer(1, 4)},
                                 {large + random.integer(1, 100), random.integer(1, large)}, type,
                                 {.page_size = large}));
  }
}

TEST_CASE("lets the heads of a group share what is read", "[l30][split_kv_decoding][points:2]") {
  check(random_decoding({.H = 6, .H_kv = 2, .D = 16}, {70, 20}, Format16::bfloat16));
  check(random_decoding({.H = 8, .H_kv = 1, .D = 16}, {40, 20}, std::nullopt));
  for (const Heads& n :
       {Heads{5, 5, 1, 16}, {8, 1, 1, 16}, {16, 1, 1, 16}, {17, 1, 1, 16}, {40, 1, 1, 16}, {30, 2, 1, 8}})
    for (const Type type : kTypes) check_values(random_decoding(n, {90, 33}, type));
}

TEST_CASE("lets several new tokens see what lies before each of them", "[l30][split_kv_decoding][points:3]") {
  check(random_decoding({.H = 4, .H_kv = 2, .Nq = 3, .D = 16}, {70, 2}, Format16::bfloat16));
  check(random_decoding({.H = 2, .H_kv = 1, .Nq = 4, .D = 16}, {35, 4}, std::nullopt));
  for (const Int Nq : {2, 5, 8, 20})
    for (const Type type : kTypes)
      check_values(random_decoding({.H = 6, .H_kv = 2, .Nq = Nq, .D = 16}, {100, 17, 3, 48, Nq, 0}, type));
}

TEST_CASE("decodes in 8 to 256 dimensions", "[l30][split_kv_decoding][points:2]") {
  check(random_decoding({.H = 2, .H_kv = 1, .D = 128}, {70}, Format16::bfloat16));
  check(random_decoding({.H = 2, .H_kv = 1, .D = 256}, {40}, Format16::float16));
  check(random_decoding({.H = 2, .H_kv = 1, .D = 128}, {70}, std::nullopt));
  for (const Int D : {8, 24, 64, 72, 120, 128, 136, 248, 256})
    for (const Type type : kTypes)
      if (type || D <= kMaxDimFloat32)
        check_values(random_decoding({.H = 4, .H_kv = 2, .D = D}, {75, 30}, type));
}

namespace {

/// Sequences, heads, pages, splits, scores and strides are all drawn: other cases have them one at a time.
Layout drawn_layout(Random& random) {
  constexpr Layout kAll[] = {Layout::heads_outside, Layout::heads_inside, Layout::seq_first,
                             Layout::packed,        Layout::far_apart,    Layout::gaps_of_8};
  return kAll[random.integer(0, std::ssize(kAll) - 1)];
}

/// Axes in any order, with gaps behind each.
Strides drawn_strides(const Shape& shape, Random& random) {
  std::vector<std::size_t> axes(shape.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  for (std::size_t i = axes.size() - 1; i > 0; --i)
    std::swap(axes[i], axes[static_cast<std::size_t>(random.integer(0, static_cast<Int>(i)))]);
  Strides strides(shape.size());
  Int stride = random.integer(1, 2);
  for (const std::size_t axis : axes) {
    strides[axis] = stride;
    stride = stride * shape[axis] + random.integer(0, 3);
  }
  return strides;
}

/// `is_usual`: in 64, 128 or 256 dimensions.
Decoding drawn_decoding(Type type, Int Nq, bool is_steep, bool is_usual, Random& random) {
  const Int H_kv = random.integer(1, 3);
  Sizes n{.B = random.integer(1, 4),
          .H = H_kv * random.integer(1, 9),
          .Nq = Nq,
          .Nk = 0,
          .D = is_usual ? 64 << random.integer(0, type ? 2 : 1)
                        : 8 * random.integer(1, (type ? 256 : kMaxDimFloat32) / 8),
          .H_kv = H_kv};
  std::vector<Int> lengths;
  for (Int b = 0; b < n.B; ++b) lengths.push_back(random.integer(0, 60'000 / (n.H * n.D)));
  lengths.back() += is_steep ? random.integer(200, 300) : random.integer(70, 130);
  n.Nk = *std::max_element(lengths.begin(), lengths.end());
  Problem p = random_problem(n);
  const Int scores = is_steep ? 5 : random.integer(0, 4);
  if (scores == 0) p = with_large_scores(std::move(p));
  if (scores == 1) {
    const float far = type == Format16::float16 ? 1000.0f : 16'000.0f;
    p = with_shifted_scores(std::move(p), random.integer(0, 1) == 1 ? far : -far);
  }
  if (scores == 2) p = with_keys_of_minus_inf(std::move(p), n.Nk / 2);
  if (scores == 3 && n.Nq >= 4) p = with_empty_rows(std::move(p));
  if (scores == 5) p = with_steep_scores(std::move(p), random);
  if (scores != 1 && scores != 5) p.scale *= 0.3f + 1.3f * static_cast<float>(random.uniform());
  p.V = drawn::times(std::move(p.V), drawn::factor(random, type == Format16::float16 ? 4 : 12));
  return in_pages(std::move(p), lengths, type,
                  {.page_size = 16 * drawn::length(random, 32),
                   .splits = is_steep ? random.integer(1, 4) : drawn::length(random, kMostSplits),
                   .layout = drawn_layout(random),
                   .spare_columns = random.integer(0, 3),
                   .layout_of_V = drawn_layout(random),
                   .table_by_columns = random.integer(0, 1) == 1,
                   .table_gap = random.integer(0, 5)});
}

}  // namespace

namespace {

/// What a split leaves of sequence b.
void require_part(const Decoding& x, const Arrays& got, std::size_t b, Int split) {
  INFO("sequence " << b << ", split " << split);
  const Problem& p = x.sequences[b];
  const Forward64 part =
      deviate(p, {.sees = [&](Int i, Int j) { return p.sees(i, j) && x.split_of(p.Nk(), j) == split; }});
  Tensor<float> O(p.shape_of_O()), lse(p.shape_of_lse());
  const Int at = split * x.B() + static_cast<Int>(b);
  for (Int i = 0; i < O.numel(); ++i) O.at_linear(i) = got.partial_O.at_linear(at * O.numel() + i);
  for (Int i = 0; i < lse.numel(); ++i) lse.at_linear(i) = got.partial_lse.at_linear(at * lse.numel() + i);
  // Scores of float32 lie apart by more, the larger they are, and tensor cores cut off what lies below; in
  // bfloat16, weights are half a step off, unless they are 1.
  const double of_scores = (p.format ? 4e-5 : 1e-5) * std::max(1.0, largest_magnitude(part.lse) / 10);
  const bool has_weights_of_1 = largest_magnitude(p.Q.to<double>()) == 0;
  const double floor = (p.format && !has_weights_of_1 ? 2e-2 : of_scores) *
                       std::max(1.0, largest_magnitude(p.V.to<double>()) / 4);
  require_matches(lse, "partial_lse", part.lse, part.lse.to<float>(), Bound{.floor = of_scores});
  require_matches(O, "partial_O", part.O, part.O.to<float>(), Bound{.floor = floor});
}

void check_drawn(const Decoding& x, Random& random) {
  INFO("All of this is drawn: " << describe(x));
  Arrays got = results_of(x, drawn_layout(random));
  for (Tensor<float>* result : {&got.lse, &got.partial_O, &got.partial_lse})
    *result = Tensor<float>(result->shape(), drawn_strides(result->shape(), random), 0.0f);
  const Outcome outcome = decode(x, queries_of(x, drawn_layout(random)), got, {.check = CheckMode::never});
  require_ran(outcome);
  require_results(x, got, outcome, TestLine::here());
  for (std::size_t b = 0; b < x.sequences.size(); ++b)
    require_part(x, got, b, random.integer(0, x.cache.splits - 1));
}

}  // namespace

TEST_CASE("takes pages of [page, token, head, dim], parts of larger arrays, and any strides of results",
          "[l30][split_kv_decoding][points:2]") {
  for (const Layout layout : {Layout::heads_inside, Layout::gaps_of_8})
    for (const Type type : kTypes)
      for (const Int D : {24, 64, 128, 256}) {
        if (!type && D > kMaxDimFloat32) continue;
        const Layout of_V = layout == Layout::gaps_of_8 ? Layout::heads_inside : Layout::gaps_of_8;
        const Decoding x = random_decoding({.H = 4, .H_kv = 2, .Nq = 2, .D = D}, {70, 20}, type,
                                           {.layout = layout, .layout_of_V = of_V});
        INFO(describe(x));
        Arrays got = results_of(x, layout);
        const Int B = x.B(), H = x.first().H(), Nq = x.first().Nq(), splits = x.cache.splits;
        got.partial_O = Tensor<float>({splits, B, H, Nq, D}, {40 * H * D, D, 2 * Nq * B * D, B * D, 1}, 0.0f);
        got.partial_lse = Tensor<float>({splits, B, H, Nq}, {3, 100, 20, 10}, 0.0f);
        // What has no 16-byte chunks may begin at any number.
        const std::uint32_t past = layout == Layout::gaps_of_8 ? 4 : 0;
        const Outcome outcome =
            decode(x, queries_of(x, layout), got, {.shifts = {0, 0, 0, past, past, 0, past, past, past}});
        require_ran(outcome);
        require_results(x, got, outcome, TestLine::here());
      }
  Random random(case_seed() + 1);
  const Type of_one_token = kTypes[random.integer(0, std::ssize(kTypes) - 1)];  // as in ordinary decoding
  for (const Type type : kTypes) {
    const bool is_steep_usual = random.integer(0, 1) == 1;
    check_drawn(
        drawn_decoding(type, type == of_one_token ? 1 : random.integer(1, 6), false, !is_steep_usual, random),
        random);
    check_drawn(drawn_decoding(type, random.integer(1, 3), true, is_steep_usual, random), random);
  }
}

TEST_CASE("leaves the partial results that each split stands for", "[l30][split_kv_decoding][points:2]") {
  for (const Type type : kTypes)
    for (const bool has_weights_of_1 : {false, true}) {  // with them, what is rounded to 16 bits shows
      Decoding x = random_decoding({.H = 4, .H_kv = 2, .Nq = 2, .D = 16}, {100, 20, 0}, type, {.splits = 3});
      if (has_weights_of_1)
        for (Problem& p : x.sequences) std::ranges::fill(p.Q.storage(), 0.0f);
      INFO(describe(x));
      Arrays got = results_of(x);
      const Outcome outcome = decode(x, queries_of(x), got);
      require_ran(outcome);
      for (std::size_t b = 0; b < x.sequences.size(); ++b)
        for (Int split = 0; split < x.cache.splits; ++split) require_part(x, got, b, split);
    }
}

TEST_CASE("keeps large scores apart, and gives no weight to scores of -inf",
          "[l30][split_kv_decoding][points:2]") {
  for (const Type type : kTypes) {
    const std::vector<Int> lengths{150, 77};
    check_values(in_pages(with_large_scores(random_problem({2, 4, 2, 150, 32, 2})), lengths, type));
    for (const float shift : {1000.0f, 16'000.0f, -16'000.0f})
      check_values(
          in_pages(with_shifted_scores(random_problem({2, 4, 2, 150, 16, 2}), shift), lengths, type));
    check_values(in_pages(with_empty_rows(random_problem({2, 2, 4, 150, 8})), lengths, type));
    check_values(in_pages(with_keys_of_minus_inf(random_problem({2, 2, 2, 150, 8}), 70), lengths, type));
    Problem p = random_problem({2, 4, 2, 150, 16, 2});
    for (const float scale : {0.0f, 1.0f, 1e-30f}) {
      p.scale = scale;
      check_values(in_pages(p, lengths, type));
    }
    if (type != Format16::float16)  // which has no such weights
      check_values(in_pages(with_small_weight({2, 4, 2, 150, 16, 2}), {150, 150}, type));
  }
}

TEST_CASE("keeps NaN to the head and the sequence that it is in", "[l30][split_kv_decoding][points:1]") {
  Random random(case_seed());  // for sizes and places that no kernel knows beforehand
  for (const Type type : kTypes) {
    const Int Nq = random.integer(2, 4), Nk = random.integer(90, 140), D = 8 * random.integer(1, 8);
    Problem p = random_problem({3, 4, Nq, Nk, D, 2});
    const auto dim = [&] { return random.integer(0, D - 1); };
    p.Q(0, 1, random.integer(0, Nq - 1), dim()) = kNan;
    p.K(1, 0, random.integer(0, 60), dim()) = kNan;  // heads 0 and 1 of sequence 1
    p.V(1, 1, random.integer(0, 60), dim()) = kInf;
    check_values(in_pages(p, {Nk, 70, 33}, type));
    p = random_problem({1, 2, Nq, Nk, D, 1});
    const Int large = dim();  // scores of +inf, and of -inf
    for (Int i = 0; i < Nq; ++i) p.Q(0, 0, i, large) = std::abs(p.Q(0, 0, i, large));
    p.K(0, 0, random.integer(0, Nk - Nq), large) = kInf;
    check_values(in_pages(p, {Nk}, type));
    p = random_problem({1, 2, Nq, Nk, D, 1});
    p.K(0, 0, Nk - 1, dim()) = kNan;  // the last token, which the last query alone sees
    check_values(in_pages(p, {Nk}, type));
  }
}

TEST_CASE("gives NaN, and reads nothing, where a page or a length is out of range",
          "[l30][split_kv_decoding][points:2]") {
  Random random(case_seed());  // for heads and dimensions that no kernel knows beforehand
  for (const Type type : kTypes) {
    const Int H_kv = random.integer(1, 2);
    const Heads heads{.H = H_kv * random.integer(1, 3),
                      .H_kv = H_kv,
                      .Nq = random.integer(1, 3),
                      .D = 8 * random.integer(1, 4)};  // small enough for check mode
    const Cache cache{
        .page_size = 16 * random.integer(1, 2), .splits = random.integer(1, 7), .spare_columns = 0};
    // The longest fills all pages that the table has room for: first the last sequence, then another one.
    std::vector<Int> lengths{70, 40, 20, 96};
    const Int longest = type == kTypes[0] ? 3 : random.integer(0, 2);
    std::swap(lengths[3], lengths[static_cast<std::size_t>(longest)]);
    const Decoding valid = random_decoding(heads, lengths, type, cache);
    const auto check_broken = [&](Int b, auto change) {
      Decoding broken = valid;
      change(broken);
      INFO(describe(broken));
      Arrays got = results_of(broken);
      const Outcome outcome = decode(broken, queries_of(broken), got);
      require_ran(outcome);
      compare_sequences_of(valid);
      for (std::size_t i = 0; i < valid.sequences.size(); ++i) {
        INFO("sequence " << i);
        const Forward of_i = results_of_sequence(valid, got, i);
        if (static_cast<Int>(i) != b) {
          attention_tests::require_results(kKernel, valid.sequences[i], of_i, outcome);
          continue;
        }
        for (const Which which : {Which::lse, Which::O})
          for (Int e = 0; e < of_i.of(which).numel(); ++e)
            require(rehearsing() ||
                        (std::isnan(of_i.of(which).at_linear(e)) && !is_poison(of_i.of(which).at_linear(e))),
                    std::string(attention_tests::name_of(which)) +
                        " of a sequence with a page or a length out of range should be NaN.");
      }
    };
    for (const std::int32_t page :
         {-1, static_cast<std::int32_t>(valid.K_pages.shape()[0]), std::numeric_limits<std::int32_t>::max(),
          std::numeric_limits<std::int32_t>::min()}) {
      const Int b = random.integer(0, 3),
                column = random.integer(0, (lengths[static_cast<std::size_t>(b)] - 1) / cache.page_size);
      check_broken(b, [&](Decoding& x) { x.table(b, column) = page; });
    }
    for (const std::int32_t length : {97, std::numeric_limits<std::int32_t>::max()})
      check_broken(longest, [&](Decoding& x) { x.lengths(longest) = length; });
    std::vector<Int> without(3);
    const Int empty = random.integer(0, 2);
    for (Int b = 0; b < 3; ++b) without[static_cast<std::size_t>(b)] = b == empty ? 0 : random.integer(1, 70);
    Decoding x = random_decoding({.H = 2, .H_kv = 1, .D = 16}, without, type);
    x.lengths(empty) = static_cast<std::int32_t>(-random.integer(1, 1000));  // is as good as 0
    check(x);
  }
}

TEST_CASE("gives the same bits every time, in every order", "[l30][split_kv_decoding][points:2]") {
  Random random(case_seed());
  for (const Type type : kTypes)
    for (const Int splits : {Int{6}, random.integer(3, 9)}) {  // which no kernel knows beforehand
      const Decoding x =
          random_decoding({.H = 4, .H_kv = 2, .Nq = 2, .D = 32},
                          {random.integer(290, 400), random.integer(70, 130)}, type, {.splits = splits});
      INFO(describe(x));
      Arrays first = results_of(x);
      require_ran(decode(x, queries_of(x), first, {.check = CheckMode::never}));
      std::uint64_t seed = order_seed();
      for (const Order order : {Order::reverse, Order::random, Order::random}) {
        Arrays got = results_of(x);
        require_ran(
            decode(x, queries_of(x), got, {.order = order, .seed = seed++, .check = CheckMode::never}));
        INFO(
            "The same call, with blocks, warps and threads in another order; the results must have the same "
            "bits");
        require_same_bits(got.lse, first.lse, "lse");
        require_same_bits(got.O, first.O, "O");
      }
    }
}

namespace {

void require_no_launch(const Decoding& x, const Tensor<float>& Q, Arrays got) {
  INFO("shape of Q " << format_shape(Q.shape()) << ", of K_pages " << format_shape(x.K_pages.shape()));
  const Outcome outcome = decode(x, Q, got);
  require_ran(outcome);
  require(outcome.counters.at("launches") == 0,
          "There is nothing to compute, so nothing should be launched.");
}

}  // namespace

TEST_CASE("launches nothing without queries, and gives 0 without tokens",
          "[l30][split_kv_decoding][points:1]") {
  for (const Type type : kTypes) {
    check(random_decoding({.H = 2, .H_kv = 1, .D = 8}, {0, 0}, type));
    Decoding no_pages = random_decoding({.H = 2, .H_kv = 1, .D = 8}, {0}, type, {.spare_columns = 0});
    no_pages.K_pages = no_pages.V_pages = Tensor<float>({0, 1, no_pages.cache.page_size, 8});
    check(no_pages);
    for (const Heads& n : {Heads{.H = 0, .H_kv = 0, .D = 8}, {.H = 0, .H_kv = 2, .D = 8}}) {
      const Decoding no_heads = random_decoding(n, {20}, type);
      require_no_launch(no_heads, queries_of(no_heads), results_of(no_heads));
    }
    Decoding no_sequences = random_decoding({.H = 2, .H_kv = 1, .D = 8}, {20}, type);
    no_sequences.table = Tensor<std::int32_t>({0, 2}), no_sequences.lengths = Tensor<std::int32_t>({0});
    const Int splits = no_sequences.cache.splits;
    require_no_launch(no_sequences, Tensor<float>({0, 2, 1, 8}),
                      {Tensor<float>({0, 2, 1, 8}), Tensor<float>({0, 2, 1}),
                       Tensor<float>({splits, 0, 2, 1, 8}), Tensor<float>({splits, 0, 2, 1})});
  }
  const Decoding x = random_decoding({.H = 2, .H_kv = 1, .Nq = 0, .D = 8}, {10, 20}, Format16::bfloat16);
  const Decoding of_many_splits =
      random_decoding({.H = 2, .H_kv = 1, .Nq = 0, .D = 8}, {10}, std::nullopt, {.splits = kMaxSplits});
  for (const Decoding* one : {&x, &of_many_splits})
    require_no_launch(*one, queries_of(*one), results_of(*one));
}

namespace {
void require_cache_read_once(const Profile& of_splits, const Decoding& x) {
  const Int bytes_of_row = x.first().D() * (x.first().format ? 2 : 4);
  const Bytes bytes = bytes_for_splits(x, bytes_of_row);
  const auto read = of_splits.global_load.bytes, most = static_cast<std::uint64_t>(bytes.all() * 102 / 100);
  require(
      read <= most,
      fmt::format("Your code reads {} bytes to make the parts. Keys and values have {}, whatever the number "
                  "of heads in a group; with the queries of each split, the table and the lengths it is {} "
                  "at most.",
                  read, bytes.cache, most));
}

/// That no warp meets all tiles of a split, while the others wait.
void require_warps_share(const Profile& of_splits) {
  require_busy_warps(of_splits);
  const std::string idle = few_warps_load(of_splits);
  require(idle.empty(), idle);
}
}  // namespace

TEST_CASE("reads the cache once for a group, and parts of the results once",
          "[l30][split_kv_decoding][points:3]") {
  const Int others = kTileKeys * static_cast<Int>(8 + case_seed() % 9);  // which no kernel knows beforehand
  for (const auto& [type, H, H_kv, tokens] : {std::tuple{kTypes[0], Int{1}, Int{1}, Int{512}},
                                              {kTypes[0], 16, 1, 512},
                                              {kTypes[1], 8, 1, 512},
                                              {kTypes[2], 1, 1, 512},
                                              {kTypes[2], 8, 1, 512},
                                              {kTypes[0], 8, 2, others},
                                              {kTypes[2], 6, 2, others}}) {
    const Decoding x =
        random_decoding({.H = H, .H_kv = H_kv, .D = 64}, {tokens, 256}, type, {.page_size = 64, .splits = 2});
    const Outcome outcome = check(x, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(describe(x));
    const std::uint64_t rows = static_cast<std::uint64_t>(H), B = 2, splits = 2, D = 64;
    const Profile of_splits = make_profile({profile->launches[0]}),
                  of_merge = make_profile({profile->launches[1]});
    require_cache_read_once(of_splits, x);
    // A warp reads 32 numbers of O at a time, and lse of their row twice.
    require_loads_at_most(of_merge, B * splits * rows * D / 32 * (128 + 2 * 32),
                          "to read O of each split once, and its lse twice for each 32 numbers");
    require_whole_sectors(*profile);
    require_busy_lanes(of_splits);
    require_warps_share(of_splits);
    require_busy_blocks(of_splits, 0.5);
    if (type) require_tensor_cores(of_splits);
  }

  // In heads, new tokens, dimensions and splits that no kernel knows beforehand: rows of whole sectors.
  Random random(case_seed());
  for (const Type type : kTypes) {
    const Int H_kv = random.integer(1, 2), splits = random.integer(2, 6 - 2 * H_kv);
    const Decoding x =
        random_decoding({.H = H_kv * random.integer(2, 4),
                         .H_kv = H_kv,
                         .Nq = random.integer(1, 4),
                         .D = 16 * random.integer(5, 8)},
                        {others * splits / 2, 128 * splits}, type,
                        {.page_size = 64,
                         .splits = splits,
                         .layout = random.integer(0, 1) == 1 ? Layout::heads_inside : Layout::heads_outside});
    const Outcome outcome = check(x, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(describe(x));
    const Profile of_splits = make_profile({profile->launches[0]});
    require_cache_read_once(of_splits, x);
    require_warps_share(of_splits);
    const Int rows = x.B() * x.first().H() * x.first().Nq(), D = x.first().D();
    require_loads_at_most(make_profile({profile->launches[1]}),
                          static_cast<std::uint64_t>(splits * rows * (4 * D + (D / 32 + 1) * 2 * 32)),
                          "to read O of each split once, and its lse twice for each 32 numbers");
  }
}

namespace {

void require_few_barriers(const Profile& of_splits) {
  const auto& [grid, block] = std::tie(of_splits.launches[0].grid, of_splits.launches[0].block);
  const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2],
                      warps = (threads + 31) / 32 * grid[0] * grid[1] * grid[2];
  require(meetings(of_splits) <= 2 * warps, meetings_told(of_splits, warps) +
                                                ". It has keys of its own: two barriers will do, when Q has "
                                                "landed and when the parts are complete.");
}

}  // namespace

TEST_CASE("has no bank conflicts and no barrier between tiles, and multiplies on tensor cores",
          "[l30][split_kv_decoding][points:2]") {
  for (const auto& [type, D] :
       {std::pair{kTypes[0], Int{64}}, {kTypes[0], Int{256}}, {kTypes[1], Int{128}}, {kTypes[2], Int{128}}}) {
    const Decoding x = random_decoding({.H = 8, .H_kv = 1, .D = D}, {256}, type, {.splits = 1});
    const Outcome outcome = check(x, kCounted);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(describe(x));
    require_no_bank_conflicts(*profile);
    const Profile of_splits = make_profile({profile->launches.at(0)});
    require_few_barriers(of_splits);
    require_cache_read_once(of_splits,
                            x);  // so that tiles are shared: operands may not come from global memory
    require_warps_share(of_splits);
    const auto products = static_cast<std::uint64_t>(2 * kPackedRows * 256 * D);
    if (type)
      require(profile->matrix_float16 == products, "Tensor cores do " + show(profile->matrix_float16) +
                                                       " multiply-adds; whole tiles take " + show(products) +
                                                       ".");
  }
  // Nor with several sequences, heads and new tokens, of which no kernel knows beforehand how many.
  Random random(case_seed());
  for (const Type type : kTypes)
    for (const Int Nq : {Int{1}, random.integer(2, 5)}) {
      const Int H_kv = random.integer(1, 2), splits = random.integer(1, 3);
      std::vector<Int> lengths(static_cast<std::size_t>(random.integer(1, 2) + H_kv % 2));
      for (Int& length : lengths) length = splits * random.integer(80, 130);
      const Decoding x = random_decoding({.H = H_kv * random.integer(1, 8),
                                          .H_kv = H_kv,
                                          .Nq = Nq,
                                          .D = 8 * random.integer(1, (type ? kMaxDim : kMaxDimFloat32) / 8)},
                                         lengths, type,
                                         {.page_size = 16 * random.integer(1, 6),
                                          .splits = splits,
                                          .layout = drawn_layout(random),
                                          .layout_of_V = drawn_layout(random)});
      const Outcome outcome = check(x, kCounted);
      const Profile* profile = profile_of(outcome);
      if (!profile) return;
      INFO(describe(x));
      require_no_bank_conflicts(*profile);
      require_few_barriers(make_profile({profile->launches.at(0)}));
    }
}

namespace {
struct Choice {
  Int blocks, tiles, multiprocessors, splits;
};

/// A choice that nobody knows beforehand. It hangs on no rounding: no share is 95 % of the largest.
Choice random_choice(Random& random) {
  for (;;) {
    Choice choice{drawn::length(random, 1'000'000), drawn::length(random, 10'000) - 1,
                  drawn::length(random, 400), 0};
    const Int most = std::clamp<Int>(choice.tiles / kLeastTiles, 1, kMostSplits),
              places = choice.multiprocessors * kBlocksAtOnce;
    std::vector<double> shares;
    for (Int blocks = choice.blocks; blocks <= most * choice.blocks; blocks += choice.blocks)
      shares.push_back(static_cast<double>(blocks) /
                       static_cast<double>(divided_up(blocks, places) * places));
    const double least = 0.95 * *std::max_element(shares.begin(), shares.end());
    const auto is_near = [&](double share) { return std::abs(share - least) < 1e-9; };
    if (std::any_of(shares.begin(), shares.end(), is_near)) continue;
    while (shares[static_cast<std::size_t>(choice.splits++)] < least) {
    }
    return choice;
  }
}
}  // namespace

TEST_CASE("chooses as many splits as keep the device busy", "[l30][split_kv_decoding][points:2]") {
  // 264 places on a device of 132 multiprocessors. 8 blocks: 32 splits fill 256 of them, 33 all. 128 blocks:
  // 2 splits fill 256. 200 blocks: 9 splits fill 1800 of 7 * 264, fewer at most 1000 of 4 * 264.
  std::vector<Choice> choices{{8, 8192, 132, 32},  {128, 8192, 132, 2},  {200, 8192, 132, 9},
                              {264, 8192, 132, 1}, {5000, 8192, 132, 1}, {1, 8192, 132, 122},
                              {8, 256, 132, 16},   {8, 31, 132, 1},      {8, 0, 132, 1},
                              {150, 64, 132, 3},   {3, 1000, 8, 16},     {2'147'483'348, 8192, 132, 1}};
  Random random(case_seed());
  for (int i = 0; i < 20; ++i) choices.push_back(random_choice(random));
  for (const Choice& c : choices) {
    Tensor<std::int64_t> splits({1});
    const Outcome outcome =
        call(ENTRY(call_choose_splits), c.blocks, c.tiles, c.multiprocessors, host_out(splits, "splits"));
    require_ran(outcome);
    require(
        rehearsing() || splits(0) == c.splits,
        fmt::format("For {} blocks, {} tiles and {} multiprocessors it should be {} splits, but it is {}.",
                    c.blocks, c.tiles, c.multiprocessors, c.splits, splits(0)));
  }
}

namespace {
Tensor<float>& array_called(const std::string& name, Decoding& x, Tensor<float>& Q, Arrays& got) {
  return name == "Q"           ? Q
         : name == "K_pages"   ? x.K_pages
         : name == "V_pages"   ? x.V_pages
         : name == "O"         ? got.O
         : name == "lse"       ? got.lse
         : name == "partial_O" ? got.partial_O
                               : got.partial_lse;
}
}  // namespace

TEST_CASE("refuses shapes, rows and numbers that do not fit", "[l30][split_kv_decoding][points:3]") {
  Random random(case_seed());
  for (const Type type : kTypes) {
    const Int Nq = random.integer(2, 5), D_valid = 8 * random.integer(1, 6);  // which no kernel knows
    const Int H = 2 * random.integer(2, 6);
    const Decoding valid = random_decoding({.H = H, .H_kv = 2, .Nq = Nq, .D = D_valid}, {70, 20}, type);
    check_values(valid);
    const auto refuse = [&](const char* argument, auto change) {
      Decoding x = valid;
      Arrays got = results_of(x);
      Tensor<float> Q = queries_of(x);
      change(x, Q, got);
      INFO(argument << " does not fit");
      require_throws<std::invalid_argument>(decode(x, Q, got), argument);
    };
    const auto other = [](const Tensor<float>& like, std::size_t axis, Int more) {
      Shape shape = like.shape();
      shape[axis] += more;
      return Tensor<float>(shape, 1.0f);
    };
    const auto refuse_misfits = [&](const char* name, const std::vector<std::size_t>& axes) {
      Decoding fitting = valid;
      Arrays results = results_of(valid);
      Tensor<float> queries;
      for (const Shape& shape :
           drawn::misfits(array_called(name, fitting, queries, results).shape(), axes, random)) {
        INFO("shape " << format_shape(shape));
        refuse(name, [&](Decoding& x, Tensor<float>& Q, Arrays& got) {
          array_called(name, x, Q, got) = Tensor<float>(shape, 1.0f);
        });
      }
    };
    refuse_misfits("V_pages", {0, 1, 2, 3});
    std::vector<Int> no_divisors{0, H + drawn::length(random, 40)};
    for (Int H_kv = 3; H_kv < H; ++H_kv)
      if (H % H_kv != 0) no_divisors.push_back(H_kv);
    for (const Int H_kv : no_divisors)
      refuse("K_pages", [&](Decoding& x, auto&, auto&) {  // so many heads for H
        x.K_pages = other(x.K_pages, 1, H_kv - 2);
        x.V_pages = other(x.V_pages, 1, H_kv - 2);
      });
    refuse_misfits("K_pages", {3});
    for (const Int more : {-random.integer(1, kTileKeys - 1), random.integer(1, kTileKeys - 1)})
      refuse("K_pages", [&](Decoding& x, auto&, auto&) {  // pages of no whole tiles
        x.K_pages = other(x.K_pages, 2, more);
        x.V_pages = other(x.V_pages, 2, more);
      });
    refuse_misfits("O", {0, 1, 2, 3});
    refuse_misfits("lse", {0, 1, 2});
    refuse_misfits("partial_O", {1, 2, 3, 4});
    refuse("partial_O", [&](auto&, auto&, Arrays& got) {
      got.partial_O = other(got.partial_O, 0, -3);
      got.partial_lse = other(got.partial_lse, 0, -3);
    });
    {
      INFO("More splits than kMaxSplits");
      const Decoding too_many = random_decoding({.H = 1, .H_kv = 1, .D = 8}, {20}, type,
                                                {.splits = kMaxSplits + random.integer(1, 99)});
      Arrays got = results_of(too_many);
      require_throws<std::invalid_argument>(decode(too_many, queries_of(too_many), got), "partial_O");
    }
    refuse_misfits("partial_lse", {0, 1, 2, 3});
    {
      INFO("V_pages does not fit, and there are no queries");
      Decoding idle = random_decoding({.H = H, .H_kv = 2, .Nq = 0, .D = D_valid}, {70, 20}, type);
      idle.V_pages = other(idle.V_pages, 2, kTileKeys);
      Arrays got = results_of(idle);
      require_throws<std::invalid_argument>(decode(idle, queries_of(idle), got), "V_pages");
    }
    for (const Shape& shape : drawn::misfits(valid.table.shape(), {0}, random))
      refuse("table", [&](Decoding& x, auto&, auto&) { x.table = Tensor<std::int32_t>(shape); });
    {
      const Int page = kTileKeys * random.integer(900, 1100);  // many tokens, for few columns
      Decoding x = random_decoding({.H = 1, .H_kv = 1, .D = 8}, {20}, type, {.page_size = page});
      const auto with_columns = [table = x.table](Int columns) {
        Tensor<std::int32_t> longer({1, columns});
        for (Int i = 0; i < table.numel(); ++i) longer.at_linear(i) = table.at_linear(i);
        return longer;
      };
      const Int most = (Int{1} << 30) / page;
      x.table = with_columns(most);
      check_values(x);
      x.table = with_columns(most + drawn::length(random, 1000));
      INFO("Pages of " << page << " tokens; table: shape " << format_shape(x.table.shape()));
      Arrays got = results_of(x);
      require_throws<std::invalid_argument>(decode(x, queries_of(x), got), "table");
    }
    for (const float scale : {-0.5f, -std::abs(drawn::factor(random)), kNan, kInf})
      refuse("scale", [scale](Decoding& x, auto&, auto&) { x.sequences.front().scale = scale; });
    const Int chunk = type ? 8 : 4;  // 16 bytes
    const char* const arrays[] = {"Q", "K_pages", "V_pages", "table", "lengths", "O"};
    for (const std::size_t array : {0, 1, 2, 5}) {
      const char* const name = arrays[array];
      const auto refuse_strides = [&](const char* what, auto strides_for) {
        INFO(what);
        refuse(name, [&](Decoding& x, Tensor<float>& Q, Arrays& got) {
          Tensor<float>& values = array_called(name, x, Q, got);
          values = lay_out(values, strides_for(values.shape()));
        });
      };
      refuse_strides("Numbers of a row lie apart", [&](const Shape& shape) {
        Strides strides = strides_of(shape, Layout::heads_outside);
        const Int step = chunk * random.integer(0, 2) + random.integer(2, chunk);
        for (Int& stride : strides) stride *= step;
        return strides;
      });
      for (const std::size_t odd : {0, 1, 2})
        refuse_strides("Rows begin beside multiples of 16 bytes", [&](const Shape& shape) {
          Strides strides(4, 1);
          for (std::size_t axis = 3; axis-- > 0;)
            strides[axis] = divided_up(shape[axis + 1] * strides[axis + 1], chunk) * chunk +
                            (axis == odd ? random.integer(1, chunk - 1) : 0);
          return strides;
        });
      const auto bytes = static_cast<std::uint32_t>(16 / chunk * random.integer(1, chunk - 1));
      INFO(name << " begins " << bytes << " bytes past a multiple of 16");
      Arrays got = results_of(valid);
      require_throws<std::invalid_argument>(
          decode(valid, queries_of(valid), got, with_shifted_array(6, array, bytes)), name);
    }
    for (const Int D : {Int{0}, 8 * random.integer(0, 9) + random.integer(1, 7), 8 * random.integer(1, 9) + 4,
                        (type ? kMaxDim : kMaxDimFloat32) + 8 * drawn::length(random, 30)}) {
      Decoding x = valid;
      for (Problem& p : x.sequences) {
        p.Q = Tensor<float>({1, H, Nq, D});
      }
      x.K_pages = Tensor<float>({4, 2, 32, D});
      x.V_pages = x.K_pages;
      Arrays got = results_of(x);
      INFO("D = " << D);
      require_throws<std::invalid_argument>(decode(x, queries_of(x), got), "Q");
    }
  }
}

TEST_CASE("reports a launch that CUDA refuses", "[l30][split_kv_decoding][points:1]") {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const Type type : kTypes) {
    const Int length = random.integer(60, 140);
    for (const Decoding& x :
         {random_decoding({.H = 2, .H_kv = 1, .D = 8 * random.integer(1, 8)}, {length}, type),
          random_decoding({.H = 4, .H_kv = 1, .D = 8 * random.integer(5, 8)}, {length}, type,
                          {.splits = 1})}) {  // of the merge alone
      check_values(x);
      Arrays got = results_of(x);
      INFO(describe(x));
      const Outcome outcome = decode(x, queries_of(x), got, {.max_grid_x = 1});
      if (outcome.status == Status::returned)
        require_results(x, got, outcome, TestLine::here());  // a device that took it
      else
        require_throws<std::runtime_error>(outcome);
    }
  }
}

COURSE_RUN(RunContext& run) {
  Type type;  // float32 unless q.npy is of 16 bits
  try {
    type = run.input_format("q");
  } catch (const RunError&) {
    type = std::nullopt;  // whatever else is wrong with the file, reading it will tell
  }
  const Tensor<float> Q = read_array(run, "q", {"batch", "heads", "queries", "dim"}, type);
  Decoding x;
  x.K_pages = read_array(run, "k_pages", {"pages", "kv_heads", "page", "dim"}, type);
  x.V_pages = read_array(run, "v_pages", {"pages", "kv_heads", "page", "dim"}, type);
  x.table = run.input<std::int32_t>("table", {"batch", "columns"});
  x.lengths = run.input<std::int32_t>("lengths", {"batch"});
  const auto scale = run.number("scale", 1.0 / std::sqrt(static_cast<double>(Q.shape()[3])));
  x.cache.splits = run.integer("splits", 8);
  Problem p{Q, {}, {}, static_cast<float>(scale)};
  p.format = type;
  x.sequences.push_back(p);
  const Shape& n = Q.shape();
  const Int splits = std::max<Int>(x.cache.splits, 0);
  Arrays got{Tensor<float>(n), Tensor<float>({n[0], n[1], n[2]}),
             Tensor<float>({splits, n[0], n[1], n[2], n[3]}), Tensor<float>({splits, n[0], n[1], n[2]})};
  decode_with([&](auto entry, auto&&... arguments) { run.call(entry, arguments...); }, x, Q, got);
  write_array(run, "o", got.O, type);
  run.output("lse", got.lse);
}
