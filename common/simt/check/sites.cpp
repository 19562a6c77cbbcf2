#include "simt/check/sites.hpp"

#include <algorithm>
#include <iterator>

#include "simt/check/shadow.hpp"

namespace simt::check {

void SiteTable::begin_launch(std::uintptr_t code_begin, std::size_t code_bytes, const CallStack& caller) {
  for (Site& site : sites_) site.counters = {};
  if (code_begin != code_begin_ || code_bytes != code_bytes_) have_module(code_begin, code_bytes);
  caller_ = 0;
  const auto* const end = caller.pcs + caller.count;
  const auto* const innermost =
      std::find_if(caller.pcs, end, [&](std::uintptr_t pc) { return pc - code_begin_ < code_bytes_; });
  if (innermost != end) caller_ = find_on(caller, *innermost);
}

void SiteTable::have_module(std::uintptr_t code_begin, std::size_t code_bytes) {
  code_begin_ = code_begin;
  code_bytes_ = code_bytes;
  sites_.assign(1, Site{});
  by_place_.clear();
  paths_.clear();
  numbers_ = ZeroedTable<Number>(code_bytes);
}

std::uint32_t SiteTable::look_up(std::uint64_t code_offset, CallPaths::Path path) {
  Number& number = numbers_[code_offset];
  const auto [entry, is_new] = by_place_.try_emplace(code_offset << 32 | path, 0u);
  if (is_new) entry->second = add(code_offset, path);
  number = {path, entry->second};
  return number.site;
}

unsigned SiteTable::find_on(const CallStack& stack, std::uintptr_t code) {
  const auto in_code = [&](std::uintptr_t pc) { return pc - code_begin_ < code_bytes_; };
  CallPaths::Path path = 0;
  std::size_t outermost = stack.count;
  for (std::size_t i = 0; i < stack.count; ++i)
    if (in_code(stack.pcs[i])) outermost = i;
  if (outermost == stack.count) return find(code - code_begin_, 0);
  path = paths_.enter(path, ~0u);  // as the trace has a call from outside of the module
  for (std::size_t i = outermost; i > 0 && stack.pcs[i] != code; --i)
    if (in_code(stack.pcs[i]))
      path = paths_.enter(path, static_cast<std::uint32_t>(stack.pcs[i] - code_begin_));
  return find(code - code_begin_, path);
}

UserCalls SiteTable::calls(unsigned site) const {
  if (site == 0) return {};
  CallStack stack = CallStack::at(sites_[site].code);
  for (CallPaths::Path path = sites_[site].path; path != 0 && stack.count < std::size(stack.pcs);
       path = paths_.caller(path))
    if (paths_.call(path) < code_bytes_) stack.pcs[stack.count++] = code_begin_ + paths_.call(path);
  UserCalls calls = user_calls(stack);
  if (site == caller_) calls.kernel.clear();
  return calls;
}

std::uint32_t SiteTable::add(std::uint64_t code_offset, CallPaths::Path path) {
  if (sites_.size() == Stamp::kMostSites) return kTransparent;
  const std::uintptr_t code = code_begin_ + code_offset;
  SourceLine line = user_line(CallStack::at(code));
  if (line.line == 0) return kTransparent;
  sites_.push_back({code, path, std::move(line), {}});
  return static_cast<std::uint32_t>(sites_.size()) - 1;
}

}  // namespace simt::check
