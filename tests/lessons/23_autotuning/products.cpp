#include "23_autotuning/products.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>

#include "23_autotuning/configurations.hpp"
#include "products/stages.hpp"
#include "reference/matmul.hpp"
#include "tensor/float16.hpp"
#include "tensor/format.hpp"

namespace course::lesson_23 {

using namespace grading;
using namespace products;

Problem in_type_of(const Configuration& c, Problem p) {
  if (c.type == Type::float32) return p;
  p.A = p.A.to<bfloat16>().to<float>();
  p.B = p.B.to<bfloat16>().to<float>();
  return p;
}

Problem problem_of_no_depth(std::int64_t M, std::int64_t N) {
  Problem p = random_problem(M, N, 0);
  p.c_strides = {2, 2 * M + 3};
  return p;
}

Outcome multiply(const Problem& p, Tensor<float>& C, const Configuration& c, const CallOptions& options) {
  if (c.type == Type::bfloat16)
    return call_with(options, ENTRY(call_matmul_with_bfloat16), in(p.A.to<bfloat16>(), "A"),
                     in(p.B.to<bfloat16>(), "B"), out(C, "C"), c.rows, c.cols, c.depth, c.warps, c.stages);
  return call_with(options, ENTRY(call_matmul_with), in(p.A, "A"), in(p.B, "B"), out(C, "C"), c.rows, c.cols,
                   c.depth, c.warps, c.stages);
}

void require_product(const Tensor<float>& C, const Problem& p, const Configuration& c,
                     const Mistakes& mistakes) {
  const Tensor<double> expected = reference::matmul(p.A, p.B);
  Bound bound;
  if (c.type == Type::bfloat16) bound.rounding = cost_of_cutting_off(p);
  require_matches(C.contiguous(), "C", expected, in_order_of_k(p, expected), mistakes, bound);
}

Outcome check_product(const Problem& any, const Configuration& c, Tensor<float>& C,
                      const CallOptions& options) {
  const Problem p = in_type_of(c, any);
  INFO(products::describe(p) << "; configuration " << text_of(c));
  const Outcome outcome = multiply(p, C, c, options);
  require_ran(outcome);
  Mistakes mistakes{unwritten_where(
      "first_tile_only", [&](const Index& at) { return at[0] >= c.rows || at[1] >= c.cols; },
      "Only the first tile of C is right: the grid has a block for each tile, across and down.")};
  if (p.M() > c.rows)
    mistakes.push_back(unwritten_where(
        "last_tiles_down_missing", [&](const Index& at) { return at[0] >= p.M() / c.rows * c.rows; },
        "The last tiles down C, which it does not fill, are missing: their number has to be rounded up."));
  if (p.N() > c.cols)
    mistakes.push_back(unwritten_where(
        "last_tiles_across_missing", [&](const Index& at) { return at[1] >= p.N() / c.cols * c.cols; },
        "The last tiles across C, which it does not fill, are missing: their number has to be rounded up."));
  require_product(C, p, c, mistakes);
  const std::int64_t tiles = tiles_of({p.M(), p.N(), p.K()}, c);
  const std::int64_t launches = outcome.counters.at("launches");
  require(launches == (tiles > 0), fmt::format("matmul_with launched {} kernels; it should launch {}.",
                                               launches, tiles > 0 ? "one" : "none"));
  if (tiles == 0) return outcome;
  products::require_tiles_shared(outcome, p, {c.rows, c.cols}, c.type == Type::float32 ? 4 : 2);
  if (c.type == Type::bfloat16)
    require_on_tensor_cores(outcome, static_cast<std::uint64_t>(p.M() * p.N() * p.K()));
  const std::int64_t blocks = outcome.counters.at("blocks"), threads = outcome.counters.at("threads");
  require(
      blocks == tiles && threads == tiles * 32 * c.warps,
      fmt::format("The launch had {} blocks of {} threads; C has {} tiles, and the configuration {} warps.",
                  blocks, threads / blocks, tiles, c.warps));
  return outcome;
}

Outcome check_product(const Problem& p, const Configuration& c, const CallOptions& options) {
  Tensor<float> C({p.M(), p.N()}, p.c_strides, -1000.0f);
  return check_product(p, c, C, options);
}

void require_stages(Type type) {
  Random random(case_seed());
  for (const Configuration& c : kCompiled) {
    if (c.type != type) continue;
    // Of sizes that no kernel knows beforehand: one tile, of which up to two rows are missing, or two.
    const int slabs = c.stages + static_cast<int>(random.integer(1, 3));
    const std::int64_t rows = c.rows * random.integer(1, 2);
    const Problem p = random_problem(rows - random.integer(0, 2), c.cols, slabs * c.depth);
    const Outcome outcome = check_product(p, c, {.check = CheckMode::always});
    const Profile* profile = profile_of(outcome);
    if (!profile) return;
    INFO(products::describe(p) << "; configuration " << text_of(c));
    if (type == Type::float32) products::require_register_tile(*profile, rows * p.N() * p.K());
    const bool reads_early = type == Type::bfloat16;  // the first fragments of a slab, before the next fetch
    const std::int64_t bytes_of_slab = (c.rows + c.cols) * c.depth * (type == Type::float32 ? 4 : 2);
    const double mean = mean_ahead(profile->launches.at(0).copies_ahead.of_shared_loads,
                                   profile->shared_load.bytes_asked),
                 least =
                     0.9 * ahead_on_average(slabs, c.stages - reads_early, bytes_of_slab / (32 * c.warps)),
                 most = 1.1 * ahead_on_average(slabs, c.stages, bytes_of_slab / (32 * c.warps));
    require(mean >= least,
            fmt::format("While a thread multiplies, {:.1f} bytes of its copies are on their way on average. "
                        "With {} stages it is {:.1f} or more: does each configuration launch its own kernel?",
                        mean, c.stages, least));
    require(mean <= most,
            fmt::format("While a thread multiplies, {:.1f} bytes of its copies are on their way on average. "
                        "{} stages have room for {:.1f}: does each configuration launch its own kernel?",
                        mean, c.stages, most));
  }
}

void check_chunks_along_rows(Random& random) {
  const Configuration& c = kCompiled[random_index(Type::bfloat16, random)];
  const auto length = [&] { return 8 * random.integer(2, 12); };
  const auto less = [&] { return random.integer(1, 7); };  // than a chunk
  const std::int64_t M = length(), N = length(), K = length();
  const auto refused = [&](std::int64_t cols_of_A, Strides a, std::int64_t cols_of_B, Strides b,
                           const char* argument, const CallOptions& options = {}) {
    INFO("configuration " << text_of(c) << "; A of bfloat16: shape " << format_shape({M, cols_of_A})
                          << ", strides " << format_shape(a) << "; B: shape "
                          << format_shape({cols_of_A, cols_of_B}) << ", strides " << format_shape(b));
    const Tensor<bfloat16> A({M, cols_of_A}, a, bfloat16(1.0f)), B({cols_of_A, cols_of_B}, b, bfloat16(1.0f));
    Tensor<float> C({M, cols_of_B});
    require_throws<std::invalid_argument>(
        call_with(options, ENTRY(call_matmul_with_bfloat16), in(A, "A"), in(B, "B"), out(C, "C"), c.rows,
                  c.cols, c.depth, c.warps, c.stages),
        argument);
  };
  refused(K, {1, M}, N, {N, 1}, "A");
  refused(K, {K + less(), 1}, N, {N, 1}, "A");
  refused(K, {2 * K, 2}, N, {N, 1}, "A");
  refused(K - less(), {K, 1}, N, {N, 1}, "A");
  refused(K, {K, 1}, N, {1, K}, "B");
  refused(K, {K, 1}, N, {N + less(), 1}, "B");
  refused(K, {K, 1}, N - less(), {N, 1}, "B");
  for (const std::size_t array : {0, 1}) {
    const auto bytes = static_cast<std::uint32_t>(2 * less());
    INFO((array == 0 ? "A" : "B") << " begins " << bytes << " bytes past a multiple of 16");
    refused(K, {K, 1}, N, {N, 1}, array == 0 ? "A" : "B", with_shifted_array(2, array, bytes));
  }
}

}  // namespace course::lesson_23
