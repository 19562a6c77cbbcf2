// The tiles of keys that the solution of lesson 10 loads: scripts/figure_causal.py --measure joins this to
// it.

#include "attention_tiles.hpp"

int main() {
  course::figures::print_tiles(1024, 1024, 32,
                               [](auto... arguments) { course::causal_attention(arguments...); });
}
