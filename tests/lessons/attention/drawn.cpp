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

constexpr Int kMostProducts = 2'000'000;  ///< multiply-adds of Q·Kᵀ, of all batches and heads
constexpr Int kMostKeys = 1500, kMostQueries = 500;

/// Of V and dO, whose products have to lie within the type.
int most_factor_log2(std::optional<Format16> format) { return format == Format16::float16 ? 2 : 12; }

bool chance(Random& random, Int one_in) { return random.integer(1, one_in) == 1; }

/// What a problem has for sure.
enum class Sized { few_dimensions, many_dimensions, many_keys, many_keys_and_dimensions, many_heads };
constexpr Sized kSizes[] = {Sized::few_dimensions, Sized::many_dimensions, Sized::many_keys,
                            Sized::many_keys_and_dimensions, Sized::many_heads};

Sizes drawn_sizes(Sized kind, const Takes& takes, Int max_dim, Random& random) {
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
  const Int pairs = std::max(Int{64}, kMostProducts / (n.B * n.H * n.D));
  if (kind == Sized::many_keys || kind == Sized::many_keys_and_dimensions) {
    n.Nk = kind == Sized::many_keys ? random.integer(400, kMostKeys) : random.integer(130, 300);
    n.Nq = drawn::length(random, std::clamp(pairs / n.Nk, Int{1}, kMostQueries));
    return n;
  }
  n.Nq = drawn::length(random, std::min(pairs, kMostQueries));
  n.Nk = drawn::length(random, std::clamp(pairs / n.Nq, Int{1}, kMostKeys));
  return n;
}

reference::Mask drawn_mask(const Sizes& n, const Takes& takes, Random& random) {
  reference::Mask mask;
  mask.causal = takes.causal == Causal::always || (takes.causal == Causal::choice && chance(random, 2));
  if (takes.window && !chance(random, 3)) mask.window = drawn::length(random, n.Nk + 20);
  if (takes.sinks && chance(random, 2)) mask.sinks = random.integer(0, std::min(n.Nk, Int{100}));
  return mask;
}

enum class ScoresAre { plain, large, shifted, opposite, growing, minus_inf, empty_rows };

/// For each of kSizes one kind, in any order: among them are such as fall out of float32.
std::vector<ScoresAre> drawn_scores(Random& random) {
  std::vector<ScoresAre> all{ScoresAre::plain, ScoresAre::minus_inf, ScoresAre::empty_rows,
                             chance(random, 2) ? ScoresAre::large : ScoresAre::growing,
                             chance(random, 2) ? ScoresAre::shifted : ScoresAre::opposite};
  for (std::size_t i = all.size() - 1; i > 0; --i)
    std::swap(all[i], all[static_cast<std::size_t>(random.integer(0, static_cast<Int>(i)))]);
  return all;
}

/// In float16, K cannot hold what makes finite numbers give a score of -inf.
Problem with_scores(Problem p, ScoresAre scores, bool backward, bool in_float16, Random& random) {
  const float sign = chance(random, 2) ? 1.0f : -1.0f;
  switch (scores) {
    case ScoresAre::plain:
      return p;
    case ScoresAre::large:
      return with_large_scores(std::move(p));
    case ScoresAre::shifted:
      return with_shifted_scores(std::move(p), sign * 1000.0f);
    case ScoresAre::opposite:
      return with_opposite_shifts(std::move(p), sign * 1000.0f);
    case ScoresAre::growing:
      return with_growing_scores(std::move(p), sign * 0.5f);
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
  const Layout all[] = {Layout::heads_outside, Layout::heads_inside, Layout::heads_first, Layout::seq_first,
                        Layout::packed,        Layout::far_apart,    layout_with_gaps(p)};
  return all[random.integer(0, std::ssize(all) - 1)];
}

std::string name_of(Layout layout) {
  return layout == Layout::heads_outside  ? "[batch, head, seq, dim]"
         : layout == Layout::heads_inside ? "[batch, seq, head, dim]"
         : layout == Layout::heads_first  ? "[head, batch, seq, dim]"
         : layout == Layout::seq_first    ? "[seq, batch, head, dim]"
         : layout == Layout::packed       ? "a part of [batch, seq, 3, head, dim]"
         : layout == Layout::far_apart    ? "[batch, head, seq, dim] with long gaps behind rows"
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
CallOptions drawn_options(std::size_t arrays, bool may_be_shifted, Random& random) {
  if (!may_be_shifted || chance(random, 2)) return {};
  const std::vector<CallOptions> shifted = grading::with_shifted_arrays(arrays);
  return shifted[static_cast<std::size_t>(random.integer(0, static_cast<Int>(shifted.size()) - 1))];
}

}  // namespace

std::vector<Problem> drawn_problems(const Takes& takes, Int max_dim, bool backward, const Change& change) {
  Random random(case_seed() + 7);
  const std::vector<ScoresAre> scores = drawn_scores(random);
  bool is_negative = chance(random, 2);
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < std::size(kSizes); ++i) {
    const Format16 format = chance(random, 2) ? Format16::bfloat16 : Format16::float16;
    const bool in_float16 = takes.sixteen_bits && format == Format16::float16;
    const Sizes n = drawn_sizes(kSizes[i], takes, max_dim, random);
    Problem p =
        with_scores(random_problem(n, drawn_mask(n, takes, random)), scores[i], backward, in_float16, random);
    p.V = drawn::times(
        std::move(p.V),
        drawn::factor(random, most_factor_log2(takes.sixteen_bits ? std::optional(format) : std::nullopt)));
    // What shifts scores is exact with the scale that they have: else luck decides how exact lse is.
    const bool is_shifted = scores[i] == ScoresAre::shifted || scores[i] == ScoresAre::opposite ||
                            scores[i] == ScoresAre::growing;
    if (scores[i] != ScoresAre::minus_inf && scores[i] != ScoresAre::empty_rows) {
      const int most = in_float16 ? 2 : 10;  // powers of 2, which change no score
      const auto power = static_cast<int>(random.integer(-most, most));
      p.Q = drawn::times(std::move(p.Q), std::ldexp(1.0f, power));
      p.K = drawn::times(std::move(p.K), std::ldexp(1.0f, -power));
    }
    if (!is_shifted) p.scale *= 0.3f + 1.3f * static_cast<float>(random.uniform());
    // In 16 bits, contracts ask for a scale that is not negative.
    const bool has_infinities = scores[i] == ScoresAre::minus_inf || scores[i] == ScoresAre::empty_rows;
    if (!has_infinities) {
      if (is_negative && !takes.sixteen_bits) p.scale = -p.scale;
      is_negative = !is_negative;  // every second one, so that there is one for sure
    }
    if (takes.sink_array && chance(random, 2)) {
      p = with_sink(std::move(p));
      for (float& sink : p.sink->storage())
        sink = chance(random, 4) ? drawn::factor(random, 7)
                                 : sink + 3.0f * static_cast<float>(random.uniform()) - 1.5f;
    }
    if (change) p = change(p, random);
    if (takes.sixteen_bits) p = in_16_bits(std::move(p), format);
    problems.push_back(with_drawn_layouts(std::move(p), random));
  }
  return problems;
}

void check_drawn(const Kernel& kernel, const Takes& takes, const Change& change, TestLine where) {
  Random random(case_seed() + 8);
  for (const Problem& p : drawn_problems(takes, kernel.max_dim, false, change)) {
    INFO("All of this problem is drawn. O lies in memory as " << name_of(p.layout_of_O));
    check(kernel, p, drawn_options(3 + (p.sink ? 1 : 0) + kernel.outputs.size(), !p.format, random), where);
  }
}

void check_counted(const Kernel& kernel, const Takes& takes, const Counted& counted, const Change& change,
                   TestLine where) {
  for (const Problem& p : drawn_problems(takes, kernel.max_dim, false, change)) {
    INFO("All of this problem is drawn. O lies in memory as " << name_of(p.layout_of_O));
    const Outcome outcome = check(kernel, p, kCounted, where);
    INFO(describe(p));
    if (const Profile* profile = profile_of(outcome)) counted(*profile, p);
  }
}

void check_drawn(const BackwardKernel& kernel, const Change& change, TestLine where) {
  Random random(case_seed() + 8);
  for (const Problem& forward : drawn_problems(kernel.takes, kernel.max_dim, true, change)) {
    Tensor<float> dO = normal(forward.shape_of_O(), case_seed() + 3);
    for (float& value : dO.storage()) value += 1.0f;
    BackwardProblem p = with_gradient(
        forward, drawn::times(std::move(dO), drawn::factor(random, most_factor_log2(forward.format))));
    const auto layout = [&] { return drawn_layout(p, random); };
    p = with_layouts_of_gradients(std::move(p), layout(), layout(), layout(), layout(), layout());
    INFO("All of this problem is drawn. dQ lies in memory as " << name_of(p.layout_of_dQ));
    const std::size_t arrays = 6 + (p.sink ? 1 : 0) + outputs_of(kernel, p).size();
    check(kernel, p, drawn_options(arrays, !p.format, random), where);
  }
}

}  // namespace course::attention_tests
