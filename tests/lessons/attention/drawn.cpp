#include "attention/drawn.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "drawn/drawn.hpp"
#include "grading/testing/case.hpp"

namespace course::attention_tests {

using grading::CallOptions;
using grading::case_seed;
using grading::Outcome;
using grading::Profile;

namespace {

/// Multiply-adds of Q·Kᵀ, of all batches and heads; where they are counted, of all rows that tiles pad: fewer
/// backward, where more products follow.
constexpr Int kMostProducts = 2'000'000, kMostPadded = 5'000'000, kMostPaddedBackward = 2'500'000;
constexpr Int kTile = 64;
constexpr Int kMostKeys = 1500, kMostQueries = 500;

/// Of V and dO, whose products have to lie within the type.
int most_factor_log2(std::optional<Format16> format) { return format == Format16::float16 ? 2 : 12; }

bool chance(Random& random, Int one_in) { return random.integer(1, one_in) == 1; }

/// For each of so many problems, and each of both at least once.
std::vector<bool> yes_or_no(std::size_t problems, Random& random) {
  std::vector<bool> all(problems);
  while (std::ranges::count(all, true) % std::ssize(all) == 0)
    for (std::size_t i = 0; i < problems; ++i) all[i] = chance(random, 2);
  return all;
}

/// What a problem has for sure.
enum class Sized {
  few_dimensions,
  many_dimensions,
  many_keys,
  many_keys_and_dimensions,
  many_heads,
  hidden_keys,  ///< between the sinks and a short window
};

std::vector<Sized> sizes_of(const Takes& takes) {
  std::vector<Sized> all{Sized::few_dimensions, Sized::many_dimensions, Sized::many_keys,
                         Sized::many_keys_and_dimensions, Sized::many_heads};
  if (takes.window) all.push_back(Sized::hidden_keys);
  return all;
}

/// Two batches or two heads of K at most, and neither beside a large group.
Sizes with_few_heads(Sizes n) {
  const Int group = n.H / n.H_kv;
  n.B = group > 3 ? 1 : std::min(n.B, Int{2});
  n.H_kv = group > 3 || n.B == 2 ? 1 : std::min(n.H_kv, Int{2});
  n.H = group * n.H_kv;
  return n;
}

Sizes drawn_sizes(Sized kind, const Takes& takes, Int max_dim, bool backward, Heads heads, Random& random) {
  const Int step = takes.sixteen_bits ? 8 : 1, few = std::min(Int{64}, max_dim);
  const bool is_wide = kind == Sized::many_dimensions || kind == Sized::many_keys_and_dimensions ||
                       (kind == Sized::many_heads && chance(random, 2));
  const bool has_batches = kind == Sized::many_dimensions || kind == Sized::many_heads;
  Sizes n{};
  n.D = step * (is_wide ? random.integer(few / step + 1, max_dim / step) : random.integer(1, few / step));
  n.B = kind == Sized::few_dimensions ? random.integer(4, 12) : random.integer(has_batches ? 2 : 1, 3);
  const bool has_heads = kind == Sized::many_heads || (kind == Sized::few_dimensions && chance(random, 2));
  n.H = n.H_kv = has_heads && !takes.grouped ? random.integer(6, 18) : drawn::length(random, 9);
  if (takes.grouped)
    n.H = n.H_kv * (kind == Sized::many_heads ? random.integer(7, 16) : random.integer(1, 3));
  const bool is_padded = heads == Heads::few;
  if (is_padded) n = with_few_heads(n);
  const Int tile = is_padded ? kTile : 1;
  const Int most = !is_padded ? kMostProducts : backward ? kMostPaddedBackward : kMostPadded;
  const Int pairs = std::max(kTile, most / (n.B * n.H * n.D));
  if (kind == Sized::many_keys || kind == Sized::many_keys_and_dimensions || kind == Sized::hidden_keys) {
    n.Nk = kind == Sized::many_keys     ? random.integer(400, kMostKeys)
           : kind == Sized::hidden_keys ? random.integer(350, 700)
                                        : random.integer(130, 300);
    n.Nq = drawn::length(random, std::clamp(pairs / n.Nk, tile, kMostQueries));
    return n;
  }
  n.Nq = drawn::length(random, std::min(pairs, kMostQueries));
  const Int rows = (n.Nq + tile - 1) / tile * tile;
  n.Nk = drawn::length(random, std::clamp(pairs / rows, Int{1}, kMostKeys));
  return n;
}

bool causal_of(const Takes& takes, bool choice) {
  return takes.causal == Causal::always || (takes.causal == Causal::choice && choice);
}

reference::Mask drawn_mask(Sized kind, const Sizes& n, bool is_causal, bool has_window, const Takes& takes,
                           Random& random) {
  reference::Mask mask{.causal = causal_of(takes, is_causal)};
  const bool is_short = kind == Sized::hidden_keys;
  if (takes.window && (is_short || has_window))
    mask.window = is_short ? random.integer(1, 60) : drawn::length(random, n.Nk + 20);
  if (takes.sinks && (is_short || chance(random, 2)))
    mask.sinks = is_short ? random.integer(1, 60) : random.integer(0, std::min(n.Nk, Int{100}));
  return mask;
}

enum class ScoresAre { plain, large, shifted, growing, minus_inf, empty_rows };

bool has_infinities(ScoresAre scores) {
  return scores == ScoresAre::minus_inf || scores == ScoresAre::empty_rows;
}

/// For each of the first five problems another kind, in any order: among them are such as fall out of
/// float32.
std::vector<ScoresAre> drawn_scores(std::size_t problems, Random& random) {
  std::vector<ScoresAre> all{ScoresAre::plain, ScoresAre::minus_inf, ScoresAre::empty_rows,
                             chance(random, 2) ? ScoresAre::large : ScoresAre::growing, ScoresAre::shifted};
  for (std::size_t i = all.size() - 1; i > 0; --i)
    std::swap(all[i], all[static_cast<std::size_t>(random.integer(0, static_cast<Int>(i)))]);
  all.resize(problems, ScoresAre::plain);
  return all;
}

/// Some scores are larger by `shift`, others smaller, in whole heads or row by row: those of the first query
/// in the first head are larger.
Problem with_drawn_shifts(Problem p, float shift, Random& random) {
  p = with_shifted_scores(std::move(p), shift);
  for (Int b = 0; b < p.B(); ++b)
    for (Int h = 0; h < p.H(); ++h) {
      const bool by_row = chance(random, 2), is_first = b == 0 && h == 0;
      bool is_smaller = !is_first && chance(random, 2);
      for (Int i = 0; i < p.Nq(); ++i) {
        if (by_row && !(is_first && i == 0)) is_smaller = chance(random, 2);
        if (is_smaller) p.Q(b, h, i, 0) = -p.Q(b, h, i, 0);
      }
    }
  return p;
}

/// Where scores are shifted, those of the first query get `shift`. In float16, K cannot hold what makes
/// finite numbers give a score of -inf.
Problem with_scores(Problem p, ScoresAre scores, float shift, bool backward, bool in_float16,
                    Random& random) {
  switch (scores) {
    case ScoresAre::plain:
      return p;
    case ScoresAre::large:
      return with_large_scores(std::move(p));
    case ScoresAre::shifted:
      return with_drawn_shifts(std::move(p), shift, random);
    case ScoresAre::growing:
      return with_growing_scores(std::move(p), chance(random, 2) ? 0.5f : -0.5f);
    case ScoresAre::empty_rows:
      return p.Nq() < 4 || backward ? p : with_empty_rows(std::move(p));
    case ScoresAre::minus_inf:
      break;
  }
  if (p.Nk() < 3 || (backward && in_float16)) return p;
  return backward ? with_scores_of_minus_inf(std::move(p), p.Nk() / 2)
                  : with_keys_of_minus_inf(std::move(p), p.Nk() / 2);
}

Layout drawn_layout(const Problem& p, Random& random) {
  if (p.placed == Placed::dense) return Layout::heads_outside;
  std::vector<Layout> all{Layout::heads_outside, Layout::heads_inside, Layout::heads_first,
                          Layout::seq_first,     Layout::batch_inside, Layout::batch_last,
                          Layout::packed,        Layout::far_apart};
  const bool anywhere = p.placed == Placed::anywhere;
  if (anywhere) all.push_back(layout_with_gaps(p));
  if (anywhere && !p.format) all.insert(all.end(), {Layout::rows_of_4, Layout::heads_of_4});
  return all[static_cast<std::size_t>(random.integer(0, std::ssize(all) - 1))];
}

std::string name_of(Layout layout) {
  return layout == Layout::heads_outside  ? "[batch, head, seq, dim]"
         : layout == Layout::heads_inside ? "[batch, seq, head, dim]"
         : layout == Layout::heads_first  ? "[head, batch, seq, dim]"
         : layout == Layout::seq_first    ? "[seq, batch, head, dim]"
         : layout == Layout::batch_inside ? "[head, seq, batch, dim]"
         : layout == Layout::batch_last   ? "[seq, head, batch, dim]"
         : layout == Layout::packed       ? "a part of [batch, seq, 3, head, dim]"
         : layout == Layout::far_apart    ? "[batch, head, seq, dim] with long gaps after rows"
         : layout == Layout::rows_of_4    ? "[batch, head, seq, dim] with rows at multiples of 4 numbers"
         : layout == Layout::heads_of_4   ? "[batch, head, seq, dim] with heads at multiples of 4 numbers"
                                          : "[batch, head, seq, dim] with gaps";
}

/// Lays Q, K and V out; gaps hold NaN or 1000.
Problem with_drawn_layouts(Problem p, Random& random) {
  const float gap = chance(random, 2) ? kNan : 1000.0f;
  for (Tensor<float>* x : {&p.Q, &p.K, &p.V}) *x = lay_out(*x, drawn_layout(p, random), gap);
  p.layout_of_O = drawn_layout(p, random);
  p.layout_of_lse = drawn_layout(p, random);
  return p;
}

/// As it is, or with one of so many arrays at no multiple of 16 bytes, where that is allowed.
CallOptions drawn_options(const Problem& p, std::size_t arrays, Random& random) {
  if (p.format || p.placed != Placed::anywhere || chance(random, 2)) return {};
  const std::vector<CallOptions> shifted = grading::with_shifted_arrays(arrays);
  return shifted[static_cast<std::size_t>(random.integer(0, static_cast<Int>(shifted.size()) - 1))];
}

Sizes steep_sizes(const Takes& takes, Int max_dim, Random& random) {
  const Int step = takes.sixteen_bits ? 8 : 1, H_kv = random.integer(2, 3);
  return {.B = random.integer(1, 2),
          .H = H_kv * (takes.grouped ? random.integer(1, 3) : 1),
          .Nq = random.integer(60, 90),
          .Nk = random.integer(140, 220),
          .D = step * random.integer(1, std::min(max_dim, Int{64}) / step),
          .H_kv = H_kv};
}

/// In two batches, or in groups of three: more than there are heads of K, so that no one of the three numbers
/// can stand for another.
Sizes whole_sizes(bool has_batches, Int Nq, Int Nk, Int D, const Takes& takes) {
  return {.B = has_batches ? 2 : 1,
          .H = takes.grouped && !has_batches ? 6 : 2,
          .Nq = Nq,
          .Nk = Nk,
          .D = D,
          .H_kv = 2};
}

/// Queries or keys of whole tiles, of that many dimensions.
Int most_whole_rows(Int D) { return D > 2 * kTile ? 2 * kTile : 4 * kTile; }

/// The mask with all else that a kernel takes, and keys that a window hides.
reference::Mask all_of_mask(reference::Mask mask, Int Nk, const Takes& takes, Random& random) {
  if (takes.window) mask.window = random.integer(2, Nk - 1);
  if (takes.sinks) mask.sinks = random.integer(1, 100);
  return mask;
}

/// Another scale; and forward, scores whose exponentials no float32 holds.
Problem with_high_scores(Problem p, bool backward) {
  p.scale *= 1.5f;
  if (backward) return p;
  constexpr float kHigh = 128.0f;
  p = with_shifted_scores(std::move(p), kHigh);
  if (p.sink)
    for (float& sink : p.sink->storage()) sink += kHigh;
  return p;
}

/// The problems of drawn_problems(), made one after another of one sequence of random numbers.
class Drawing {
 public:
  Drawing(const Takes& takes, Int max_dim, bool backward, const Change& change)
      : takes_(takes), max_dim_(max_dim), backward_(backward), change_(change) {}

  void add_any_sizes(Heads heads);
  void add_steep();
  void add_whole_tiles();
  void add_dense_tiles();
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  bool flip() { return chance(random_, 2); }
  /// 64, or most_whole_dims_.
  Int whole_dims(bool most) const { return most ? most_whole_dims_ : kTile; }
  /// Of queries that see one key, gradients are what rounding leaves.
  reference::Mask fair(reference::Mask mask) const {
    if (backward_) mask.window = std::max(mask.window, Int{2});
    return mask;
  }
  Problem with_any_sink(Problem p) const { return takes_.sink_array ? with_sink(std::move(p)) : p; }
  Problem with_values(Problem p, ScoresAre scores, bool is_negative, Format16 format);
  Problem with_drawn_sink(Problem p);
  /// In a format that is drawn.
  void add(Problem p, bool is_changed, Placed placed = Placed::anywhere) {
    const Format16 format = flip() ? Format16::float16 : Format16::bfloat16;
    add(std::move(p), is_changed, format, placed);
  }
  void add(Problem p, bool is_changed, Format16 format, Placed placed = Placed::anywhere) {
    if (change_ && is_changed) p = change_(p, random_);
    if (takes_.sixteen_bits) p = in_16_bits(std::move(p), format);
    p.placed = placed;
    problems_.push_back(with_drawn_layouts(std::move(p), random_));
  }

  Takes takes_;
  Int max_dim_;
  bool backward_;
  Change change_;
  Random random_{case_seed() + 7};
  Int most_whole_dims_ = std::min(max_dim_, 2 * kTile * (max_dim_ > 2 * kTile ? random_.integer(1, 2) : 1));
  std::vector<Problem> problems_;
};

/// With scores of this kind, and V, Q, K and the scale larger or smaller.
Problem Drawing::with_values(Problem p, ScoresAre scores, bool is_negative, Format16 format) {
  const bool in_float16 = takes_.sixteen_bits && format == Format16::float16;
  const float far = in_float16 ? 1000.0f : 16'000.0f;
  p = with_scores(std::move(p), scores, is_negative ? far : -far, backward_, in_float16, random_);
  p.V = drawn::times(
      std::move(p.V),
      drawn::factor(random_, most_factor_log2(takes_.sixteen_bits ? std::optional(format) : std::nullopt)));
  if (!has_infinities(scores)) {
    const int most = in_float16 ? 2 : 10;  // powers of 2, which change no score
    const auto power = static_cast<int>(random_.integer(-most, most));
    p.Q = drawn::times(std::move(p.Q), std::ldexp(1.0f, power));
    p.K = drawn::times(std::move(p.K), std::ldexp(1.0f, -power));
  }
  // What shifts scores is exact with the scale that they have: else luck decides how exact lse is.
  if (scores != ScoresAre::shifted && scores != ScoresAre::growing)
    p.scale *= std::exp2(4.7f * static_cast<float>(random_.uniform()) - 4.0f);
  if (is_negative) p.scale = -p.scale;
  return p;
}

Problem Drawing::with_drawn_sink(Problem p) {
  p = with_sink(std::move(p));
  for (float& sink : p.sink->storage())
    sink = chance(random_, 4) ? drawn::factor(random_, 7)
                              : sink + 3.0f * static_cast<float>(random_.uniform()) - 1.5f;
  return p;
}

/// One of each kind.
void Drawing::add_any_sizes(Heads heads) {
  const std::vector<Sized> kinds = sizes_of(takes_);
  const std::size_t count = kinds.size();
  const std::vector<ScoresAre> scores = drawn_scores(count, random_);
  const std::vector<bool> is_causal = yes_or_no(count, random_), has_window = yes_or_no(count, random_),
                          has_sink = yes_or_no(count, random_), is_float16 = yes_or_no(count, random_);
  bool is_next_negative = flip();
  for (std::size_t i = 0; i < count; ++i) {
    const Format16 format = is_float16[i] ? Format16::float16 : Format16::bfloat16;
    // Forward in 16 bits, the contract asks for a scale that is not negative.
    const bool is_negative =
        is_next_negative && !has_infinities(scores[i]) && (backward_ || !takes_.sixteen_bits);
    if (!has_infinities(scores[i])) is_next_negative = !is_next_negative;  // so that there is one for sure

    Sizes n = drawn_sizes(kinds[i], takes_, max_dim_, backward_, heads, random_);
    if (backward_) n.Nk = std::max(n.Nk, Int{2});
    const reference::Mask mask = fair(drawn_mask(kinds[i], n, is_causal[i], has_window[i], takes_, random_));
    Problem p = with_values(random_problem(n, mask), scores[i], is_negative, format);
    // Far below a learned sink, no weight would be left.
    if (takes_.sink_array && scores[i] != ScoresAre::shifted &&
        (has_sink[i] || kinds[i] == Sized::hidden_keys))
      p = with_drawn_sink(std::move(p));
    add(std::move(p), true, format);
  }
}

void Drawing::add_steep() {
  const Sizes n = steep_sizes(takes_, max_dim_, random_);
  const reference::Mask mask = fair(drawn_mask(Sized::few_dimensions, n, true, flip(), takes_, random_));
  add(with_steep_scores(with_any_sink(random_problem(n, mask)), random_), true);
}

/// Two problems of whole tiles of 64 and of 128, for which a kernel may have another way: one with a causal
/// mask at most, one with all that a kernel takes. What one has of the rest, the other has not.
void Drawing::add_whole_tiles() {
  const bool is_plain_wide = flip(), has_plain_batches = flip(), has_plain_more_queries = flip(),
             is_plain_causal = flip(), is_plain_aligned = flip();
  for (const bool is_plain : {true, false}) {
    const Int D = whole_dims(is_plain == is_plain_wide), most = most_whole_rows(D);
    const bool more_queries = is_plain == has_plain_more_queries;
    const Int fewer = D > kTile || !more_queries ? 2 * kTile : kTile * random_.integer(2, 3);
    const Sizes n = whole_sizes(is_plain == has_plain_batches, more_queries ? most : fewer,
                                more_queries ? fewer : most, D, takes_);
    const reference::Mask causal{.causal = causal_of(takes_, is_plain == is_plain_causal)};
    const Placed placed = is_plain == is_plain_aligned ? Placed::aligned : Placed::anywhere;
    // With steep scores, few keys have weight, and a mask that hides others would not be missed.
    if (is_plain)
      add(with_steep_scores(random_problem(n, causal), random_), false, placed);
    else
      add(with_high_scores(with_any_sink(random_problem(n, all_of_mask(causal, n.Nk, takes_, random_))),
                           backward_),
          true, placed);
  }
}

void Drawing::add_dense_tiles() {
  const Int D = whole_dims(flip()), Nq = most_whole_rows(D);
  const bool has_batches = flip();
  const Int Nk = D == kTile || has_batches ? Nq : 2 * kTile;  // heads of a group are many
  reference::Mask mask{.causal = causal_of(takes_, flip())};
  if (takes_.window) mask.window = random_.integer(2, Nk - 1);
  Problem p = random_problem(whole_sizes(has_batches, Nq, Nk, D, takes_), mask);
  const bool has_sink = flip(), is_changed = flip();
  if (has_sink) p = with_any_sink(std::move(p));
  add(with_high_scores(std::move(p), backward_), is_changed, Placed::dense);
}

}  // namespace

std::vector<Problem> drawn_problems(const Takes& takes, Int max_dim, bool backward, const Change& change,
                                    Heads heads) {
  Drawing drawing(takes, max_dim, backward, change);
  drawing.add_any_sizes(heads);
  if (heads == Heads::any) {
    drawing.add_steep();
    drawing.add_whole_tiles();
    drawing.add_dense_tiles();
  }
  return drawing.take();
}

void check_drawn(const Kernel& kernel, const Takes& takes, const Change& change, TestLine where) {
  Random random(case_seed() + 8);
  for (const Problem& p : drawn_problems(takes, kernel.max_dim, false, change)) {
    INFO("All of this problem is drawn. O lies in memory as " << name_of(p.layout_of_O));
    check(kernel, p, drawn_options(p, 3 + (p.sink ? 1 : 0) + kernel.outputs.size(), random), where);
  }
}

void check_counted(const Kernel& kernel, const Takes& takes, const Counted& counted, const Change& change,
                   TestLine where) {
  for (const Problem& p : drawn_problems(takes, kernel.max_dim, false, change, Heads::few)) {
    INFO("All of this problem is drawn. O lies in memory as " << name_of(p.layout_of_O));
    const Outcome outcome = check(kernel, p, kCounted, where);
    INFO(describe(p));
    if (const Profile* profile = profile_of(outcome)) counted(*profile, p);
  }
}

namespace {

BackwardProblem with_drawn_gradient(const Problem& forward, Random& random) {
  Tensor<float> dO = normal(forward.shape_of_O(), case_seed() + 3);
  for (float& value : dO.storage()) value += 1.0f;
  BackwardProblem p = with_gradient(
      forward, drawn::times(std::move(dO), drawn::factor(random, most_factor_log2(forward.format))));
  const auto layout = [&] { return drawn_layout(p, random); };
  return with_layouts_of_gradients(std::move(p), layout(), layout(), layout(), layout(), layout());
}

}  // namespace

void check_drawn(const BackwardKernel& kernel, const Change& change, TestLine where) {
  Random random(case_seed() + 8);
  for (const Problem& forward : drawn_problems(kernel.takes, kernel.max_dim, true, change)) {
    const BackwardProblem p = with_drawn_gradient(forward, random);
    INFO("All of this problem is drawn. dQ lies in memory as " << name_of(p.layout_of_dQ));
    const std::size_t arrays = 6 + (p.sink ? 1 : 0) + outputs_of(kernel, p).size();
    check(kernel, p, drawn_options(p, arrays, random), where);
  }
}

void check_counted(const BackwardKernel& kernel, const CountedBackward& counted, const Change& change,
                   TestLine where) {
  Random random(case_seed() + 8);
  for (const Problem& forward : drawn_problems(kernel.takes, kernel.max_dim, true, change, Heads::few)) {
    const BackwardProblem p = with_drawn_gradient(forward, random);
    INFO("All of this problem is drawn. dQ lies in memory as " << name_of(p.layout_of_dQ));
    const Outcome outcome = check(kernel, p, kCounted, where);
    INFO(describe(p));
    if (const Profile* profile = profile_of(outcome)) counted(*profile, p);
  }
}

}  // namespace course::attention_tests
