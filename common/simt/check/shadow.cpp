#include "simt/check/shadow.hpp"

#include <algorithm>

namespace simt::check {

void Shadow::make(Page& page) { page.cells = std::make_unique<Cell[]>(page.size()); }

void Shadow::split(Page& page) {
  const std::unique_ptr<Cell[]> words = std::move(page.cells);
  page.by_byte = true;
  make(page);
  for (std::size_t byte = 0; byte < kPageBytes; ++byte) page.cells[byte] = words[byte / 4];
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
