// Tests of lesson 14: matmul_backward, softmax_backward and attention_backward against float64, within twice
// the error of float32 sums, and against central differences of a loss in float64.

#include "14_gradients/gradients.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "14_gradients/mistakes.hpp"
#include "14_gradients/problems.hpp"
#include "14_gradients/rounding.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/gradients.hpp"
#include "reference/matmul.hpp"
#include "reference/softmax.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using namespace course::lesson_14;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

using Col = std::int64_t;
constexpr Col kWarp = 32;
/// Two columns for every thread, and a tail of 75: two warps and eleven lanes.
constexpr Col kLongRow = 2 * kBlockThreads + 75;

// --- Calls and checks ---

/// dX and dW as matmul_backward left them.
Outcome run(const Product& p, Tensor<float>& dX, Tensor<float>& dW, const CallOptions& options = {}) {
  return call_with(options, ENTRY(matmul_backward), in(p.X, "X"), in(p.W, "W"), in(p.dY, "dY"), out(dX, "dX"),
                   out(dW, "dW"));
}

void require_gradients(const Tensor<float>& dX, const Tensor<float>& dW, const Product& p) {
  const auto expected = reference::matmul_backward(p.X, p.W, p.dY);
  const Tensor<float> Wt = p.W.transposed(0, 1), Xt = p.X.transposed(0, 1);
  require_matches(dX.contiguous(), "dX", expected.dX, in_order(p.dY, Wt, expected.dX), mistakes_in_dx(p));
  require_matches(dW.contiguous(), "dW", expected.dW, in_order(Xt, p.dY, expected.dW), mistakes_in_dw(p));
}

/// A launch at most for each gradient that is not empty.
void require_launches(const Outcome& outcome, const Product& p) {
  const std::int64_t launches = outcome.counters.at("launches");
  const std::int64_t most = (p.M() * p.K() > 0) + (p.K() * p.N() > 0);
  require(launches <= most, "Your code launched " + std::to_string(launches) + " kernels; " +
                                (most == 0   ? "dX and dW are empty, so that there is nothing to launch."
                                 : most == 1 ? "one of dX and dW is empty, so that one is enough."
                                             : "one for dX and one for dW are enough."));
}

/// What the threads read for a product of an (M, K) and a (K, N) matrix with tiles of 64 x 64.
std::int64_t bytes_of_product(std::int64_t M, std::int64_t K, std::int64_t N) {
  const auto tiles = [](std::int64_t size) { return (size + kBlockTile - 1) / kBlockTile; };
  return 4 * (M * K * tiles(N) + K * N * tiles(M));
}

/// Fails the case if the threads read or write more than the contract lets them, which holds for every size:
/// a kernel may tell them apart.
void require_tiles_shared(const Profile& profile, const Product& p) {
  const std::uint64_t read = profile.global_load.bytes_asked;
  const std::int64_t M = p.M(), K = p.K(), N = p.N();
  const auto most = static_cast<std::uint64_t>(bytes_of_product(M, N, K) + bytes_of_product(K, M, N));
  require(read <= most, "The threads read " + std::to_string(read) +
                            " bytes. With tiles of 64 x 64, both products together read " +
                            std::to_string(most) +
                            ": each element once for every tile that it has a part in.");
  const std::uint64_t written = profile.global_store.bytes_asked;
  const auto once = static_cast<std::uint64_t>(4 * (M * K + K * N));
  require(
      written == once,
      "The threads wrote " + std::to_string(written) + " bytes to global memory. dX and dW have " +
          std::to_string(once) +
          ", each element to be written once. A transposed matrix need not be written anywhere: it is a view "
          "whose strides are exchanged.");
}

/// Runs matmul_backward and compares.
Outcome check(const Product& p, const CallOptions& options = {}) {
  INFO("M = " << p.M() << ", K = " << p.K() << ", N = " << p.N() << "; strides of X "
              << format_shape(p.X.strides()) << ", of W " << format_shape(p.W.strides()) << ", of dY "
              << format_shape(p.dY.strides()));
  Tensor<float> dX(p.X.shape(), p.dx_strides, -1000.0f), dW(p.W.shape(), p.dw_strides, -1000.0f);
  const Outcome outcome = run(p, dX, dW, options);
  require_ran(outcome);
  require_gradients(dX, dW, p);
  require_launches(outcome, p);
  if (const auto profile = profile_if_counted(outcome)) require_tiles_shared(*profile, p);
  return outcome;
}

/// dS as softmax_backward left it, without gaps.
Outcome run(const Rows& p, Tensor<float>& dS, const CallOptions& options = {}) {
  Tensor<float> strided(p.P.shape(), {p.ds_row_stride, 1}, -2.0f);
  Outcome outcome =
      call_with(options, ENTRY(softmax_backward), in(p.P, "P"), in(p.dP, "dP"), out(strided, "dS"));
  dS = strided.contiguous();
  return outcome;
}

void require_gradients(const Tensor<float>& dS, const Rows& p) {
  const Tensor<double> expected = reference::softmax_backward(p.P, p.dP);
  require_matches(dS, "dS", expected, in_32_parts(p, expected), mistakes_in_ds(p));
}

/// Where something was found: whether the grid counts columns in the place of rows.
void require_grid_of_rows(const Outcome& outcome, const Rows& p) {
  const auto blocks = outcome.counters.find("blocks");
  const bool of_columns =
      blocks != outcome.counters.end() && blocks->second == p.cols() && p.cols() != p.rows();
  require(outcome.findings.empty() || !of_columns,
          "The grid has " + std::to_string(p.cols()) +
              " blocks, as many as there are columns. Blocks have rows to do, of which there are " +
              std::to_string(p.rows()) + ".");
}

/// The same for the rows of P, dP and dS.
void require_read_twice(const Profile& profile, const Rows& p) {
  const auto bytes = static_cast<std::uint64_t>(4 * p.rows() * p.cols());
  const std::uint64_t read = profile.global_load.bytes_asked;
  require(read <= 4 * bytes,
          "The threads read " + std::to_string(read) + " bytes. P and dP have " + std::to_string(2 * bytes) +
              " together, and two passes over both read " + std::to_string(4 * bytes) +
              ": one for the sum, one for the output. The Jacobian of a row need not be gone through.");
  const std::uint64_t written = profile.global_store.bytes_asked;
  require(written == bytes, "The threads wrote " + std::to_string(written) +
                                " bytes to global memory. Each of the " + std::to_string(bytes / 4) +
                                " elements of dS should be written once: " + std::to_string(bytes) +
                                " bytes.");
}

/// Runs softmax_backward and compares.
Outcome check(const Rows& p, const CallOptions& options = {}) {
  INFO("rows = " << p.rows() << ", cols = " << p.cols() << "; strides of P " << format_shape(p.P.strides())
                 << ", of dP " << format_shape(p.dP.strides()) << ", row stride of dS " << p.ds_row_stride);
  Tensor<float> dS;
  const Outcome outcome = run(p, dS, options);
  require_grid_of_rows(outcome, p);
  require_ran(outcome);
  if (dS.numel() > 0) require_gradients(dS, p);
  if (const auto profile = profile_if_counted(outcome)) require_read_twice(*profile, p);
  return outcome;
}

void require_launch(const Outcome& outcome, Col rows) {
  const std::int64_t launches = outcome.counters.at("launches"), blocks = outcome.counters.at("blocks");
  require(launches == 1,
          "Your code launched " + std::to_string(launches) + " kernels; it should launch one.");
  require(blocks >= (rows - 1) / kWarp + 1, "The launch had only " + std::to_string(blocks) + " blocks for " +
                                                std::to_string(rows) +
                                                " rows. With more of them, more of a GPU works at once.");
}

/// The same for the gradients of a head: four products, and dS.
void require_head_shared(const Profile& profile, const Head& p) {
  const std::int64_t Nq = p.Nq(), Nk = p.Nk(), D = p.D();
  const auto most =
      static_cast<std::uint64_t>(bytes_of_product(Nq, D, Nk) + bytes_of_product(Nk, Nq, D) +
                                 bytes_of_product(Nq, Nk, D) + bytes_of_product(Nk, Nq, D) + 16 * Nq * Nk);
  const std::uint64_t read = profile.global_load.bytes_asked;
  require(read <= most, "The threads read " + std::to_string(read) +
                            " bytes. Four products with tiles of 64 x 64, and P and dP twice for dS, take " +
                            std::to_string(most) + ".");
  const auto once = static_cast<std::uint64_t>(4 * (2 * Nq * Nk + Nq * D + 2 * Nk * D));
  if (profile.global_store.bytes_asked > once)  // less is told as elements that were never written
    require_stores(profile, once, "to write dP, dS, dQ, dK and dV once");
}

/// Gradients as attention_backward left them, without gaps.
Outcome run(const Head& p, HeadGradients& got, const CallOptions& options = {}) {
  const auto space = [&](std::int64_t rows, std::int64_t cols, bool by_columns, std::int64_t gaps) {
    return Tensor<float>({rows, cols}, strides_of(rows, cols, by_columns, gaps * p.gap), -1000.0f);
  };
  const auto& [of_q, of_k, of_v, of_do, of_dq, of_dk, of_dv] = p.by_columns;
  Tensor<float> dP = space(p.Nq(), p.Nk(), false, 1), dS = space(p.Nq(), p.Nk(), false, 2),
                dQ = space(p.Nq(), p.D(), of_dq, 3), dK = space(p.Nk(), p.D(), of_dk, 4),
                dV = space(p.Nk(), p.D(), of_dv, 5);
  Outcome outcome = call_with(options, ENTRY(attention_backward), in(p.Q, "Q"), in(p.K, "K"), in(p.V, "V"),
                              in(p.P, "P"), in(p.dO, "dO"), out(dP, "dP"), out(dS, "dS"), out(dQ, "dQ"),
                              out(dK, "dK"), out(dV, "dV"), p.scale);
  got = {dP.contiguous(), dS.contiguous(), dQ.contiguous(), dK.contiguous(), dV.contiguous()};
  return outcome;
}

HeadGradients run(const Head& p, const CallOptions& options = {}) {
  HeadGradients got;
  const Outcome outcome = run(p, got, options);
  require_ran(outcome);
  require(outcome.counters.at("launches") <= 5, "Your code launched " +
                                                    std::to_string(outcome.counters.at("launches")) +
                                                    " kernels; five are enough, one for each gradient.");
  if (const auto profile = profile_if_counted(outcome)) require_head_shared(*profile, p);
  return got;
}

/// Each gradient is held against float64 that begins with what the step before it stored.
void require_gradients(const HeadGradients& got, const Head& p) {
  const auto expected = reference::matmul_backward(p.P, p.V, p.dO);
  require_matches(got.dP, "dP", expected.dX, in_order(p.dO, p.V.transposed(0, 1), expected.dX),
                  mistakes_in_dp(p));
  require_matches(got.dV, "dV", expected.dW, in_order(p.P.transposed(0, 1), p.dO, expected.dW),
                  mistakes_in_dv(p, got));
  if (got.dS.numel() > 0) require_gradients(got.dS, rows_of(p.P, got.dP));
  const auto require_product = [&](bool of_keys) {
    const Tensor<float> A = of_keys ? got.dS.transposed(0, 1) : got.dS;
    const Tensor<float>& B = of_keys ? p.Q : p.K;
    const Tensor<double> product = reference::matmul(A, B);
    const auto scale = static_cast<double>(p.scale);
    require_matches(of_keys ? got.dK : got.dQ, of_keys ? "dK" : "dQ", times(product, scale),
                    times(in_order(A, B, product), scale), mistakes_behind_ds(p, got, of_keys));
  };
  require_product(false);
  require_product(true);
}

/// Runs attention_backward and compares.
void check(const Head& p, const CallOptions& options = {}) {
  INFO("Nq = " << p.Nq() << ", Nk = " << p.Nk() << ", D = " << p.D() << ", scale = " << p.scale);
  require_gradients(run(p, options), p);
}

/// The same bits in every order of blocks and threads.
void check_orders(const Head& p) {
  const HeadGradients first = run(p);
  require_gradients(first, p);
  CallOptions options{.seed = order_seed(), .check = CheckMode::never};
  for (const Order order : {Order::reverse, Order::random}) {
    INFO("The same call, with blocks, warps and threads in another order; results must have the same bits");
    options.order = order;
    HeadGradients got;
    require_ran(run(p, got, options));
    for (const auto& [name, gradient] : {std::pair{"dP", &HeadGradients::dP},
                                         {"dS", &HeadGradients::dS},
                                         {"dQ", &HeadGradients::dQ},
                                         {"dK", &HeadGradients::dK},
                                         {"dV", &HeadGradients::dV}})
      require_same_bits(got.*gradient, first.*gradient, name);
  }
}

// --- Central differences ---

/// Σ a ∘ b: a loss whose gradient with respect to a is b.
double inner(const Tensor<double>& a, const Tensor<float>& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.numel(); ++i) sum += a.at_linear(i) * static_cast<double>(b.at_linear(i));
  return sum;
}

// --- Counters ---

/// What the contract promises of whole sectors. Rows and columns must begin with sectors.
void require_loads_side_by_side(const Profile& profile) {
  const simt::GlobalTraffic& load = profile.global_load;
  require(10 * load.sectors <= 11 * load.ideal_sectors,
          "The warps' loads touch " + std::to_string(load.sectors) + " sectors of 32 bytes where " +
              std::to_string(load.ideal_sectors) +
              " would do: let neighbouring threads read along the axis whose stride is 1.");
}

/// The same for the rows of P, dP and dS.
void require_rows_side_by_side(const Profile& profile, const Rows& p) {
  const simt::GlobalTraffic &load = profile.global_load, &store = profile.global_store;
  require(load.sectors * 10 <= load.ideal_sectors * 11 && store.sectors * 10 <= store.ideal_sectors * 11,
          "The warps' accesses touch " + std::to_string(load.sectors + store.sectors) +
              " sectors of 32 bytes where " + std::to_string(load.ideal_sectors + store.ideal_sectors) +
              " would do, although every row begins with a whole sector. Let neighbouring threads take "
              "neighbouring columns.");
  require(load.requests * 16 * 4 <= load.bytes_asked,
          "The warps load " + std::to_string(load.bytes_asked / 4) + " numbers with " +
              std::to_string(load.requests) +
              " instructions, though each could bring 32 of them: most lanes have nothing to do.");
  require_full_sectors(store, "store");
  require_busy_lanes(profile);
  require_busy_warps_of_rows(profile, p.rows());
}

}  // namespace

TEST_CASE("matmul: gives the gradients of the notes", "[l14][matmul_backward][points:1]") {
  const Product p =
      product_of(Tensor<float>::from({2, 2}, {1, 2, 3, 4}), Tensor<float>::from({2, 2}, {2, 1, 0, 3}),
                 Tensor<float>::from({2, 2}, {1, -1, 2, 1}));
  // What the notes print.
  const Tensor<double> Y = reference::matmul(p.X, p.W);
  const auto [dX, dW] = reference::matmul_backward(p.X, p.W, p.dY);
  CHECK(compare_bits(Y, Tensor<double>::from({2, 2}, {2, 7, 6, 15}), "Y").passed);
  CHECK(compare_bits(dX, Tensor<double>::from({2, 2}, {1, -3, 5, 3}), "dX").passed);
  CHECK(compare_bits(dW, Tensor<double>::from({2, 2}, {7, 2, 10, 2}), "dW").passed);
  CHECK(inner(Y, p.dY) == 22);
  check(p);
}

TEST_CASE("matmul: takes matrices of sizes that tiles do not divide", "[l14][matmul_backward][points:2]") {
  for (const auto& [M, K, N] :
       {std::array<std::int64_t, 3>{140, 131, 33}, {70, 45, 129}, {64, 64, 64}, {5, 150, 9}})
    check(random_product(M, K, N));
}

TEST_CASE("matmul: takes single rows, columns and elements", "[l14][matmul_backward][points:1]") {
  for (const auto& [M, K, N] : {std::array<std::int64_t, 3>{1, 77, 40},
                                {77, 1, 40},
                                {77, 40, 1},
                                {1, 1, 3},
                                {1, 3, 1},
                                {3, 1, 1},
                                {1, 1, 1},
                                {2, 3, 4}})
    check(random_product(M, K, N));
}

TEST_CASE("matmul: gives zeros where nothing is summed, and launches nothing for empty gradients",
          "[l14][matmul_backward][points:1]") {
  for (Product p : {random_product(35, 40, 0), random_product(0, 35, 40)}) {  // of dX and dW, one is zero
    check(p);
    p.dx_strides = p.dw_strides = {2, 2 * 35 + 5};
    check(p);
  }
  check(random_product(35, 0, 40));
  check(random_product(0, 0, 0));
}

TEST_CASE("matmul: takes transposed matrices and parts of larger ones, and leaves what lies between",
          "[l14][matmul_backward][points:2]") {
  for (const Layout x : {row_major, column_major})
    for (const Layout w : {row_major, column_major})
      for (const Layout dy : {row_major, column_major})
        if (x == column_major || w == column_major || dy == column_major)
          check(random_product(40, 35, 50, x, w, dy));
  // Parts whose surroundings are NaN: whoever reads one, shows it.
  const Product p = random_product(67, 38, 45);
  check({laid_out(p.X, {40, 1}, kNan),
         laid_out(p.W, {3, 150}, kNan),
         laid_out(p.dY, {1, 70}, kNan),
         {2, 140},
         {47, 1}});
  for (const CallOptions& shifted : with_shifted_arrays(5)) {
    INFO("One of the matrices begins at no multiple of 16 bytes");
    check(random_product(64, 40, 48), shifted);
  }
  Random random(case_seed());  // for sizes and strides that no kernel knows beforehand
  for (int i = 0; i < 4; ++i) {
    std::array sizes{drawn::length(random, 150), drawn::length(random, 150), drawn::length(random, 60)};
    if (i == 3) {
      sizes.fill(random.integer(20, 60));
    } else if (i > 0) {  // a long sum over rows, or over columns
      sizes = {drawn::length(random, 40), drawn::length(random, 40), drawn::length(random, 40)};
      sizes[i == 1 ? 0 : 2] = random.integer(200, 1500);
    }
    const auto [M, K, N] = sizes;
    const Product dense = random_product(M, K, N);
    const auto any = [&](const Tensor<float>& x) {
      return laid_out(drawn::times(x, drawn::factor(random)),
                      drawn::strides(x.shape()[0], x.shape()[1], random), kNan);
    };
    check({any(dense.X), any(dense.W), any(dense.dY), drawn::strides(M, K, random),
           drawn::strides(K, N, random)});
  }
  // Whole tiles, which may have a fast path.
  const Product whole = random_product(64, 64 * random.integer(1, 2), 64);
  for (const std::vector<std::int64_t>& gaps : drawn::gaps_around_fours(5, random)) {
    const auto by_rows = [&](const Tensor<float>& x, std::size_t array) {
      return Strides{x.shape()[1] + gaps[array], 1};
    };
    check({laid_out(whole.X, by_rows(whole.X, 0), kNan), laid_out(whole.W, by_rows(whole.W, 1), kNan),
           laid_out(whole.dY, by_rows(whole.dY, 2), kNan), by_rows(whole.X, 3), by_rows(whole.W, 4)});
  }
  check(random_product(256, 384, 256), {.check = CheckMode::never});
}

TEST_CASE("matmul: adds products of large, small and cancelling numbers",
          "[l14][matmul_backward][points:1]") {
  for (const Pattern pattern : {Pattern::alternating_signs, Pattern::cancelling, Pattern::large,
                                Pattern::subnormal, Pattern::signed_zeros}) {
    INFO("data of dY: " << pattern_name(pattern));
    check(product_of(normal({40, 50}, case_seed()), uniform({50, 36}, 0.5f, 1.5f, case_seed() + 1),
                     adversarial(pattern, {40, 36}, case_seed())));
  }
}

TEST_CASE("matmul: keeps NaN and infinities to the gradients that they reach",
          "[l14][matmul_backward][points:1]") {
  Product p = random_product(70, 50, 40);
  p.X(3, 49) = kNan;
  p.W(10, 20) = kInf;
  p.dY(5, 20) = 0.0f;  // times inf is NaN
  p.dY(69, 7) = -kInf;
  p.dY(0, 39) = kNan;
  check(p);
}

TEST_CASE("matmul: agrees with central differences of a loss", "[l14][matmul_backward][points:1]") {
  Product p = product_of(normal({5, 7}, case_seed()), normal({7, 4}, case_seed() + 1),
                         normal({5, 4}, case_seed() + 2));
  Tensor<float> dX(p.X.shape()), dW(p.W.shape());
  require_ran(run(p, dX, dW));
  const auto loss = [&] { return inner(reference::matmul(p.X, p.W), p.dY); };
  INFO("The expected numbers are central differences of Σ dY ∘ (X·W), in float64");
  const Tensor<double> x_differences = central_differences(p.X, loss),
                       w_differences = central_differences(p.W, loss);
  const Tensor<float> Wt = p.W.transposed(0, 1), Xt = p.X.transposed(0, 1);
  require_matches(dX, "dX", x_differences, in_order(p.dY, Wt, x_differences), mistakes_in_dx(p));
  require_matches(dW, "dW", w_differences, in_order(Xt, p.dY, w_differences), mistakes_in_dw(p));
}

TEST_CASE(
    "matmul: reads as often as tiles of 64 x 64 demand, in whole sectors, and moves nothing to transpose it",
    "[l14][matmul_backward][points:2]") {
  Random random(case_seed());
  const auto size = [&](std::int64_t least, std::int64_t most) { return 8 * random.integer(least, most); };
  for (const Layout x : {row_major, column_major})
    for (const Layout w : {row_major, column_major})
      for (const Layout dy : {row_major, column_major}) {
        Product p = random_product(size(9, 12), size(5, 8), size(9, 12));
        p.X = products::in_sectors(p.X, x, random);
        p.W = products::in_sectors(p.W, w, random);
        p.dY = products::in_sectors(p.dY, dy, random);
        const Outcome outcome = check(p);
        if (const Profile* profile = profile_of(outcome)) require_loads_side_by_side(*profile);
      }
  // dX and dW have two tiles or more, of 256 x 256 elements at most.
  for (const Product& p : {random_product(32, 480, 32),  // and of sizes that no kernel knows beforehand
                           random_product(random.integer(20, 31), 480, random.integer(20, 31))}) {
    const Outcome outcome = check(p);
    if (const Profile* profile = profile_of(outcome)) require_busy_blocks(*profile, 0.5);
  }
}

TEST_CASE("softmax: gives the gradient of the notes", "[l14][softmax_backward][points:1]") {
  const Rows p = rows_of_the_notes();
  // What the notes print: 64 times the Jacobian, and dS, the Jacobian times dP.
  const auto jacobian = Tensor<double>::from({4, 4}, {7, -4, -1, -2,   //
                                                      -4, 16, -4, -8,  //
                                                      -1, -4, 7, -2,   //
                                                      -2, -8, -2, 12});
  const auto dS = Tensor<double>::from({1, 4}, {0.625, -0.5, -0.375, 0.25});
  for (Col j = 0; j < 4; ++j) {
    double product = 0;
    for (Col k = 0; k < 4; ++k) {
      CHECK(64 * static_cast<double>(p.P(0, j)) * ((j == k ? 1 : 0) - static_cast<double>(p.P(0, k))) ==
            jacobian(j, k));
      product += jacobian(j, k) / 64 * static_cast<double>(p.dP(0, k));
    }
    CHECK(product == dS(0, j));
  }
  CHECK(compare_bits(reference::softmax_backward(p.P, p.dP), dS, "dS").passed);
  // Differences of the loss Σ dP ∘ softmax(S), as a function of how far S_0 has moved.
  const auto loss = [](double move) { return (8 * std::exp(move) + 16) / (std::exp(move) + 7); };
  CHECK(loss(0) == 3);
  for (const auto& [h, one_sided, central] :
       {std::array<double, 3>{0.1, 0.6488, 0.6254}, {0.01, 0.6273, 0.6250}}) {
    CHECK(std::abs((loss(h) - loss(0)) / h - one_sided) < 5e-5);
    CHECK(std::abs((loss(h) - loss(-h)) / (2 * h) - central) < 5e-5);
  }
  check(p);
}

TEST_CASE("softmax: takes rows longer than a block, as long, and a little shorter",
          "[l14][softmax_backward][points:2]") {
  // The longest first: there most mistakes leave a pattern of their own.
  for (const Col cols : {kLongRow, Col{kBlockThreads + 1}, Col{kBlockThreads}, Col{kBlockThreads - 1},
                         Col{65}, Col{33}, Col{32}, Col{31}, Col{5}, Col{2}, Col{1}})
    check(random_rows(5, cols));
}

TEST_CASE("softmax: takes 200 short rows, no rows, and rows of no columns",
          "[l14][softmax_backward][points:1]") {
  const Outcome outcome_of_many = check(random_rows(200, 7));
  require_launch(outcome_of_many, 200);
  if (const Profile* profile = profile_of(outcome_of_many)) require_busy_blocks(*profile, kWarp / 200.0);
  Random random(case_seed());  // for more rows, of which no kernel knows how many
  check(random_rows(random.integer(1100, 3000), 7), {.check = CheckMode::never});
  for (const auto& [rows, cols] : {std::pair<Col, Col>{0, 7}, {3, 0}, {0, 0}, {kMaxRows, 0}}) {
    const Outcome outcome = check(rows_of(Tensor<float>({rows, cols}), Tensor<float>({rows, cols})));
    require(outcome.counters.at("launches") == 0,
            "There is nothing to compute: no kernel should be launched for " + std::to_string(rows) +
                " rows of " + std::to_string(cols) + " columns.");
  }
}

TEST_CASE("softmax: reads and writes nothing between the rows", "[l14][softmax_backward][points:1]") {
  const Rows p = random_rows(5, 300, 7);
  check(p);
  check({laid_out(p.P, {331, 1}, kNan), laid_out(p.dP, {302, 1}, kNan), 340});
  Random random(case_seed());  // for sizes and gaps that no kernel knows beforehand
  for (const std::vector<Col>& gaps : drawn::gaps_around_fours(3, random)) {
    const Col cols = 4 * random.integer(8, 300);
    const Rows fours = random_rows(5, cols);
    check({laid_out(fours.P, {cols + gaps[0], 1}, kNan), laid_out(fours.dP, {cols + gaps[1], 1}, kNan),
           cols + gaps[2]});
  }
}

TEST_CASE("softmax: gives 0 where P is 0, whatever dP holds there", "[l14][softmax_backward][points:2]") {
  // Row i sees columns 0 to i, as under a causal mask, but for row 3, which sees none.
  Rows p = random_rows(60, 50);
  for (Col row = 0; row < p.rows(); ++row)
    for (Col col = 0; col < p.cols(); ++col)
      if (col > row || row == 3) p.P(row, col) = 0.0f;
  check(p);
  const std::array<float, 4> odd{kNan, kInf, -kInf, 3e38f};
  for (Col row = 0; row < p.rows(); row += 2)
    for (Col col = row + 1; col < p.cols(); ++col)
      p.dP(row, col) = odd[static_cast<std::size_t>((row / 2 + col) % 4)];
  p.dP(3, 0) = kNan;
  check(p);
  Random random(case_seed());  // for rows that no kernel knows beforehand
  const auto few = [&] { return random.integer(3, 12); };
  // Rows of whole tiles, which may have a fast path, and many rows have gaps; the last are dense.
  const std::array<std::pair<Col, Col>, 6> sizes{{{few(), drawn::length(random, 3000)},
                                                  {random.integer(20, 120), random.integer(257, 600)},
                                                  {few(), drawn::length(random, 3000)},
                                                  {few(), 1024 * random.integer(1, 2)},
                                                  {random.integer(1100, 3000), drawn::few_columns(random)},
                                                  {few(), 2048}}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto [rows, cols] = sizes[i];
    const Col have_gaps = i < 3 ? random.integer(0, 1) : i < 5;
    Rows drawn = random_rows(rows, cols, have_gaps * drawn::few_between(random));
    drawn.dP = drawn::times(std::move(drawn.dP), drawn::factor(random));
    if (i == 0)
      drawn.P = drawn::times(std::move(drawn.P), std::abs(drawn::factor(random, 3)));  // sums other than 1
    for (Col row = 0; row < drawn.rows(); ++row)
      for (Col hidden = 0; hidden < 5; ++hidden) {
        const Col col = random.integer(0, drawn.cols() - 1);
        drawn.P(row, col) = 0.0f;
        drawn.dP(row, col) = odd[static_cast<std::size_t>(random.integer(0, 3))];
      }
    require_launch(check(drawn), drawn.rows());
  }
}

TEST_CASE("softmax: keeps NaN and infinities in their own row", "[l14][softmax_backward][points:1]") {
  Rows p = random_rows(9, 300);
  p.P(1, 0) = kNan;
  p.dP(2, 299) = kNan;
  p.dP(4, 40) = kInf;
  p.dP(5, 0) = -kInf;
  p.dP(6, 7) = kInf, p.dP(6, 270) = -kInf;
  p.P(8, 31) = 0.0f;
  p.dP(8, 30) = kInf;
  check(p);
}

TEST_CASE("softmax: takes large gradients, and weights that do not sum to 1",
          "[l14][softmax_backward][points:1]") {
  for (const Pattern pattern :
       {Pattern::large, Pattern::huge, Pattern::alternating_signs, Pattern::cancelling, Pattern::subnormal}) {
    INFO("data of dP: " << pattern_name(pattern));
    check(rows_of(probabilities(4, 300, case_seed()), adversarial(pattern, {4, 300}, case_seed())));
  }
  check(rows_of(uniform({4, 300}, 0.0f, 1.0f, case_seed()), uniform({4, 300}, -1.0f, 2.0f, case_seed() + 1)));
  check(
      rows_of(uniform({4, 300}, 0.0f, 0.001f, case_seed()), uniform({4, 300}, 1.0f, 2.0f, case_seed() + 1)));
  Rows small = random_rows(2, 40);  // a weight that is not 0, however small, counts
  for (Col row = 0; row < 2; ++row) {
    small.P(row, 7) = 1e-20f;
    small.dP(row, 7) = row == 0 ? 1e20f : -3e19f;
  }
  check(small);
}

TEST_CASE("softmax: agrees with central differences of a loss", "[l14][softmax_backward][points:2]") {
  Tensor<float> S = normal({4, 40}, case_seed());
  const Rows p = rows_of(reference::softmax(S).to<float>(), normal({4, 40}, case_seed() + 1));
  Tensor<float> dS;
  require_ran(run(p, dS));
  INFO("The expected numbers are central differences of Σ dP ∘ softmax(S), in float64");
  const Tensor<double> differences =
      central_differences(S, [&] { return inner(reference::softmax(S), p.dP); });
  require_matches(dS, "dS", differences, in_32_parts(p, differences), mistakes_in_ds(p));
}

TEST_CASE("softmax: reads P and dP twice, in whole sectors, and writes dS once",
          "[l14][softmax_backward][points:2]") {
  Random random(case_seed());  // for sizes that no kernel knows beforehand, in which most warps have columns
  for (const Rows& p : {random_rows(4, 2 * kBlockThreads + 296, 8),
                        random_rows(random.integer(2, 5), 8 * random.integer(400, 510), 8)}) {
    const Outcome outcome = check(p);
    require_launch(outcome, p.rows());
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    require_rows_side_by_side(*profile, p);
    const Col warps_a_block = outcome.counters.at("threads") / outcome.counters.at("blocks") / kWarp;
    const auto row_warps = static_cast<std::uint64_t>(p.rows() * std::max<Col>(1, warps_a_block));
    require(meetings(*profile) <= 4 * row_warps,
            meetings_told(*profile, row_warps) + " for a row; 4 are enough.");
  }
  // As long as calls can be that are counted.
  const Rows p = random_rows(random.integer(1, 2), random.integer(7200, 10'400), 8);
  require_launch(check(p), p.rows());
}

TEST_CASE("refuses shapes that do not fit together, and rows whose elements lie apart",
          "[l14][matmul_backward][softmax_backward][points:1]") {
  check(random_product(3, 4, 5));
  const auto refuses_product = [&](Shape x, Shape w, Shape dy, Shape dx, Shape dw, const char* argument) {
    INFO("shapes: X " << format_shape(x) << ", W " << format_shape(w) << ", dY " << format_shape(dy)
                      << ", dX " << format_shape(dx) << ", dW " << format_shape(dw));
    const Tensor<float> X(x, 1.0f), W(w, 1.0f), dY(dy, 1.0f);
    Tensor<float> dX(dx), dW(dw);
    require_throws<std::invalid_argument>(
        call(ENTRY(matmul_backward), in(X, "X"), in(W, "W"), in(dY, "dY"), out(dX, "dX"), out(dW, "dW")),
        argument);
  };
  refuses_product({3, 4}, {3, 5}, {3, 5}, {3, 4}, {3, 5}, "W");
  refuses_product({3, 4}, {4, 5}, {3, 5}, {4, 3}, {4, 5}, "dX");
  Random random(case_seed());  // of sizes that no kernel knows beforehand
  const std::int64_t M = random.integer(2, 90), K = random.integer(2, 90), N = random.integer(2, 90);
  for (const Shape& w : drawn::misfits({K, N}, {0}, random))
    refuses_product({M, K}, w, {M, w[1]}, {M, K}, w, "W");
  for (const Shape& dy : drawn::misfits({M, N}, random))
    refuses_product({M, K}, {K, N}, dy, {M, K}, {K, N}, "dY");
  for (const Shape& dx : drawn::misfits({M, K}, random))
    refuses_product({M, K}, {K, N}, {M, N}, dx, {K, N}, "dX");
  for (const Shape& dw : drawn::misfits({K, N}, random))
    refuses_product({M, K}, {K, N}, {M, N}, {M, K}, dw, "dW");

  check(random_rows(3, 4));
  const auto refuses_rows = [&](const Tensor<float>& P, const Tensor<float>& dP, Tensor<float> dS,
                                const char* argument) {
    INFO("shapes: P " << format_shape(P.shape()) << ", dP " << format_shape(dP.shape()) << ", dS "
                      << format_shape(dS.shape()) << "; strides " << format_shape(P.strides()) << ", "
                      << format_shape(dP.strides()) << ", " << format_shape(dS.strides()));
    require_throws<std::invalid_argument>(
        call(ENTRY(softmax_backward), in(P, "P"), in(dP, "dP"), out(dS, "dS")), argument);
  };
  const Shape shape{random.integer(2, 90), random.integer(2, 90)};
  const Tensor<float> fits(shape, 1.0f);
  for (const Shape& other : drawn::misfits(shape, random)) {
    refuses_rows(fits, Tensor<float>(other, 1.0f), fits, "dP");
    refuses_rows(fits, fits, Tensor<float>(other, 1.0f), "dS");
  }
  const std::int64_t step = random.integer(2, 9);
  for (const Strides& strides : {Strides{1, shape[0]}, {step * shape[1], step}}) {
    const Tensor<float> apart(shape, strides, 1.0f);
    refuses_rows(apart, fits, fits, "P");
    refuses_rows(fits, apart, fits, "dP");
    refuses_rows(fits, fits, apart, "dS");
  }
  const Tensor<float> too_many({kMaxRows + 1, 0});
  refuses_rows(too_many, too_many, too_many, "P");
}

TEST_CASE("reports a launch that CUDA refuses", "[l14][matmul_backward][softmax_backward][points:1]") {
  // A grid limit of one block, where more are needed. A GPU has no such switch and accepts the launch; then
  // the results must be right.
  CallOptions options;
  options.max_grid_x = 1;
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const Product product =
      random_product(random.integer(300, 350), random.integer(300, 350), random.integer(2, 6));
  Tensor<float> dX(product.X.shape()), dW(product.W.shape());
  const Outcome unlimited = run(product, dX, dW, {});
  require_ran(unlimited);
  require_gradients(dX, dW, product);
  if (!require_refused_launch(run(product, dX, dW, options), unlimited)) require_gradients(dX, dW, product);
  const Rows rows = random_rows(random.integer(1000, 1200), random.integer(5, 20));
  Tensor<float> dS;
  const Outcome unlimited_rows = run(rows, dS);
  require_ran(unlimited_rows);
  require_gradients(dS, rows);
  if (require_refused_launch(run(rows, dS, options), unlimited_rows)) return;
  require_gradients(dS, rows);
  // Along y and z there is room for fewer blocks than along x.
  if (const Col blocks = unlimited_rows.counters.at("blocks"); blocks > 1)
    check(random_rows(drawn::rows_of_65536_blocks(rows.rows(), blocks, random), 1),
          {.check = CheckMode::never});
}

TEST_CASE("gives the same bits in every order of blocks and threads",
          "[l14][matmul_backward][softmax_backward][points:1]") {
  Random random(case_seed());
  const std::array products{
      random_product(70, 140, 45),  // and of sizes that no kernel knows beforehand
      random_product(random.integer(30, 150), random.integer(30, 150), random.integer(30, 150))};
  const std::array all_rows{random_rows(6, kBlockThreads + 77),
                            random_rows(random.integer(2, 9), random.integer(150, 1200))};
  for (std::size_t i = 0; i < products.size(); ++i) {
    const Product& product = products[i];
    const Rows& rows = all_rows[i];
    Tensor<float> dX(product.X.shape()), dW(product.W.shape()), dS;
    require_ran(run(product, dX, dW));
    require_gradients(dX, dW, product);
    require_ran(run(rows, dS));
    require_gradients(dS, rows);
    std::uint64_t seed = order_seed();
    for (const Order order : {Order::reverse, Order::random}) {
      INFO(
          "The same calls, with blocks, warps and threads in another order; results must have the same bits");
      CallOptions options;
      options.order = order;
      options.seed = seed++;
      Tensor<float> dX_again(product.X.shape()), dW_again(product.W.shape()), dS_again;
      require_ran(run(product, dX_again, dW_again, options));
      require_same_bits(dX_again, dX, "dX");
      require_same_bits(dW_again, dW, "dW");
      require_ran(run(rows, dS_again, options));
      require_same_bits(dS_again, dS, "dS");
    }
  }
}

TEST_CASE("attention: gives the gradients of the notes", "[l14][attention_backward][points:1]") {
  const Head p = head_of_the_notes();
  // What the notes print.
  const auto [dP, dV] = reference::matmul_backward(p.P, p.V, p.dO);
  CHECK(compare_bits(dP, Tensor<double>::from({1, 4}, {8, 2, 0, 4}), "dP").passed);
  CHECK(compare_bits(dV, Tensor<double>::from({4, 2}, {0.25, 0.125, 1, 0.5, 0.25, 0.125, 0.5, 0.25}), "dV")
            .passed);
  const auto dS = Tensor<float>::from({1, 4}, {0.625f, -0.5f, -0.375f, 0.25f});
  const Tensor<double> dQ = times(reference::matmul(dS, p.K), 0.5);
  CHECK(compare_bits(dQ, Tensor<double>::from({1, 2}, {-0.5625, 0.1875}), "dQ").passed);
  const Tensor<float> scores = reference::matmul(p.Q, p.K.transposed(0, 1)).to<float>();
  const Tensor<double> weights = reference::softmax(times(scores, 0.5));
  for (Col j = 0; j < 4; ++j) CHECK(std::abs(weights(0, j) - static_cast<double>(p.P(0, j))) < 1e-6);
  check(p);
}

TEST_CASE("attention: takes more keys than queries, fewer, one and none, with gaps between the rows",
          "[l14][attention_backward][points:1]") {
  check(random_head(7, 11, 5));
  check(random_head(20, 140, 9, 3));
  check(random_head(130, 33, 70, 1));
  check(random_head(20, 31, 9, 2, true));
  for (const CallOptions& shifted : with_shifted_arrays(10)) {
    INFO("One of the matrices begins at no multiple of 16 bytes");
    check(random_head(20, 24, 8), shifted);
  }
  check_orders(random_head(70, 90, 9));
  for (const auto& [Nq, Nk, D] :
       {std::array<Col, 3>{1, 6, 3}, {6, 1, 3}, {6, 3, 1}, {1, 1, 1}, {4, 0, 3}, {0, 4, 3}, {4, 5, 0}})
    for (const Col gap : {0, 2}) check(random_head(Nq, Nk, D, gap));
  Random random(case_seed());  // for sizes and scales that no kernel knows beforehand
  const auto check_drawn = [&random](const Head& head) {
    std::array<bool, 7> by_columns{};
    for (bool& one : by_columns) one = random.integer(0, 1) == 1;
    Head drawn = with_columns(head, by_columns);
    drawn.scale = 2.0f * static_cast<float>(random.uniform()) - 1.0f;
    drawn.V = drawn::times(std::move(drawn.V), drawn::factor(random));
    drawn.dO = drawn::times(std::move(drawn.dO), drawn::factor(random));
    check(drawn);
  };
  for (const Col most : {60, 130, 10}) {
    // With few dimensions, long sums over queries and over keys.
    const auto length = [&] { return most > 10 ? drawn::length(random, 130) : random.integer(201, 260); };
    check_drawn(random_head(length(), length(), random.integer(1, most), random.integer(0, 4)));
  }
  // A square head, in which each matrix has strides of its own.
  const Col side = random.integer(20, 60);
  check_drawn(random_head(side, side, 9, random.integer(1, 4)));
  // Whole tiles, which may have a fast path.
  check_drawn(random_head(128, 192, 64, 4 * random.integer(0, 2)));
  check(random_head(192, 128, 64), {.check = CheckMode::never});
}

TEST_CASE("attention: lets no value that a mask hides enter dS, dQ and dK",
          "[l14][attention_backward][points:1]") {
  // Query i sees keys 0 to i, but for query 3, which sees none: nobody sees the last keys.
  Head p = random_head(6, 9, 4);
  for (Col i = 0; i < p.Nq(); ++i)
    for (Col j = 0; j < p.Nk(); ++j)
      if (j > i || i == 3) p.P(i, j) = 0.0f;
  check(p);
  Head products = p;  // into which K, Q and dO enter, also where a weight is 0
  products.K(8, 1) = kNan, products.Q(3, 0) = kInf, products.dO(3, 2) = -kInf;
  check(products);
  p.V(6, 0) = kNan, p.V(7, 3) = kInf, p.V(8, 2) = -kInf;
  check(p);
  p.V(5, 1) = kNan;  // query 5 sees it, and shows it
  check(p);
}

TEST_CASE("attention: agrees with central differences of a loss", "[l14][attention_backward][points:1]") {
  Head p = random_head(5, 7, 3);
  const Tensor<double> scores =
      times(reference::matmul(p.Q, p.K.transposed(0, 1)), static_cast<double>(p.scale));
  p.P = reference::softmax(scores.to<float>()).to<float>();
  const HeadGradients got = run(p);
  require_gradients(got, p);
  INFO("The expected numbers are central differences of Σ dO ∘ O, in float64");
  const auto loss = [&] { return inner(attention(p.Q, p.K, p.V, p.scale), p.dO); };
  require_gradient(got.dV, "dV", p.V, loss);
  require_gradient(got.dQ, "dQ", p.Q, loss);
  require_gradient(got.dK, "dK", p.K, loss);
}

TEST_CASE("attention: refuses shapes that do not fit together, and reports a launch that CUDA refuses",
          "[l14][attention_backward][points:1]") {
  const Head p = random_head(3, 4, 5);
  check(p);
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t Nq = random.integer(2, 60), Nk = random.integer(2, 60), D = random.integer(2, 60);
  const Tensor<float> queries({Nq, D}, 1.0f), keys({Nk, D}, 1.0f), scores({Nq, Nk}, 1.0f);
  const std::array<const char*, 10> names{"Q", "K", "V", "P", "dO", "dP", "dS", "dQ", "dK", "dV"};
  const auto refuses = [&](std::size_t odd, Tensor<float> x, const char* argument) {
    std::array<Tensor<float>, 10> all{queries, keys,   keys,    scores, queries,
                                      scores,  scores, queries, keys,   keys};
    all[odd] = std::move(x);
    INFO("The shape of " << names[odd] << " is " << format_shape(all[odd].shape()) << "; Nq = " << Nq
                         << ", Nk = " << Nk << ", D = " << D);
    require_throws<std::invalid_argument>(
        call(ENTRY(attention_backward), in(all[0], "Q"), in(all[1], "K"), in(all[2], "V"), in(all[3], "P"),
             in(all[4], "dO"), out(all[5], "dP"), out(all[6], "dS"), out(all[7], "dQ"), out(all[8], "dK"),
             out(all[9], "dV"), 0.5f),
        argument);
  };
  for (std::size_t odd = 1; odd < names.size(); ++odd) {
    const bool of_keys = odd == 1 || odd == 2 || odd >= 8, of_scores = odd == 3 || odd == 5 || odd == 6;
    const Shape fits = (of_keys ? keys : of_scores ? scores : queries).shape();
    for (const Shape& shape : drawn::misfits(fits, random))  // of K, another one may be what is wrong then
      refuses(odd, Tensor<float>(shape, 1.0f), odd == 1 ? "" : names[odd]);
  }
  // A launch of a product, and where each product fits into a block, that of the softmax. Whoever asks after
  // all launches has let the others read what was never written, which check mode would tell.
  for (const Head& head : {random_head(200, 150, 9), random_head(40, 40, 9)}) {
    HeadGradients got;
    CallOptions options{.check = CheckMode::never};
    const Outcome unlimited = run(head, got, options);
    require_ran(unlimited);
    require_gradients(got, head);
    options.max_grid_x = 1;
    if (!require_refused_launch(run(head, got, options), unlimited)) require_gradients(got, head);
  }
}

namespace {

/// The gradients of a head of a few queries and keys.
void check_attention(GradcheckContext& check) {
  const Col Nq = check.random().integer(2, 6), Nk = check.random().integer(2, 6),
            D = check.random().integer(2, 6);
  constexpr float kScale = 0.5f;
  Tensor<float> Q = check.normal({Nq, D}), K = check.normal({Nk, D}), V = check.normal({Nk, D});
  const Tensor<float> dO = check.normal({Nq, D});
  const Tensor<double> scores = reference::matmul(Q, K.transposed(0, 1));
  const Tensor<float> P = reference::softmax(times(scores, 0.5).to<float>()).to<float>();
  Tensor<float> dP(P.shape()), dS(P.shape()), dQ(Q.shape()), dK(K.shape()), dV(V.shape());
  check.call(ENTRY(attention_backward), in(Q, "Q"), in(K, "K"), in(V, "V"), in(P, "P"), in(dO, "dO"),
             out(dP, "dP"), out(dS, "dS"), out(dQ, "dQ"), out(dK, "dK"), out(dV, "dV"), kScale);
  const auto loss = [&] { return inner(attention(Q, K, V, kScale), dO); };
  check.compare("dQ", dQ, Q, loss);
  check.compare("dK", dK, K, loss);
  check.compare("dV", dV, V, loss);
}

}  // namespace

COURSE_GRADCHECK(GradcheckContext& check) {
  // Of three cases with seeds that follow each other, one has several tiles and rows longer than a block.
  constexpr Col kTile = 64, kBlock = 256;
  const bool large = check.seed() % 3 == 2;
  const auto size = [&] { return check.random().integer(2, 6) + (large ? kTile : 0); };
  const Col M = size(), K = size(), N = size(), rows = check.random().integer(1, 6),
            cols = check.random().integer(2, 7) + (large ? kBlock : 0);
  check.covers("more than one tile of a product", large);
  check.covers("rows longer than a block", large);
  check.describe("X (" + std::to_string(M) + ", " + std::to_string(K) + "), W (" + std::to_string(K) + ", " +
                 std::to_string(N) + "); scores (" + std::to_string(rows) + ", " + std::to_string(cols) +
                 ")");
  Tensor<float> X = check.normal({M, K}), W = check.normal({K, N});
  const Tensor<float> dY = check.normal({M, N});
  Tensor<float> dX(X.shape()), dW(W.shape());
  check.call(ENTRY(matmul_backward), in(X, "X"), in(W, "W"), in(dY, "dY"), out(dX, "dX"), out(dW, "dW"));
  const auto loss_of_product = [&] { return inner(reference::matmul(X, W), dY); };
  check.compare("dX", dX, X, loss_of_product);
  check.compare("dW", dW, W, loss_of_product);

  Tensor<float> S = check.normal({rows, cols}), dS(S.shape());
  const Tensor<float> P = reference::softmax(S).to<float>(), dP = check.normal(S.shape());
  check.call(ENTRY(softmax_backward), in(P, "P"), in(dP, "dP"), out(dS, "dS"));
  check.compare("dS", dS, S, [&] { return inner(reference::softmax(S), dP); });
  check_attention(check);
}

COURSE_RUN(RunContext& run) {
  // X, W and dY, or P and dP, or all five.
  const bool rows = run.has_input("P");
  if (!rows || run.has_input("X")) {
    const auto X = run.input<float>("X", {"M", "K"}), W = run.input<float>("W", {"K", "N"}),
               dY = run.input<float>("dY", {"M", "N"});
    Tensor<float> dX(X.shape()), dW(W.shape());
    run.call(ENTRY(matmul_backward), in(X, "X"), in(W, "W"), in(dY, "dY"), out(dX, "dX"), out(dW, "dW"));
    run.output("dX", dX);
    run.output("dW", dW);
  }
  if (rows) {
    const auto P = run.input<float>("P", {"rows", "cols"}), dP = run.input<float>("dP", {"rows", "cols"});
    Tensor<float> dS(P.shape());
    run.call(ENTRY(softmax_backward), in(P, "P"), in(dP, "dP"), out(dS, "dS"));
    run.output("dS", dS);
  }
}
