#include "simt/check/memory_map.hpp"

#include <memory>

#include "simt/check/recorder.hpp"
#include "support/catch.hpp"

using namespace simt;
using namespace simt::check;

namespace {

alignas(256) int table[100];

constexpr std::uint64_t kDynamic = Recorder::kDynamicOffset + Recorder::kMargin;

/// A launch of a kernel with one variable, `table`, and dynamic shared memory.
MemoryMap map_of_launch(std::size_t dynamic_bytes = 4096) {
  KernelModule module;
  module.data.push_back({reinterpret_cast<std::uintptr_t>(table), sizeof table, "_ZN6course5tableE"});
  MemoryMap map;
  map.begin_launch(module, dynamic_bytes, nullptr, 0);
  return map;
}

/// The offset of a variable's byte in the window of global memory.
std::uint64_t offset_of_table(const MemoryMap& map, std::size_t byte) {
  std::uint64_t offset = 0;
  REQUIRE(map.find_elsewhere(reinterpret_cast<std::uintptr_t>(table) + byte, offset) ==
          MemoryMap::Owner::kernels);
  return offset;
}

/// A name for a part of dynamic shared memory; extents[0] = 0: of unknown length.
ArrayName view(const char* name, std::uint64_t offset, std::size_t element_bytes,
               const std::vector<std::size_t>& extents, std::size_t member_rank = 0) {
  ArrayName view{name, offset, element_bytes, element_bytes, extents, name};
  for (const std::size_t extent : extents) view.bytes *= extent;
  view.what = NameOf::view;
  view.member_rank = member_rank;
  if (member_rank != 0) view.member = ".at";
  return view;
}

/// struct { Tile Q; union { Tile K; float P[4][8]; }; Tile V[2]; }, where a Tile is { float at[4][4]; }.
MemoryMap map_with_tiles() {
  MemoryMap map = map_of_launch();
  map.name_shared({"shared_memory", kDynamic, 0, 16, {0}, "shared_memory"});
  map.name_shared(view("smem.Q", kDynamic, 4, {4, 4}, 2));
  map.name_shared(view("smem.K", kDynamic + 64, 4, {4, 4}, 2));
  map.name_shared(view("smem.V", kDynamic + 192, 4, {2, 4, 4}, 2));
  map.name_shared(view("smem.P", kDynamic + 64, 4, {4, 8}));
  return map;
}

}  // namespace

TEST_CASE("an element is named by array and index", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  map.name_shared({"tile", kDynamic, 0, sizeof(float), {0, 33}, "tile"});
  CHECK(map.element(Space::shared, kDynamic, 4).text == "tile[0][0]");
  const ElementName element = map.element(Space::shared, kDynamic + (3 * 33 + 5) * sizeof(float), 4);
  CHECK(element.text == "tile[3][5]");
  CHECK(element.array == "tile");
  CHECK(element.index == std::vector<std::int64_t>{3, 5});
  CHECK(element.offset == (3 * 33 + 5) * 4);
}

TEST_CASE("a byte within an element counts as the element", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  map.name_shared({"counts", kDynamic, 0, sizeof(int), {0}, "counts"});
  CHECK(map.element(Space::shared, kDynamic + 6, 1).text == "counts[1]");
}

TEST_CASE("an index beside the array is told as the one that was meant", "[simt][memory]") {
  MemoryMap map = map_of_launch(4096);
  map.name_shared({"counts", kDynamic, 0, sizeof(int), {0}, "counts"});
  CHECK(map.element(Space::shared, kDynamic - 4, 4).text == "counts[-1]");
  CHECK(map.element(Space::shared, kDynamic - 5, 1).text == "counts[-2]");
  CHECK(map.element(Space::shared, kDynamic + 4096, 4).text == "counts[1024]");
}

TEST_CASE("of several names the one that begins last before the element is its own", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  map.name_shared({"keys", kDynamic, 0, sizeof(int), {0}, "keys"});
  map.name_shared({"values", kDynamic + 400, 0, sizeof(float), {0}, "values"});
  map.name_shared({"again", kDynamic, 0, sizeof(int), {0}, "again"});
  CHECK(map.element(Space::shared, kDynamic + 396, 4).text == "keys[99]");
  CHECK(map.element(Space::shared, kDynamic + 404, 4).text == "values[1]");
  CHECK(map.shared_names().size() == 2);
}

TEST_CASE("dynamic shared memory is named by the members of what lies there", "[simt][memory]") {
  MemoryMap map = map_with_tiles();
  CHECK(map.element(Space::shared, kDynamic + 4 * 5, 4).text == "smem.Q.at[1][1]");
  CHECK(map.element(Space::shared, kDynamic + 4 * 5, 4).array == "smem.Q");
  CHECK(map.element(Space::shared, kDynamic + 192 + 4 * (16 + 4 * 1 + 3), 4).text == "smem.V[1].at[1][3]");
  // Past the last member, and so past the end of the memory.
  CHECK(map.element(Space::shared, kDynamic + 4096, 4).text.starts_with("smem.V["));
}

TEST_CASE("a member that shares its memory is the one that the source has, or both are told",
          "[simt][memory]") {
  const MemoryMap map = map_with_tiles();
  const std::uint64_t place = kDynamic + 64 + 4 * 9;
  const auto element = [&](const SourceTexts& source) {
    return map.element(Space::shared, place, 4, source);
  };
  CHECK(element({"put_tile(S_rmem, smem.P);"}).text == "smem.P[1][1]");
  CHECK(element({"put_tile(S_rmem, smem.P);"}).full_text() == "smem.P[1][1]");
  CHECK(element({"tile.at[k][i] = x;", "put(tiles->P, smem.Q);", "smem.K"}).text == "smem.P[1][1]");
  CHECK(element({"multiply(smem.Q, smem.K);"}).text == "smem.K.at[2][1]");
  CHECK(element({"multiply(smem.Q, smem.K);"}).by_source);
  for (const SourceTexts& source : {SourceTexts{},
                                    {"f(smem.K, smem.P);"},
                                    {"P = smem.Key;"},
                                    {"f();  // smem.P"},
                                    {"g(shared_memory);"}}) {
    CHECK(element(source).text == "smem.K.at[2][1]");
    CHECK(element(source).full_text() == "smem.K.at[2][1] (which is smem.P's memory, too)");
    CHECK_FALSE(element(source).by_source);
  }
}

TEST_CASE("pointers into dynamic shared memory name what lies behind them", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  map.name_shared({"memory", kDynamic, 0, 16, {0}, "memory"});
  map.name_shared(view("K_smem", kDynamic, 4, {0}));
  map.name_shared(view("V_smem", kDynamic + 256, 4, {0, 8}));
  CHECK(map.element(Space::shared, kDynamic + 12, 4).text == "K_smem[3]");
  CHECK(map.element(Space::shared, kDynamic + 256 + 4 * 17, 4).text == "V_smem[2][1]");
  // An index past the end of one is in the other, unless the source is asked.
  CHECK(map.element(Space::shared, kDynamic + 260, 4, {"x = K_smem[i];"}).text == "K_smem[65]");
  CHECK(map.element(Space::shared, kDynamic + 12, 4, {"x = memory[i];"}).text == "memory[0]");
}

TEST_CASE("a view that is not at the same place for all threads names nothing", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  const char* const row = "row";
  map.name_shared({"memory", kDynamic, 0, 4, {0}, "memory"});
  map.name_shared(view(row, kDynamic + 64, 4, {0}));
  CHECK(map.knows_shared(row, kDynamic + 64));
  CHECK_FALSE(map.knows_shared(row, kDynamic + 128));
  CHECK(map.element(Space::shared, kDynamic + 68, 4).text == "row[1]");
  map.name_shared(view(row, kDynamic + 128, 4, {0}));
  CHECK(map.knows_shared(row, kDynamic + 192));
  CHECK(map.element(Space::shared, kDynamic + 68, 4, {"row[1] = x;"}).text == "memory[17]");
}

TEST_CASE("memory without a name is told by its bytes", "[simt][memory]") {
  const MemoryMap map = map_of_launch(64);
  CHECK(map.element(Space::shared, kDynamic + 12, 4).text == "dynamic shared memory, byte 12");
  CHECK(map.describe_bounds(Space::shared, kDynamic) ==
        "the launch gave the block 64 bytes of dynamic shared memory");
  CHECK(map_of_launch(0).element(Space::shared, kDynamic, 4).text == "shared memory");
}

TEST_CASE("a variable has its own name, and a parameter's name where the kernel got it as one",
          "[simt][memory]") {
  MemoryMap map = map_of_launch();
  const std::uint64_t first = offset_of_table(map, 0);
  CHECK(map.element(Space::global, first + 8, 4).text == "table, byte 8");
  CHECK(map.describe_bounds(Space::global, first + 8) == "table has 400 bytes");
  map.name_global(reinterpret_cast<std::uintptr_t>(table + 10), "x", sizeof(int));
  CHECK(map.element(Space::global, first + 48, 4).text == "x[2]");
  CHECK(map.element(Space::global, first, 4).text == "x[-10]");
  CHECK(map.is_pointer_name("x"));
  map.name_global(reinterpret_cast<std::uintptr_t>(table + 20), "y.data", sizeof(int), {{2, 5}, {8, 1}});
  REQUIRE(map.global_names().size() == 2);
  CHECK(map.global_names()[0].view.shape.empty());
  CHECK(map.global_names()[1].view.shape == std::vector<std::int64_t>{2, 5});
  CHECK(map.global_names()[1].view.strides == std::vector<std::int64_t>{8, 1});
  CHECK_FALSE(map.is_pointer_name("table"));
}

TEST_CASE("a gap is what lies between the elements of a view", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  const std::uint64_t first = offset_of_table(map, 0);
  map.name_global(reinterpret_cast<std::uintptr_t>(table + 10), "y.data", sizeof(int), {{3, 5}, {8, 1}});
  const auto gap = [&](std::uint64_t element) { return map.gap(first + 4 * (10 + element)); };
  CHECK(gap(5) == "y, of shape (3, 5) and strides (8, 1)");
  CHECK_FALSE(gap(15).empty());
  for (const std::uint64_t element : {0, 4, 8, 20, 21, 30}) CHECK(gap(element).empty());
  CHECK(map.gap(first + 4).empty());  // before the view
  map.name_global(reinterpret_cast<std::uintptr_t>(table + 50), "z.data", sizeof(int),
                  {{2, 3, 1}, {1, 4, 7}});
  CHECK(map.gap(first + 4 * 51).empty());
  CHECK_FALSE(map.gap(first + 4 * 52).empty());
}

TEST_CASE("padding is what lies between the members of a struct that the kernel knows", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  const std::uint64_t first = offset_of_table(map, 0);
  CHECK_FALSE(map.is_padding(Space::global, first, 4));
  map.name_global(reinterpret_cast<std::uintptr_t>(table), "words", sizeof(int));
  CHECK_FALSE(map.is_padding(Space::global, first, 4));
  std::vector<bool> values(16, true);
  values[5] = values[6] = values[7] = values[12] = values[13] = values[14] = values[15] = false;
  map.name_global(reinterpret_cast<std::uintptr_t>(table), "structs", 16, {}, values);
  CHECK(map.is_padding(Space::global, first, 4) == false);
  CHECK(map.is_padding(Space::global, first + 32 + 12, 4) == true);
  CHECK(map.is_padding(Space::global, first + 32 + 4, 4) == false);  // one of its bytes is a member
  CHECK(map.is_padding(Space::global, first + 32 + 5, 1) == true);
}

TEST_CASE("of shared variables, those of functions that threads have come to are the launch's",
          "[simt][memory]") {
  simt::KernelModule module;
  module.shared = {{0, 64, "_ZZ4onceiE1a", "once(int)"},
                   {64, 64, "_ZZ4onceiE1b", "once(int)"},
                   {128, 64, "_ZZ5twiceILi2EEviE1a", "void twice<2>(int)"},
                   {192, 64, "_ZZ5twiceILi3EEviE1a", "void twice<3>(int)"}};
  const auto reached = [](const MemoryMap& map) {
    std::string list;
    for (const SharedRange& range : map.shared_ranges()) list += range.reached ? '1' : '0';
    return list;
  };
  MemoryMap map;
  map.begin_launch(module, 0, nullptr, 0);
  CHECK(reached(map) == "0000");
  map.name_shared({"b", map.shared_ranges()[1].offset, 64, 4, {16}, "b"});
  CHECK(reached(map) == "1100");
  CHECK_FALSE(map.reach_unnamed(map.shared_ranges()[2], {{"x.cu", 1, "once"}}));
  CHECK(map.reach_unnamed(map.shared_ranges()[2], {{"x.cu", 1, "helper"}, {"x.cu", 2, "twice"}}));
  CHECK(reached(map) == "1110");
  CHECK_FALSE(map.reach_unnamed(map.shared_ranges()[3], {{"x.cu", 2, "twice"}}));
}

TEST_CASE("ranges end where they end", "[simt][memory]") {
  const MemoryMap map = map_of_launch(64);
  const std::uint64_t first = offset_of_table(map, 0);
  REQUIRE(map.find_global(first) != nullptr);
  CHECK(map.find_global(first)->contains(first + 396, 4));
  CHECK_FALSE(map.find_global(first)->contains(first + 397, 4));
  CHECK(map.find_global(first + 400) == nullptr);
  CHECK(map.find_global(first - 1) == nullptr);
  CHECK(map.find_shared(kDynamic + 63) != nullptr);
  CHECK(map.find_shared(kDynamic + 64) == nullptr);
}

TEST_CASE("sectors of a variable lie in the window where they lie in memory", "[simt][memory]") {
  CHECK(offset_of_table(map_of_launch(), 0) % 256 == 0);
  CHECK(offset_of_table(map_of_launch(), 36) % 32 == 4);
}

TEST_CASE("memory that malloc gave to a kernel is the kernel's until it is freed", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  const auto address = reinterpret_cast<std::uintptr_t>(&map);
  map.add_kernel_heap(address, 64);
  std::uint64_t offset = 0;
  CHECK(map.find_elsewhere(address + 8, offset) == MemoryMap::Owner::kernels);
  CHECK(map.free_kernel_heap(address + 8) == MemoryMap::Owner::host);  // not where it begins
  CHECK(map.free_kernel_heap(address) == MemoryMap::Owner::kernels);
  CHECK(map.find_elsewhere(address + 8, offset) == MemoryMap::Owner::freed);
  CHECK(map.free_kernel_heap(address) == MemoryMap::Owner::freed);

  map.add_kernel_heap(address + 32, 8);  // the heap gives a part of it away again
  CHECK(map.find_elsewhere(address + 32, offset) == MemoryMap::Owner::kernels);
  CHECK(map.free_kernel_heap(address + 32) == MemoryMap::Owner::kernels);
  map.begin_launch({}, 0, nullptr, 0);  // the host may have it by now
  CHECK(map.find_elsewhere(address + 32, offset) == MemoryMap::Owner::host);
}

TEST_CASE("what describes a class runs on its stack, and leaves no trace", "[simt][memory]") {
  static const Recorder* recording = nullptr;
  static bool full = false;
  Recorder recorder;
  recorder.start_block(1);
  recorder.switch_to(0);
  Event* const tail = recorder.tail;
  Event* const limit = recorder.limit;
  const auto describe = [](unsigned char* bytes) {
    recording = active_recorder;
    full = active_recorder->tail == active_recorder->limit;
    active_recorder->append(mark_event(Mark::block), 7);
    bytes[0] = bytes[2] = 1;
  };
  CHECK(values_of(3, describe, recorder) == std::vector<bool>{true, false, true});
  CHECK(recording == &recorder);
  CHECK(full);
  CHECK(active_recorder == nullptr);
  CHECK(recorder.tail == tail);
  CHECK(recorder.limit == limit);
  CHECK(values_of(3, nullptr, recorder).empty());
  CHECK(values_of(5000, describe, recorder).empty());
}

TEST_CASE("a piece of the heap for which the window has no room is nothing that kernels may touch",
          "[simt][memory]") {
  MemoryMap map = map_of_launch();
  const auto piece = std::make_unique<int[]>(16);
  const auto address = reinterpret_cast<std::uintptr_t>(piece.get());
  std::uint64_t offset = 0;
  map.add_kernel_heap(address, std::size_t{4} << 30);
  CHECK(map.find_elsewhere(address + 60, offset) == MemoryMap::Owner::host);
  map.begin_launch({}, 0, nullptr, 0);
  CHECK(map.find_elsewhere(address + 60, offset) == MemoryMap::Owner::host);
}

TEST_CASE("each piece that malloc gives to kernels has a place of its own in the window", "[simt][memory]") {
  MemoryMap map = map_of_launch();
  const auto piece = std::make_unique<int[]>(16);
  const auto address = reinterpret_cast<std::uintptr_t>(piece.get());
  std::uint64_t first = 0, second = 0, later = 0;
  map.add_kernel_heap(address, 64);
  REQUIRE(map.find_elsewhere(address + 60, first) == MemoryMap::Owner::kernels);
  REQUIRE(map.find_global(first) != nullptr);
  CHECK_FALSE(map.find_global(first)->host_sees);  // before the launch has ended
  REQUIRE(map.free_kernel_heap(address) == MemoryMap::Owner::kernels);
  CHECK(map.find_elsewhere(address, second) != MemoryMap::Owner::kernels);
  CHECK(map.find_global(first) != nullptr);  // what was done there may not have been looked at yet
  map.add_kernel_heap(address, 64);
  REQUIRE(map.find_elsewhere(address + 60, second) == MemoryMap::Owner::kernels);
  CHECK(second != first);

  map.begin_launch({}, 0, nullptr, 0);
  REQUIRE(map.find_elsewhere(address + 60, later) == MemoryMap::Owner::kernels);
  REQUIRE(map.find_global(later) != nullptr);
  CHECK(map.find_global(later)->host_sees);
}
