#include "simt/check/sites.hpp"

#include <new>

#include "simt/check/shadow.hpp"

namespace simt::check {

void SiteTable::begin_launch(std::uintptr_t code_begin, std::size_t code_bytes) {
  for (Site& site : sites_) site.counters = {};
  if (code_begin == code_begin_ && code_bytes == code_bytes_) return;
  code_begin_ = code_begin;
  code_bytes_ = code_bytes;
  sites_.assign(1, Site{});
  // As large as the code, but its pages take no memory before they are used.
  numbers_.reset(static_cast<std::uint32_t*>(std::calloc(code_bytes, sizeof(std::uint32_t))));
  if (numbers_ == nullptr) throw std::bad_alloc();
}

unsigned SiteTable::find(std::uint64_t code_offset, const std::uint32_t* callers, unsigned depth) {
  for (; code_offset < code_bytes_; code_offset = callers[--depth]) {
    std::uint32_t& number = numbers_.get()[code_offset];
    if (number == 0) number = add(code_offset);
    if (number != kTransparent) return number;
    if (depth == 0) break;
  }
  return 0;
}

unsigned SiteTable::find_here(std::uintptr_t code) {
  if (const unsigned site = find(code - code_begin_, nullptr, 0)) return site;
  const CallStack stack = CallStack::here();
  for (std::size_t i = 0; i < stack.count; ++i)
    if (const unsigned site = find(stack.pcs[i] - code_begin_, nullptr, 0)) return site;
  return 0;
}

std::uint32_t SiteTable::add(std::uint64_t code_offset) {
  if (sites_.size() == Stamp::kMostSites) return kTransparent;
  const std::uintptr_t code = code_begin_ + code_offset;
  SourceLine line = user_line(CallStack::at(code));
  if (line.line == 0) return kTransparent;
  sites_.push_back({code, std::move(line), {}});
  return static_cast<std::uint32_t>(sites_.size()) - 1;
}

}  // namespace simt::check
