#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "attention/checks.hpp"
#include "grading/facts/poison.hpp"

namespace course::attention_tests {

using namespace course::grading;

namespace {

/// The axes of a grid, x first: 't' counts tiles of queries, 'h' heads and 'b' batches.
using Axes = std::string;

/// Blocks along x, y and z.
using Grid = std::array<unsigned, 3>;

/// How many tiles, heads and batches there are.
struct Counts {
  Int tiles, H, B;

  Int of(char axis) const { return axis == 't' ? tiles : axis == 'h' ? H : B; }
  Int all() const { return B * H * tiles; }
};

std::string name_of_count(char axis) { return axis == 't' ? "tiles" : axis == 'h' ? "H" : "B"; }
std::string name_of_one(char axis) {
  return axis == 't' ? "the tile" : axis == 'h' ? "the head" : "the batch";
}

/// Tiles of queries, counted through all batches and heads.
using Tiles = std::set<Int>;

/// Those of which some lse was written.
Tiles tiles_written(const Forward& got, Int Nq, Int queries, Int tiles) {
  Tiles written;
  for (Int row = 0; row < got.lse.numel(); ++row)
    if (!is_poison(got.lse.at_linear(row))) written.insert(row / Nq * tiles + row % Nq / queries);
  return written;
}

/// What a kernel that takes blockIdx by `kernel` writes in that grid; nothing if two blocks write the same.
Tiles tiles_written_by(const Axes& kernel, const Grid& grid, const Counts& counts) {
  Tiles all;
  for (Int x = 0; x < grid[0]; ++x)
    for (Int y = 0; y < grid[1]; ++y)
      for (Int z = 0; z < grid[2]; ++z) {
        std::map<char, Int> at{{kernel[0], x}, {kernel[1], y}, {kernel[2], z}};
        const Int head = at['b'] * counts.H + at['h'];
        if (head >= counts.B * counts.H || at['t'] >= counts.tiles) continue;
        if (!all.insert(head * counts.tiles + at['t']).second) return {};
      }
  return all;
}

bool has_axes(const Grid& grid, const Axes& axes, const Counts& counts) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (grid[axis] != counts.of(axes[axis])) return false;
  return true;
}

std::string sentence(const Axes& launch, const Axes& kernel) {
  return "The launch has a grid of (" + name_of_count(launch[0]) + ", " + name_of_count(launch[1]) + ", " +
         name_of_count(launch[2]) +
         ") blocks. What was written is what a kernel gives that takes blockIdx.x for " +
         name_of_one(kernel[0]) + ", blockIdx.y for " + name_of_one(kernel[1]) + " and blockIdx.z for " +
         name_of_one(kernel[2]) + ". The two have to agree.";
}

}  // namespace

std::string axes_exchanged(const std::string& order, const Problem& p, const Forward& got,
                           const Outcome& outcome) {
  const bool raced = std::any_of(outcome.findings.begin(), outcome.findings.end(),
                                 [](const Finding& finding) { return finding.kind == "race"; });
  if (raced || !outcome.profile || outcome.profile->launches.size() != 1 || got.lse.numel() == 0) return "";
  const Grid& grid = outcome.profile->launches[0].grid;
  const std::array<Axes, 7> orders{order, "thb", "hbt", "bht", "tbh", "htb", "bth"};
  for (const Int queries : {128, 64}) {
    const Counts counts{(p.Nq() + queries - 1) / queries, p.H(), p.B()};
    const Tiles written = tiles_written(got, p.Nq(), queries, counts.tiles);
    if (written.empty() || static_cast<Int>(written.size()) == counts.all()) return "";
    for (const Axes& launch : orders) {
      if (!has_axes(grid, launch, counts)) continue;
      for (const Axes& kernel : orders)
        if (kernel != launch && tiles_written_by(kernel, grid, counts) == written)
          return sentence(launch, kernel);
    }
  }
  return "";
}

}  // namespace course::attention_tests
