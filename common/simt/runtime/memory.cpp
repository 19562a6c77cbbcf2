#include "simt/runtime/memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>

#include "simt/runtime/device_profile.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt {
namespace {

constexpr unsigned char kFreshByte = 0xff;  // four of them are a NaN, and -1 as an integer
constexpr unsigned char kFreedByte = 0xfd;
constexpr unsigned char kRedZoneByte = 0xb5;

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

// Half of the machine's memory, so that a greedy kernel gets cudaErrorMemoryAllocation, as on a GPU, and
// not the attention of the kernel's out-of-memory killer.
std::size_t arena_bytes() {
  const auto physical = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * page_bytes();
  return round_up(physical / 2, page_bytes());
}

/// @throws std::invalid_argument
void require_whole_pages(const char* function, const void* begin, std::size_t bytes) {
  const std::size_t page = page_bytes();
  if (reinterpret_cast<std::uintptr_t>(begin) % page != 0 || bytes % page != 0)
    throw std::invalid_argument(std::string(function) + " takes whole pages of " + std::to_string(page) +
                                " bytes");
}

/// What nobody may touch on either side of memory that lies apart.
constexpr std::size_t kApart = std::size_t{1} << 20;

/// Of the red zone behind an allocation: up to the alignment, and kRedZoneBytes more.
std::size_t rear_zone_bytes(std::size_t bytes) {
  return round_up(bytes, kAllocationAlignment) - bytes + kRedZoneBytes;
}

}  // namespace

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void* take_memory_apart(std::size_t bytes) {
  const std::size_t whole = round_up(bytes, page_bytes());
  void* const all =
      mmap(nullptr, whole + 2 * kApart, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  std::byte* const begin = static_cast<std::byte*>(all) + kApart;
  if (mprotect(begin, whole, PROT_READ | PROT_WRITE) == 0) return begin;
  munmap(all, whole + 2 * kApart);
  return nullptr;
}

void give_back_memory_apart(void* memory, std::size_t bytes) {
  munmap(static_cast<std::byte*>(memory) - kApart, round_up(bytes, page_bytes()) + 2 * kApart);
}

DeviceMemory::DeviceMemory() : capacity_(arena_bytes()) {
  const int file = memfd_create("simt-device-memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(capacity_)) != 0)
    throw std::runtime_error("the simulator cannot reserve device memory (memfd_create failed)");
  void* device = mmap(nullptr, capacity_, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  void* runtime = mmap(nullptr, capacity_, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  ::close(file);  // host code could read device memory by it
  if (device == MAP_FAILED || runtime == MAP_FAILED)
    throw std::runtime_error(
        "the simulator cannot map device memory; is the address space limited (ulimit -v)?");
  device_ = static_cast<std::byte*>(device);
  runtime_ = static_cast<std::byte*>(runtime);
}

/// The runtime's view of some bytes of the arena, while one lives. Host code must find no way to device
/// memory but the runtime: the view would lie at a distance from the device's that can be guessed.
class DeviceMemory::RuntimeView {
 public:
  RuntimeView(const DeviceMemory& memory, std::size_t offset, std::size_t bytes) {
    const std::size_t begin = offset / page_bytes() * page_bytes();
    at_ = memory.runtime_ + offset;
    pages_ = memory.runtime_ + begin;
    bytes_ = round_up(offset + bytes, page_bytes()) - begin;
    mprotect(pages_, bytes_, PROT_READ | PROT_WRITE);
  }
  ~RuntimeView() { mprotect(pages_, bytes_, PROT_NONE); }
  RuntimeView(const RuntimeView&) = delete;
  RuntimeView& operator=(const RuntimeView&) = delete;

  std::byte* begin() const { return at_; }

 private:
  std::byte *at_ = nullptr, *pages_ = nullptr;
  std::size_t bytes_ = 0;
};

DeviceMemory::~DeviceMemory() {
  munmap(device_, capacity_);
  munmap(runtime_, capacity_);
}

void ByteRanges::add(std::size_t begin, std::size_t end) {
  if (begin >= end) return;
  auto next = ends_.upper_bound(begin);
  if (next != ends_.begin() && std::prev(next)->second >= begin) {
    begin = std::prev(next)->first;
    end = std::max(end, std::prev(next)->second);
    next = ends_.erase(std::prev(next));
  }
  while (next != ends_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = ends_.erase(next);
  }
  ends_[begin] = end;
}

bool ByteRanges::covers(std::size_t begin, std::size_t end) const {
  const auto next = ends_.upper_bound(begin);
  return next != ends_.begin() && std::prev(next)->second >= end;
}

std::size_t DeviceMemory::block_span(std::size_t bytes) const {
  constexpr std::size_t kLeastDistance = 64 * 1024;
  const std::size_t span = round_up(bytes, kAllocationAlignment) + 2 * kRedZoneBytes;
  return wide_ ? span + round_up(std::max(bytes, kLeastDistance), kAllocationAlignment) : span;
}

void* DeviceMemory::allocate(std::size_t bytes, const CallStack& caller) {
  const std::lock_guard lock(mutex_);
  if (bytes > capacity() || (limit_ != 0 && bytes > limit_ - std::min(limit_, in_use_))) return nullptr;
  const std::size_t span = block_span(bytes);
  std::size_t start = high_water_;
  const auto hole = std::find_if(free_.begin(), free_.end(), [&](const auto& h) { return h.second >= span; });
  if (hole != free_.end()) {
    start = hole->first;
    const std::size_t rest = hole->second - span;
    free_.erase(hole);
    if (rest > 0) free_.emplace(start + span, rest);
  } else {
    if (high_water_ > capacity() || span > capacity() - high_water_) return nullptr;
    high_water_ += span;
  }
  const std::size_t offset = start + kRedZoneBytes;
  const RuntimeView view(*this, start, kRedZoneBytes + bytes + rear_zone_bytes(bytes));
  std::memset(view.begin(), kRedZoneByte, kRedZoneBytes);
  std::memset(view.begin() + kRedZoneBytes, kFreshByte, bytes);
  std::memset(view.begin() + kRedZoneBytes + bytes, kRedZoneByte, rear_zone_bytes(bytes));
  live_[offset] = {bytes, caller, next_serial_++, span};
  in_use_ += bytes;
  return device_ + offset;
}

bool DeviceMemory::release(void* pointer) {
  const std::lock_guard lock(mutex_);
  if (!contains(pointer)) return false;
  const auto block = live_.find(offset_of(pointer));
  if (block == live_.end()) return false;
  if (of_graphs_.contains(block->first)) {
    std::memset(RuntimeView(*this, block->first, block->second.bytes).begin(), kFreedByte,
                block->second.bytes);
    in_use_ -= block->second.bytes;
    aside_.insert(live_.extract(block));
    return true;
  }
  std::size_t start = block->first - kRedZoneBytes, span = block->second.span;
  std::memset(RuntimeView(*this, block->first, block->second.bytes).begin(), kFreedByte, block->second.bytes);
  in_use_ -= block->second.bytes;
  fences_.erase(fences_.lower_bound(start), fences_.lower_bound(start + span));
  live_.erase(block);

  auto after = free_.lower_bound(start);  // join with the holes on either side
  if (after != free_.end() && after->first == start + span) {
    span += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin() && std::prev(after)->first + std::prev(after)->second == start) {
    start = std::prev(after)->first;
    span += std::prev(after)->second;
    free_.erase(std::prev(after));
  }
  free_[start] = span;
  return true;
}

bool DeviceMemory::give_up(void* pointer) {
  const std::lock_guard lock(mutex_);
  if (!contains(pointer)) return false;
  const auto block = live_.find(offset_of(pointer));
  if (block == live_.end() || std::exchange(block->second.given_up, true)) return false;
  in_use_ -= block->second.bytes;
  return true;
}

void DeviceMemory::restore_given_up() {
  const std::lock_guard lock(mutex_);
  for (auto& [offset, block] : live_)
    if (std::exchange(block.given_up, false)) in_use_ += block.bytes;
}

void* DeviceMemory::reserve(std::size_t bytes, const CallStack& caller) {
  void* const pointer = allocate(bytes, caller);
  if (pointer == nullptr) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    of_graphs_.insert(offset_of(pointer));
  }
  release(pointer);
  return pointer;
}

bool DeviceMemory::take_back(void* pointer) {
  const std::lock_guard lock(mutex_);
  const auto block = aside_.find(offset_of(pointer));
  if (block == aside_.end()) return false;
  std::memset(RuntimeView(*this, block->first, block->second.bytes).begin(), kFreshByte, block->second.bytes);
  in_use_ += block->second.bytes;
  block->second.serial = next_serial_++;
  block->second.written = {};
  live_.insert(aside_.extract(block));
  return true;
}

void DeviceMemory::unreserve(void* pointer) {
  {
    const std::lock_guard lock(mutex_);
    if (of_graphs_.erase(offset_of(pointer)) == 0 || !aside_.contains(offset_of(pointer))) return;
    live_.insert(aside_.extract(offset_of(pointer)));
    in_use_ += live_.at(offset_of(pointer)).bytes;
  }
  release(pointer);
}

void DeviceMemory::release_all() {
  const std::lock_guard lock(mutex_);
  live_.clear();
  aside_.clear();
  of_graphs_.clear();
  free_.clear();
  fences_.clear();
  in_use_ = 0;
  mprotect(device_, high_water_, PROT_NONE);
  madvise(runtime_, high_water_, MADV_REMOVE);
  high_water_ = 0;
}

bool DeviceMemory::owns(const void* pointer, std::size_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (!contains(pointer)) return false;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - device_);
  const auto lies_in = [&](const std::map<std::size_t, Block>& blocks) {
    auto block = blocks.upper_bound(offset);
    if (block == blocks.begin()) return false;
    --block;
    return !block->second.given_up && offset - block->first <= block->second.bytes &&
           bytes <= block->second.bytes - (offset - block->first);
  };
  return lies_in(live_) || lies_in(aside_);
}

std::vector<DeviceRange> DeviceMemory::ranges() const {
  const std::lock_guard lock(mutex_);
  std::vector<DeviceRange> found;
  for (const auto& [offset, block] : live_)
    found.push_back({offset, block.bytes, block.serial, &block.caller, &block.written});
  return found;
}

std::optional<DeviceRange> DeviceMemory::range_at(const void* device_pointer) const {
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(device_pointer) - device_);
  std::optional<DeviceRange> found;
  for (const DeviceRange& range : ranges())
    if (range.offset <= offset) found = range;
  return found;
}

void DeviceMemory::note_written(const void* device_pointer, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(device_pointer) - device_);
  auto block = live_.upper_bound(offset);
  if (block == live_.begin()) return;
  --block;
  block->second.written.add(offset - block->first, offset - block->first + bytes);
}

bool DeviceMemory::contains(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  return byte >= device_ && byte < device_ + capacity_;
}

void DeviceMemory::copy(void* to, const void* from, std::size_t bytes) {
  const auto view = [&](const void* pointer) -> std::optional<RuntimeView> {
    if (!contains(pointer)) return {};
    return std::optional<RuntimeView>(
        std::in_place, *this, static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - device_),
        bytes);
  };
  const std::optional<RuntimeView> to_view = view(to), from_view = view(from);
  if (to_view && !from_view) note_written(to, bytes);
  std::memmove(to_view ? to_view->begin() : to, from_view ? from_view->begin() : from, bytes);
}

void DeviceMemory::set(void* to, int value, std::size_t bytes) {
  note_written(to, bytes);
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(to) - device_);
  std::memset(RuntimeView(*this, offset, bytes).begin(), value, bytes);
}

void DeviceMemory::fence(void* begin, std::size_t bytes) {
  require_whole_pages("fence_device_range", begin, bytes);
  const std::lock_guard lock(mutex_);
  fences_[static_cast<std::size_t>(static_cast<std::byte*>(begin) - device_)] = bytes;
}

void DeviceMemory::open() {
  const std::size_t bytes = wide_ ? capacity() : round_up(high_water_, page_bytes());
  if (bytes > 0) mprotect(device_, bytes, PROT_READ | PROT_WRITE);
  for (const auto& [offset, fenced] : fences_) mprotect(device_ + offset, fenced, PROT_NONE);
}

void DeviceMemory::close() {
  if (high_water_ > 0) mprotect(device_, wide_ ? capacity() : round_up(high_water_, page_bytes()), PROT_NONE);
}

std::uint64_t DeviceMemory::take_serial() {
  const std::lock_guard lock(mutex_);
  return next_serial_++;
}

std::uint64_t DeviceMemory::allocations_so_far() const {
  const std::lock_guard lock(mutex_);
  return next_serial_ - 1;
}

std::vector<Allocation> DeviceMemory::live(std::uint64_t before) const {
  const std::lock_guard lock(mutex_);
  std::vector<Allocation> found;
  for (const auto& [offset, block] : live_) {
    if (block.serial <= before) continue;
    SourceLine line = user_line(block.caller);
    found.push_back({device_ + offset, block.bytes, std::move(line.file), line.line, block.serial});
  }
  return found;
}

// By words where the allocation is one of words: of a float that was written, some bytes may equal the
// pattern.
void DeviceMemory::check_zone(std::byte* zone, std::size_t size, std::ptrdiff_t offset, RedZoneHit& hit) {
  const std::size_t unit = hit.allocation_bytes % 4 == 0 ? 4 : 1;
  for (std::size_t i = 0; i < size; i += unit) {
    std::byte* const bytes = zone + i;
    if (std::all_of(bytes, bytes + unit, [](std::byte byte) { return byte == std::byte{kRedZoneByte}; }))
      continue;
    if (hit.changed_bytes == 0) hit.first = offset + static_cast<std::ptrdiff_t>(i);
    hit.changed_bytes += unit;
    std::memset(bytes, kRedZoneByte, unit);
  }
}

std::vector<RedZoneHit> DeviceMemory::check_red_zones() {
  const std::lock_guard lock(mutex_);
  std::vector<RedZoneHit> hits;
  const RuntimeView view(*this, 0, high_water_);
  for (const auto& [offset, block] : live_) {
    RedZoneHit hit{block.bytes, block.caller, 0, 0};
    std::byte* const begin = view.begin() + offset;
    check_zone(begin - kRedZoneBytes, kRedZoneBytes, -static_cast<std::ptrdiff_t>(kRedZoneBytes), hit);
    check_zone(begin + block.bytes, rear_zone_bytes(block.bytes), static_cast<std::ptrdiff_t>(block.bytes),
               hit);
    if (hit.changed_bytes > 0) hits.push_back(hit);
  }
  return hits;
}

std::size_t DeviceMemory::bytes_in_use() const {
  const std::lock_guard lock(mutex_);
  return in_use_;
}

void ClosedRanges::add(void* begin, std::size_t bytes) {
  require_whole_pages("protect_host_range", begin, bytes);
  ranges_.push_back({static_cast<std::byte*>(begin), bytes});
}

void ClosedRanges::remove(void* begin) {
  std::erase_if(ranges_, [&](const Range& range) { return range.begin == begin; });
}

void ClosedRanges::close() {
  for (const Range& range : ranges_) mprotect(range.begin, range.bytes, PROT_NONE);
}

void ClosedRanges::open() {
  for (const Range& range : ranges_) mprotect(range.begin, range.bytes, PROT_READ | PROT_WRITE);
}

bool ClosedRanges::contains(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  return std::any_of(ranges_.begin(), ranges_.end(), [&](const Range& range) {
    return byte >= range.begin && byte < range.begin + range.bytes;
  });
}

DeviceMemory& device_memory() {
  static DeviceMemory* memory = new DeviceMemory;  // never destroyed: handlers may ask at any time
  return *memory;
}

ClosedRanges& protected_host_ranges() {
  static ClosedRanges* ranges = new ClosedRanges;
  return *ranges;
}

ClosedRanges& kernels_own_ranges() {
  static ClosedRanges* ranges = new ClosedRanges;
  return *ranges;
}

}  // namespace simt
