#include "simt/check/shadow.hpp"

#include <algorithm>

namespace simt::check {

bool Shadow::make(Page& page) {
  const std::uint64_t bytes = page.size() * sizeof(Cell);
  if (kept_bytes_ + bytes > most_bytes_) return false;
  kept_bytes_ += bytes;
  page.cells = std::make_unique<Cell[]>(page.size());
  return true;
}

bool Shadow::split(Page& page) {
  Page bytes{nullptr, true};
  if (!make(bytes)) return false;
  for (std::size_t byte = 0; byte < kPageBytes; ++byte) bytes.cells[byte] = page.cells[byte / 4];
  kept_bytes_ -= page.size() * sizeof(Cell);
  page = std::move(bytes);
  return true;
}

Shadow::Units Shadow::unwatched(unsigned bytes, bool in_words) {
  ++unwatched_;
  for (Cell& cell : spare_) {
    cell = Cell{};
    cell.write = Stamp::of_host();
  }
  return {spare_, in_words ? bytes / 4 : bytes, in_words ? 4u : 1u};
}

void Shadow::clear(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    Page& page = pages_[begin / kPageBytes];
    const std::uint64_t page_end = (begin / kPageBytes + 1) * kPageBytes, stop = std::min(end, page_end);
    if (page.cells != nullptr) {
      const std::uint64_t unit = page.by_byte ? 1 : 4;
      std::fill(&page.cells[begin % kPageBytes / unit], &page.cells[(stop - 1) % kPageBytes / unit] + 1,
                Cell{});
    }
    begin = stop;
  }
}

void Shadow::forget_accesses() {
  for (const Page& page : pages_) {
    if (page.cells == nullptr) continue;
    std::for_each(&page.cells[0], &page.cells[0] + page.size(), [](Cell& cell) {
      cell.read = cell.other_read = Stamp{};
      if (!cell.write.none()) cell.write = Stamp::of_host();
    });
  }
}

}  // namespace simt::check
