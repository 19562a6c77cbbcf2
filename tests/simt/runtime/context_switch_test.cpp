#include "simt/runtime/context_switch.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "support/catch.hpp"

namespace {

using simt::StackPlace;

StackPlace home = nullptr;
std::array<StackPlace, 3> places{};
std::size_t running = 0;
std::vector<std::size_t> order;
std::vector<double> sums;

/// Of one stack: takes turns with the others, three times, and then goes home.
void take_turns() {
  const std::size_t self = running;
  double sum = 0.5;  // lives across switches, as do self and turn
  for (std::size_t turn = 1; turn <= 3; ++turn) {
    order.push_back(self);
    sum += static_cast<double>(self * turn);
    running = (self + 1) % places.size();
    simt::switch_stack(places[self], places[running]);
  }
  sums.push_back(sum);
  running = (self + 1) % places.size();
  StackPlace left = nullptr;
  simt::switch_stack(left, self + 1 == places.size() ? home : places[running]);
}

}  // namespace

TEST_CASE("stacks take turns, and each goes on where it was", "[simt][stack]") {
  constexpr std::size_t kBytes = 64 * 1024;
  std::vector<std::vector<std::byte>> stacks(places.size(), std::vector<std::byte>(kBytes));
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i] = simt::new_stack<take_turns>(stacks[i].data() + kBytes, kBytes);
  running = 0;
  simt::switch_stack(home, places[0]);
  REQUIRE(order == std::vector<std::size_t>{0, 1, 2, 0, 1, 2, 0, 1, 2});
  REQUIRE(sums == std::vector<double>{0.5, 6.5, 12.5});
}
