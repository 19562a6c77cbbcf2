#include "simt/check/order.hpp"

#include "support/catch.hpp"

using namespace simt::check;

namespace {

constexpr std::uint64_t kFlag = 64, kOtherFlag = 128;

/// A launch in which threads access memory one after the other.
class Story {
 public:
  Story() { order.begin_launch(), order.begin_block(64); }

  /// What that thread accesses now.
  Stamp access(unsigned thread) const { return {order.step_of(thread / 32), thread, 1, false}; }
  bool ordered(const Stamp& before, unsigned thread) const { return order.happened_before(before, thread); }
  void atomic(std::uint64_t location, unsigned thread) {
    order.meet_at(Space::global, location, thread, true, true);
  }
  void release(std::uint64_t location, unsigned thread, FenceScope scope = FenceScope::device) {
    order.fence(thread, scope);
    atomic(location, thread);
  }
  void acquire(std::uint64_t location, unsigned thread, FenceScope scope = FenceScope::device) {
    atomic(location, thread);
    order.fence(thread, scope);
  }
  void next_block() { order.begin_block(64); }

  Order order;
};

}  // namespace

TEST_CASE("a thread's own accesses are ordered, and no others", "[simt][order]") {
  const Story story;
  const Stamp before = story.access(3);
  CHECK(story.ordered(before, 3));
  CHECK_FALSE(story.ordered(before, 4));
  CHECK_FALSE(story.ordered(before, 35));
}

TEST_CASE("a barrier orders what lies before it with what lies behind it, for the whole block",
          "[simt][order]") {
  Story story;
  const Stamp before = story.access(3);
  story.order.end_epoch();
  CHECK(story.ordered(before, 4));
  CHECK(story.ordered(before, 35));
  CHECK_FALSE(story.ordered(story.access(3), 35));
}

TEST_CASE("a syncwarp orders the lanes that it names and no others", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.order.join(0, 0b011);
  CHECK(story.ordered(before, 1));
  CHECK_FALSE(story.ordered(before, 2));
  CHECK_FALSE(story.ordered(before, 32));
  CHECK_FALSE(story.ordered(story.access(0), 1));
}

TEST_CASE("an access of a lane that a syncwarp does not name stays unordered", "[simt][order]") {
  Story story;
  const Stamp before = story.access(5);
  story.order.join(0, 0b011);
  CHECK_FALSE(story.ordered(before, 0));
}

TEST_CASE("syncwarps chain in the order in which they are made", "[simt][order]") {
  Story forward;
  const Stamp first = forward.access(0);
  forward.order.join(0, 0b011);
  forward.order.join(0, 0b110);
  CHECK(forward.ordered(first, 2));

  Story backward;
  const Stamp last = backward.access(0);
  backward.order.join(0, 0b110);
  backward.order.join(0, 0b011);
  CHECK_FALSE(backward.ordered(last, 2));
}

TEST_CASE("a chain of syncwarps ends where it began: a later barrier makes it needless", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.order.join(0, 0b011);
  story.order.end_epoch();
  CHECK(story.ordered(before, 2));
  CHECK_FALSE(story.ordered(story.access(0), 1));
}

TEST_CASE("blocks of one launch are not ordered, launches are", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.order.end_epoch();
  story.next_block();
  CHECK_FALSE(story.ordered(before, 0));
  story.order.begin_launch();
  story.next_block();
  CHECK(story.ordered(before, 0));
}

TEST_CASE("each step belongs to the block that made it", "[simt][order]") {
  Story story;
  const Stamp first = story.access(0);
  story.next_block();
  CHECK(story.order.block() == 1);
  CHECK(story.order.block_of(first.step()) == 0);
  CHECK(story.order.block_of(story.access(0).step()) == 1);
}

TEST_CASE("a fence and an atomic hand on to another block what the thread did before", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.release(kFlag, 0);
  const Stamp after = story.access(0);
  story.next_block();
  story.atomic(kFlag, 5);
  CHECK_FALSE(story.ordered(before, 5));  // its own fence is still missing
  story.order.fence(5, FenceScope::device);
  CHECK(story.ordered(before, 5));
  CHECK_FALSE(story.ordered(after, 5));
  CHECK_FALSE(story.ordered(before, 6));
}

TEST_CASE("a barrier takes the place of the second fence, and tells all threads", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.release(kFlag, 0);
  story.next_block();
  story.atomic(kFlag, 5);
  story.order.end_epoch();
  CHECK(story.ordered(before, 5));
  CHECK(story.ordered(before, 60));
}

TEST_CASE("a syncwarp hands on what a lane acquired", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.release(kFlag, 0);
  story.next_block();
  story.acquire(kFlag, 0);
  story.order.join(0, 0b11);
  CHECK(story.ordered(before, 1));
  CHECK_FALSE(story.ordered(before, 2));
}

TEST_CASE("an atomic without a fence before it releases nothing", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.atomic(kFlag, 0);
  CHECK(story.order.trivial());
  story.next_block();
  story.acquire(kFlag, 5);
  CHECK_FALSE(story.order.trivial());
  CHECK_FALSE(story.ordered(before, 5));
}

TEST_CASE("an atomic on another location acquires nothing", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.release(kFlag, 0);
  story.next_block();
  story.acquire(kOtherFlag, 5);
  CHECK_FALSE(story.ordered(before, 5));
}

TEST_CASE("a read does not release, and a write does not acquire", "[simt][order]") {
  Story reads;
  const Stamp before = reads.access(0);
  reads.order.fence(0, FenceScope::device);
  reads.order.meet_at(Space::global, kFlag, 0, true, false);
  reads.next_block();
  reads.acquire(kFlag, 5);
  CHECK_FALSE(reads.ordered(before, 5));

  Story writes;
  const Stamp also = writes.access(0);
  writes.release(kFlag, 0);
  writes.next_block();
  writes.order.meet_at(Space::global, kFlag, 5, false, true);
  writes.order.fence(5, FenceScope::device);
  CHECK_FALSE(writes.ordered(also, 5));
}

TEST_CASE("a fence of the block orders within the block only", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.release(kFlag, 0, FenceScope::block);
  story.acquire(kFlag, 40, FenceScope::block);
  CHECK(story.ordered(before, 40));
  story.next_block();
  story.acquire(kFlag, 0);
  CHECK_FALSE(story.ordered(before, 0));
}

TEST_CASE("a fence behind a barrier covers what the whole block did before the barrier", "[simt][order]") {
  Story story;
  const Stamp before = story.access(40);
  story.order.end_epoch();
  const Stamp after = story.access(40);
  story.release(kFlag, 0);
  story.next_block();
  story.acquire(kFlag, 0);
  CHECK(story.ordered(before, 0));
  CHECK_FALSE(story.ordered(after, 0));
}

TEST_CASE("a fence before a barrier covers its own thread, and any thread may hand that on",
          "[simt][order]") {
  Story story;
  const Stamp fenced = story.access(40), not_fenced = story.access(41);
  story.order.fence(40, FenceScope::device);
  story.order.end_epoch();
  story.atomic(kFlag, 0);
  story.next_block();
  story.acquire(kFlag, 0);
  CHECK(story.ordered(fenced, 0));
  CHECK_FALSE(story.ordered(not_fenced, 0));
}

TEST_CASE("releases chain from block to block", "[simt][order]") {
  Story story;
  const Stamp before = story.access(0);
  story.release(kFlag, 0);
  story.next_block();
  story.acquire(kFlag, 7);
  story.release(kOtherFlag, 7);
  story.next_block();
  story.acquire(kOtherFlag, 9);
  CHECK(story.ordered(before, 9));
}

TEST_CASE("a flag in shared memory hands on nothing to another block, which has its own", "[simt][order]") {
  Story story;
  const Stamp before = story.access(3);
  story.order.fence(3, FenceScope::device);
  story.order.meet_at(Space::shared, kFlag, 3, true, true);
  story.order.meet_at(Space::shared, kFlag, 40, true, true);
  story.order.fence(40, FenceScope::device);
  CHECK(story.ordered(before, 40));
  story.next_block();
  story.order.meet_at(Space::shared, kFlag, 3, true, true);
  story.order.fence(3, FenceScope::device);
  CHECK_FALSE(story.ordered(before, 3));
}

TEST_CASE("flags of an earlier launch order nothing in a later one", "[simt][order]") {
  Story story;
  story.release(kFlag, 0);
  story.order.begin_launch();
  story.next_block();
  const Stamp before = story.access(0);
  story.next_block();
  story.acquire(kFlag, 0);
  CHECK_FALSE(story.ordered(before, 0));
}

TEST_CASE("a named barrier orders what all that come did with what those that wait do", "[simt][order]") {
  Story story;
  const Stamp of_producer = story.access(3), of_waiting = story.access(40);
  story.order.hand_over(1, 0, ~0u);  // bar.arrive
  story.order.hand_over(1, 1, ~0u);  // bar.sync
  story.order.take_over(1, 1, ~0u);
  story.order.end_hand_over(1);
  CHECK(story.ordered(of_producer, 33));
  CHECK(story.ordered(of_waiting, 33));
  CHECK_FALSE(story.ordered(of_waiting, 3));        // the producer went on and knows nothing
  CHECK_FALSE(story.ordered(story.access(3), 33));  // what it does since is not ordered
}

TEST_CASE("what is handed over at one named barrier is not taken over at another", "[simt][order]") {
  Story story;
  const Stamp before = story.access(3);
  story.order.hand_over(1, 0, ~0u);
  story.order.hand_over(2, 1, ~0u);
  story.order.take_over(2, 1, ~0u);
  CHECK_FALSE(story.ordered(before, 33));
}
