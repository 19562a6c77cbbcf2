// Tests of lesson 06: matmul_tiled and matmul against float64, within twice the error of a float32 sum in the
// order of k.

#include "06_block_matmul/block_matmul.hpp"

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

#include "grading/testing/lesson_test.hpp"
#include "products/problem.hpp"
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

using Product = void(View<const float, 2>, View<const float, 2>, View<float, 2>);
constexpr Entry<Product> kTiled = ENTRY(matmul_tiled), kRegisters = ENTRY(matmul);

// --- Well-known mistakes ---

/// What lies at an offset of the tensor's storage.
double stored(const Tensor<float>& x, std::int64_t offset) {
  return static_cast<double>(x.storage()[static_cast<std::size_t>(offset)]);
}

/// Whether what lies up to this offset is known, and no NaN, which would be like any other NaN.
bool is_known(const Tensor<float>& x, std::int64_t offset) {
  const auto storage = x.storage();
  return offset < static_cast<std::int64_t>(storage.size()) &&
         std::none_of(storage.begin(), storage.end(), [](float value) { return std::isnan(value); });
}

/// The element of x that takes the place of (row, col) if each square of kTile x kTile is transposed.
double in_transposed_square(const Tensor<float>& x, std::int64_t row, std::int64_t col) {
  const std::int64_t first_row = row / kTile * kTile, first_col = col / kTile * kTile;
  return filled(x, first_row + (col - first_col), first_col + (row - first_row));
}

Mistakes mistakes_of(const Problem& p) {
  const auto a = [&p](std::int64_t i, std::int64_t k) { return static_cast<double>(p.A(i, k)); };
  const auto b = [&p](std::int64_t k, std::int64_t j) { return static_cast<double>(p.B(k, j)); };
  const std::int64_t M = p.M(), N = p.N(), K = p.K();
  Mistakes mistakes;

  // Steps of k that are left out. Kernels differ in how many they take at a time; equal results count once.
  std::set<std::pair<std::int64_t, std::int64_t>> seen{{0, K}, {0, 0}};
  const auto only = [&](const char* name, std::int64_t begin, std::int64_t end, const char* sentence) {
    if (begin < end && seen.emplace(begin, end).second)
      mistakes.push_back(gives(
          name, [=, &p] { return product_of(p, begin, end, a, b); }, sentence));
  };
  for (const std::int64_t depth : {8, 16, 32}) {
    const std::int64_t last = K > 0 ? (K - 1) / depth * depth : 0;
    only("last_tile_missing", 0, last,
         "The last tile of the sum over k is missing: the loop has to go on while there is any k left, also "
         "fewer than a whole tile of them.");
    only("only_last_tile", last, K,
         "Only the last tile of k is in C: the sum has to be 0 before the loop, not in each of its steps.");
    only("only_first_tile", 0, std::min(K, depth),
         "Only the first tile of k is in C: the loop has to go on.");
  }
  only("one_step_short", 0, K - 1, "The last k is missing.");

  // A loop over k that ends where another size ends, or that steps over more than a tile holds.
  for (const std::int64_t depth : {8, 32}) {
    const auto end_of = [depth](std::int64_t size) { return (size + depth - 1) / depth * depth; };
    const auto ends_at = [&](const char* name, std::int64_t size, const char* sentence) {
      const std::int64_t end = end_of(size);
      if (end < K)
        mistakes.push_back(gives(
            name, [=, &p] { return product_of(p, 0, end, a, b); }, sentence));
    };
    if (depth == 8 || end_of(M) != (M + 7) / 8 * 8)
      ends_at(
          "ends_at_the_rows", M,
          "The loop over k ends at the number of rows of A. It has to go on to K, the number of its columns: "
          "A.shape[1].");
    if (depth == 8 || end_of(N) != (N + 7) / 8 * 8)
      ends_at(
          "ends_at_the_columns", N,
          "The loop over k ends at the number of columns of B. It has to go on to K, the number of its rows: "
          "B.shape[0].");
  }
  if (K > 8)
    mistakes.push_back(gives(
        "steps_left_out",
        [=, &p] {
          return product_of(
              p, 0, K, [&](auto i, auto k) { return k % kTile < 8 ? a(i, k) : 0.0; }, b);
        },
        "Of every 32 steps of k only the first 8 are in C, the others are left out: the loop goes on by "
        "kTile, though the tiles hold kDepth steps."));

  // Tiles whose last part keeps the numbers of the tile before, and tiles of which the last step is left out.
  std::set<std::int64_t> stale;
  for (const std::int64_t depth : {8, 16, 32}) {
    const std::int64_t end = (K + depth - 1) / depth * depth;
    if (K % depth != 0 && K > depth && stale.insert(K - depth).second) {
      mistakes.push_back(gives(
          "tail_not_zeroed",
          [=, &p] {
            const auto kept = [=](std::int64_t k) { return k < K ? k : k - depth; };
            return product_of(
                p, 0, end, [&](auto i, auto k) { return a(i, kept(k)); },
                [&](auto k, auto j) { return b(kept(k), j); });
          },
          "Where the last tile of k has no elements, the tile keeps what was there before, and that is "
          "multiplied, too: put zeros there."));
    }
    if (K > depth)
      mistakes.push_back(gives(
          "last_of_each_tile_missing",
          [=, &p] {
            return product_of(
                p, 0, K, [&](auto i, auto k) { return k % depth == depth - 1 ? 0.0 : a(i, k); }, b);
          },
          "The last k of each tile is missing: a tile has all of its steps to add."));
  }

  // Squares read the wrong way round.
  mistakes.push_back(gives(
      "b_tile_transposed",
      [=, &p] {
        return product_of(
            p, 0, (K + kTile - 1) / kTile * kTile, [&](auto i, auto k) { return filled(p.A, i, k); },
            [&](auto k, auto j) { return in_transposed_square(p.B, k, j); });
      },
      "Each tile of B is transposed: thread (x, y) needs column x of it, so row k, column x is the element "
      "to take."));
  mistakes.push_back(gives(
      "a_tile_transposed",
      [=, &p] {
        return product_of(
            p, 0, (K + kTile - 1) / kTile * kTile,
            [&](auto i, auto k) { return in_transposed_square(p.A, i, k); },
            [&](auto k, auto j) { return filled(p.B, k, j); });
      },
      "Each tile of A is transposed: thread (x, y) needs row y of it, so row y, column k is the element to "
      "take."));

  const std::int64_t padded = (K + kTile - 1) / kTile * kTile;
  mistakes.push_back(gives(
      "b_transposed",
      [=, &p] { return product_of(p, 0, K, a, [&](auto k, auto j) { return filled(p.B, j, k); }); },
      "B is read as if it were transposed: B[j][k] was taken where B[k][j] is needed."));
  if (K > kTile || N > kTile)
    mistakes.push_back(gives(
        "tiles_of_b_exchanged",
        [=, &p] {
          return product_of(
              p, 0, padded, [&](auto i, auto k) { return filled(p.A, i, k); },
              [&](auto k, auto j) {
                return filled(p.B, j / kTile * kTile + k % kTile, k / kTile * kTile + j % kTile);
              });
        },
        "The wrong tiles of B were loaded: row and column of a tile's first element are exchanged. A tile of "
        "B begins at row first_k and column first_col."));
  if (K > 1)
    mistakes.push_back(gives(
        "slab_of_b_exchanged",
        [=, &p] {
          constexpr std::int64_t side = 128, depth = 8;  // those of the stub
          return product_of(
              p, 0, (K + depth - 1) / depth * depth, [&](auto i, auto k) { return filled(p.A, i, k); },
              [&](auto k, auto j) {
                return filled(p.B, k / depth * depth + j % side, j / side * side + k % depth);
              });
        },
        "Rows and columns of B are exchanged in the slabs: where row first_k + k and column first_col + j "
        "belong, row first_k + j and column first_col + k were loaded. load_slab() takes columns of B as "
        "rows of its transpose."));
  mistakes.push_back(gives(
      "a_of_the_column",
      [=, &p] {
        Tensor<double> C({M, N});
        for (std::int64_t i = 0; i < M; ++i)
          for (std::int64_t j = 0; j < N; ++j)
            for (std::int64_t k = 0; k < padded; ++k)
              C(i, j) += filled(p.A, i, k / kTile * kTile + j % kTile) * filled(p.B, k, j);
        return C;
      },
      "In all steps of a tile the same element of A was taken: it has to be A_smem[y][k], with the k of the "
      "step."));

  // Wrong strides.
  const std::int64_t a_stride = p.A.strides()[0], b_step = p.B.strides()[1];
  if (K > 0 && is_known(p.B, (K - 1) * a_stride + (N - 1) * b_step))
    mistakes.push_back(gives(
        "stride_of_a_for_b",
        [=, &p] {
          return product_of(p, 0, K, a,
                            [&](auto k, auto j) { return stored(p.B, k * a_stride + j * b_step); });
        },
        "The rows of B are taken to lie as far apart as those of A: use B.strides[0] for B."));
  if ((p.A.strides() != row_major(M, K) || p.B.strides() != row_major(K, N)) && is_known(p.A, M * K - 1) &&
      is_known(p.B, K * N - 1))
    mistakes.push_back(gives(
        "strides_ignored",
        [=, &p] {
          return product_of(
              p, 0, K, [&](auto i, auto k) { return stored(p.A, i * K + k); },
              [&](auto k, auto j) { return stored(p.B, k * N + j); });
        },
        "A and B are read as if they were row-major without gaps: where element (r, c) lies, their strides "
        "say."));

  if (p.c_strides == column_major(M, N) && p.c_strides != row_major(M, N))
    mistakes.push_back(gives(
        "strides_of_c_ignored",
        [=, &p] {
          const Tensor<double> product = product_of(p, 0, K, a, b);
          Tensor<double> C({M, N});
          for (std::int64_t i = 0; i < M; ++i)
            for (std::int64_t j = 0; j < N; ++j) C(i, j) = product.at_linear(i + j * M);
          return C;
        },
        "C is written as if it were row-major: where its element (r, c) lies, its strides say."));

  // Which elements of C.
  if (M < N && M % 32 != 0)  // otherwise whole tiles that are missing look the same
    mistakes.push_back(wrong_where(
        "guard_of_rows_for_columns", [=](const Index& index) { return index[1] >= M; },
        "All columns from M on are wrong, M being the number of rows: a column has to be less than N."));
  std::set<std::pair<std::int64_t, std::int64_t>> whole;
  for (const std::int64_t tile : {32, 64, 128}) {
    const std::int64_t rows = M / tile * tile, cols = N / tile * tile;
    if (rows * cols > 0 && (rows < M || cols < N) && whole.emplace(rows, cols).second)
      mistakes.push_back(unwritten_where(
          "ragged_tiles_missing", [=](const Index& index) { return index[0] >= rows || index[1] >= cols; },
          "All whole tiles of C are right, and what is left at its lower and right edge was never written: "
          "the number of tiles has to be rounded up."));
  }
  const Tensor<float>&A = p.A, &B = p.B;
  for (const std::int64_t apart : {std::int64_t{4}, std::int64_t{kBlockTile}}) {
    mistakes.push_back(gives(
        "thread_tile_transposed",
        [=, &A, &B] {
          // Four rows and columns that lie side by side, and the same again in the other half of a tile.
          const auto group = [=](std::int64_t x) { return apart == 4 ? std::int64_t{0} : x / apart % 2; };
          Tensor<double> C({M, N});
          for (std::int64_t i = 0; i < M; ++i)
            for (std::int64_t j = 0; j < N; ++j) {
              const std::int64_t row = i - i % 4 + j % 4 + (group(j) - group(i)) * apart;
              const std::int64_t col = j - j % 4 + i % 4 + (group(i) - group(j)) * apart;
              for (std::int64_t k = 0; k < K; ++k) C(i, j) += filled(A, row, k) * filled(B, k, col);
            }
          return C;
        },
        "Each thread's tile is transposed in C: acc[i][j] is the sum of its row i and its column j."));
  }
  mistakes.push_back(off_by_a_factor("factor", "Every element is {} times what it should be."));
  return mistakes;
}

// --- Calls and checks ---

void require_product(const Tensor<float>& C, const Problem& p) {
  const Tensor<double> expected = reference::matmul(p.A, p.B);
  require_matches(C.contiguous(), "C", expected, in_order_of_k(p, expected), mistakes_of(p));
}

/// A wrong product of a block with all of its threads along x: findings and numbers tell where a kernel
/// strayed, but not why. What is said of threadIdx.y holds, whatever else is wrong.
void require_product_of_flat_block(const Outcome& outcome, const Tensor<float>& C, const Problem& p) {
  if (!outcome.profile || outcome.profile->launches.empty()) return;
  const auto& block = outcome.profile->launches[0].block;
  if (block[0] != kTile * kTile || block[1] != 1) return;
  const Tensor<double> expected = reference::matmul(p.A, p.B);
  const Tensor<float> got = C.contiguous();
  const Comparison comparison = compare(got, "C", expected, in_order_of_k(p, expected));
  if (comparison.passed) return;
  Failure numbers = comparison.failure();
  if (!comparison.wrong.empty()) numbers.attempts = try_mistakes(mistakes_of(p), {got, expected, comparison});
  const Failure why{.kind = Failure::Kind::check,
                    .sentence = "The launch has blocks of " + std::to_string(block[0]) +
                                " x 1 threads, so threadIdx.y is 0 in all of them. A kernel that takes its "
                                "element from threadIdx.x and threadIdx.y needs dim3(kTile, kTile)."};
  grading::detail::report({numbers, why}, TestLine::here());
}

/// One launch, of a block for at least every 256 x 256 elements; none for an empty C.
void require_launch(const Outcome& outcome, const Problem& p) {
  const std::int64_t launches = outcome.counters.at("launches"), elements = p.M() * p.N();
  require(launches == (elements > 0), "Your code launched " + std::to_string(launches) + " kernels for " +
                                          std::to_string(elements) + " elements of C; it should launch " +
                                          (elements > 0 ? "one." : "none."));
  if (elements == 0) return;
  const std::int64_t blocks = outcome.counters.at("blocks");
  require(blocks >= ((p.M() - 1) / 256 + 1) * ((p.N() - 1) / 256 + 1),
          "The launch had only " + std::to_string(blocks) + " blocks for a C of " + std::to_string(p.M()) +
              " x " + std::to_string(p.N()) + ". With more of them, more of a GPU works at once.");
}

/// The tile of C that the entry's cost speaks of.
TileShape tile_of(Entry<Product> entry) {
  const std::int64_t side = entry.name == kTiled.name ? kTile : kBlockTile;
  return {side, side};
}

Outcome multiply(Entry<Product> entry, const Problem& p, Tensor<float>& C, const CallOptions& options = {}) {
  return call_with(options, entry, in(p.A, "A"), in(p.B, "B"), out(C, "C"));
}

/// Multiplies with one of the two entries, and compares.
Outcome check(Entry<Product> entry, const Problem& p, const CallOptions& options = {}) {
  INFO(describe(p));
  Tensor<float> C({p.M(), p.N()}, p.c_strides, -1000.0f);
  const Outcome outcome = multiply(entry, p, C, options);
  require_ran(outcome);
  if (entry.name == kTiled.name) require_product_of_flat_block(outcome, C, p);
  require_product(C, p);
  require_launch(outcome, p);
  require_tiles_shared(outcome, p, tile_of(entry));
  return outcome;
}

/// The 2 x 2 blocks of the notes: A and B are 4 x 4.
Problem problem_of_the_notes() {
  return problem_of(Tensor<float>::from({4, 4}, {1, 2, 0, 1,  //
                                                 3, 1, 2, 0,  //
                                                 0, 1, 1, 2,  //
                                                 2, 0, 1, 1}),
                    Tensor<float>::from({4, 4}, {1, 0, 2, 1,  //
                                                 0, 1, 1, 3,  //
                                                 2, 1, 0, 1,  //
                                                 1, 2, 1, 0}));
}

/// Sizes around tiles of 32, 64 and 128, first those that most mistakes leave a pattern in.
void check_ragged(Entry<Product> entry) {
  for (const auto& [M, N, K] : {std::array<std::int64_t, 3>{70, 135, 45},
                                {135, 70, 100},
                                {40, 70, 135},
                                {129, 131, 65},
                                {64, 64, 64},
                                {128, 128, 32},
                                {33, 31, 33},
                                {31, 33, 31},
                                {17, 5, 9}})
    check(entry, random_problem(M, N, K));
}

void check_transposed(Entry<Product> entry) {
  for (const Layout a : {row_major, column_major})
    for (const Layout b : {column_major, row_major})
      for (const Layout c : {row_major, column_major}) check(entry, random_problem(70, 41, 50, a, b, c));
  // Several tiles each way, also of 128 x 128.
  check(entry, random_problem(200, 260, 5, column_major, row_major, column_major));
}

/// Whole eights and whole tiles, which may have a fast path, by rows and by columns that begin at multiples
/// of 4 in all matrices but one.
void check_gaps(Entry<Product> entry) {
  Random random(case_seed() + 3);
  const auto any_layout = [&] { return random.integer(0, 1) == 1 ? row_major : column_major; };
  const auto check_with = [&](const Problem& dense, Layout a, Layout b,
                              const std::vector<std::int64_t>& gaps) {
    const std::int64_t M = dense.M(), N = dense.N(), K = dense.K();
    check(entry,
          {laid_out(dense.A, a(M + gaps[0], K + gaps[0]), kNan),
           laid_out(dense.B, b(K + gaps[1], N + gaps[1]), kNan), any_layout()(M + gaps[2], N + gaps[2])});
  };
  const auto eights = [&] { return 8 * random.integer(1, 8); };
  for (const Layout a : {row_major, column_major})
    for (const Layout b : {row_major, column_major})
      for (const std::vector<std::int64_t>& gaps : drawn::gaps_around_fours(3, random)) {
        const std::int64_t M = eights(), N = eights(), K = eights();
        check_with(random_problem(M, N, K), a, b, gaps);
        if (a != b) check_with(random_problem(M, M, M), a, b, gaps);
      }
  const Problem whole = random_problem(128 * random.integer(2, 3), 256, 64);
  const auto gap = [&] { return random.integer(1, 9); };
  check_with(whole, any_layout(), any_layout(), {gap(), gap(), gap()});
  check(entry, whole);
}

/// Parts of larger matrices, whose other elements are NaN: whoever reads one, shows it.
void check_slices(Entry<Product> entry) {
  Problem p = random_problem(67, 45, 38);
  const auto sliced = [](const Tensor<float>& x, Strides strides) {
    Tensor<float> slice(x.shape(), std::move(strides), kNan);
    for (std::int64_t i = 0; i < x.numel(); ++i) slice.at_linear(i) = x.at_linear(i);
    return slice;
  };
  const Tensor<float> A = p.A, B = p.B;
  check(entry, {sliced(A, {40, 1}), sliced(B, {52, 1}), {47, 1}});        // the left part of wider matrices
  check(entry, {sliced(A, {2 * 38, 2}), sliced(B, {3, 150}), {2, 140}});  // every second column, third row
  check(entry, {sliced(A, {1, 70}), sliced(B, {46, 1}), {96, 2}});
  for (const CallOptions& shifted : with_shifted_arrays(3)) {
    INFO("One of the matrices begins at no multiple of 16 bytes");
    check(entry, random_problem(64, 72, 40), shifted);
  }
  for (std::size_t array = 0; array < 3; ++array) {
    INFO("The same with whole tiles, which may have a fast path");
    check(entry, random_problem(128, 128, 32), with_shifted_array(3, array, 8));
  }
  for (const Problem& drawn : drawn_problems()) check(entry, drawn);
  check_gaps(entry);
}

void check_orders(Entry<Product> entry) {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const Problem& p :
       {random_problem(70, 140, 45),
        random_problem(random.integer(30, 150), random.integer(30, 150), random.integer(40, 100))}) {
    Tensor<float> first({p.M(), p.N()});
    require_ran(multiply(entry, p, first));
    require_product(first, p);
    std::uint64_t seed = order_seed();
    for (const Order order : {Order::reverse, Order::random, Order::random}) {
      CallOptions options;
      options.order = order;
      options.seed = seed++;
      Tensor<float> C({p.M(), p.N()});
      require_ran(multiply(entry, p, C, options));
      require_product(C, p);
      INFO("The same call, with blocks, warps and threads in another order; C must have the same bits");
      require_same_bits(C, first, "C");
    }
  }
}

void check_refusals(Entry<Product> entry) {
  check(entry, random_problem(3, 4, 5));
  Random random(case_seed());  // for sizes and strides that no kernel knows beforehand
  const auto require_refused = [&](Shape a, Shape b, Shape c, const char* argument) {
    const auto strides = [&](const Shape& x) { return drawn::strides(x[0], x[1], random); };
    const Tensor<float> A(a, strides(a), 1.0f), B(b, strides(b), 1.0f);
    Tensor<float> C(c, strides(c), 1.0f);
    INFO("A: shape " << format_shape(a) << "; B: shape " << format_shape(b) << "; C: shape "
                     << format_shape(c));
    require_throws<std::invalid_argument>(call(entry, in(A, "A"), in(B, "B"), out(C, "C")), argument);
  };
  require_refused({3, 5}, {4, 4}, {3, 4}, "B");
  require_refused({3, 5}, {5, 4}, {3, 5}, "C");
  require_refused({3, 0}, {2, 4}, {3, 4}, "B");
  require_refused({0, 5}, {4, 4}, {0, 4}, "B");
  for (int i = 0; i < 2; ++i) {
    const std::int64_t M = random.integer(2, 90), K = random.integer(2, 90), N = random.integer(2, 90);
    for_misfits(M, N, K, random, [&](const Shape& b, const Shape& c, const char* argument) {
      require_refused({M, K}, b, c, argument);
    });
  }
}

/// A grid limit of one block, where 400 rows and columns need more. A GPU has no such switch and accepts the
/// launch; then the product must be right.
void check_refused_launch(Entry<Product> entry) {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const Problem p = random_problem(random.integer(400, 500), random.integer(400, 500), random.integer(1, 6));
  CallOptions options;
  options.max_grid_x = 1;
  Tensor<float> C({p.M(), p.N()});
  const Outcome unlimited = multiply(entry, p, C, {});
  require_ran(unlimited);
  const Outcome outcome = multiply(entry, p, C, options);
  if (!require_refused_launch(outcome, unlimited)) require_product(C, p);
}

// --- Counters ---

/// "32.0": how many sectors or passes a warp's access takes on average.
std::string per_request(std::uint64_t count, std::uint64_t requests) {
  const std::uint64_t tenths = requests == 0 ? 0 : (10 * count + requests / 2) / requests;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10);
}

void require_stored_once(const Profile& profile, const Problem& p) {
  const std::uint64_t written = profile.global_store.bytes_asked;
  const auto elements = static_cast<std::uint64_t>(p.M() * p.N());
  require(written == 4 * elements,
          "The threads wrote " + std::to_string(written) + " bytes to global memory. Each of the " +
              std::to_string(elements) +
              " elements of C should be written once: " + std::to_string(4 * elements) + " bytes.");
}

/// What the contract promises of whole sectors and of what is written, for tiles of tile x tile. Rows and
/// columns must begin with sectors.
void require_traffic(const Profile& profile, const Problem& p, TileShape tile) {
  const std::uint64_t most = bytes_of_tiles(p, tile);
  const simt::GlobalTraffic& load = profile.global_load;
  const std::string side = std::to_string(tile.rows);
  require(10 * load.sectors <= 11 * load.ideal_sectors,
          "When a warp reads A or B, it touches " + per_request(load.sectors, load.requests) +
              " sectors of 32 bytes where " + per_request(load.ideal_sectors, load.requests) +
              " would do. Here strides are " + format_shape(p.A.strides()) + " and " +
              format_shape(p.B.strides()) +
              ": let neighbouring threads read along the axis whose stride is 1.");
  require(load.bytes * 100 <= most * 115, "The sectors that are read have " + std::to_string(load.bytes) +
                                              " bytes, where tiles of " + side + " x " + side + " need " +
                                              std::to_string(most) + ".");
  require_stored_once(profile, p);
}

/// matmul_tiled is the kernel before registers: a thread for each element of C.
void require_thread_an_element(const Outcome& outcome, const Problem& p) {
  const std::int64_t threads = outcome.counters.at("threads"), elements = p.M() * p.N();
  require(threads >= elements, "The launch had " + std::to_string(threads) + " threads for the " +
                                   std::to_string(elements) +
                                   " elements of C. In matmul_tiled, each thread computes one of them; tiles "
                                   "in registers are what matmul is for.");
}

void require_no_conflicts(const Profile& profile) {
  for (const auto& [traffic, verb] :
       {std::pair{profile.shared_load, "reads"}, {profile.shared_store, "writes"}}) {
    require(traffic.conflicts() == 0, std::string("When a warp ") + verb + " shared memory, it takes " +
                                          per_request(traffic.wavefronts, traffic.requests) +
                                          " passes through the banks where " +
                                          per_request(traffic.ideal_wavefronts, traffic.requests) +
                                          " would do: several of its lanes want different words of the same "
                                          "bank. Elements whose addresses differ "
                                          "by a multiple of 32 words share a bank; a row that is a little "
                                          "longer than it needs to be moves the next "
                                          "one to other banks.");
  }
}

/// Two barriers for every `steps` of k, and one more.
void require_barriers(const Outcome& outcome, const Profile& profile, const Problem& p, std::int64_t steps) {
  const auto warps = static_cast<std::uint64_t>(outcome.counters.at("threads") / 32);
  const auto most = static_cast<std::uint64_t>(2 * ((p.K() - 1) / steps + 1) + 1);
  require(meetings(profile) <= most * warps,
          meetings_told(profile, warps) + ", but K = " + std::to_string(p.K()) + " needs at most " +
              std::to_string(most) + ": one when a tile is complete, one when all have read it, and " +
              std::to_string(steps) + " steps of k between them.");
}

/// All that the contract promises of the entry's cost. Rows and columns must begin with sectors.
void check_cost(Entry<Product> entry, const Problem& p) {
  const bool tiled = entry.name == kTiled.name;
  const Outcome outcome = check(entry, p);
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  INFO(describe(p));
  require_traffic(*profile, p, tile_of(entry));
  const auto up = [](std::int64_t size) { return (size + 127) / 128 * 128; };  // to the largest tiles
  if (tiled)
    require_thread_an_element(outcome, p);
  else
    require_register_tile(*profile, up(p.M()) * up(p.N()) * p.K());
  require_no_conflicts(*profile);
  require_barriers(outcome, *profile, p, tiled ? kTile : 8);
  require_busy_lanes(*profile);
  require_busy_warps(*profile);
}

/// Sizes and strides that no kernel knows beforehand, into rows and into columns.
void check_counters(Entry<Product> entry, Layout a, Layout b) {
  Random random(case_seed());
  const auto with = [&](std::int64_t M, std::int64_t N, std::int64_t K, Layout c) {
    const Problem dense = random_problem(M, N, K);
    const std::int64_t gap = random.integer(0, 5);
    return Problem{in_sectors(dense.A, a, random), in_sectors(dense.B, b, random), c(M + gap, N + gap)};
  };
  const auto size = [&](std::int64_t least, std::int64_t most) { return 8 * random.integer(least, most); };
  std::int64_t longer = random.integer(0, 1);
  for (const Layout c : {row_major, column_major}) {
    std::array sizes{size(9, 16), size(9, 16)};
    sizes[static_cast<std::size_t>(longer++ % 2)] += 64;
    check_cost(entry, with(sizes[0], sizes[1], 32 * random.integer(1, 3), c));
    // One tile of C: a block more would read A or B again.
    const TileShape tile = tile_of(entry);
    check_cost(entry, with(tile.rows, tile.cols, 32 * random.integer(1, 3), c));
  }
}

/// Sizes that no tile divides and no kernel knows beforehand: what its threads keep in registers is kept in
/// tiles at the edges, too.
void check_ragged_counters(Entry<Product> entry) {
  Random random(case_seed());
  constexpr std::int64_t kSide = 128, kK = 64;  // those of whole tiles
  std::int64_t any = random.integer(0, 7);
  for (int i = 0; i < 2; ++i, any = 7 - any) {  // once by rows what is by columns the other time
    const auto layout = [&](int matrix) { return any >> matrix & 1 ? column_major : row_major; };
    const auto size = [&] { return kSide - random.integer(1, 31); };
    const Problem p =
        random_problem(size(), size(), kK - random.integer(1, 7), layout(0), layout(1), layout(2));
    const Outcome outcome = check(entry, p);
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(describe(p));
    const bool tiled = entry.name == kTiled.name;
    if (tiled)
      require_thread_an_element(outcome, p);
    else
      require_register_tile(*profile, kSide * kSide * kK);
    require_no_conflicts(*profile);
    require_barriers(outcome, *profile, p, tiled ? kTile : 8);
    require_stored_once(*profile, p);
  }
}

/// No block multiplies what two could share: tiles have at most 256 x 256 elements.
void check_busy_blocks(Entry<Product> entry) {
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const Problem& p :
       {random_problem(512, 64, 16), random_problem(512, random.integer(20, 70), random.integer(10, 24))}) {
    const Outcome outcome = check(entry, p);
    if (const Profile* profile = profile_of(outcome)) require_busy_blocks(*profile, 0.5);
  }
}

}  // namespace

TEST_CASE("tiled: multiplies the matrices of the notes", "[l06][matmul_tiled][points:1]") {
  check(kTiled, problem_of_the_notes());
}

TEST_CASE("tiled: multiplies matrices of sizes that tiles do not divide", "[l06][matmul_tiled][points:2]") {
  check_ragged(kTiled);
}

TEST_CASE("tiled: multiplies transposed matrices into rows and into columns",
          "[l06][matmul_tiled][points:1]") {
  check_transposed(kTiled);
}

TEST_CASE("tiled: multiplies parts of larger matrices, and leaves what lies between the elements of C",
          "[l06][matmul_tiled][points:1]") {
  check_slices(kTiled);
}

TEST_CASE("tiled: reads A and B as often as tiles of 32 x 32 demand, in whole sectors",
          "[l06][matmul_tiled][points:3]") {
  for (const Layout a : {row_major, column_major})
    for (const Layout b : {row_major, column_major}) check_counters(kTiled, a, b);
  check_ragged_counters(kTiled);
  check_busy_blocks(kTiled);
}

TEST_CASE("multiplies the matrices of the notes", "[l06][matmul][points:1]") {
  check(kRegisters, problem_of_the_notes());
}

TEST_CASE("multiplies matrices of sizes that tiles do not divide", "[l06][matmul][points:3]") {
  check_ragged(kRegisters);
}

TEST_CASE("multiplies a row, a column and single elements", "[l06][matmul][points:1]") {
  for (const Entry<Product> entry : {kTiled, kRegisters})
    for (const auto& [M, N, K] : {std::array<std::int64_t, 3>{1, 150, 77},
                                  {150, 1, 77},
                                  {1, 1, 150},
                                  {150, 150, 1},
                                  {1, 150, 1},
                                  {150, 1, 1},
                                  {1, 1, 1},
                                  {2, 3, 2}})
      check(entry, random_problem(M, N, K));
}

TEST_CASE("gives zeros for K = 0, and launches nothing for an empty C", "[l06][matmul][points:2]") {
  for (const Entry<Product> entry : {kTiled, kRegisters}) {
    Problem p = random_problem(35, 140, 0);
    check(entry, p);
    p.c_strides = {2, 2 * 35 + 3};
    check(entry, p);
    check(entry, random_problem(0, 5, 7));
    check(entry, random_problem(5, 0, 7));
    check(entry, random_problem(5, 0, 7, row_major, row_major, column_major));
    check(entry, random_problem(0, 0, 0));
  }
}

TEST_CASE("multiplies transposed matrices into rows and into columns", "[l06][matmul][points:2]") {
  check_transposed(kRegisters);
}

TEST_CASE("multiplies parts of larger matrices, and leaves what lies between the elements of C",
          "[l06][matmul][points:2]") {
  check_slices(kRegisters);
}

TEST_CASE("keeps every bit of a matrix that is multiplied by the identity", "[l06][matmul][points:1]") {
  for (const Entry<Product> entry : {kTiled, kRegisters}) {
    const Tensor<float> X = normal({90, 50}, case_seed());
    Tensor<float> identity({50, 50});
    for (std::int64_t i = 0; i < 50; ++i) identity(i, i) = 1.0f;
    Tensor<float> C({90, 50});
    const Problem p = problem_of(X, identity);
    require_ran(multiply(entry, p, C));
    require_product(C, p);
    require_same_bits(C, X, "C");
  }
}

TEST_CASE("adds products of large, small and cancelling numbers", "[l06][matmul][points:2]") {
  for (const Entry<Product> entry : {kTiled, kRegisters}) {
    for (const Pattern pattern : {Pattern::alternating_signs, Pattern::cancelling, Pattern::large,
                                  Pattern::subnormal, Pattern::signed_zeros}) {
      INFO("data of A: " << pattern_name(pattern));
      check(entry, problem_of(adversarial(pattern, {40, 120}, case_seed()),
                              uniform({120, 36}, 0.5f, 1.5f, case_seed() + 1)));
    }
    check(entry, problem_of(normal({40, 150}, case_seed()), normal({150, 36}, case_seed() + 1)));
  }
}

TEST_CASE("keeps NaN and infinities in their own row and column", "[l06][matmul][points:2]") {
  for (const Entry<Product> entry : {kTiled, kRegisters}) {
    Problem p = random_problem(70, 75, 50);
    p.A(3, 49) = kNan;
    p.A(69, 0) = kInf;
    p.A(10, 20) = kInf;
    for (const std::int64_t j : {5, 74}) p.B(20, j) = 0.0f;  // inf times 0 is NaN
    p.A(11, 4) = kInf, p.A(11, 40) = -kInf;                  // inf - inf is NaN, or not, by the signs of B
    p.B(30, 74) = -kInf;
    p.B(0, 64) = kNan;
    check(entry, p);
  }
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l06][matmul][points:1]") {
  check_orders(kTiled);
  check_orders(kRegisters);
}

TEST_CASE("reads A and B as often as tiles of 64 x 64 demand, in whole sectors", "[l06][matmul][points:3]") {
  check_counters(kRegisters, row_major, row_major);
  check_ragged_counters(kRegisters);
  check_busy_blocks(kRegisters);
}

TEST_CASE("reads transposed matrices just as well", "[l06][matmul][points:2]") {
  check_counters(kRegisters, column_major, row_major);
  check_counters(kRegisters, row_major, column_major);
  check_counters(kRegisters, column_major, column_major);
}

TEST_CASE("multiplies (3, 5) by (5, 4), but refuses shapes that do not fit together",
          "[l06][matmul][points:1]") {
  check_refusals(kTiled);
  check_refusals(kRegisters);
}

TEST_CASE("reports a launch that CUDA refuses", "[l06][matmul][points:1]") {
  check_refused_launch(kTiled);
  check_refused_launch(kRegisters);
}

COURSE_RUN(RunContext& run) {
  const auto A = run.input<float>("A", {"M", "K"}), B = run.input<float>("B", {"K", "N"});
  Tensor<float> C({A.shape()[0], B.shape()[1]});
  run.call(ENTRY(matmul), in(A, "A"), in(B, "B"), out(C, "C"));
  run.output("C", C);
}
