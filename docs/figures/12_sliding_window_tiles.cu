// The tiles of keys that the solution of lesson 12 loads for 1024 queries and as many keys; the window is the
// program's argument. scripts/figure_sliding_window.py --measure joins this to it.

#include <cstdlib>

#include "attention_tiles.hpp"

int main(int, char** arguments) {
  const std::int64_t window = std::atoll(arguments[1]);
  course::figures::print_tiles(1024, 1024, 32,
                               [window](auto... all) { course::sliding_window_attention(all..., window); });
}
