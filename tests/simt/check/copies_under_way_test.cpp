#include "simt/check/copies_under_way.hpp"

#include "support/catch.hpp"

using simt::check::CopiesUnderWay;

TEST_CASE("a thread that sends copies has its own ahead", "[simt][check]") {
  CopiesUnderWay copies(4);
  copies.load_shared(0, 4);  // nothing is under way
  copies.issue(0, 0, 16);
  copies.issue(0, 16, 16);
  copies.issue(1, 32, 16);
  copies.load_shared(0, 4);
  copies.land(0, 0);
  copies.load_shared(0, 4);
  copies.store_global(0, 8);
  copies.land(0, 16);
  copies.load_shared(0, 4);
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 4 * 32 + 4 * 16);
  REQUIRE(copies.ahead().of_global_stores == 8 * 16);
}

TEST_CASE("a thread that sends none has its share of what others have under way between two barriers",
          "[simt][check]") {
  CopiesUnderWay copies(4);
  copies.issue(3, 0, 16);
  copies.issue(3, 16, 32);
  copies.meet_at_barrier();
  copies.load_shared(0, 4);  // heard before the sender's
  copies.issue(3, 48, 64);
  copies.land(3, 0);  // for the next barrier
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 4 * (16 + 32 + 64) / 4);
  copies.load_shared(1, 4);
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 4 * (16 + 32 + 64) / 4 + 4 * (32 + 64) / 4);
}

TEST_CASE("copies that stay under way while later ones land are not ahead of others", "[simt][check]") {
  CopiesUnderWay copies(4);
  copies.issue(2, 0, 128);  // nobody waits for it
  copies.meet_at_barrier();
  copies.issue(3, 128, 16);
  copies.meet_at_barrier();
  copies.land(3, 128);
  copies.meet_at_barrier();
  copies.load_shared(0, 4);
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 0);
}

TEST_CASE("what stays under way is what has not landed", "[simt][check]") {
  const std::uint64_t bytes = GENERATE(0, 4);
  CopiesUnderWay copies(4);
  copies.issue(0, 0, bytes);  // bound to a barrier at which nobody waits
  copies.issue(0, 16, 16);
  copies.land(0, 16);
  copies.load_shared(0, 4);
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 4 * bytes);
}

TEST_CASE("a copy that reads nothing is not under way", "[simt][check]") {
  CopiesUnderWay copies(4);
  copies.issue(0, 0, 0);
  copies.issue(0, 0, 16);  // to the same place
  copies.land(0, 0);
  copies.load_shared(0, 4);
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 0);
}
