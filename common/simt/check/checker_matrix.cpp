// What check mode makes of the instructions that a warp executes as one.

#include <fmt/format.h>

#include <bit>

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

// Some lanes are missing, or came by another call. Where the compiler has made two calls of one, both have
// the same line.
void Checker::lanes_apart(const LanesMet& met) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(met.caller), first = sites_.find_here(met.first_caller);
  const LaneMask missing = ~met.lanes;
  if (missing == 0 && sites_[site].line == sites_[first].line) return;
  if (log_.repeated(kDivergentInstruction, site, first)) return;
  const auto thread = static_cast<unsigned>(recorder_.thread);
  Finding report = detector_.finding(kDivergentInstruction, site, thread);
  if (missing != 0) {
    report.what = fmt::format(
        "{} of the 32 lanes of a warp do not come to this instruction, lane {} for one, while {} "
        "and others of that warp execute it.",
        std::popcount(missing), std::countr_zero(missing), who(report.here));
  } else {
    report.other = detector_.side(first, thread / 32 * 32);
    report.what =
        fmt::format("{} executes this instruction while other lanes of its warp execute another one, at {}.",
                    subject(report.here), place_text(report.other));
  }
  log_.add(kDivergentInstruction, std::move(report), site, first);
}

void Checker::count_matrix_work(MatrixWork work, Counters& counters) {
  if (work.multiply_adds == 0) return;
  ++counters.matrix_instructions;
  report::matrix_multiply_adds(counters, work.kind) += work.multiply_adds;
}

}  // namespace simt::check
