#include "simt/runtime/stored_variables.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "simt/runtime/memory.hpp"

namespace simt {
namespace {

bool protect(std::uintptr_t begin, std::size_t bytes, int how) {
  return mprotect(reinterpret_cast<void*>(begin), bytes, how) == 0;
}

}  // namespace

StoredVariables& stored_variables() {
  static auto* const variables = new StoredVariables;
  return *variables;
}

std::unique_ptr<StoredVariables::Range> StoredVariables::make_range(const WritableRange& memory,
                                                                    const KernelModule& module) {
  auto range = std::make_unique<Range>();
  const std::size_t bytes = memory.end - memory.begin;
  range->memory = memory;
  range->pages = std::vector<std::atomic<PageState>>(bytes / page_bytes());
  void* const kept =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (kept == MAP_FAILED) throw std::bad_alloc();
  range->kept = static_cast<std::byte*>(kept);

  std::vector<DataVariable> variables = module.data;
  std::ranges::sort(variables, {}, &DataVariable::address);
  std::uintptr_t end = memory.begin;
  for (const DataVariable& variable : variables) {
    if (variable.address < end || variable.address + variable.bytes > memory.end) continue;
    if (end < variable.address) range->pieces.push_back({end, variable.address});
    end = variable.address + variable.bytes;
    range->pieces.push_back({variable.address, end});
  }
  if (end < memory.end) range->pieces.push_back({end, memory.end});
  return range;
}

void StoredVariables::watch(const KernelModule& module) {
  auto known = std::ranges::find(modules_, &module, [](const auto& entry) { return entry->module; });
  if (known == modules_.end()) {
    auto added = std::make_unique<Module>(Module{&module, {}});
    for (const WritableRange& memory : module.writable) added->ranges.push_back(make_range(memory, module));
    known = modules_.insert(modules_.end(), std::move(added));
  }
  for (const auto& range : (*known)->ranges) {
    for (auto& page : range->pages) page = PageState::watched;
    range->lost = false;
  }
  watched_ = known->get();
  for (const auto& range : (*known)->ranges)
    protect(range->memory.begin, range->memory.end - range->memory.begin, PROT_READ);
}

StoredVariables::Range* StoredVariables::range_of(const Module* module, std::uintptr_t address) {
  if (module == nullptr) return nullptr;
  for (const auto& range : module->ranges)
    if (address >= range->memory.begin && address < range->memory.end) return range.get();
  return nullptr;
}

void StoredVariables::leave_out(const void* begin, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(begin);
  if (Range* const range = range_of(watched_, address))
    std::memcpy(range->kept + (address - range->memory.begin), begin, bytes);
}

bool StoredVariables::take_fault(std::uintptr_t address) {
  Range* const range = range_of(watched_, address);
  if (range == nullptr) return false;
  const std::size_t page = (address - range->memory.begin) / page_bytes(), offset = page * page_bytes();
  PageState state = PageState::watched;
  if (!range->pages[page].compare_exchange_strong(state, PageState::being_kept)) {
    while (range->pages[page] == PageState::being_kept) {  // by another thread
    }
    return true;
  }
  const std::uintptr_t begin = range->memory.begin + offset;
  std::memcpy(range->kept + offset, reinterpret_cast<const void*>(begin), page_bytes());
  if (!protect(begin, page_bytes(), PROT_READ | PROT_WRITE)) {  // more pieces than the system keeps apart
    range->lost = true;
    protect(range->memory.begin, range->memory.end - range->memory.begin, PROT_READ | PROT_WRITE);
  }
  range->pages[page] = PageState::open;
  return true;
}

std::uint64_t StoredVariables::changed_bytes(const Range& range) {
  if (range.lost) return range.memory.end - range.memory.begin;
  std::uint64_t bytes = 0;
  const Piece* counted = nullptr;
  for (std::size_t page = 0; page < range.pages.size(); ++page) {
    if (range.pages[page] != PageState::open) continue;
    const std::uintptr_t begin = range.memory.begin + page * page_bytes(), end = begin + page_bytes();
    auto piece = std::ranges::upper_bound(range.pieces, begin, {}, &Piece::end);
    for (; piece != range.pieces.end() && piece->begin < end; ++piece) {
      const std::uintptr_t first = std::max(begin, piece->begin), last = std::min(end, piece->end);
      if (&*piece == counted || std::memcmp(reinterpret_cast<const void*>(first),
                                            range.kept + (first - range.memory.begin), last - first) == 0)
        continue;
      counted = &*piece;  // as a whole: which of its bytes it is tells something, too
      bytes += piece->end - piece->begin;
    }
  }
  return bytes;
}

void StoredVariables::count() {
  const Module* const module = watched_.exchange(nullptr);
  if (module == nullptr) return;
  for (const auto& range : module->ranges) {
    protect(range->memory.begin, range->memory.end - range->memory.begin, PROT_READ | PROT_WRITE);
    bytes_ += changed_bytes(*range);
  }
}

std::uint64_t StoredVariables::take() { return std::exchange(bytes_, 0); }

}  // namespace simt
