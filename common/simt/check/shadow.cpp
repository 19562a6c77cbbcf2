#include "simt/check/shadow.hpp"

#include <algorithm>

namespace simt::check {

Shadow::~Shadow() {
  for (const Page& page : made()) delete[] page.cells;
}

Cell* Shadow::new_cells(std::size_t count) {
  const std::uint64_t bytes = count * sizeof(Cell);
  if (kept_bytes_ + bytes > most_bytes_) return nullptr;
  kept_bytes_ += bytes;
  return new Cell[count]();
}

bool Shadow::make(Page& page) {
  page.cells = new_cells(page.size());
  if (page.cells == nullptr) return false;
  made_ = std::max(made_, static_cast<std::size_t>(&page - pages_.data()) + 1);
  return true;
}

bool Shadow::split(Page& page) {
  Cell* const bytes = new_cells(kPageBytes);
  if (bytes == nullptr) return false;
  for (std::size_t byte = 0; byte < kPageBytes; ++byte) bytes[byte] = page.cells[byte / 4];
  kept_bytes_ -= page.size() * sizeof(Cell);
  delete[] page.cells;
  page = {.cells = bytes, .by_byte = true};
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
  for (const Page& page : made()) {
    if (page.cells == nullptr) continue;
    std::for_each(&page.cells[0], &page.cells[0] + page.size(), [](Cell& cell) {
      cell.read = cell.other_read = Stamp{};
      if (!cell.write.none()) cell.write = Stamp::of_host();
    });
  }
}

}  // namespace simt::check
