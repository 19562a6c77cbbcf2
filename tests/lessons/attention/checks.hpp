#pragma once
/// @file
/// Calls of an attention kernel, and the bodies of test cases that all attention lessons have.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "attention/baseline.hpp"
#include "attention/mistakes.hpp"
#include "attention/problem.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/random.hpp"

namespace course::attention_tests {

using grading::TestLine;

/// The most that a call may load, and what that is enough for, such as "to read Q twice,".
struct LoadLimit {
  Int bytes = 0;  ///< in whole sectors
  std::string what;
};

/// What a lesson tells about its kernel, once. A call launches it once.
struct Kernel {
  /// Calls the entry with the problem's inputs and these results.
  std::function<grading::Outcome(const Problem&, Forward&, const grading::CallOptions&)> attend;
  /// Its results in the order in which they are checked. lse first: what is wrong with scores, keys or the
  /// sum shows in it, so that once it is right, a wrong O is a matter of V, of rescaling O or of dividing it.
  std::vector<Which> outputs{Which::lse, Which::O};
  /// Mistakes beyond mistakes_in(); those of the same name join them.
  std::function<grading::Mistakes(const Problem&, Which)> own_mistakes{};
  bool grouped = false;  ///< K and V may have fewer heads than Q
  Int max_dim = 128;
  /// Those of a lesson's own that despite_findings() tells, beside misplacements_in().
  std::function<std::vector<Misplacement>(const Problem&, Which)> own_misplacements{};
  /// Results of which a case leaves some out: no mistake predicts them.
  std::vector<Which> without_mistakes{};
  /// Why the launch of a call that went wrong did so, for what no mistake says: a sentence, or nothing.
  std::function<std::string(const Problem&, const Forward&, const grading::Outcome&)> remark{};
  /// Whether own_mistakes has each mistake in all its forms (every tiling) for every problem. Then a check
  /// that passed contradicts what would have changed its result.
  bool passes_contradict = false;
  /// Holds in every call that check mode counts, since a kernel may tell the problems apart.
  std::function<LoadLimit(const Problem&)> load_limit{};
  /// How many products tensor cores have to do, in every call that check mode counts.
  Int on_tensor_cores = 0;
  bool block_attends = false;  ///< see mistakes_in()
  /// Each of the outputs is stored once, and nothing else: asked for in every call that check mode counts.
  bool stores_once = false;
};

/// Of a row of D elements, in whole sectors.
Int bytes_of_row(const Problem& p);

/// @brief A Kernel::load_limit: K and V are read twice for so many queries of a head, and Q twice. The
/// lesson's tiles take half of that; D and the edges of tiles may waste some.
std::function<LoadLimit(const Problem&)> keys_read_for(Int queries);

/// What it may take to load a learned sink for each query.
Int bytes_of_sinks(const Problem& p);

/// What it may take to load a row that begins anywhere in a sector.
Int most_bytes_of_row(const Problem& p);

/// @brief Rows of Q, once, and of K and V in the tiles of keys of which a query of a tile sees one, for each
/// tile of so many queries. A tile has 16, 32, 48 ... keys, up to so many: of these, the number that takes
/// most.
Int rows_of_tiles(const Problem& p, Int queries_of_a_tile, Int most_keys_of_a_tile);

/// @brief Fails the case if a call loads more than rows_of_tiles(). Rows may begin and end anywhere in
/// sectors.
void require_loads_what_is_seen(const grading::Profile& profile, const Problem& p, Int queries_of_a_tile,
                                Int most_keys_of_a_tile, TestLine where = TestLine::here());

/// @brief Fails the case if warps access shared memory with bank conflicts.
void require_no_bank_conflicts(const grading::Profile& profile, TestLine where = TestLine::here());

/// @brief Fails the case unless each block has 128 rows of O of one head of K at most. In float32, where
/// results are stored once.
void require_tiles_of_queries(const grading::Profile& profile, const Problem& p,
                              TestLine where = TestLine::here());

/// @brief Fails the case if the call was counted and loads more than its kernel's limit, if it has one.
void require_load_limit(const std::function<LoadLimit(const Problem&)>& limit, const Problem& p,
                        const grading::Outcome& outcome, TestLine where);

/// The same, never in check mode: it takes twenty times as long, and one call of each kind is enough.
Kernel without_check_mode(Kernel kernel);

/// Tensors for a call's results, in the problem's layouts.
Forward results_of(const Problem& p);

/// @brief Fails the case unless all outputs are right. Tells one that is wrong: the first in the kernel's
/// order that one mistake explains, or else the first; but one that was never written comes after the others,
/// so that who has not come to lse yet hears of O. Where check mode found errors in the call, tells where
/// results went.
void require_results(const Kernel& kernel, const Problem& p, const Forward& got,
                     const grading::Outcome& outcome, TestLine where = TestLine::here());

/// @brief For Kernel::remark where `blockIdx` counts tiles, heads and batches, in this order of its axes as
/// the lesson has it: "hbt" is (H, B, tiles). Speaks if the launch has one order and what was written is what
/// a kernel with another one gives.
std::string axes_exchanged(const std::string& order, const Problem& p, const Forward& got,
                           const grading::Outcome& outcome);

/// @brief The rows of O and lse that the block stores which stores most, rounded up. Which tile a block has
/// is what it stores: of the blocks that are launched, some may have nothing to do. Holds where each result
/// is stored once: see require_stores_outputs_once(). In float32.
Int rows_that_a_block_stores(const grading::Profile& profile, const Problem& p);

/// @brief The queries that a block of the one launch has, where each has a tile of one head and batch. Fails
/// the case unless these are 16 to 128. See rows_that_a_block_stores().
Int queries_of_a_block(const grading::Profile& profile, const Problem& p);

/// More than so many tiles of 64 queries and 64 keys are not run in check mode, which takes 10 to 20 times as
/// long.
inline constexpr Int kMostTilesChecked = 6;

/// For calls whose counters are asked for: in check mode, whatever their size.
inline const grading::CallOptions kCounted{.check = grading::CheckMode::always};

/// @brief Sizes that no kernel knows beforehand, for what is counted: with rows of any length, or with such
/// that begin with sectors; these fill more than half a tile of 128 queries or keys. H_kv is H.
Sizes unknown_sizes();
Sizes unknown_sizes_of_whole_sectors();

/// @brief The same, with three tiles of 64 queries and of 64 keys or more: a sum of two has the same bits in
/// both orders. There are three heads or four; D is a multiple of 8.
Sizes unknown_sizes_of_many_tiles();

/// @brief The same, with seven heads or more: no block has a fourth of the work.
Sizes unknown_sizes_of_many_heads();

/// @brief A window, perhaps with sinks and a learned sink, which hides most tiles of keys from all queries:
/// of sizes that no kernel knows beforehand, with rows that begin with sectors, of 16 bits, too.
Problem mostly_hidden();

/// @brief Two causal problems of 10 blocks of 128 queries or more, of which later ones see more keys. No
/// kernel knows beforehand how many blocks of a head there are, other numbers in the two.
std::vector<Problem> of_many_blocks();

/// Rows of one head that tiles of queries and of keys bring along where they meet, of all pairs that do.
struct Meetings {
  Int queries = 0, keys = 0;
  Int pairs = 0;  ///< of tiles
};

/// @brief A tile of so many queries meets one of so many keys if some query sees some key.
Meetings meetings_of(const Problem& p, Int queries_of_a_tile = 64, Int keys_of_a_tile = 64);

/// @brief Calls the kernel and checks how it came back and its results.
grading::Outcome check(const Kernel& kernel, const Problem& p, grading::CallOptions options = {},
                       TestLine where = TestLine::here());

/// @brief Right with one tensor after the other beginning at no multiple of 16 bytes, as a part of a larger
/// one may.
void check_shifted(const Kernel& kernel, const Problem& p, TestLine where = TestLine::here());

inline constexpr Layout kOddLayouts[] = {Layout::gaps, Layout::rows_of_4, Layout::heads_of_4};

/// Masks for one problem after the other.
using Masks = std::vector<reference::Mask>;
/// What a problem has besides its mask, such as dropout.
using WideChange = std::function<Problem(const Problem&)>;

/// @brief A small problem: of 64 or 128 dimensions; of more queries, more keys, as many, or one query; with
/// one of the masks; with the change or without it. In eight turns, any two of these come together, if there
/// are one or two masks. Where heads may share keys, they do, but not beside as many queries as keys.
Problem wide_problem(Int turn, bool grouped, const Masks& masks, const WideChange& change);

/// @brief In 64 and in 128 dimensions: three tiles of 64 queries and of 64 keys, of which the last ones are
/// not full; and whole tiles in two batches, in which heads share keys where they may. Those of one D,
/// either, are whole for tiles of 128, too. With any of the masks.
std::vector<Problem> problems_of_several_tiles(bool grouped, const Masks& masks = {{}});

/// @brief Right in 64 and 128 dimensions, for which kernels have copies of 16 bytes, where these do not fit:
/// rows, heads or batches of any tensor begin anywhere while those of any other do not; and as
/// check_shifted() has it, also in whole tiles of 64. The problems are those of wide_problem(), in turn. And
/// right for problems_of_several_tiles().
void check_odd_rows(const Kernel& kernel, const Masks& masks = {{}}, const WideChange& change = {},
                    TestLine where = TestLine::here());

/// @brief Right, and the same bits in every order of blocks and threads.
void check_same_bits(const Kernel& kernel, const Problem& p, TestLine where = TestLine::here());

/// @brief Three tiles of 64 queries and of 64 keys, or more, in `D` dimensions; heads, groups, learned sinks
/// and gaps are drawn, and whether the mask is causal.
Problem of_many_tiles(Int D, Random& random, std::optional<Format16> format = {});

/// @brief The problem's mask with windows that hide nothing, of sizes that no kernel knows beforehand,
/// and any number of sinks.
std::vector<reference::Mask> masks_that_hide_no_more(const Problem& p);

/// @brief Right, and the same bits with windows that hide nothing, whatever the sinks.
void check_window_that_hides_nothing(const Kernel& kernel, const Problem& p,
                                     TestLine where = TestLine::here());

/// @brief Right without keys; without queries, batches or heads nothing is launched.
void check_nothing_to_do(const Kernel& kernel, const reference::Mask& mask = {},
                         TestLine where = TestLine::here());

/// @brief The number below `least`, one that no kernel knows beforehand, and the smallest there is.
std::vector<Int> numbers_below(Int least);

/// @brief std::invalid_argument that names `argument`.
void require_refused(const Kernel& kernel, const Problem& p, Forward results, const char* argument,
                     TestLine where = TestLine::here());

/// @brief K, V and all outputs of shapes that do not fit are refused by name: K and V of other batches, heads
/// or dims than Q, V of other keys than K, outputs of other batches, heads, queries or dims.
/// `valid` is changed one argument at a time; at least two batches, and no two sizes alike.
void check_refuses_shapes(const Kernel& kernel, const Problem& valid, TestLine where = TestLine::here());

/// @brief D of 0 and of more than the kernel's maximum is refused with the name Q, and in 16 bits D that is
/// no multiple of 8. Q, K, V and the outputs in `row_major`, whose elements of a row must lie side by side,
/// are refused by name where they do not.
void check_refuses_rows(const Kernel& kernel, const Problem& valid,
                        const std::vector<Which>& row_major = {Which::O}, TestLine where = TestLine::here());

/// @brief Heads of K are refused where Q has none.
void check_refuses_unread_heads(const Kernel& kernel, std::optional<Format16> format = {},
                                TestLine where = TestLine::here());

/// @brief std::runtime_error where CUDA refuses a launch: here, any with more than one block along x (in the
/// simulator) and any with more blocks along y or z than there may be. A call whose launches are accepted
/// all the same must be right.
void check_reports_refused_launch(const Kernel& kernel, const Problem& p,
                                  grading::CheckMode check_mode = grading::CheckMode::if_small,
                                  TestLine where = TestLine::here());

// What a contract says about memory, beside require_loads_at_most() and require_whole_sectors(). Loads are
// counted in whole sectors of 32 bytes, so rows should begin at multiples of 32 bytes.

/// Of all elements, without gaps, in float32 or in a type of 16 bits.
std::uint64_t bytes_of(const Tensor<float>& x, std::optional<Format16> format = {});

/// @brief The outputs are stored once, and nothing else is: no scores, and no partial results.
void require_stores_outputs_once(const Kernel& kernel, const grading::Profile& profile, const Problem& p,
                                 TestLine where = TestLine::here());

/// @brief Loads and stores take whole sectors, and no warp and few lanes are idle: for rows that begin with
/// sectors.
void require_full_use(const grading::Profile& profile, TestLine where = TestLine::here());

/// @brief Calls a causal kernel, which must be right, and read Q once, and K and V for each tile of queries
/// as far as one of them sees: see rows_of_tiles(). How many queries a tile has, 64 to 128, say the launch
/// and what a block stores.
void require_skips_the_future(const Kernel& kernel, const Problem& p, Int most_keys_of_a_tile,
                              TestLine where = TestLine::here());

// `./course run`.

enum class Causal { never, choice, always };

/// Which arrays and settings a lesson's kernel takes besides q, k, v and scale.
struct Takes {
  Causal causal = Causal::never;
  bool window = false, sinks = false;  ///< settings; without them, the mask's defaults
  bool sink_array = false;             ///< sink.npy, if it is there
  bool grouped = false;                ///< K and V may have fewer heads than Q
  bool sixteen_bits = false;  ///< q, k, v, dout and what is made of them: float16, or words of bfloat16
};

inline constexpr Takes kTakesAll{.causal = Causal::choice,
                                 .window = true,
                                 .sinks = true,
                                 .sink_array = true,
                                 .grouped = true,
                                 .sixteen_bits = true};

/// @brief An array of the problem's type, in float32: of 16 bits if `format` says so.
Tensor<float> read_array(grading::RunContext& run, const char* name,
                         const std::vector<std::string>& dimensions, std::optional<Format16> format);

/// @brief Writes an array in the problem's type.
void write_array(grading::RunContext& run, const std::string& name, const Tensor<float>& x,
                 std::optional<Format16> format);

/// @brief Reads q.npy, k.npy and v.npy, sink.npy if it is taken and there, and the settings scale (1/sqrt(D)
/// by default), causal, window and sinks.
/// @throws grading::RunError for arrays that do not fit, and for settings that the kernel does not have.
Problem read_problem(grading::RunContext& run, const Takes& takes);

/// @brief COURSE_RUN of a lesson: read_problem(), `call`, and o.npy, lse.npy ... for `outputs`.
void run_attention(grading::RunContext& run, const Takes& takes, const std::vector<Which>& outputs,
                   const std::function<void(const Problem&, Forward&)>& call);

}  // namespace course::attention_tests
