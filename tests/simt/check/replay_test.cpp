#include "simt/check/replay.hpp"

#include <map>
#include <ostream>
#include <string>

#include "support/catch.hpp"

using namespace simt::check;
using simt::LaneMask;

namespace {

using Slots = std::vector<Event>;

Slots read(unsigned code, std::uint64_t offset = 0) {
  return {access_event(Kind::read, 2, false) | at_code(code) | at_offset(Space::global, offset)};
}
Slots write(unsigned code, std::uint64_t value) {
  return {access_event(Kind::write, 2, false) | at_code(code), value};
}
Slots enter(unsigned code, unsigned call) { return {mark_event(Mark::enter) | at_code(code) | call}; }
Slots leave(unsigned code) { return {mark_event(Mark::leave) | at_code(code)}; }
/// Took part in that warp operation, with those lanes.
Slots met(unsigned code, unsigned number, LaneMask lanes) {
  return {mark_event(Mark::met) | at_code(code) | number, lanes};
}

struct Did {
  unsigned code;
  LaneMask lanes;
  bool operator==(const Did&) const = default;
};
[[maybe_unused]] std::ostream& operator<<(std::ostream& out, const Did& did) {
  return out << did.code << " by " << std::hex << did.lanes << std::dec;
}

/// A block whose threads leave traces.
class Block : Replay::Listener {
 public:
  explicit Block(int threads = 32) : replay(recorder, paths, merged, *this) {
    recorder.start_block(threads);
    replay.begin_block(threads);
  }
  void trace(int thread, std::initializer_list<Slots> events) {
    for (const Slots& slots : events)
      for (const Event slot : slots) *recorder.threads[static_cast<std::size_t>(thread)].tail++ = slot;
  }
  /// What the warp did since the last call; lanes of `unfinished` will do more.
  std::vector<Did> drain(LaneMask unfinished = 0, unsigned warp = 0) {
    did_.clear();
    replay.drain(warp, unfinished);
    return did_;
  }
  std::map<unsigned, std::uint64_t> offsets, values;  ///< of the last event, by lane
  std::vector<unsigned> calls;  ///< and those in which its first lane stood, innermost first
  Recorder recorder;
  CallPaths paths;
  MergedBlocks merged;
  Replay replay;

 private:
  void warp_did(const WarpEvent& event) override {
    did_.push_back({static_cast<unsigned>(code_of(event.event)), event.lanes});
    offsets.clear(), values.clear();
    calls.clear();
    for (CallPaths::Path path = event.path; path != 0; path = paths.caller(path))
      calls.push_back(paths.call(path));
    for (unsigned lane = 0; lane < 32; ++lane) {
      if ((event.lanes >> lane & 1u) == 0) continue;
      offsets[lane] = event.offsets[lane];
      if (has_second_slot(event.event)) values[lane] = event.seconds[lane];
    }
  }
  std::vector<Did> did_;
};

using Steps = std::vector<Did>;

}  // namespace

TEST_CASE("lanes that do the same make one instruction, each with its own place and value",
          "[simt][replay]") {
  Block block;
  for (int lane = 0; lane < 32; ++lane)
    block.trace(lane,
                {read(10, 4u * static_cast<unsigned>(lane)), write(20, 100u + static_cast<unsigned>(lane))});
  CHECK(block.drain() == Steps{{10, ~0u}, {20, ~0u}});
  CHECK(block.values.at(31) == 131);
}

TEST_CASE("the sides of a branch run one after the other and meet behind it", "[simt][replay]") {
  Block block(2);
  block.trace(0, {read(10), read(30), read(40)});
  block.trace(1, {read(10), read(20), read(40)});
  CHECK(block.drain() == Steps{{10, 0b11}, {20, 0b10}, {30, 0b01}, {40, 0b11}});
}

TEST_CASE("lanes leave a loop one by one and meet behind it", "[simt][replay]") {
  Block block(3);
  block.trace(0, {read(20), read(50)});
  block.trace(1, {read(20), read(20), read(50)});
  block.trace(2, {read(20), read(20), read(20), read(50)});
  CHECK(block.drain() == Steps{{20, 0b111}, {20, 0b110}, {20, 0b100}, {50, 0b111}});
}

TEST_CASE("rounds of a loop are kept apart where a branch skips some of them", "[simt][replay]") {
  Block block(2);
  block.trace(0, {read(10), read(20), read(30), read(10), read(30)});
  block.trace(1, {read(10), read(30), read(10), read(20), read(30)});
  CHECK(block.drain() == Steps{{10, 0b11}, {20, 0b01}, {30, 0b11}, {10, 0b11}, {20, 0b10}, {30, 0b11}});
}

TEST_CASE("a function is run to its end before the others go on", "[simt][replay]") {
  Block block(2);
  block.trace(0, {read(110), enter(5, 115), read(6), leave(7), read(140)});
  block.trace(1, {read(110), read(120), read(140)});
  CHECK(block.drain() == Steps{{110, 0b11}, {6, 0b01}, {120, 0b10}, {140, 0b11}});
}

TEST_CASE("lanes that call a function join the others behind the call, wherever the function lies",
          "[simt][replay]") {
  Block block(2);
  block.trace(0, {read(110), enter(905, 115), read(906), leave(907), read(140)});
  block.trace(1, {read(110), read(120), read(140)});
  CHECK(block.drain() == Steps{{110, 0b11}, {906, 0b01}, {120, 0b10}, {140, 0b11}});
}

TEST_CASE("the calls in which an instruction stands are known", "[simt][replay]") {
  Block block(1);
  block.trace(0, {enter(105, 15), enter(205, 115), read(206)});
  CHECK(block.drain(1) == Steps{{206, 1}});
  CHECK(block.calls == std::vector<unsigned>{115, 15});
  CHECK(block.paths.call(block.replay.path_of(0)) == 115);
  block.trace(0, {leave(207), read(106)});
  CHECK(block.drain(1) == Steps{{106, 1}});
  CHECK(block.calls == std::vector<unsigned>{15});
}

TEST_CASE("lanes that meet in a warp operation from different places of the code are one instruction",
          "[simt][replay]") {
  Block block(2);
  block.trace(0, {met(20, 7, 0b11), read(90)});
  block.trace(1, {read(50), met(60, 7, 0b11), read(90)});
  CHECK(block.drain() == Steps{{50, 0b10}, {20, 0b11}, {90, 0b11}});
}

TEST_CASE("different warp operations at one place of the code stay apart", "[simt][replay]") {
  Block block(4);
  for (const int lane : {0, 1}) block.trace(lane, {met(20, 7, 0b0011)});
  for (const int lane : {2, 3}) block.trace(lane, {met(20, 8, 0b1100)});
  CHECK(block.drain() == Steps{{20, 0b0011}, {20, 0b1100}});
}

TEST_CASE("an operation whose other lanes were stopped by a fault does not stop the replay",
          "[simt][replay]") {
  Block block(2);
  block.trace(0, {met(20, 7, 0b11), read(30)});
  block.replay.thread_ends(1);
  CHECK(block.drain() == Steps{{20, 0b01}, {30, 0b01}});
}

TEST_CASE("lanes wait for one that has more to tell", "[simt][replay]") {
  Block block(2);
  block.trace(0, {read(10), read(20)});
  block.trace(1, {read(10)});
  CHECK(block.drain(0b10) == Steps{{10, 0b11}});
  block.trace(1, {read(20)});
  CHECK(block.drain(0b10) == Steps{{20, 0b11}});
}

TEST_CASE("lanes do not wait for one that has ended", "[simt][replay]") {
  Block block(2);
  block.trace(0, {read(10), read(20)});
  block.trace(1, {read(10)});
  block.replay.thread_ends(1);
  CHECK(block.drain(0b01) == Steps{{10, 0b11}, {20, 0b01}});
  CHECK(block.replay.live(0) == 0b01);
}

TEST_CASE("the last warp of a block may be small, and warps are replayed one by one", "[simt][replay]") {
  Block block(40);
  CHECK(block.replay.live(0) == ~0u);
  CHECK(block.replay.live(1) == 0xff);
  for (int thread = 32; thread < 40; ++thread) block.trace(thread, {read(10)});
  CHECK(block.drain(0, 0).empty());
  CHECK(block.drain(0, 1) == Steps{{10, 0xff}});
}
