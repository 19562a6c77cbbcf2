#pragma once
// Kernel libraries for a GPU carry a ledger of their device allocations and launches; see ledger.cpp.

#include <cstddef>
#include <cstdint>

namespace course::grading {

struct LedgerRecord {
  std::uint64_t bytes;
  std::uint64_t serial;  ///< counts all allocations of the library
};

/// Launches since the library was loaded, refused ones included.
struct LedgerLaunches {
  std::uint64_t count = 0, blocks = 0, threads = 0;
};

struct LedgerState {
  std::uint64_t next_serial;
  std::uint64_t live;  ///< allocations with serial >= since that were not freed
  std::uint64_t live_bytes;
  LedgerLaunches launches;
};

/// Fills in at most `capacity` records of live allocations with serial >= since.
using LedgerFunction = LedgerState (*)(std::uint64_t since, LedgerRecord* records, std::size_t capacity);

inline constexpr const char* kLedgerSymbol = "course_ledger";

}  // namespace course::grading
