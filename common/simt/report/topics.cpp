#include "simt/report/topics.hpp"

#include <fmt/format.h>

#include "simt/report/fields.hpp"
#include "simt/report/text_layout.hpp"

namespace simt::report {
namespace {

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (part == 0 || whole == 0) return "0%";
  const double value = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return value < 0.5 ? "<1%" : fmt::format("{:.0f}%", value);
}

std::string count_or_nothing(std::uint64_t count) { return count == 0 ? "" : count_text(count); }

Topic global_topic() {
  return {"Global memory",
          [](const Sums& s) { return s.global.requests > 0; },
          {{"requests", "instructions that reach for global memory, counted once a warp",
            [](const Sums& s) { return count_text(s.global.requests); }},
           {"sectors", "pieces of 32 bytes that a request touches, on average",
            [](const Sums& s) { return ratio_text(s.global.sectors, s.global.requests); }},
           {"ideal", "sectors it would touch if its bytes lay side by side",
            [](const Sums& s) { return ratio_text(s.global.ideal_sectors, s.global.requests); }},
           {"moved", "bytes that travel, 32 for each sector; ideal: each byte once",
            [](const Sums& s) { return count_text(s.global.bytes); }},
           {"used", "bytes asked for, % of moved; ideal: 100%, more if lanes share them",
            [](const Sums& s) { return percent(s.global.bytes_asked, s.global.bytes); }}}};
}

Topic shared_topic() {
  return {"Shared memory",
          [](const Sums& s) { return s.shared.requests > 0; },
          {{"requests", "instructions that reach for shared memory, counted once a warp",
            [](const Sums& s) { return count_text(s.shared.requests); }},
           {"wavefronts", "passes through the 32 banks that a request takes, on average",
            [](const Sums& s) { return ratio_text(s.shared.wavefronts, s.shared.requests); }},
           {"ideal", "wavefronts it would take without bank conflicts",
            [](const Sums& s) { return ratio_text(s.shared.ideal_wavefronts, s.shared.requests); }},
           {"conflicts", "wavefronts beyond the ideal, all together; ideal: 0",
            [](const Sums& s) { return count_text(s.shared.conflicts()); }}}};
}

Topic cooperation_topic() {
  return {"Barriers and shuffles",
          [](const Sums& s) {
            const Counters& e = s.events;
            return e.barriers + e.warp_syncs + e.shuffles + e.votes > 0;
          },
          {{"barriers", "arrivals of a warp at __syncthreads(); fewer is better",
            [](const Sums& s) { return count_or_nothing(s.events.barriers); }},
           {"syncwarps", "__syncwarp(), counted once a warp; cheap",
            [](const Sums& s) { return count_or_nothing(s.events.warp_syncs); }},
           {"shuffles", "shuffles, counted once a warp; each moves 32 values without memory",
            [](const Sums& s) { return count_or_nothing(s.events.shuffles); }},
           {"votes", "ballots, active masks, votes, matches, reductions, once a warp",
            [](const Sums& s) { return count_or_nothing(s.events.votes); }}}};
}

Topic branch_topic() {
  return {"Branches",
          [](const Sums& s) { return s.events.divergent_steps > 0; },
          {{"divergent", "steps of a warp while some of its lanes were elsewhere; ideal: 0%",
            [](const Sums& s) { return percent(s.events.divergent_steps, s.events.steps); }},
           {"lanes", "lanes of a warp at work in a step, on average; ideal: 32.0",
            [](const Sums& s) { return ratio_text(s.events.lanes, s.events.steps); }}}};
}

std::string cycles_text(double cycles) {
  if (cycles == 0) return "";
  return cycles < 9.95 ? fmt::format("{:.1f}", cycles) : count_text(static_cast<std::uint64_t>(cycles + 0.5));
}

template <Unit kUnit>
std::string cycles_cell(const Sums& s) {
  return cycles_text(s.cycles[static_cast<std::size_t>(kUnit)]);
}

Topic bound_topic() {
  return {
      "Lower bound: cycles of one multiprocessor of an H200",
      [](const Sums& s) { return s.launch_computes && s.cycles != Cycles{}; },
      {{"tensor", "tensor cores: 4096 dense operations on 16 bits a cycle", cycles_cell<Unit::tensor>},
       {"float32", "multiply-adds, and sums or products alone: 128 a cycle", cycles_cell<Unit::floats>},
       {"special", "exponentials, reciprocals, roots and the like: 16 a cycle", cycles_cell<Unit::special>},
       {"shared", "shared memory: one wavefront of 128 bytes a cycle", cycles_cell<Unit::shared>},
       {"share", "of the cycles of the unit that takes longest",
        [](const Sums& s) { return fmt::format("{:.0f}%", 100 * s.share); }}}};
}

double share_of(const Cycles& part, const Cycles& whole) {
  const auto unit = static_cast<std::size_t>(busiest(whole));
  return whole[unit] == 0 ? 0 : part[unit] / whole[unit];
}

}  // namespace

Sums::Sums(const Counters& counters, const Counters& whole)
    : global(global_traffic(counters)),
      shared(shared_traffic(counters)),
      events(counters),
      cycles(least_cycles(counters)),
      share(share_of(cycles, least_cycles(whole))),
      launch_computes(whole.matrix_instructions + whole.float_instructions + whole.special_instructions > 0) {
}

const std::vector<Topic>& topics() {
  static const std::vector<Topic> all{global_topic(), shared_topic(), cooperation_topic(), branch_topic(),
                                      bound_topic()};
  return all;
}

}  // namespace simt::report
