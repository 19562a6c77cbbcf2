#pragma once
// Kernel libraries for a GPU carry a ledger of their device allocations, launches and copies; see ledger.cpp.

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

/// Device memory that was copied to the host, or that a copy filled.
struct LedgerRange {
  const void* begin;
  std::uint64_t bytes;
  bool filled;
};

inline constexpr std::size_t kMostLedgerRanges = 65536;

struct LedgerCopies {
  std::uint64_t ranges;   ///< how many there are
  std::uint64_t to_host;  ///< bytes that copies brought to the host
  std::uint64_t shared;   ///< bytes of managed and page-locked memory that there were at any time
};

/// Fills in at most `capacity` ranges, and forgets the copies so far. Memory that both sides see stays
/// counted until it is freed.
using LedgerCopiesFunction = LedgerCopies (*)(LedgerRange* ranges, std::size_t capacity);

inline constexpr const char* kLedgerCopiesSymbol = "course_ledger_copies";

}  // namespace course::grading
