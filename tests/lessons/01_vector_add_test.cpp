// Tests of lesson 01: vector_add and vector_add_host against float64 and, bit by bit, against float32.

#include "01_vector_add/vector_add.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "drawn/drawn.hpp"
#include "grading/testing/lesson_test.hpp"
#include "reference/vector_add.hpp"
#include "tensor/adversarial.hpp"
#include "tensor/random.hpp"
#include "tensor/tensor.hpp"

using namespace course;
using namespace course::grading;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

/// What float32 gives: a[i] + b[i], rounded once.
Tensor<float> sum_float32(const Tensor<float>& a, const Tensor<float>& b) {
  Tensor<float> c(a.shape());
  for (std::int64_t i = 0; i < c.numel(); ++i) c.at_linear(i) = a.at_linear(i) + b.at_linear(i);
  return c;
}

/// Well-known mistakes. The arrays must outlive them.
Mistakes mistakes_with(const Tensor<float>& a, const Tensor<float>& b) {
  const std::int64_t n = a.numel();
  const auto is_in_a_later_block = [](const Index& index) { return index[0] >= kBlockThreads; };
  const auto is_in_the_tail = [n](const Index& index) { return index[0] >= n - n % kBlockThreads; };
  const auto is_beyond_one_grid = [](const Index& index) { return index[0] >= kMaxBlocks * kBlockThreads; };
  const std::int64_t blocks = std::min((n - 1) / kBlockThreads + 1, kMaxBlocks);
  // Thread t of block b begins at t * kBlockThreads + b. With more blocks than a block has threads, these
  // places overlap, and those past the last are nobody's.
  const auto has_no_block_of_its_rank = [blocks](const Index& index) {
    const std::int64_t place = index[0] % (blocks * kBlockThreads);
    return blocks <= kBlockThreads ? place % kBlockThreads >= blocks
                                   : place >= (kBlockThreads - 1) * kBlockThreads + blocks;
  };
  const auto is_beyond_the_bytes = [n](const Index& index) {
    return index[0] >= n / static_cast<std::int64_t>(sizeof(float));
  };
  Mistakes mistakes{
      gives(
          "a_only", [&] { return a.to<double>(); }, "This is a alone: b was not added."),
      gives(
          "b_only", [&] { return b.to<double>(); }, "This is b alone: a was not added."),
      gives(
          "a_added_twice", [&] { return reference::vector_add(a, a); }, "This is a + a: where is b read?"),
      gives(
          "b_added_twice", [&] { return reference::vector_add(b, b); }, "This is b + b: where is a read?"),
      wrong_where("first_block_only", is_in_a_later_block,
                  "Only the elements of the first block are right: an element's index is made from "
                  "blockIdx.x and blockDim.x, too."),
      wrong_where(
          "tail_missing", is_in_the_tail,
          "The last n % kBlockThreads elements, which do not fill a block, are missing: the number of "
          "blocks has to be rounded up."),
      wrong_where(
          "one_element_a_thread", is_beyond_one_grid,
          "Only each thread's first element was added. With kMaxBlocks blocks it has to go on: its next "
          "element lies as many elements further as the grid has threads."),
      wrong_where("block_and_thread_exchanged", has_no_block_of_its_rank,
                  "These are the elements threadIdx.x * blockDim.x + blockIdx.x alone: thread and block are "
                  "exchanged. It is blockIdx.x * blockDim.x + threadIdx.x."),
      wrong_where("size_in_elements", is_beyond_the_bytes,
                  "Only the first quarter is right: cudaMalloc and cudaMemcpy count bytes, not elements.")};
  if (n > 1) {  // a single element is the first and the last, and says nothing of either
    mistakes.push_back(wrong_where(
        "last_element_missing", [n](const Index& index) { return index[0] == n - 1; },
        "Only the last element is missing: the guard is index < n."));
    mistakes.push_back(wrong_where(
        "first_element_missing", [](const Index& index) { return index[0] == 0; },
        "Only element 0 is missing: indices begin at 0."));
  }
  return mistakes;
}

/// First the comparison that describes the pattern of what is wrong, then the strict one.
void require_sum(const Tensor<float>& c, const Tensor<float>& a, const Tensor<float>& b) {
  const Tensor<float> baseline = sum_float32(a, b);
  require_matches(c, "c", reference::vector_add(a, b), baseline, mistakes_with(a, b));
  require_same_bits(c, baseline, "c");
}

Tensor<float> numbers(std::int64_t n, std::uint64_t stream, float most = 100.0f) {
  return uniform({n}, -most, most, case_seed() + stream);
}

/// More numbers than the largest grid has threads; the last step of the loop is a partial one. A quarter of
/// them is another number than that of the grid's threads, so that sizes in elements are told from a missing
/// loop.
constexpr std::int64_t kBeyondOneGrid = (std::int64_t{1} << 20) + 1000;
static_assert(kBeyondOneGrid > 4 * kMaxBlocks * kBlockThreads);

/// Whole blocks of 1024, which may have a fast path.
std::int64_t whole_beyond_one_grid() { return 1024 * Random(case_seed() + 1).integer(1100, 1500); }

/// The launch that the contract asks for. The simulator counts; a GPU does not tell.
void require_launch(const Outcome& outcome, std::int64_t n) {
  const std::int64_t launches = outcome.counters.at("launches");
  if (n == 0) {
    require(launches == 0, "There is nothing to add, but vector_add launched a kernel.");
    return;
  }
  const std::int64_t blocks = outcome.counters.at("blocks"), threads = outcome.counters.at("threads");
  require(launches == 1,
          "vector_add launched " + std::to_string(launches) + " kernels; it should launch one.");
  const std::int64_t wanted = std::min((n - 1) / kBlockThreads + 1, kMaxBlocks);
  const bool exchanged = blocks == kBlockThreads && threads == blocks * wanted;
  require(threads == blocks * kBlockThreads,
          "The launch had " + std::to_string(blocks) + " blocks of " + std::to_string(threads / blocks) +
              " threads. The contract asks for blocks of kBlockThreads = " + std::to_string(kBlockThreads) +
              "." +
              (exchanged ? " The two numbers between <<< and >>> are exchanged: blocks come first." : ""));
  require(blocks >= wanted, "The launch had only " + std::to_string(blocks) + " blocks, though n needs " +
                                std::to_string(wanted) + ". With more of them, more of a GPU works at once.");
  require(blocks <= wanted, "The launch had " + std::to_string(blocks) + " blocks, though n needs only " +
                                std::to_string(wanted) + ": the others have nothing to do.");
}

/// How many additions threads make that go on by `step` elements each.
std::int64_t additions_with_step(std::int64_t step, std::int64_t threads, std::int64_t n) {
  std::int64_t additions = 0;
  for (std::int64_t first = 0; first < std::min(threads, n); ++first) additions += (n - first - 1) / step + 1;
  return additions;
}

/// The step of the loop that explains so many additions, if it is one that students take for the right one.
std::string step_that_explains(std::int64_t additions, const simt::LaunchProfile& launch, std::int64_t n) {
  const std::int64_t blocks = launch.grid[0], block_threads = launch.block[0];
  const std::pair<std::int64_t, const char*> steps[] = {
      {block_threads, "blockDim.x"}, {blocks, "gridDim.x"}, {1, "1"}};
  for (const auto& [step, name] : steps)
    if (step < blocks * block_threads && additions_with_step(step, blocks * block_threads, n) == additions)
      return name;
  return "";
}

/// Why elements are read and written more than once, if it is a step that is too short.
std::string why_more_than_once(const Profile& profile, std::int64_t n) {
  const std::uint64_t read = profile.global_load.bytes_asked, written = profile.global_store.bytes_asked;
  if (read != 2 * written || written <= static_cast<std::uint64_t>(4 * n)) return "";
  const std::string step = step_that_explains(static_cast<std::int64_t>(written / 4), profile.launches[0], n);
  if (step.empty()) return "";
  return " Some elements are added more than once: so many additions are made if each thread goes on by " +
         step + ". It has to go on by the number of threads in the grid, gridDim.x * blockDim.x.";
}

/// Each element is read once and written once. Check mode counts; where it did not run, nothing is known.
void require_each_once(const Outcome& outcome, std::int64_t n) {
  const Profile* profile = profile_of(outcome);
  if (!profile || n == 0) return;
  const auto bytes = static_cast<std::uint64_t>(4 * n);
  const std::uint64_t read = profile->global_load.bytes_asked, written = profile->global_store.bytes_asked;
  require(read == 2 * bytes, "The threads read " + std::to_string(read) +
                                 " bytes in all. Each element of a and of b should be read once: " +
                                 std::to_string(2 * bytes) + " bytes." + why_more_than_once(*profile, n));
  require(written == bytes, "The threads wrote " + std::to_string(written) +
                                " bytes in all. Each element of c should be written once: " +
                                std::to_string(bytes) + " bytes.");
}

/// Of the host entry: a launch, whose threads load and store as many numbers as the arrays have. Check mode
/// counts these; where it did not run, only launches are known.
void require_computed_on_device(const Outcome& outcome, std::int64_t n) {
  if (n == 0) {
    require(outcome.counters.at("launches") == 0,
            "There is nothing to add, but vector_add_host launched a kernel.");
    return;
  }
  const std::string advice = " The sums are to be computed on the device: call vector_add.";
  require(outcome.counters.at("launches") > 0, "vector_add_host launched no kernel." + advice);
  const Profile* profile = n >= kBeyondOneGrid ? nullptr : profile_of(outcome);  // that is too large
  if (!profile) return;
  const std::uint64_t read = profile->global_load.bytes_asked, written = profile->global_store.bytes_asked;
  const auto bytes = static_cast<std::uint64_t>(4 * n);
  require(read >= 2 * bytes && written >= bytes,
          "The kernels of vector_add_host read " + std::to_string(read) +
              " bytes of device memory and wrote " + std::to_string(written) +
              ". To add on the device, they read " + std::to_string(2 * bytes) + " and write " +
              std::to_string(bytes) + "." + advice);
}

void require_host_sum(const Outcome& outcome, const Tensor<float>& c, const Tensor<float>& a,
                      const Tensor<float>& b) {
  require_ran(outcome);
  require_sum(c, a, b);
  require_computed_on_device(outcome, c.numel());
}

/// -1, and others that no kernel knows beforehand.
std::array<std::int64_t, 3> negative_sizes() {
  Random random(case_seed());
  return {-1, -random.integer(2, 1000), -random.integer(std::int64_t{1} << 31, std::int64_t{1} << 40)};
}

enum class Side { device, host };

/// Comes before calls with many elements. A loop whose step is too short takes minutes there, and is stopped
/// before anything can be told of it; here its additions can be counted. So can those of the host entry's
/// kernels.
void require_no_short_steps(Side side) {
  const std::int64_t n = 3 * kBlockThreads;
  INFO("n = " << n);
  const Tensor<float> a = numbers(n, 0), b = numbers(n, 1);
  Tensor<float> c({n});
  const Outcome outcome =
      side == Side::host ? call(ENTRY(vector_add_host), host_in(a, "a"), host_in(b, "b"), host_out(c, "c"), n)
                         : call(ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), n);
  if (outcome.profile && !why_more_than_once(*outcome.profile, n).empty()) require_each_once(outcome, n);
  if (side == Side::host) require_host_sum(outcome, c, a, b);
}

/// Neighbouring threads access neighbouring elements.
void require_side_by_side(const Outcome& outcome) {
  const Profile* profile = profile_of(outcome);
  if (!profile) return;
  require_busy_lanes(*profile);
  const simt::GlobalTraffic &load = profile->global_load, &store = profile->global_store;
  require(load.sectors + store.sectors == load.ideal_sectors + store.ideal_sectors,
          "Memory moves in whole sectors of 32 bytes. Here " +
              std::to_string(load.ideal_sectors + store.ideal_sectors) + " would do; your kernel moves " +
              std::to_string(load.sectors + store.sectors) +
              ". Let neighbouring threads access neighbouring elements.");
}

/// Adds n random numbers with one of the two entries, and compares.
Outcome check_device(std::int64_t n, const CallOptions& options = {}, float most = 100.0f) {
  INFO("n = " << n);
  const Tensor<float> a = numbers(n, 0, most), b = numbers(n, 1, most);
  Tensor<float> c({n});
  const Outcome outcome = call_with(options, ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), n);
  require_ran(outcome);
  require_sum(c, a, b);
  require_launch(outcome, n);
  if (n < kBeyondOneGrid) require_each_once(outcome, n);  // that is too large for check mode
  return outcome;
}

void check_host(std::int64_t n, float most = 100.0f) {
  INFO("n = " << n);
  const Tensor<float> a = numbers(n, 0, most), b = numbers(n, 1, most);
  Tensor<float> c({n});
  const Outcome outcome = call(ENTRY(vector_add_host), host_in(a, "a"), host_in(b, "b"), host_out(c, "c"), n);
  require_host_sum(outcome, c, a, b);
}

void check_one_array_twice(Side side) {
  INFO("a and b are one array");
  const Tensor<float> a = numbers(33, 0);
  Tensor<float> c(a.shape());
  require_ran(side == Side::host ? call(ENTRY(vector_add_host), host_in(a, "a"), host_in(a, "b"),
                                        host_out(c, "c"), a.numel())
                                 : call(ENTRY(vector_add), in(a, "a"), in(a, "b"), out(c, "c"), a.numel()));
  require_sum(c, a, a);
}

/// For a call in which CUDA is to fail for a reason that its arguments do not tell: fails the case unless the
/// entry threw, or found a way all the same, and its sum is right.
void require_sum_or_error(const Outcome& outcome, const Tensor<float>& c, const Tensor<float>& a,
                          const Tensor<float>& b) {
  if (outcome.status != Status::returned) return require_throws<std::runtime_error>(outcome);
  require_ran(outcome);
  require_sum(c, a, b);
}

/// In the simulator, the device has memory for one array and a half, for two and a half, and for three and a
/// few bytes more. A GPU has no such switch.
void check_host_with_little_memory(std::int64_t n) {
  const Tensor<float> a = numbers(n, 0), b = numbers(n, 1);
  const std::int64_t enough = 12 * n + 64;
  for (const std::int64_t bytes : {6 * n, 10 * n, enough}) {
    INFO("n = " << n << ", and the device has " << bytes << " bytes of memory");
    Tensor<float> c({n});
    CallOptions options;
    options.max_memory_bytes = static_cast<std::uint64_t>(bytes);
    const Outcome outcome =
        call_with(options, ENTRY(vector_add_host), host_in(a, "a"), host_in(b, "b"), host_out(c, "c"), n);
    if (bytes == enough)
      require_host_sum(outcome, c, a, b);
    else
      require_sum_or_error(outcome, c, a, b);
  }
}

/// Makes the simulator refuse what the contract forbids. A GPU takes grids of up to 2^31 - 1 blocks, so there
/// a launch with too many blocks goes unnoticed: that part of the contract is checked by the simulator alone.
CallOptions with_grid_limit(std::int64_t blocks) {
  CallOptions options;
  options.max_grid_x = static_cast<std::uint32_t>(blocks);
  return options;
}

}  // namespace

TEST_CASE("adds the ten numbers of the notes", "[l01][vector_add][points:1]") {
  const auto a = Tensor<float>::from({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto b = Tensor<float>::from({10}, {90, 80, 70, 60, 50, 40, 30, 20, 10, 0});
  Tensor<float> c({10});
  require_ran(call(ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), std::int64_t{10}));
  require_sum(c, a, b);
}

TEST_CASE("adds 0, 1, 31, 32 and 33 numbers", "[l01][vector_add][points:1]") {
  for (const std::int64_t n : {0, 1, 31, 32, 33}) check_device(n);
  check_one_array_twice(Side::device);
}

TEST_CASE("adds 255, 256, 257 and 1000 numbers", "[l01][vector_add][points:2]") {
  for (const std::int64_t n : {255, 256, 257, 1000}) require_side_by_side(check_device(n));
  Random random(case_seed());  // for sizes that no kernel knows beforehand
  const auto most = [&] { return 100.0f * std::abs(drawn::factor(random, 40)); };
  require_side_by_side(check_device(random.integer(258, 20'000), {}, most()));
  check_device(random.integer(34, 254), {}, most());
  for (const std::int64_t n : {std::int64_t{1000}, random.integer(34, 5000), 1024 * random.integer(1, 3)})
    for (const CallOptions& shifted : with_shifted_arrays(3)) {
      INFO("Arrays are parts of larger ones: one or more begin at no multiple of 16 bytes");
      check_device(n, shifted);
    }
}

TEST_CASE("adds more numbers than the largest grid has threads", "[l01][vector_add][points:3]") {
  require_no_short_steps(Side::device);
  for (const std::int64_t n : {kBeyondOneGrid, whole_beyond_one_grid()})
    check_device(n, with_grid_limit(kMaxBlocks));
  // In check mode, too: steps that are too short add elements twice, which no result shows.
  CallOptions checked;
  checked.check = CheckMode::always;
  constexpr std::int64_t kManyBlocks = kBlockThreads * kBlockThreads + 1000;
  const Outcome outcome = check_device(kManyBlocks, checked);
  if (const Profile* profile = profile_of(outcome)) {
    require_busy_blocks(*profile, 4.0 * kBlockThreads / kManyBlocks);  // a thread may add four at a time
    require_busy_warps(*profile);
  }
}

TEST_CASE("adds huge and tiny numbers, and zeros of both signs, to the last bit",
          "[l01][vector_add][points:1]") {
  for (const Pattern pattern :
       {Pattern::huge, Pattern::cancelling, Pattern::subnormal, Pattern::signed_zeros}) {
    INFO("data: " << pattern_name(pattern));
    const Tensor<float> a = adversarial(pattern, {333}, case_seed());
    const Tensor<float> b = adversarial(pattern, {333}, case_seed() + 1);
    Tensor<float> c({333});
    require_ran(call(ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), std::int64_t{333}));
    require_sum(c, a, b);
  }
}

TEST_CASE("keeps NaN and infinities in their own element", "[l01][vector_add][points:1]") {
  Tensor<float> a = numbers(300, 0), b = numbers(300, 1);
  a(0) = kNan;
  b(31) = kNan;
  a(32) = kInf, b(32) = kInf;
  a(255) = kInf, b(255) = -kInf;  // the one sum of infinities that is NaN
  b(256) = -kInf;
  a(299) = kMax, b(299) = kMax;  // overflows
  Tensor<float> c({300});
  require_ran(call(ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), std::int64_t{300}));

  require_matches(c, "c", reference::vector_add(a, b), sum_float32(a, b),
                  mistakes_with(a, b));  // 2 * kMax counts as +inf
}

TEST_CASE("gives the same bits in every order of blocks and threads", "[l01][vector_add][points:1]") {
  require_no_short_steps(Side::device);
  const std::int64_t n = 70001;
  const Tensor<float> a = numbers(n, 0), b = numbers(n, 1);
  std::uint64_t seed = order_seed();
  for (const Order order : {Order::forward, Order::reverse, Order::random, Order::random}) {
    CallOptions options;
    options.order = order;
    options.seed = seed++;
    Tensor<float> c({n});
    require_ran(call_with(options, ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), n));
    require_sum(c, a, b);
  }
}

TEST_CASE("adds three numbers, but refuses to add -1", "[l01][vector_add][points:1]") {
  check_device(3);
  const Tensor<float> a = numbers(3, 0), b = numbers(3, 1);
  Tensor<float> c({3});
  for (const std::int64_t n : negative_sizes()) {
    INFO("n = " << n);
    require_throws<std::invalid_argument>(call(ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), n),
                                          "n");
  }
}

TEST_CASE("reports a launch that CUDA refuses", "[l01][vector_add][points:2]") {
  // A grid limit of one block: CUDA refuses any sensible launch for 1000 numbers or more. A GPU has no such
  // switch and accepts it; then the sum must be right.
  const std::int64_t few = 1000 + Random(case_seed()).integer(0, 3000);
  const Tensor<float> a = numbers(few, 0), b = numbers(few, 1);
  Tensor<float> c({few});
  const Outcome unlimited = call(ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), few);
  require_ran(unlimited);
  const Outcome outcome =
      call_with(with_grid_limit(1), ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), few);
  if (!require_refused_launch(outcome, unlimited)) {
    require_sum(c, a, b);
    return;
  }
  // Nothing runs here, so that n numbers need no memory. In 32 bits these two are negative and 0.
  for (const std::int64_t n : {std::int64_t{1} << 31, std::int64_t{1} << 32}) {
    INFO("With n = " << n << ", too, it is CUDA that refuses");
    require_throws<std::runtime_error>(
        call_with(with_grid_limit(1), ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), n));
  }
}

TEST_CASE("host: adds 4096, 1000, 33, 32, 31, 1 and 0 numbers", "[l01][vector_add_host][points:2]") {
  // The largest first: there a size in elements instead of bytes leaves a pattern that tells what it is.
  for (const std::int64_t n : {4096, 1000, 33, 32, 31, 1, 0}) check_host(n);
  check_one_array_twice(Side::host);
  Random random(case_seed());  // for what no kernel knows beforehand
  check_host(random.integer(5000, 20'000), 100.0f * std::abs(drawn::factor(random, 40)));
}

TEST_CASE("host: adds more numbers than the largest grid has threads", "[l01][vector_add_host][points:1]") {
  require_no_short_steps(Side::host);
  for (const std::int64_t n : {kBeyondOneGrid, whole_beyond_one_grid()}) check_host(n);
}

TEST_CASE("host: gives the same bits twice, and leaves nothing behind", "[l01][vector_add_host][points:1]") {
  require_no_short_steps(Side::host);
  for (int repetition = 0; repetition < 2; ++repetition) check_host(4099);
}

TEST_CASE("host: adds three numbers, but refuses to add -1", "[l01][vector_add_host][points:1]") {
  check_host(3);
  const Tensor<float> a = numbers(3, 0), b = numbers(3, 1);
  Tensor<float> c({3});
  for (const std::int64_t n : negative_sizes()) {
    INFO("n = " << n);
    require_throws<std::invalid_argument>(
        call(ENTRY(vector_add_host), host_in(a, "a"), host_in(b, "b"), host_out(c, "c"), n), "n");
  }
}

TEST_CASE("host: reports that the device has too little memory", "[l01][vector_add_host][points:2]") {
  check_host(3);
  // The host arrays are short: nobody gets as far as copying them.
  INFO("n = 2^40, so that an array takes 4 TiB and cudaMalloc fails");
  const Tensor<float> a = numbers(3, 0), b = numbers(3, 1);
  Tensor<float> c({3});
  require_throws<std::runtime_error>(call(ENTRY(vector_add_host), host_in(a, "a"), host_in(b, "b"),
                                          host_out(c, "c"), std::int64_t{1} << 40));
  check_host_with_little_memory(1024);
}

TEST_CASE("host: frees its device memory when a copy fails", "[l01][vector_add_host][points:2]") {
  check_host(1000);
  const Tensor<float> x = numbers(1000, 1);
  Tensor<float> c({1000});
  INFO("a is a null pointer, so that copying it fails");
  require_throws<std::runtime_error>(
      call(ENTRY(vector_add_host), null(), host_in(x, "b"), host_out(c, "c"), std::int64_t{1000}));
  INFO("then b is one");
  require_throws<std::runtime_error>(
      call(ENTRY(vector_add_host), host_in(x, "a"), null(), host_out(c, "c"), std::int64_t{1000}));
  INFO("then b lies in device memory, so that copying it from the host fails");
  const Tensor<float> a = numbers(1000, 0);
  require_sum_or_error(call(ENTRY(vector_add_host), host_in(a, "a"), in(x, "b"), host_out(c, "c"), c.numel()),
                       c, a, x);
  INFO("then CUDA refuses the launch");
  const auto add = [&](const CallOptions& options) {
    return call_with(options, ENTRY(vector_add_host), host_in(a, "a"), host_in(x, "b"), host_out(c, "c"),
                     c.numel());
  };
  const Outcome unlimited = add({});
  require_host_sum(unlimited, c, a, x);
  if (!require_refused_launch(add(with_grid_limit(1)), unlimited)) require_sum(c, a, x);
}

TEST_CASE("host: reports that the result cannot be copied back", "[l01][vector_add_host][points:2]") {
  check_host(1000);
  const Tensor<float> a = numbers(1000, 0), b = numbers(1000, 1);
  INFO("c is a null pointer, so that the copy back fails");
  const Outcome outcome =
      call(ENTRY(vector_add_host), host_in(a, "a"), host_in(b, "b"), null(), std::int64_t{1000});
  require_throws<std::runtime_error>(outcome);
  INFO("then c lies in device memory, so that copying it to the host fails");
  Tensor<float> c({1000});
  require_sum_or_error(call(ENTRY(vector_add_host), host_in(a, "a"), host_in(b, "b"), out(c, "c"), c.numel()),
                       c, a, b);
}

COURSE_RUN(RunContext& run) {
  const auto a = run.input<float>("a", {"n"}), b = run.input<float>("b", {"n"});
  Tensor<float> c(a.shape());
  run.call(ENTRY(vector_add), in(a, "a"), in(b, "b"), out(c, "c"), a.numel());
  run.output("c", c);
}
