// What check mode makes of the instructions that a warp executes as one.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "simt/check/checker.hpp"
#include "simt/check/phrases.hpp"
#include "simt/classes.hpp"
#include "simt/report/fields.hpp"
#include "simt/runtime/block.hpp"

namespace simt::check {

// Every lane tells of its row before the lanes meet, those whose address is not looked at as well: so that
// all lanes of the warp did the same.
void Checker::matrix_row(const MatrixRow& row, std::uintptr_t caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(row.address);
  const auto offset = row.address == nullptr ? std::optional<std::uint64_t>(0) : shared_offset(address);
  if (!offset)
    BlockRunner::current()->raise(FaultKind::assertion,
                                  "the address of a row of ldmatrix or stmatrix is one of shared memory");
  const auto size = kOneMatrix + static_cast<unsigned>(std::countr_zero(row.matrices));
  const Event place = at_offset(Space::shared, *offset);
  if (!row.writes) return recorder_.append(access_event(Kind::read, size, row.transposed) | place, caller);
  recorder_.append(access_event(Kind::write, size, row.transposed) | place, 0, caller);
  const bool beside = row.address != nullptr && address - recorder_.shared < recorder_.shared_bytes &&
                      recorder_.is_shared_word[*offset / 4] == 0;
  if (beside) recorder_.refuse_write();
}

void Checker::misaligned_row(const MatrixRow& row, std::uintptr_t caller) {
  misaligned(caller, reinterpret_cast<std::uintptr_t>(row.address), kMatrixRowBytes);
}

void Checker::special_functions(unsigned count, std::uintptr_t caller) {
  recorder_.append(mark_event(Mark::work) | count, caller);
}

void Checker::float_operations(unsigned count, std::uintptr_t caller) {
  recorder_.append(mark_event(Mark::work) | std::uint64_t{count} << kFloatsShift, caller);
}

// Some lanes are missing, or came by another call.
void Checker::lanes_apart(const LanesMet& met) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(met.caller);
  const auto thread = static_cast<unsigned>(recorder_.thread);
  const LaneMask missing = ~met.lanes;
  if (missing == 0)
    return report_lanes_apart(site, thread, sites_.find_here(met.first_caller), thread / 32 * 32);
  if (log_.repeated(kDivergentInstruction, site, 0)) return;
  Finding report = detector_.finding(kDivergentInstruction, site, thread);
  report.what = fmt::format(
      "{} of the 32 lanes of a warp do not come to this instruction, lane {} for one, while {} and others of "
      "that warp execute it.",
      std::popcount(missing), std::countr_zero(missing), who(report.here));
  log_.add(kDivergentInstruction, std::move(report), site, 0);
}

// Where the compiler has made two calls of one, both have the same lines, and all is well.
void Checker::report_lanes_apart(unsigned site, unsigned thread, unsigned other_site, unsigned other_thread) {
  if (site == other_site || log_.repeated(kDivergentInstruction, site, other_site)) return;
  Finding report = detector_.finding(kDivergentInstruction, site, thread);
  report.other = detector_.side(other_site, other_thread);
  const auto same = [](const SourceCall& a, const SourceCall& b) {
    return a.line == b.line && a.file == b.file;
  };
  if (std::equal(report.here.calls.begin(), report.here.calls.end(), report.other.calls.begin(),
                 report.other.calls.end(), same))
    return;
  report.what =
      fmt::format("{} executes this instruction while thread {} of its warp executes another one, at {}.",
                  subject(report.here), index_text(report.other.thread), place_text(report.other));
  log_.add(kDivergentInstruction, std::move(report), site, other_site);
}

void Checker::count_matrix_work(unsigned warp, MatrixWork work, Counters& counters) {
  if (work.multiply_adds == 0) return;
  ++counters.matrix_instructions;
  ++warp_work_[warp];
  report::matrix_multiply_adds(counters, work.kind) += work.multiply_adds;
}

}  // namespace simt::check
