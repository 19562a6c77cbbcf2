#pragma once
/// @file
/// What is remembered of every piece of memory that a kernel touched.

#include <cstdint>
#include <span>
#include <utility>

#include "simt/check/event.hpp"
#include "simt/check/zeroed_table.hpp"
#include "simt/findings.hpp"

namespace simt::check {

/// Numbers in the order in which the replay sees things; it advances at everything that orders accesses.
using Step = std::uint32_t;

/// An access, packed: when, by which thread, at which site.
class Stamp {
 public:
  static constexpr unsigned kMostSites = 1u << 20;

  Stamp() = default;
  Stamp(Step step, unsigned thread, unsigned site, bool atomic)
      : bits_(std::uint64_t{step} << 32 | thread << 21 | site << 1 | std::uint64_t{atomic}) {}

  Step step() const { return static_cast<Step>(bits_ >> 32); }
  unsigned thread() const { return bits_ >> 21 & 1023u; }
  unsigned warp() const { return bits_ >> 26 & 31u; }
  unsigned lane() const { return bits_ >> 21 & 31u; }
  unsigned site() const { return bits_ >> 1 & (kMostSites - 1); }
  bool atomic() const { return (bits_ & 1u) != 0; }
  Stamp with_lane(unsigned lane) const {
    Stamp stamp;
    stamp.bits_ = (bits_ & ~(std::uint64_t{31} << 21)) | std::uint64_t{lane} << 21;
    return stamp;
  }

  /// In place of a write by a kernel: the host gave the memory its value. Older than every access.
  static Stamp of_host() {
    Stamp stamp;
    stamp.bits_ = kOfHost;
    return stamp;
  }
  bool none() const { return bits_ == 0; }

 private:
  static constexpr std::uint64_t kOfHost = std::uint64_t{1} << 31;
  std::uint64_t bits_ = 0;  // from the lowest: atomic 1, site 20, thread 10, of_host 1, step 32
};

/// One unit of memory: a word of 4 bytes, or a byte in pages where smaller pieces than words are accessed.
struct Cell {
  Stamp write;                ///< the last write; none: it holds no value
  Stamp read;                 ///< the last read: step and site of the warp, thread of one of its lanes
  Stamp other_read;           ///< the last read by another warp than that of `read`
  std::uint32_t readers = 0;  ///< lanes of `read`
  std::uint32_t value = 0;    ///< hash of what `write` left there; 0: unknown
};

/// The cells of one window, in pages that are made when first touched. Memory: 32 bytes for each word of a
/// touched page of 16 KB; four times that where bytes are told apart; never more than `most_bytes`. Memory
/// beyond that counts as written by the host, and what is done to it is forgotten at once.
class Shadow {
 public:
  static constexpr std::uint64_t kPageBytes = 16 * 1024;

  explicit Shadow(std::uint64_t window_bytes, std::uint64_t most_bytes = kMostBytes)
      : pages_(window_bytes / kPageBytes), most_bytes_(most_bytes) {}
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  struct Units {
    Cell* cell;
    unsigned count, unit_bytes;
  };
  /// The cells of an access, up to the end of the page where it begins. Aligned accesses cross no page.
  Units at(std::uint64_t offset, unsigned bytes) {
    Page& page = pages_[offset / kPageBytes];
    const auto start = static_cast<unsigned>(offset % kPageBytes);
    if (start + bytes > kPageBytes) [[unlikely]]
      bytes = static_cast<unsigned>(kPageBytes) - start;
    const bool in_words = ((offset | bytes) & 3u) == 0;
    if (page.cells == nullptr && !make(page)) [[unlikely]]
      return unwatched(bytes, in_words);
    if (!in_words && !page.by_byte && !split(page)) [[unlikely]]
      return unwatched(bytes, in_words);
    if (page.by_byte) return {&page.cells[start], bytes, 1};
    return {&page.cells[start / 4], bytes / 4, 4};
  }
  /// The cells of the words of a page; null if at() has yet to make them, or tells their bytes apart.
  Cell* page_of_words(std::uint64_t offset) {
    Page& page = pages_[offset / kPageBytes];
    return page.by_byte ? nullptr : page.cells;
  }
  /// The cell of a whole word, at a multiple of 4; null if at() has yet to make it, or tells its bytes apart.
  Cell* word(std::uint64_t offset) {
    Cell* const cells = page_of_words(offset);
    return cells == nullptr ? nullptr : &cells[offset % kPageBytes / 4];
  }
  /// The cell of a byte that was touched before.
  Cell& cell(std::uint64_t offset) {
    Page& page = pages_[offset / kPageBytes];
    return page.cells[offset % kPageBytes / (page.by_byte ? 1 : 4)];
  }
  /// The cell of a byte; null if it was never touched.
  const Cell* known(std::uint64_t offset) const {
    const Page& page = pages_[offset / kPageBytes];
    return page.cells == nullptr ? nullptr : &page.cells[offset % kPageBytes / (page.by_byte ? 1 : 4)];
  }
  /// Whether a kernel has written the byte at `offset`, or may have where nothing could be remembered.
  bool holds_value(std::uint64_t offset) const {
    if (const Cell* const cell = known(offset)) return !cell->write.none();
    return kept_bytes_ + kPageBytes / 4 * sizeof(Cell) > most_bytes_;
  }
  /// Forgets everything about a range.
  void clear(std::uint64_t begin, std::uint64_t end);
  /// Forgets all accesses, but not which memory holds values.
  void forget_accesses();
  /// How many accesses since the last call there was no room for.
  std::uint64_t take_unwatched() { return std::exchange(unwatched_, 0); }

 private:
  static constexpr std::uint64_t kMostBytes = std::uint64_t{kMostKeptGigabytes} << 30;
  static constexpr unsigned kWidestAccess = 16;
  struct Page {
    Cell* cells;  ///< its own; null: never touched
    bool by_byte;
    std::size_t size() const { return by_byte ? kPageBytes : kPageBytes / 4; }
  };
  Cell* new_cells(std::size_t count);  ///< null: there is no room
  bool make(Page& page);               ///< false: there is no room
  bool split(Page& page);              ///< false: there is no room
  Units unwatched(unsigned bytes, bool in_words);

  std::span<const Page> made() const { return {pages_.data(), made_}; }

  ZeroedTable<Page> pages_;  ///< of the whole window, most of which no kernel touches
  std::size_t made_ = 0;     ///< pages up to the last that was made
  std::uint64_t most_bytes_, kept_bytes_ = 0, unwatched_ = 0;
  Cell spare_[kWidestAccess];
};

}  // namespace simt::check
