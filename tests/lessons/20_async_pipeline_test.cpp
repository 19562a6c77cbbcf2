// Tests of lesson 20: copy_through_shared bit by bit, and matmul_staged against float64, within twice the
// error of a float32 sum in the order of k.

#include "20_async_pipeline/async_pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "products/problem.hpp"
#include "products/stages.hpp"
#include "reference/matmul.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using namespace course::products;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// --- The copy ---

/// Where a number is, counted as the contract counts: which tile, and which of its block's rounds.
struct Rounds {
  std::int64_t n, blocks;

  std::int64_t tiles() const { return n == 0 ? 0 : (n - 1) / kCopyTile + 1; }
  std::int64_t grid() const { return std::min(blocks, tiles()); }
  std::int64_t round_of(std::int64_t index) const {
    return index / kCopyTile / std::max<std::int64_t>(grid(), 1);
  }
};

/// Well-known mistakes of a copy with that many stages. x must outlive them.
Mistakes mistakes_of_copy(const Tensor<float>& x, int stages, int blocks) {
  const std::int64_t n = x.numel();
  const Rounds rounds{n, blocks};
  const std::int64_t step = rounds.grid() * kCopyTile;  // from a block's tile to its next one
  /// What y holds if a round stores the tile of another one.
  const auto shifted = [=, &x](std::int64_t by) {
    Tensor<double> y({n});
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t from = i + by * step;
      y(i) = from >= 0 && from < n ? static_cast<double>(x(from)) : 0.0;
    }
    return y;
  };
  Mistakes mistakes{
      unwritten_where(
          "later_rounds_missing", [=](const Index& index) { return rounds.round_of(index[0]) > 0; },
          "Each block has moved its first tile alone. It has to go on, gridDim.x tiles further each time, "
          "while there are any."),
      unwritten_where(
          "tail_missing", [=](const Index& index) { return index[0] >= n - n % 4; },
          "The last n % 4 numbers, which do not fill 16 bytes, are missing."),
      unwritten_where(
          "partial_tile_missing", [=](const Index& index) { return index[0] >= n - n % kCopyTile; },
          "The last tile, which x does not fill, is missing."),
      gives(
          "stage_of_the_next_round", [=] { return shifted(1); },
          "Each round stores the tile of the next one: a round stores the stage that its own fetch has "
          "filled."),
  };
  if (stages > 1)
    mistakes.push_back(gives(
        "stage_ahead", [=] { return shifted(stages - 1); },
        "Each round stores the tile that was fetched last, stages - 1 rounds ahead of its own."));
  return mistakes;
}

Outcome copy(const Tensor<float>& x, Tensor<float>& y, int stages, int blocks,
             const CallOptions& options = {}) {
  return call_with(options, ENTRY(copy_through_shared), in(x, "x"), out(y, "y"), x.numel(), stages, blocks);
}

/// The launch that the contract asks for. The simulator counts; a GPU does not tell.
void require_copy_launch(const Outcome& outcome, std::int64_t n, int blocks) {
  const std::int64_t launches = outcome.counters.at("launches");
  if (n == 0) {
    require(launches == 0, "There is nothing to copy, but copy_through_shared launched a kernel.");
    return;
  }
  require(launches == 1,
          "copy_through_shared launched " + std::to_string(launches) + " kernels; it should launch one.");
  const Rounds rounds{n, blocks};
  const std::int64_t launched = outcome.counters.at("blocks"), tiles = rounds.tiles();
  require(
      launched == rounds.grid(),
      fmt::format("The launch had {} block{}. With blocks = {} and {} tile{} it should have {}.", launched,
                  launched == 1 ? "" : "s", blocks, tiles, tiles == 1 ? "" : "s", rounds.grid()));
}

/// With these, a launch of more than one block is refused.
CallOptions one_block() {
  CallOptions options;
  options.max_grid_x = 1;
  return options;
}

Outcome check_copy(const Tensor<float>& x, int stages, int blocks, const CallOptions& options = {}) {
  INFO("n = " << x.numel() << ", stages = " << stages << ", blocks = " << blocks);
  Tensor<float> y({x.numel()});
  const Outcome outcome = copy(x, y, stages, blocks, options);
  require_ran(outcome);
  require_matches(y, "y", x.to<double>(), x, mistakes_of_copy(x, stages, blocks));
  require_same_bits(y, x, "y");
  require_copy_launch(outcome, x.numel(), blocks);
  return outcome;
}

Tensor<float> numbers(std::int64_t n) { return uniform({n}, -100.0f, 100.0f, case_seed()); }

/// Numbers on their way to shared memory that pass through a register are stores of shared memory.
/// bytes_of_zeros: what tiles hold outside of matrices, which may be stored.
void require_no_registers_on_the_way(const Profile& profile, std::uint64_t bytes_of_zeros = 0) {
  const simt::SharedTraffic& store = profile.shared_store;
  require(
      store.bytes_asked <= bytes_of_zeros,
      "Threads store to shared memory " + std::to_string(store.requests) + " times" +
          (bytes_of_zeros == 0
               ? "."
               : fmt::format(
                     ", {} bytes in all. Tiles and slabs have {} bytes of zeros where A and B have ended.",
                     store.bytes_asked, bytes_of_zeros)) +
          " A load followed by a store makes a thread wait for the load; __pipeline_memcpy_async() sends "
          "the bytes on their way, and the thread goes on.");
}

std::string not_so_many_ahead(double mean, double wanted, int stages, const std::string& when) {
  return fmt::format(
      "While a thread {}, {:.1f} bytes of its copies are on their way on average. With stages - 1 rounds "
      "ahead it is {:.1f}, where stages = {}.",
      when, mean, wanted, stages);
}

/// As many tiles as are asked for: neither fewer nor more.
void require_tiles_ahead(const Profile& profile, const Rounds& rounds, int stages) {
  std::int64_t ahead = 0, stored = 0;  // groups of four numbers
  for (std::int64_t first = 0; first < rounds.n; first += 4, ++stored)
    ahead += std::min<std::int64_t>(stages - 1, (rounds.n - 1 - first) / (rounds.grid() * kCopyTile));
  const simt::LaunchProfile& launch = profile.launches.at(0);
  const unsigned threads = launch.block[0] * launch.block[1] * launch.block[2];
  const double bytes_of_a_thread = 4.0 * kCopyTile / threads;  // in a round
  const double mean = mean_ahead(launch.copies_ahead.of_global_stores, profile.global_store.bytes_asked),
               wanted = bytes_of_a_thread * static_cast<double>(ahead) / static_cast<double>(stored);
  require(mean >= 0.9 * wanted && mean <= 1.1 * wanted,
          not_so_many_ahead(mean, wanted, stages, "stores its part of a tile"));
}

/// What the contract promises of n numbers. A last tile that they do not fill may be read 4 bytes at a time,
/// and zeros may be stored behind them.
void check_copy_counters(std::int64_t n, int stages, int blocks, Random& random) {
  const Outcome outcome = check_copy(drawn::times(numbers(n), drawn::factor(random, 40)), stages, blocks);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  INFO("n = " << n << ", stages = " << stages << ", blocks = " << blocks);
  const Rounds rounds{n, blocks};
  const auto bytes = static_cast<std::uint64_t>(4 * n);
  require_no_registers_on_the_way(*profile,
                                  static_cast<std::uint64_t>(4 * (rounds.tiles() * kCopyTile - n / 4 * 4)));
  require(profile->shared_load.bytes_asked >= bytes,
          "Threads load " + std::to_string(profile->shared_load.bytes_asked) +
              " bytes from shared memory; x has " + std::to_string(bytes) +
              ", and all of them should pass through it.");
  require_tiles_ahead(*profile, rounds, stages);
  require_loads_at_most(*profile, bytes, "Each number of x should be read once");
  require_stores(*profile, bytes, "Each number of y should be written once");
  require_whole_sectors(*profile);
  const std::int64_t left = n % kCopyTile, wide = (n - left) / 4 / 32, most = wide + (left + 31) / 32;
  const std::uint64_t requests = profile->global_load.requests;
  require(requests <= static_cast<std::uint64_t>(most),
          "The warps asked for x " + std::to_string(requests) + " times; with 16 bytes a thread it is " +
              std::to_string(left == 0 ? wide : (n + 127) / 128) + ".");
  require(profile->barriers == 0,
          "Threads wait for one another at a barrier, though each of them stores only what it has "
          "fetched itself: its own wait is enough.");
}

// --- The product ---

/// Well-known mistakes of a product with that many stages. The problem must outlive them.
Mistakes mistakes_of_product(const Problem& p, int stages) {
  const auto a = [&p](std::int64_t i, std::int64_t k) { return filled(p.A, i, k); };
  const auto b = [&p](std::int64_t k, std::int64_t j) { return filled(p.B, k, j); };
  const std::int64_t K = p.K(), slabs = (K + kProductDepth - 1) / kProductDepth,
                     padded = slabs * kProductDepth;
  Mistakes mistakes;
  const auto only = [&](const char* name, std::int64_t begin, std::int64_t end, const char* sentence) {
    if (begin < end && (begin > 0 || end < K))
      mistakes.push_back(gives(
          name, [=, &p] { return product_of(p, begin, end, a, b); }, sentence));
  };
  only("last_slab_missing", 0, (slabs - 1) * kProductDepth,
       "The last slab of the sum over k is missing: the loop goes on while there is any slab left, also one "
       "that is not full.");
  only("epilogue_missing", 0, (slabs - (stages - 1)) * kProductDepth,
       "The last stages - 1 slabs are missing: when nothing is left to send for, those that have been sent "
       "for still have to be multiplied.");
  only("first_slab_only", 0, std::min(K, kProductDepth),
       "Only the first slab of k is in C: the loop has to go on.");
  only("prologue_left_out", std::min(K, (stages - 1) * kProductDepth), K,
       "The first stages - 1 slabs are missing: nobody has sent for them before the loop.");

  /// The slab that was multiplied as slab s; -1: zeros.
  const auto with_slabs = [&](const char* name, auto slab_for, const char* sentence) {
    if (slabs < 2) return;
    mistakes.push_back(gives(
        name,
        [=, &p] {
          const auto from = [=](std::int64_t k) {
            return slab_for(k / kProductDepth) * kProductDepth + k % kProductDepth;
          };
          const auto read = [=](auto element, std::int64_t k) {
            return from(k) < 0 ? 0.0 : element(from(k));
          };
          return product_of(
              p, 0, padded, [&](auto i, auto k) { return read([&](auto at) { return a(i, at); }, k); },
              [&](auto k, auto j) { return read([&](auto at) { return b(at, j); }, k); });
        },
        sentence));
  };
  with_slabs(
      "slab_of_the_next_round", [=](std::int64_t slab) { return slab + 1; },
      "Each round multiplies the slab of the next one: a round uses the stage that its own fetch has "
      "filled.");
  with_slabs(
      "slab_ahead", [=](std::int64_t slab) { return slab + stages - 1; },
      "Each round multiplies the slab that was fetched last, stages - 1 rounds ahead of its own.");
  with_slabs(
      "overtaken", [=](std::int64_t slab) { return slab + stages < slabs ? slab + stages : slab; },
      "Each slab has been overwritten by the one that uses its stage next: stages - 1 slabs may be on their "
      "way, not as many as there are stages.");

  // The last slab, where K ends within it, keeps what its stage held before: the slab of `stages` rounds ago.
  if (K % kProductDepth != 0 && slabs > stages)
    mistakes.push_back(gives(
        "tail_not_zeroed",
        [=, &p] {
          const auto kept = [=](std::int64_t k) { return k < K ? k : k - stages * kProductDepth; };
          return product_of(
              p, 0, padded, [&](auto i, auto k) { return a(i, kept(k)); },
              [&](auto k, auto j) { return b(kept(k), j); });
        },
        "Where k has ended, the stage keeps what it held before, and that is multiplied, too: a copy of "
        "which no byte "
        "is read fills with zeros."));
  mistakes.push_back(gives(
      "b_transposed",
      [=, &p] { return product_of(p, 0, K, a, [&](auto k, auto j) { return filled(p.B, j, k); }); },
      "B is read as if it were transposed: B[j][k] was taken where B[k][j] is needed."));
  mistakes.push_back(off_by_a_factor("factor", "Every element is {} times what it should be."));
  return mistakes;
}

Outcome multiply(const Problem& p, Tensor<float>& C, int stages, const CallOptions& options = {}) {
  return call_with(options, ENTRY(matmul_staged), in(p.A, "A"), in(p.B, "B"), out(C, "C"), stages);
}

void require_product(const Tensor<float>& C, const Problem& p, int stages) {
  const Tensor<double> expected = reference::matmul(p.A, p.B);
  require_matches(C.contiguous(), "C", expected, in_order_of_k(p, expected), mistakes_of_product(p, stages));
}

void require_product_launch(const Outcome& outcome, const Problem& p) {
  const std::int64_t launches = outcome.counters.at("launches"), elements = p.M() * p.N();
  require(launches == (elements > 0), "Your code launched " + std::to_string(launches) + " kernels for " +
                                          std::to_string(elements) + " elements of C; it should launch " +
                                          (elements > 0 ? "one." : "none."));
}

Outcome check_product(const Problem& p, int stages, const CallOptions& options = {}) {
  INFO(describe(p) << "; stages = " << stages);
  Tensor<float> C({p.M(), p.N()}, p.c_strides, -1000.0f);
  const Outcome outcome = multiply(p, C, stages, options);
  require_ran(outcome);
  require_product(C, p, stages);
  require_product_launch(outcome, p);
  require_tiles_shared(outcome, p, {kProductTile, kProductTile});
  return outcome;
}

constexpr int kStages[] = {2, 3, kMaxStages};

/// Sums of 8, 2 and 4, so that every element can be followed by hand.
Problem problem_of_the_notes() {
  return problem_of(Tensor<float>::from({2, 4}, {1, 2, 0, 1,  //
                                                 3, 1, 2, 0}),
                    Tensor<float>::from({4, 2}, {1, 0,  //
                                                 0, 1,  //
                                                 2, 1,  //
                                                 1, 2}));
}

// --- Counters of the product ---

/// How many tiles C has, down and across.
TileShape tiles_of(const Problem& p) {
  return {(p.M() + kProductTile - 1) / kProductTile, (p.N() + kProductTile - 1) / kProductTile};
}

/// The sizes of whole tiles and slabs that hold it.
Problem in_whole_tiles(const Problem& p) {
  const TileShape tiles = tiles_of(p);
  const std::int64_t slabs = (p.K() + kProductDepth - 1) / kProductDepth;
  return random_problem(tiles.rows * kProductTile, tiles.cols * kProductTile, slabs * kProductDepth);
}

constexpr TileShape kTile{kProductTile, kProductTile};
constexpr std::int64_t kSector = 8;  // numbers

/// What the contract promises of global memory. Rows and columns must begin with sectors.
void require_traffic(const Profile& profile, const Problem& p) {
  require_loads_at_most(
      profile, bytes_of_tiles(p, kTile),
      "With tiles of 128 x 128, each element of A is read once for every tile across C, and each of B "
      "once for every tile down");
  const auto sectors = [](const Tensor<float>& x) {
    const std::size_t along = x.strides()[1] == 1 ? 1 : 0;
    return (x.shape()[along] + kSector - 1) / kSector * x.shape()[1 - along];
  };
  const auto most =
      static_cast<std::uint64_t>(sectors(p.A) * tiles_of(p).cols + sectors(p.B) * tiles_of(p).rows);
  const simt::GlobalTraffic& load = profile.global_load;
  require(10 * load.sectors <= 11 * most,
          "When a warp reads A or B, it touches " + std::to_string(load.sectors) + " sectors in all, where " +
              std::to_string(most) + " would do. Here strides are " + format_shape(p.A.strides()) + " and " +
              format_shape(p.B.strides()) +
              ": let neighbouring threads read along the axis whose stride is 1.");
}

/// 16 bytes a thread where four numbers lie side by side, across the sum. M and N must be multiples of 4.
void require_wide_copies(const Profile& profile, const Problem& p) {
  const auto requests = [](std::int64_t numbers, std::int64_t stride) {
    return static_cast<std::uint64_t>(numbers / 32 / (stride == 1 ? 4 : 1));
  };
  const Problem whole = in_whole_tiles(p);
  const std::uint64_t most = requests(whole.M() * whole.K() * tiles_of(p).cols, p.A.strides()[0]) +
                             requests(whole.K() * whole.N() * tiles_of(p).rows, p.B.strides()[1]);
  require(profile.global_load.requests <= most,
          "The warps asked for A and B " + std::to_string(profile.global_load.requests) + " times; " +
              std::to_string(most) + " will do. Strides are " + format_shape(p.A.strides()) + " and " +
              format_shape(p.B.strides()) +
              ": where the rows of A or the columns of B lie side by side, one copy takes four of them.");
}

void require_no_conflicts(const Profile& profile) {
  for (const auto& [traffic, verb] :
       {std::pair{profile.shared_load, "reads"}, {profile.shared_store, "writes"}})
    require(traffic.conflicts() == 0, "When a warp " + std::string(verb) + " shared memory, it takes " +
                                          std::to_string(traffic.wavefronts) +
                                          " passes through the banks in all, where " +
                                          std::to_string(traffic.ideal_wavefronts) + " would do.");
}

/// One barrier a slab, and two more.
void require_barriers(const Outcome& outcome, const Profile& profile, const Problem& p) {
  const auto warps = static_cast<std::uint64_t>(outcome.counters.at("threads") / 32);
  const auto most = static_cast<std::uint64_t>((p.K() - 1) / kProductDepth + 1 + 2);
  require(meetings(profile) <= most * warps,
          meetings_told(profile, warps) + ", but K = " + std::to_string(p.K()) + " needs at most " +
              std::to_string(most) +
              ": one a slab will do. Behind it the present slab is complete, and the one before it has been "
              "used, so that its stage is free.");
}

/// @brief So many bytes are ahead, or more, since slabs may be deeper. Returns how many. It is a mean over
/// loads of shared memory, which must be those that the product needs.
double require_slabs_ahead(const Outcome& outcome, const Profile& profile, const Problem& p, int stages) {
  const Problem whole = in_whole_tiles(p);
  require_register_tile(profile, whole.M() * whole.N() * whole.K());
  constexpr std::int64_t kBytesOfSlab = 2 * kProductTile * kProductDepth * 4;
  const std::int64_t threads = outcome.counters.at("threads") / outcome.counters.at("blocks");
  const double filled =
      static_cast<double>(bytes_of_tiles(p, kTile)) / static_cast<double>(bytes_of_tiles(whole, kTile));
  const double mean = mean_ahead(profile.launches.at(0).copies_ahead.of_shared_loads,
                                 profile.shared_load.bytes_asked),
               wanted = filled * ahead_on_average(whole.K() / kProductDepth, stages, kBytesOfSlab / threads);
  require(mean >= 0.9 * wanted, not_so_many_ahead(mean, wanted, stages, "multiplies a slab"));
  return mean;
}

/// All that the contract promises, of one tile or two. Returns what require_slabs_ahead() does.
double check_counters(const Problem& p, int stages) {
  const Outcome outcome = check_product(p, stages);
  const Profile* profile = profile_of(outcome);
  if (!profile) return 0;
  INFO(describe(p) << "; stages = " << stages);
  require_no_registers_on_the_way(*profile,
                                  bytes_of_tiles(in_whole_tiles(p), kTile) - bytes_of_tiles(p, kTile));
  require_traffic(*profile, p);
  require_wide_copies(*profile, p);
  require_no_conflicts(*profile);
  require_barriers(outcome, *profile, p);
  require_busy_warps(*profile);
  require_busy_blocks(*profile, 1.0 / static_cast<double>(tiles_of(p).rows * tiles_of(p).cols));
  return require_slabs_ahead(outcome, *profile, p, stages);
}

Problem problem_in_sectors(std::int64_t M, std::int64_t N, std::int64_t K, Layout a, Layout b,
                           Random& random) {
  const Problem dense = random_problem(M, N, K);
  return {in_sectors(dense.A, a, random), in_sectors(dense.B, b, random),
          random.integer(0, 1) == 0 ? row_major(M, N) : column_major(M, N)};
}

}  // namespace

TEST_CASE("copy: ten numbers with two stages", "[l20][copy_through_shared][points:1]") {
  check_copy(Tensor<float>::from({10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}), 2, 1);
}

TEST_CASE("copy: sizes around 16 bytes and around a tile", "[l20][copy_through_shared][points:2]") {
  for (const int stages : {2, 1, 3, kMaxStages})
    for (const std::int64_t n : {0, 1, 3, 4, 5, 1023, 1024, 1025, 2050}) check_copy(numbers(n), stages, 2);
}

TEST_CASE("copy: many tiles by few blocks, with every number of stages",
          "[l20][copy_through_shared][points:3]") {
  Random random(case_seed());  // for sizes and blocks that no kernel knows beforehand
  const auto check = [&](std::int64_t rounds, std::int64_t blocks, int stages) {
    const std::int64_t n = blocks * (rounds - 1) * kCopyTile + random.integer(1, blocks * kCopyTile);
    check_copy(drawn::times(numbers(n), drawn::factor(random, 40)), stages, static_cast<int>(blocks));
  };
  for (const int stages : {2, 1, 3, kMaxStages}) {
    const std::int64_t rounds = random.integer(11, 40);
    check(rounds, random.integer(1, 40 / rounds), stages);
    check(random.integer(2, 4), random.integer(2, 12), stages);
    check_copy(numbers(random.integer(1, 5 * kCopyTile)), stages, static_cast<int>(random.integer(5, 100)));
  }
}

TEST_CASE("copy: every bit of NaN, infinities and zeros", "[l20][copy_through_shared][points:1]") {
  for (const Pattern pattern : {Pattern::signed_zeros, Pattern::subnormal, Pattern::huge}) {
    INFO("data: " << pattern_name(pattern));
    check_copy(adversarial(pattern, {2500}, case_seed()), 3, 1);
  }
  Tensor<float> x = numbers(2500);
  x(7) = kInf, x(1030) = -kInf, x(2499) = kNan;
  check_copy(x, 2, 1);
  INFO("data: NaN, each with other bits");
  check_copy(drawn::nans_of_all_kinds({2500}), 2, 1);
}

TEST_CASE("copy: reads x once, in whole sectors, without a detour and without a barrier",
          "[l20][copy_through_shared][points:2]") {
  Random random(case_seed());  // for sizes and blocks that no kernel knows beforehand
  for (int stages = 1; stages <= kMaxStages; ++stages)
    for (const bool ragged : {false, true}) {
      const std::int64_t blocks = random.integer(1, 3), rounds = stages + random.integer(0, 2),
                         tiles = blocks * rounds + random.integer(0, blocks - 1);
      check_copy_counters(tiles * kCopyTile - ragged * random.integer(1, 31), stages,
                          static_cast<int>(blocks), random);
    }
}

TEST_CASE("copy: refuses sizes, stages and blocks that make no sense",
          "[l20][copy_through_shared][points:1]") {
  check_copy(numbers(5), 2, 1);
  const Tensor<float> x = numbers(5);
  Tensor<float> y({5});
  const auto refused = [&](std::int64_t n, int stages, int blocks, const char* argument) {
    INFO("n = " << n << ", stages = " << stages << ", blocks = " << blocks);
    require_throws<std::invalid_argument>(
        call(ENTRY(copy_through_shared), in(x, "x"), out(y, "y"), n, stages, blocks), argument);
  };
  refused(-1, 2, 1, "n");
  refused(5, 0, 1, "stages");
  refused(5, kMaxStages + 1, 1, "stages");
  refused(5, 2, 0, "blocks");
  refused(0, 0, 1, "stages");
  refused(0, 2, 0, "blocks");
  Random random(case_seed());  // for numbers that no kernel knows beforehand
  const auto up_to = [&](int most) { return static_cast<int>(random.integer(1, most)); };
  refused(-up_to(1000), 2, 1, "n");
  refused(5, -up_to(1000), 1, "stages");
  refused(5, kMaxStages + up_to(1000), 1, "stages");
  refused(5, 2, -up_to(1000), "blocks");
  const std::int64_t n = kCopyTile + 4 * random.integer(1, kCopyTile / 4);
  const Tensor<float> two_tiles = numbers(n);
  Tensor<float> copied({n});
  require_refused_launch(copy(two_tiles, copied, up_to(kMaxStages), 2, one_block()));
}

TEST_CASE("multiplies the matrices of the notes", "[l20][matmul_staged][points:1]") {
  for (const int stages : kStages) check_product(problem_of_the_notes(), stages);
}

TEST_CASE("multiplies with no slab, one, as many as there are stages, and more",
          "[l20][matmul_staged][points:3]") {
  for (const int stages : kStages)
    for (const std::int64_t K : {45, 8, 1, 17, 32}) check_product(random_problem(37, 50, K), stages);
  check_product(random_problem(37, 50, 24), 3);
}

TEST_CASE("multiplies matrices of sizes that tiles do not divide", "[l20][matmul_staged][points:2]") {
  for (const auto& [M, N, K] : {std::array<std::int64_t, 3>{70, 135, 45},
                                {135, 70, 100},
                                {129, 131, 65},
                                {128, 128, 40},
                                {1, 150, 77},
                                {150, 1, 77},
                                {300, 20, 9},
                                {20, 390, 9},
                                {1, 1, 150}})
    check_product(random_problem(M, N, K), 3);
}

TEST_CASE("multiplies transposed matrices into rows and into columns", "[l20][matmul_staged][points:2]") {
  for (const Layout a : {row_major, column_major})
    for (const Layout b : {column_major, row_major})
      for (const Layout c : {row_major, column_major}) {
        check_product(random_problem(72, 44, 50, a, b, c), 2);
        check_product(random_problem(48, 48, 48, a, b, c), 2);
      }
  // Columns that cannot be copied four at a time.
  check_product(random_problem(70, 41, 52, column_major, row_major), 3);
  check_product(random_problem(131, 133, 20, column_major, column_major), kMaxStages);
}

TEST_CASE("multiplies parts of larger matrices, and leaves what lies between the elements of C",
          "[l20][matmul_staged][points:2]") {
  const Problem p = random_problem(67, 45, 38);
  const auto sliced = [](const Tensor<float>& x, Strides strides) {
    return laid_out(x, std::move(strides), kNan);
  };
  check_product({sliced(p.A, {40, 1}), sliced(p.B, {52, 1}), {47, 1}}, 3);  // the left part of wider matrices
  check_product({sliced(p.A, {2 * 38, 2}), sliced(p.B, {3, 150}), {2, 140}},
                2);  // every second column, third row
  check_product({sliced(p.A, {1, 72}), sliced(p.B, {48, 1}), {96, 2}},
                3);  // four at a time, with a ragged end
  const Problem q = random_problem(72, 44, 50, column_major);
  check_product({laid_out(q.A, {1, 75}, kNan), q.B, {44, 1}}, 2);   // columns that begin anywhere
  check_product({laid_out(q.A, {2, 148}, kNan), q.B, {44, 1}}, 2);  // and have gaps
  for (const CallOptions& shifted : with_shifted_arrays(3)) {
    INFO("One of the matrices begins at no multiple of 16 bytes");
    check_product(q, 2, shifted);
    check_product(random_problem(128, 128, 32, column_major), 2, shifted);
  }
  Random random(case_seed());
  for (const Problem& drawn : drawn_problems())
    check_product(drawn, static_cast<int>(random.integer(2, kMaxStages)));
  const auto fours = [&] { return 4 * random.integer(8, 20); };
  for (const std::vector<std::int64_t>& gaps : drawn::gaps_around_fours(3, random)) {
    const std::int64_t M = fours(), N = fours(), K = fours();
    const Problem dense = random_problem(M, N, K);
    check_product({laid_out(dense.A, {1, M + gaps[0]}, kNan),
                   laid_out(dense.B, {N + gaps[1], 1}, kNan),
                   {N + gaps[2], 1}},
                  2);
  }
  // Whole tiles, which may have a fast path.
  for (const bool by_columns : {false, true})
    for (const std::int64_t gap : {std::int64_t{0}, 4 * random.integer(1, 8)}) {
      const std::int64_t M = by_columns ? 384 : 256, N = 640 - M, past = 384 + gap;
      Problem whole = random_problem(M, N, gap == 0 ? 64 : 32, by_columns ? column_major : row_major);
      whole.c_strides = by_columns ? Strides{1, past} : Strides{past, 1};
      check_product(whole, gap == 0 ? 2 : static_cast<int>(random.integer(3, kMaxStages)));
    }
  Problem wide = random_problem(256, 384, 32, column_major);  // of A and B, all copies have 16 bytes
  wide.c_strides = {384 + 4 * random.integer(1, 8), 1};
  check_product(wide, 2);
}

TEST_CASE("multiplies K = 7 and K = 0, which gives zeros, and launches nothing for an empty C",
          "[l20][matmul_staged][points:1]") {
  for (const int stages : kStages) {
    check_product(random_problem(35, 140, 7), stages);
    Problem p = random_problem(35, 140, 0);
    check_product(p, stages);
    p.c_strides = {2, 2 * 35 + 3};
    check_product(p, stages);
    check_product(random_problem(0, 5, 7), stages);
    check_product(random_problem(5, 0, 7), stages);
  }
}

TEST_CASE("keeps NaN and infinities in their own row and column", "[l20][matmul_staged][points:1]") {
  Problem p = random_problem(70, 75, 50);
  p.A(3, 49) = kNan;
  p.A(69, 0) = kInf;
  p.A(10, 20) = kInf;
  for (const std::int64_t j : {5, 74}) p.B(20, j) = 0.0f;  // inf times 0 is NaN
  p.A(11, 4) = kInf, p.A(11, 40) = -kInf;                  // inf - inf is NaN, or not, by the signs of B
  p.B(30, 74) = -kInf;
  p.B(0, 64) = kNan;
  check_product(p, 3);
}

TEST_CASE("gives the same bits with every number of stages, in every order of blocks and threads",
          "[l20][matmul_staged][points:1]") {
  std::vector<Problem> problems{random_problem(70, 140, 45), drawn_problems()[2]};
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const Layout a : {row_major, column_major})
    for (const Layout b : {row_major, column_major}) {
      const std::int64_t unit =
          random.integer(0, 1) == 0 ? 1 : 4;  // columns that can be copied four at a time
      problems.push_back(random_problem(unit * random.integer(30 / unit, 100 / unit),
                                        unit * random.integer(30 / unit, 100 / unit), random.integer(40, 100),
                                        a, b));
    }
  for (const Problem& p : problems) {
    INFO(describe(p));
    Tensor<float> first({p.M(), p.N()});
    require_ran(multiply(p, first, 2));
    require_product(first, p, 2);
    std::uint64_t seed = order_seed();
    for (const int stages : kStages) {
      for (const Order order : {Order::reverse, Order::random}) {
        INFO("stages = " << stages);
        CallOptions options;
        options.order = order;
        options.seed = seed++;
        Tensor<float> C({p.M(), p.N()});
        require_ran(multiply(p, C, stages, options));
        require_product(C, p, stages);
        require_same_bits(C, first, "C");
      }
    }
  }
}

TEST_CASE("sends for A and B without a detour, in whole sectors, and waits once a slab",
          "[l20][matmul_staged][points:3]") {
  Random random(case_seed());  // for sizes and strides that no kernel knows beforehand
  std::int64_t any = random.integer(0, 5);
  for (const Layout a : {row_major, column_major})
    for (const Layout b : {row_major, column_major}) {
      const Problem whole = problem_in_sectors(kProductTile, kProductTile,
                                               2 * kProductDepth * random.integer(3, 4), a, b, random);
      double ahead[kMaxStages + 1] = {};
      for (const int stages : kStages) ahead[stages] = check_counters(whole, stages);
      require(ahead[kMaxStages] >= 1.5 * ahead[2],
              fmt::format(
                  "While a thread multiplies a slab, {:.1f} bytes of its copies are on their way on average "
                  "with 2 stages, and {:.1f} with {}: the next stages - 1 slabs should be.",
                  ahead[2], ahead[kMaxStages], kMaxStages));
      // Two tiles, of which one axis is much shorter than they are, the others a little.
      std::array sizes{kProductTile - 4 * random.integer(6, 13), 2 * kProductTile - 4 * random.integer(1, 3)};
      if (any % 2 == 1) std::swap(sizes[0], sizes[1]);
      const std::int64_t K = 6 * kProductDepth - random.integer(1, 3);
      check_counters(problem_in_sectors(sizes[0], sizes[1], K, a, b, random), kStages[any++ % 3]);
    }
}

TEST_CASE("multiplies (3, 5) by (5, 4), but refuses what does not fit together",
          "[l20][matmul_staged][points:1]") {
  check_product(random_problem(3, 4, 5), 2);
  Random random(case_seed());  // for sizes, strides and stages that no kernel knows beforehand
  const auto refused = [&](Shape a, Shape b, Shape c, int stages, const char* argument) {
    INFO("A: shape " << format_shape(a) << "; B: shape " << format_shape(b) << "; C: shape "
                     << format_shape(c) << "; stages = " << stages);
    const auto strides = [&](const Shape& x) { return drawn::strides(x[0], x[1], random); };
    const Tensor<float> A(a, strides(a), 1.0f), B(b, strides(b), 1.0f);
    Tensor<float> C(c, strides(c), 1.0f);
    require_throws<std::invalid_argument>(
        call(ENTRY(matmul_staged), in(A, "A"), in(B, "B"), out(C, "C"), stages), argument);
  };
  refused({3, 5}, {4, 4}, {3, 4}, 2, "B");
  refused({3, 5}, {5, 4}, {3, 5}, 2, "C");
  refused({3, 0}, {2, 4}, {3, 4}, 2, "B");
  refused({0, 5}, {5, 4}, {0, 4}, kMaxStages + 1, "stages");
  refused({3, 5}, {5, 4}, {3, 4}, 1, "stages");
  refused({3, 5}, {5, 4}, {3, 4}, kMaxStages + 1, "stages");
  for (const std::int64_t stages : {-random.integer(0, 1000), kMaxStages + random.integer(2, 1000)})
    refused({3, 5}, {5, 4}, {3, 4}, static_cast<int>(stages), "stages");
  const std::int64_t M = random.integer(2, 90), K = random.integer(2, 90), N = random.integer(2, 90);
  for_misfits(M, N, K, random, [&](const Shape& b, const Shape& c, const char* argument) {
    refused({M, K}, b, c, static_cast<int>(random.integer(2, kMaxStages)), argument);
  });
  const Problem two_blocks = random_problem(M, kProductTile + N, K);
  Tensor<float> C({M, kProductTile + N});
  const auto stages = static_cast<int>(random.integer(2, kMaxStages));
  require_refused_launch(multiply(two_blocks, C, stages, one_block()));
}

COURSE_RUN(RunContext& run) {
  const auto A = run.input<float>("A", {"M", "K"}), B = run.input<float>("B", {"K", "N"});
  Tensor<float> C({A.shape()[0], B.shape()[1]});
  run.call(ENTRY(matmul_staged), in(A, "A"), in(B, "B"), out(C, "C"),
           static_cast<int>(run.integer("stages", 3)));
  run.output("C", C);
}
