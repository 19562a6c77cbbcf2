#include "simt/report/problems.hpp"

#include <fmt/format.h>

#include "simt/report/fields.hpp"
#include "simt/report/text_layout.hpp"

namespace simt::report {
namespace {

struct Verb {
  const char* noun;  // "each load"
  const char* verb;  // "read"
};
constexpr Verb kVerbs[] = {{"load", "read"}, {"store", "write"}, {"atomic", "update"}};

/// An average without needless decimals.
std::string average(std::uint64_t sum, std::uint64_t count) {
  if (count != 0 && sum % count == 0) return count_text(sum / count);
  return ratio_text(sum, count);
}

std::string scattered(const GlobalTraffic& traffic, const Verb& verb) {
  const std::string facts = fmt::format("each {} touches {} sectors where {} would do", verb.noun,
                                        average(traffic.sectors, traffic.requests),
                                        average(traffic.ideal_sectors, traffic.requests));
  const bool one_each = traffic.sectors >= 30 * traffic.requests && traffic.sectors <= 32 * traffic.requests;
  return fmt::format("{}: {}. Let neighbouring threads {} neighbouring elements.", facts,
                     one_each ? "every thread has a sector of its own"
                              : fmt::format("what the threads of a warp {} lies apart", verb.verb),
                     verb.verb);
}

/// Of atomics, sectors do not tell whether many threads want one element or each another one, far away.
std::string scattered_atomics(const GlobalTraffic& traffic) {
  return fmt::format(
      "each atomic takes the time of {} sectors where {} would do: threads of a warp update one element, "
      "each in its turn, or elements that lie apart. For one counter, add up within the warp or the block "
      "first; else let neighbouring threads update neighbouring elements.",
      average(traffic.sectors, traffic.requests), average(traffic.ideal_sectors, traffic.requests));
}

/// Rows of vectors and of matrices have to stay aligned.
std::string conflicting(const SharedTraffic& traffic, const Verb& verb) {
  const bool single_words = traffic.bytes_asked <= 4 * 32 * traffic.requests;
  return fmt::format(
      "each {} takes {} wavefronts where {} would do: threads of a warp {} different words of one bank. "
      "Consecutive words lie in consecutive banks, 32 in all; {} of padding a row often {} a column.",
      verb.noun, average(traffic.wavefronts, traffic.requests),
      average(traffic.ideal_wavefronts, traffic.requests), verb.verb, single_words ? "one word" : "16 bytes",
      single_words ? "spreads" : "spread");
}

std::string divergent(const Counters& counters) {
  return fmt::format(
      "{} of 32 lanes are at work on average: threads of a warp take different branches, one after the "
      "other. Let whole warps take the same one.",
      average(counters.lanes, counters.steps));
}

bool is_divergent(const Counters& line, const Counters& total) {
  const std::uint64_t idle = 32 * line.steps - line.lanes;
  return line.divergent_steps > 0 && 2 * line.divergent_steps >= line.steps && 10 * idle >= 32 * total.steps;
}

}  // namespace

std::vector<Problem> find_problems(const LaunchProfile& profile) {
  std::vector<Problem> problems;
  for (std::size_t i = 0; i < profile.lines.size(); ++i) {
    const Counters& counters = profile.lines[i].counters;
    for (std::size_t kind = 0; kind < std::size(kGlobalKinds); ++kind) {
      const GlobalTraffic& traffic = counters.*kGlobalKinds[kind].member;
      if (traffic.requests > 0 && traffic.sectors >= 2 * traffic.ideal_sectors)
        problems.push_back({i, TopicName::global_memory,
                            kGlobalKinds[kind].member == &Counters::global_atomic
                                ? scattered_atomics(traffic)
                                : scattered(traffic, kVerbs[kind])});
    }
    for (std::size_t kind = 0; kind < std::size(kSharedKinds); ++kind) {
      const SharedTraffic& traffic = counters.*kSharedKinds[kind].member;
      if (traffic.conflicts() > 0)
        problems.push_back({i, TopicName::shared_memory, conflicting(traffic, kVerbs[kind])});
    }
    if (is_divergent(counters, profile.total))
      problems.push_back({i, TopicName::branches, divergent(counters)});
  }
  return problems;
}

}  // namespace simt::report
