#include "simt/check/sites.hpp"

#include <iterator>
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
  stack_ = CallStack::here();
  on_stack_ = true;
  if (const unsigned site = find(code - code_begin_, nullptr, 0)) return site;
  for (std::size_t i = 0; i < stack_.count; ++i)
    if (const unsigned site = find(stack_.pcs[i] - code_begin_, nullptr, 0)) return site;
  return 0;
}

std::string SiteTable::called_from(unsigned site) const {
  if (on_stack_) return to_string(calling_line(stack_));
  CallStack stack = CallStack::at(sites_[site].code);
  for (unsigned i = depth_; i-- > 0 && stack.count < std::size(stack.pcs);)
    stack.pcs[stack.count++] = code_begin_ + callers_[i];
  return to_string(calling_line(stack));
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
