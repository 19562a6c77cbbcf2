#include "simt/check/copies_under_way.hpp"

#include "support/catch.hpp"

using simt::check::CopiesUnderWay;

TEST_CASE("a thread that sends copies has its own ahead", "[simt][check]") {
  CopiesUnderWay copies(4);
  copies.load_shared(0, 4);  // nothing is under way
  copies.issue(0, 16);
  copies.issue(0, 16);
  copies.issue(1, 16);
  copies.load_shared(0, 4);
  copies.land(0);
  copies.load_shared(0, 4);
  copies.store_global(0, 8);
  copies.land(0);
  copies.load_shared(0, 4);
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 4 * 32 + 4 * 16);
  REQUIRE(copies.ahead().of_global_stores == 8 * 16);
}

TEST_CASE("a thread that sends none has its share of what others have under way between two barriers",
          "[simt][check]") {
  CopiesUnderWay copies(4);
  copies.issue(3, 16);
  copies.issue(3, 32);
  copies.meet_at_barrier();
  copies.load_shared(0, 4);  // heard before the sender's
  copies.issue(3, 64);
  copies.land(3);  // for the next barrier
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 4 * (16 + 32 + 64) / 4);
  copies.load_shared(1, 4);
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 4 * (16 + 32 + 64) / 4 + 4 * (32 + 64) / 4);
}

TEST_CASE("copies that stay under way while later ones land are not ahead of others", "[simt][check]") {
  CopiesUnderWay copies(4);
  copies.issue(2, 128);  // nobody waits for it
  copies.meet_at_barrier();
  copies.issue(3, 16);
  copies.meet_at_barrier();
  copies.land(3);
  copies.meet_at_barrier();
  copies.load_shared(0, 4);
  copies.meet_at_barrier();
  REQUIRE(copies.ahead().of_shared_loads == 0);
}
