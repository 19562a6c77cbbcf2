// Tests of lesson 02: copy_strided and transpose, which move elements and must keep every bit of them.

#include "02_matrix_strides/matrix_strides.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "02_matrix_strides/calls.hpp"
#include "02_matrix_strides/launches.hpp"
#include "02_matrix_strides/matrices.hpp"
#include "02_matrix_strides/traffic.hpp"
#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/format.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;
using namespace course::lesson_02;

namespace {

/// More rows than kMaxGridY blocks of copy_strided cover in one pass, even with kTile rows a block.
constexpr std::int64_t kBeyondOneGrid = std::int64_t{kMaxGridY} * kTile + kTile + 1;

/// More rows of tiles than a grid may have blocks along y, on the simulator and on every GPU.
constexpr std::int64_t kBeyondGridY = std::int64_t{65535} * kTile + 1;

}  // namespace

// ---- copy_strided ----

TEST_CASE("copies a square and the matrix of the notes both ways", "[l02][copy_strided][points:1]") {
  check_copy(3, 3, row_major(3, 3), row_major(3, 3));  // first a square: wrong strides stay within it
  const auto src = Tensor<float>::from({2, 3}, {1, 2, 3, 5, 8, 13});
  Tensor<float> dst({2, 3});
  copy_into(src, dst);
  Tensor<float> dst_transposed({3, 2});
  copy_into(src.transposed(0, 1), dst_transposed);
}

TEST_CASE("copies matrices of 0, 1, 31, 32, 33 and 100 rows and columns", "[l02][copy_strided][points:2]") {
  require_strides_and_guard(true);
  for (const std::int64_t rows : {0, 1, 31, 32, 33, 100})
    for (const std::int64_t cols : {100, 33, 32, 31, 1, 0})
      check_copy(rows, cols, row_major(rows, cols), row_major(rows, cols));
  check_copy(5, 0, {7, 1}, {7, 1});
}

TEST_CASE("copies between rows and columns that lie one after the other", "[l02][copy_strided][points:2]") {
  require_strides_and_guard(true);
  require_strides_and_guard(false);
  for (const auto& [rows, cols] :
       {std::pair<std::int64_t, std::int64_t>{5, 3}, {33, 97}, {100, 31}, {1, 40}, {40, 1}}) {
    check_copy(rows, cols, column_major(rows, cols), row_major(rows, cols));
    check_copy(rows, cols, row_major(rows, cols), column_major(rows, cols));
    check_copy(rows, cols, column_major(rows, cols), column_major(rows, cols));
  }
  // Nobody steps along an axis of length 1: its stride may be anything, and so 0.
  check_copy(1, 40, {0, 1}, {0, 1});
  check_copy(40, 1, {1, 0}, {1, 0});
}

TEST_CASE("copies a slice, and leaves the gaps of dst as they are", "[l02][copy_strided][points:3]") {
  require_strides_and_guard(true);
  // The left 40 columns of a matrix with 70; every second column; every third row and second column.
  check_copy(50, 40, {70, 1}, {40, 1});
  check_copy(50, 40, {40, 1}, {70, 1});
  check_copy(37, 20, {40, 2}, {45, 2});
  check_copy(37, 20, {3 * 41, 2}, {2, 2 * 37});
  check_copy(37, 20, {3, 3 * 40}, {20, 1});
  // The same gaps on both sides.
  check_copy(50, 40, {70, 1}, {70, 1});
  check_copy(37, 20, {2, 2 * 40}, {2, 2 * 40});
  for (const CallOptions& shifted : with_shifted_arrays(2)) {
    INFO("One of the matrices begins at no multiple of 16 bytes");
    check_copy(40, 48, {48, 1}, {64, 1}, shifted);
  }
  Random random(case_seed());  // for sizes and strides that no kernel knows beforehand
  for (const CallOptions& shifted : {CallOptions{}, with_shifted_arrays(2)[0], with_shifted_arrays(2)[1]}) {
    const std::int64_t rows = drawn::length(random, 200), cols = drawn::length(random, 200);
    check_unknown_copy(rows, cols, drawn::strides(rows, cols, random), drawn::strides(rows, cols, random),
                       shifted);
  }
  // Whole tiles, which may have a fast path: from rows or columns to rows or columns, with gaps and without.
  const std::int64_t rows = 64 * random.integer(1, 3), cols = 64 * random.integer(1, 3);
  const Strides by_rows{cols + random.integer(1, 9), 1}, by_columns{1, rows + random.integer(1, 9)};
  check_unknown_copy(rows, cols, by_rows, by_columns);
  check_unknown_copy(rows, cols, by_columns, by_rows);
  std::vector<std::vector<std::int64_t>> all_gaps = drawn::gaps_around_fours(2, random);
  all_gaps.back() = {4 * random.integer(1, 2), 4 * random.integer(3, 4)};  // and not the same
  for (const std::vector<std::int64_t>& gaps : all_gaps) {
    check_unknown_copy(rows, cols, {cols + gaps[0], 1}, {cols + gaps[1], 1});
    check_unknown_copy(rows, cols, {1, rows + gaps[0]}, {1, rows + gaps[1]});
  }
  const std::int64_t tall = 64 * random.integer(2, 3), wide = 5 * 64 - tall;
  check_unknown_copy(tall, wide, row_major(tall, wide), row_major(tall, wide));
  check_unknown_copy(tall, wide, column_major(tall, wide), column_major(tall, wide));
}

TEST_CASE("lets neighbouring threads copy neighbours along a row", "[l02][copy_strided][points:2]") {
  require_strides_and_guard(true);
  for (const Shape& shape : counted_shapes_of_copies()) {
    const std::int64_t rows = shape[0], cols = shape[1];
    const Outcome outcome = check_unknown_copy(rows, cols, row_major(rows, cols), row_major(rows, cols));
    require_copy_grid(outcome, rows, cols, [&] { return copy_narrow(rows, cols); });
    require_one_pass(outcome, rows * cols, "src", "dst");
    if (const Profile* profile = profile_of(outcome)) {
      const std::string remedy =
          "The elements of a row lie side by side: let threads with consecutive threadIdx.x take them.";
      require_coalesced(profile->global_load, "reads", "src", remedy);
      require_coalesced(profile->global_store, "writes", "dst", remedy);
      require_busy(*profile, rows * cols);
    }
  }
}

TEST_CASE("copies more rows than one grid reaches", "[l02][copy_strided][points:2]") {
  require_strides_and_guard(true);
  require_strides_and_guard(false);
  const std::int64_t rows = kBeyondOneGrid, cols = Random(case_seed()).integer(2, 7);
  const Tensor<float> src = counted(rows, cols);
  Tensor<float> dst({rows, cols});
  const Outcome outcome = copy_into(src, dst);
  require_copy_grid(outcome, rows, cols, [&] { return copy_narrow(rows, cols); });

  const Tensor<float> wide = counted(cols, rows);
  Tensor<float> wide_dst({cols, rows});
  copy_into(wide, wide_dst);

  Tensor<float> columns({cols, rows}, {1, cols}, 0.0f);
  copy_into(wide, columns);

  // Along x a grid has as many blocks as it takes, and more than it may have along y.
  const Tensor<float> tall = counted(kBeyondGridY, 1);
  Tensor<float> tall_dst({kBeyondGridY, 1}, {1, kBeyondGridY}, 0.0f);
  copy_into(tall, tall_dst);
}

TEST_CASE("keeps every bit of NaN, infinities, zeros of both signs and tiny numbers",
          "[l02][copy_strided][points:1]") {
  require_strides_and_guard(false);
  for (const Pattern pattern :
       {Pattern::subnormal, Pattern::signed_zeros, Pattern::infinities, Pattern::one_nan}) {
    INFO("data: " << pattern_name(pattern));
    const Tensor<float> src = adversarial(pattern, {35, 37}, case_seed());
    Tensor<float> dst({35, 37}, {1, 35}, 0.0f);
    copy_into(src, dst);
  }
  const Tensor<float> src = drawn::nans_of_all_kinds({35, 37});
  INFO("data: NaN, each with other bits");
  Tensor<float> dst({35, 37}, {1, 35}, 0.0f);
  copy_into(src, dst);
}

TEST_CASE("copies in every order of blocks and threads", "[l02][copy_strided][points:1]") {
  require_strides_and_guard(true);
  const Tensor<float> src = numbered(70, 130, {1, 71});
  std::uint64_t seed = order_seed();
  for (const Order order : {Order::forward, Order::reverse, Order::random, Order::random}) {
    CallOptions options;
    options.order = order;
    options.seed = seed++;
    Tensor<float> dst({70, 130});
    copy_into(src, dst, options);
  }
}

TEST_CASE("lets neighbouring threads copy neighbours down a column where the columns lie one after the other",
          "[l02][copy_strided][points:3]") {
  require_strides_and_guard(false);
  const std::string remedy =
      "Here the smaller stride is strides[0]: the elements of a column lie side by side, and threads with "
      "consecutive threadIdx.x should take them.";
  for (const Shape& shape : counted_shapes_of_copies()) {
    const std::int64_t rows = shape[1], cols = shape[0];
    const Outcome both = check_unknown_copy(rows, cols, column_major(rows, cols), column_major(rows, cols));
    require_one_pass(both, rows * cols, "src", "dst");
    if (const Profile* profile = profile_of(both)) {
      require_coalesced(profile->global_load, "reads", "src", remedy);
      require_coalesced(profile->global_store, "writes", "dst", remedy);
      require_busy(*profile, rows * cols);
    }
    // From rows to columns only one side can have its neighbours side by side. The contract says which.
    const Outcome mixed = check_unknown_copy(rows, cols, row_major(rows, cols), column_major(rows, cols));
    require_one_pass(mixed, rows * cols, "src", "dst");
    if (const Profile* profile = profile_of(mixed)) {
      require_coalesced(profile->global_store, "writes", "dst", remedy);
    }
    const Outcome wide = check_unknown_copy(cols, rows, row_major(cols, rows), column_major(cols, rows));
    if (const Profile* profile = profile_of(wide)) {
      require_coalesced(profile->global_store, "writes", "dst", remedy);
    }
    const Outcome other = check_unknown_copy(rows, cols, column_major(rows, cols), row_major(rows, cols));
    if (const Profile* profile = profile_of(other)) {
      require_coalesced(profile->global_store, "writes", "dst",
                        "Here the smaller stride of dst is strides[1], whatever the strides of src.");
    }
    // Neighbours along the smaller stride need not touch: here they lie two elements apart.
    const Outcome apart = check_unknown_copy(rows, cols, row_major(rows, cols), {2, 2 * rows + 8});
    if (const Profile* profile = profile_of(apart))
      require_coalesced(profile->global_store, "writes", "dst",
                        "Here the smaller stride of dst is strides[0], which is 2.", 2);
    const Outcome along = check_unknown_copy(cols, rows, column_major(cols, rows), {2 * rows + 8, 2});
    if (const Profile* profile = profile_of(along))
      require_coalesced(profile->global_store, "writes", "dst",
                        "Here the smaller stride of dst is strides[1], which is 2.", 2);
  }
}

TEST_CASE("copies (3, 4) into (3, 4), but refuses to copy it into (4, 3) or (3, 5)",
          "[l02][copy_strided][points:1]") {
  require_strides_and_guard(true);
  check_copy(3, 4, row_major(3, 4), row_major(3, 4));
  const Tensor<float> src = numbered(3, 4);
  for (const Shape& shape : {Shape{4, 3}, Shape{3, 5}, Shape{2, 4}}) {
    INFO("src: shape (3, 4); dst: shape " << format_shape(shape));
    Tensor<float> dst(shape);
    require_throws<std::invalid_argument>(call(ENTRY(copy_strided), in(src, "src"), out(dst, "dst")), "dst");
  }
  Random random(case_seed());  // for shapes that no kernel knows beforehand
  const std::int64_t rows = random.integer(4, 50), cols = random.integer(4, 50);
  const Tensor<float> drawn = numbered(rows, cols);
  for (const Shape& shape : drawn::misfits(drawn.shape(), random)) {
    INFO("src: shape " << format_shape(drawn.shape()) << "; dst: shape " << format_shape(shape));
    Tensor<float> dst(shape);
    require_throws<std::invalid_argument>(call(ENTRY(copy_strided), in(drawn, "src"), out(dst, "dst")),
                                          "dst");
  }
  const Tensor<float> empty({rows, 0});
  INFO("src: shape " << format_shape(empty.shape()) << "; dst: shape " << format_shape(drawn.shape()));
  Tensor<float> dst(drawn.shape());
  require_throws<std::invalid_argument>(call(ENTRY(copy_strided), in(empty, "src"), out(dst, "dst")), "dst");
}

TEST_CASE("copy: reports a launch that CUDA refuses", "[l02][copy_strided][points:1]") {
  // A grid limit of one block along x: CUDA refuses any sensible launch. A GPU has no such switch and accepts
  // it; then the copy must be right.
  require_strides_and_guard(true);
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const Tensor<float> src = numbered(random.integer(5, 9), random.integer(1000, 1300));
  Tensor<float> dst(src.shape());
  const Outcome unlimited = call(ENTRY(copy_strided), in(src, "src"), out(dst, "dst"));
  require_ran(unlimited);
  const Outcome outcome = call_with(with_grid_limit(1), ENTRY(copy_strided), in(src, "src"), out(dst, "dst"));
  if (!require_refused_launch(outcome, unlimited)) require_copy(dst, src, outcome);
}

// ---- transpose ----

TEST_CASE("transposes squares and the matrix of the notes", "[l02][transpose][points:1]") {
  check_transpose(3, 3);  // first a square: wrong indices stay within it
  require_whole_tiles();
  const auto x = Tensor<float>::from({2, 3}, {1, 2, 3, 5, 8, 13});
  Tensor<float> y({3, 2});
  transpose_into(x, y);
}

TEST_CASE("transposes matrices of 0, 1, 31, 32, 33 and 100 rows and columns", "[l02][transpose][points:2]") {
  require_whole_tiles();
  check_transpose(5, 100);  // first a flat one: a tile with few rows tells most about who moves which
  for (const std::int64_t rows : {32, 100, 33, 31, 1, 0})
    for (const std::int64_t cols : {32, 100, 33, 31, 1, 0}) check_transpose(rows, cols);
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (int i = 0; i < 3; ++i) check_unknown_transpose(drawn::length(random, 200), drawn::length(random, 200));
  const std::int64_t whole = 64 * random.integer(1, 2);
  check_unknown_transpose(whole, 192);
  check_unknown_transpose(192, whole);
  for (const CallOptions& shifted : with_shifted_arrays(2)) {
    INFO("One or both of the matrices begin at no multiple of 16 bytes");
    check_transpose(64, 96, shifted);
  }
}

TEST_CASE("transposes more rows than blocks fit along one axis of a grid, and as many columns",
          "[l02][transpose][points:2]") {
  require_whole_tiles();
  const Tensor<float> tall = counted(kBeyondGridY, 1), wide = counted(1, kBeyondGridY);
  Tensor<float> tall_out({1, kBeyondGridY}), wide_out({kBeyondGridY, 1});
  transpose_into(tall, tall_out);
  transpose_into(wide, wide_out);
}

TEST_CASE("transposes NaN, infinities, zeros of both signs and tiny numbers to the last bit",
          "[l02][transpose][points:1]") {
  require_whole_tiles();
  for (const Pattern pattern :
       {Pattern::subnormal, Pattern::signed_zeros, Pattern::infinities, Pattern::one_nan}) {
    INFO("data: " << pattern_name(pattern));
    const Tensor<float> x = adversarial(pattern, {35, 37}, case_seed());
    Tensor<float> y({37, 35});
    transpose_into(x, y);
  }
  const Tensor<float> x = drawn::nans_of_all_kinds({35, 37});
  INFO("data: NaN, each with other bits");
  Tensor<float> y({37, 35});
  transpose_into(x, y);
}

TEST_CASE("transposes in every order of blocks and threads", "[l02][transpose][points:1]") {
  require_whole_tiles();
  const Tensor<float> x = numbered(70, 130);
  std::uint64_t seed = order_seed();
  for (const Order order : {Order::forward, Order::reverse, Order::random, Order::random}) {
    CallOptions options;
    options.order = order;
    options.seed = seed++;
    Tensor<float> y({130, 70});
    transpose_into(x, y, options);
  }
}

TEST_CASE("transposes with reads and writes that both lie side by side", "[l02][transpose][points:2]") {
  require_whole_tiles();
  for (const Shape& shape : counted_shapes()) {
    const std::int64_t rows = shape[0], cols = shape[1];
    const Outcome outcome = check_unknown_transpose(rows, cols);
    require_block_per_tile(outcome, rows, cols);
    require_one_pass(outcome, rows * cols, "in", "out");
    if (const Profile* profile = profile_of(outcome)) {
      require_coalesced(profile->global_load, "reads", "in",
                        "The elements of a row of in lie side by side: let threads with consecutive "
                        "threadIdx.x read them.");
      require_coalesced(
          profile->global_store, "writes", "out",
          "The elements of a row of out lie side by side: let threads with consecutive "
          "threadIdx.x write them, and take them from the tile, where the order costs nothing.");
      require_busy(*profile, rows * cols);
    }
  }
}

TEST_CASE("transposes without bank conflicts", "[l02][transpose][points:2]") {
  require_whole_tiles();
  std::vector<Shape> shapes = counted_shapes();
  shapes.push_back({75, 53});
  for (const Shape& shape : shapes) {
    const Outcome outcome = check_unknown_transpose(shape[0], shape[1]);
    if (const Profile* profile = profile_of(outcome)) {
      require_no_conflicts(profile->shared_load, "reads");
      require_no_conflicts(profile->shared_store, "writes");
      require_tiles(*profile, shape[0] * shape[1]);
    }
  }
}

TEST_CASE("transposes (3, 4), but refuses -3 rows and -4 columns", "[l02][transpose][points:1]") {
  require_whole_tiles();
  check_transpose(3, 4);
  const Tensor<float> x = numbered(3, 4);
  Tensor<float> y({4, 3});
  const auto require_refused = [&](std::int64_t rows, std::int64_t cols, const char* argument) {
    INFO("rows = " << rows << ", cols = " << cols);
    require_throws<std::invalid_argument>(call(ENTRY(transpose), in(x, "in"), out(y, "out"), rows, cols),
                                          argument);
  };
  require_refused(-3, 4, "rows");
  require_refused(3, -4, "cols");
  require_refused(-3, 0, "rows");
  require_refused(0, -4, "cols");
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  for (const std::int64_t most : {std::int64_t{1000}, std::int64_t{1} << 40}) {
    require_refused(-random.integer(1, most), 4, "rows");
    require_refused(3, -random.integer(1, most), "cols");
  }
}

TEST_CASE("transpose: reports a launch that CUDA refuses", "[l02][transpose][points:1]") {
  require_whole_tiles();
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const std::int64_t few = random.integer(5, 9), many = random.integer(1000, 1300);
  const Tensor<float> x = numbered(few, many);
  Tensor<float> y({many, few});
  const Outcome unlimited = call(ENTRY(transpose), in(x, "in"), out(y, "out"), few, many);
  require_ran(unlimited);
  const Outcome outcome =
      call_with(with_grid_limit(1), ENTRY(transpose), in(x, "in"), out(y, "out"), few, many);
  if (!require_refused_launch(outcome, unlimited)) {
    require_transpose(y, x, outcome);
    return;
  }
  // Nothing runs here, so that the matrices need no memory. In 32 bits these sizes are negative and 0.
  for (const std::int64_t size : {std::int64_t{1} << 31, std::int64_t{1} << 32}) {
    INFO("With rows = " << size << " and cols = 1, too, it is CUDA that refuses, and with the two exchanged");
    for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{size, 1}, {1, size}})
      require_throws<std::runtime_error>(
          call_with(with_grid_limit(1), ENTRY(transpose), in(x, "in"), out(y, "out"), rows, cols));
  }
}

COURSE_RUN(RunContext& run) {
  const auto x = run.input<float>("x", {"rows", "cols"});
  Tensor<float> y({x.shape()[1], x.shape()[0]});
  run.call(ENTRY(transpose), in(x, "in"), out(y, "out"), x.shape()[0], x.shape()[1]);
  run.output("y", y);
}
