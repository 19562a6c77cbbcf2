#include "attention/dropout.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

#include "drawn/drawn.hpp"
#include "grading/testing/case.hpp"

namespace course::attention_tests {

namespace {

// The known answers that come with Random123, the authors' library.
using Words = std::array<std::uint32_t, 4>;
static_assert(philox({0, 0, 0, 0}, 0) == Words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
static_assert(philox({0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}, 0xffffffffffffffffu) ==
              Words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
static_assert(philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, 0x299f31d0a4093822u) ==
              Words{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});

// Lesson 18's notes: query 1 of the first head and batch, its first four keys, seed 19.
static_assert(philox({0, 1, 0, 0}, 19, 1) == Words{0x12u, 0, 0, 0});
static_assert(philox({0, 1, 0, 0}, 19, 2) == Words{0x9e3779ccu, 0, 0xbb67ae8bu, 0xc9b433d6u});
static_assert(philox({0, 0, 0, 0}, 19) == Words{0xb4096804u, 0x110f113fu, 0x3d7d23afu, 0x6fe1b007u});
static_assert(philox({0, 1, 0, 0}, 19) == Words{0xce4d70e5u, 0xd3db3f23u, 0x2131f174u, 0x7433d4b4u});

std::uint64_t threshold_of(float dropout) {
  return static_cast<std::uint64_t>(std::ldexp(static_cast<double>(dropout), 32));
}

Problem dropped_below(std::uint64_t threshold, const Problem& p, float dropout, std::uint64_t seed,
                      const Decide& decide) {
  return with_dropout(p, dropout, seed, [&](Int b, Int h, Int i, Int j) {
    return word_of(decide(b, h, i, j), seed) >= threshold;
  });
}

bool same(const Tensor<float>& x, const Tensor<float>& y) {
  return std::ranges::equal(x.storage(), y.storage());
}

float factor_of(float dropout) { return static_cast<float>(1.0 / (1.0 - static_cast<double>(dropout))); }

/// Collects what differs from the problem's factors.
class Collection {
 public:
  explicit Collection(const Problem& p) : p_(p), drop_(*p.dropout) {}

  void add(const char* name, Tensor<float> factors, std::string sentence) {
    if (!same(factors, drop_.factors)) all_.push_back({name, std::move(factors), std::move(sentence)});
  }
  void add_mapped(const char* name, const std::function<float(float)>& map, std::string sentence) {
    Tensor<float> factors = drop_.factors;
    for (float& f : factors.storage()) f = map(f);
    add(name, std::move(factors), std::move(sentence));
  }
  void add_decided(const char* name, const Decide& decide, std::string sentence) {
    add(name, dropped(p_, drop_.p, drop_.seed, decide).dropout->factors, std::move(sentence));
  }
  void add_seeded(const char* name, std::uint64_t seed, std::string sentence) {
    add(name, dropped(p_, drop_.p, seed, decision_of).dropout->factors, std::move(sentence));
  }
  void add_threshold(const char* name, std::uint64_t threshold, std::string sentence) {
    add(name, dropped_below(threshold, p_, drop_.p, drop_.seed, decision_of).dropout->factors,
        std::move(sentence));
  }
  /// `dropped`: whether a weight with this word is.
  void add_compared(const char* name, const std::function<bool(std::uint32_t word)>& dropped,
                    std::string sentence) {
    add(name,
        with_dropout(p_, drop_.p, drop_.seed,
                     [&](Int b, Int h, Int i, Int j) {
                       return !dropped(word_of(decision_of(b, h, i, j), drop_.seed));
                     })
            .dropout->factors,
        std::move(sentence));
  }
  std::vector<WrongFactors> take() { return std::move(all_); }

 private:
  const Problem& p_;
  const Dropout& drop_;
  std::vector<WrongFactors> all_;
};

void add_scales(Collection& to, float dropout) {
  const float kept = factor_of(dropout);
  to.add_mapped(
      "nothing_dropped", [](float) { return 1.0f; }, "No weight is dropped.");
  to.add_mapped(
      "scaled_but_not_dropped", [=](float) { return kept; },
      "No weight is dropped, and all are multiplied by 1/(1 - dropout).");
  to.add_mapped(
      "not_scaled", [](float f) { return f == 0.0f ? 0.0f : 1.0f; },
      "The weights that are kept are not multiplied by 1/(1 - dropout), so that all is too small on "
      "average.");
  to.add_mapped(
      "scaled_by_1_minus_p", [=](float f) { return f == 0.0f ? 0.0f : 1.0f - dropout; },
      "The weights that are kept are multiplied by 1 - dropout. It is 1/(1 - dropout): what is kept makes up "
      "for what is not.");
  to.add_mapped(
      "scaled_by_1_p", [=](float f) { return f / kept / dropout; },
      "The weights that are kept are multiplied by 1/dropout. They are kept with probability 1 - dropout, so "
      "it is 1/(1 - dropout).");
  to.add_mapped(
      "keeps_the_dropped", [=](float f) { return f == 0.0f ? kept : 0.0f; },
      "The weights to be dropped are kept, and the others dropped: one is dropped if its word is *less* than "
      "the threshold.");
}

void add_thresholds(Collection& to, float dropout) {
  to.add_threshold("threshold_of_8_bits", threshold_of(std::floor(dropout * 256) / 256),
                   "The probability is rounded down to a multiple of 1/256. The threshold has 32 bits.");
  to.add_threshold("equal_is_dropped", threshold_of(dropout) + 1,
                   "A word that equals the threshold drops its weight. It should be less, and the threshold "
                   "rounded down.");
  to.add_threshold("last_bits_lost", threshold_of(dropout) - 1,
                   "A word that is 1 less than the threshold keeps its weight. The threshold is "
                   "⌊dropout · 2³²⌋, not one less. Compare all 32 bits, as whole numbers: a float32 has room "
                   "for 24.");
  to.add_threshold("threshold_halved", threshold_of(dropout) / 2,
                   "The threshold is half of what it should be, ⌊dropout · 2³²⌋.");
  // With a threshold of 2³¹ or more, the conversion of a number that int cannot hold may give the least int.
  const auto threshold = static_cast<std::uint32_t>(threshold_of(dropout));
  const std::string is_signed =
      "Words and threshold are compared as signed numbers, so that those from 2³¹ on are negative. Both are "
      "unsigned.";
  constexpr auto kLeast = std::numeric_limits<std::int32_t>::min();
  for (const bool clipped : {false, true}) {
    const auto limit = clipped && threshold >> 31 != 0 ? kLeast : static_cast<std::int32_t>(threshold);
    to.add_compared(
        "signed_threshold", [=](std::uint32_t word) { return static_cast<std::int32_t>(word) < limit; },
        is_signed);
  }
}

void add_words(Collection& to) {
  to.add_decided(
      "one_word_for_four",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i, h, b}, 0};
      },
      "Four neighbouring keys are dropped together: the weight of key j has word j % 4 of its counter.");
  to.add_decided(
      "words_reversed",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i, h, b}, 3 - j % 4};
      },
      "The four words of a counter go to the keys in the opposite order: word 0 is for the first of them.");
  to.add_decided(
      "key_not_divided",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4 * 4, i, h, b}, j % 4};
      },
      "The counter begins with the key, not with key / 4. Four keys share a counter.");
  for (const bool first_word : {true, false})
    to.add_decided(
        "key_not_divided",
        [=](Int b, Int h, Int i, Int j) {
          return Decision{{j, i, h, b}, first_word ? 0 : j % 4};
        },
        "The counter begins with the key, not with key / 4. Four keys share a counter, and have a word of it "
        "each.");
}

void add_places(Collection& to, const Problem& p) {
  const Int group = p.H() / p.H_kv(), H = p.H(), offset = p.Nk() - p.Nq();
  to.add_decided(
      "position_for_query",
      [=](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i + offset, h, b}, j % 4};
      },
      "The counter has the position of the query, its row plus N_k - N_q. It should have the row.");
  to.add_decided(
      "query_and_key_exchanged",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{i, j / 4, h, b}, j % 4};
      },
      "Query and key have changed places in the counter: it is {key / 4, query, head, batch}.");
  to.add_decided(
      "keys_of_a_tile",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{j % 64 / 4, i, h, b}, j % 4};
      },
      "Keys that lie 64 apart have the same number: the counter takes keys from the beginning of their "
      "tile.");
  to.add_decided(
      "queries_of_a_tile",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i % 64, h, b}, j % 4};
      },
      "Queries that lie 64 apart drop the same weights: the counter takes them from the beginning of their "
      "tile.");
  to.add_decided(
      "head_left_out",
      [](Int b, Int, Int i, Int j) {
        return Decision{{j / 4, i, 0, b}, j % 4};
      },
      "All heads drop the same weights, those of head 0: their counters collide.");
  to.add_decided(
      "head_of_k",
      [=](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i, h / group, b}, j % 4};
      },
      "The heads of a group drop the same weights: the counter has the head of K. It should be that of Q.");
  to.add_decided(
      "first_head_of_group",
      [=](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i, h / group * group, b}, j % 4};
      },
      "The heads of a group drop the same weights, those of its first head. The counter changes with the "
      "head of Q.");
  to.add_decided(
      "batch_left_out",
      [](Int, Int h, Int i, Int j) {
        return Decision{{j / 4, i, h, 0}, j % 4};
      },
      "All batches drop the same weights, those of batch 0: their counters collide.");
  to.add_decided(
      "head_and_batch_in_one",
      [=](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i, h + H * b, 0}, j % 4};
      },
      "Head and batch are one number in the counter. They have a word each: it is {key / 4, query, head, "
      "batch}.");
  to.add_decided(
      "head_plus_batch",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i, h + b, 0}, j % 4};
      },
      "The counter has the sum of head and batch, which many pairs share. They have a word each: it is {key "
      "/ 4, query, head, batch}.");
  to.add_decided(
      "counter_reversed",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{b, h, i, j / 4}, j % 4};
      },
      "The words of the counter stand in the opposite order: it is {key / 4, query, head, batch}.");
  to.add_decided(
      "head_and_batch_exchanged",
      [](Int b, Int h, Int i, Int j) {
        return Decision{{j / 4, i, b, h}, j % 4};
      },
      "Head and batch have changed places in the counter: it is {key / 4, query, head, batch}.");
  to.add_decided(
      "head_and_batch_left_out",
      [](Int, Int, Int i, Int j) {
        return Decision{{j / 4, i, 0, 0}, j % 4};
      },
      "All heads of all batches drop the same weights: head and batch are missing from the counter.");
}

}  // namespace

Decision decision_of(Int b, Int h, Int i, Int j) { return {{j / 4, i, h, b}, j % 4}; }

float drawn_dropout(Random& random) {
  const auto share = static_cast<float>(random.uniform());
  return random.integer(0, 1) == 0 ? 0.0005f + 0.0995f * share : 0.1f + 0.85f * share;
}

std::vector<float> refused_dropouts() {
  Random random(grading::case_seed() + 16);
  return {-std::abs(drawn::factor(random)), 1.0f, 1.0f + std::abs(drawn::factor(random)), kInf, kNan};
}

std::uint32_t word_of(const Decision& decision, std::uint64_t seed) {
  Words counter{};
  for (std::size_t n = 0; n < counter.size(); ++n)
    counter[n] = static_cast<std::uint32_t>(decision.counter[n]);
  return philox(counter, seed)[static_cast<std::size_t>(decision.word)];
}

Problem dropped(const Problem& p, float dropout, std::uint64_t seed, const Decide& decide) {
  return dropped_below(threshold_of(dropout), p, dropout, seed, decide);
}

std::vector<WrongFactors> wrong_factors(const Problem& p) {
  if (!p.dropout || p.dropout->p == 0.0f) return {};
  Collection found(p);
  add_scales(found, p.dropout->p);
  add_thresholds(found, p.dropout->p);
  add_words(found);
  add_places(found, p);
  found.add_seeded("seed_of_32_bits", p.dropout->seed & 0xffffffffu,
                   "The weights are dropped that the lower 32 bits of the seed alone would drop. It has 64.");
  found.add_seeded("other_seed", p.dropout->seed + 1,
                   "The weights are dropped that seed + 1 drops. All kernels are to ask with all bits of the "
                   "seed that they get; a double, for one, has room for 53.");
  return found.take();
}

}  // namespace course::attention_tests
