// The tiles of keys that the solution of lesson 13 loads, with the window and the sinks that it is given:
// scripts/figure_attention_sinks.py --measure joins this to it.

#include <cstdlib>

#include "attention_tiles.hpp"

int main(int, char** arguments) {
  const long window = std::atol(arguments[1]), sinks = std::atol(arguments[2]);
  course::figures::print_tiles(1024, 1024, 32, [=](auto Q, auto K, auto V, auto O, auto lse, float scale) {
    course::attention_with_sinks(Q, K, V, nullptr, O, lse, scale, window, sinks);
  });
}
