#include "simt/check/memory_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include "simt/check/recorder.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt::check {
namespace {

constexpr std::uintptr_t kFirstPageEnd = 4096;
constexpr std::uintptr_t kBeside = 2048;  // half of the gap between two ranges in the window
constexpr std::size_t kHeapMargin = 256;  // what lies beside a piece of the heap is not told as such

using AddressRanges = std::vector<std::pair<std::uintptr_t, std::uintptr_t>>;

int note_segments(dl_phdr_info* info, std::size_t, void* out) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    static_cast<AddressRanges*>(out)->emplace_back(begin, begin + segment.p_memsz);
  }
  return 0;
}

bool is_mapped(std::uintptr_t address) {
  constexpr std::uintptr_t kPage = 4096;
  unsigned char resident = 0;
  return mincore(reinterpret_cast<void*>(address / kPage * kPage), kPage, &resident) == 0;
}

template <class Ranges>
auto last_not_after(const Ranges& ranges, std::uint64_t offset) {
  auto next = std::upper_bound(ranges.begin(), ranges.end(), offset,
                               [](std::uint64_t value, const auto& range) { return value < range.offset; });
  return next == ranges.begin() ? ranges.end() : std::prev(next);
}

/// The variable's own name: "tile" of "void kernel<float>(float*)::tile".
std::string short_name(const std::string& mangled) {
  const std::string name = demangle(mangled);
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(colon + 2);
}

std::string index_text(const std::vector<std::int64_t>& index) {
  std::string text;
  for (const std::int64_t i : index) text += fmt::format("[{}]", i);
  return text;
}

/// "smem.K[2].at[3][8]"
std::string indexed(const ArrayName& name, const std::vector<std::int64_t>& index) {
  const auto member = index.end() - static_cast<std::ptrdiff_t>(name.member_rank);
  return name.name + index_text({index.begin(), member}) + name.member + index_text({member, index.end()});
}

/// Whether element `at`, counted in memory, lies between the view's first and last, and is none of it.
bool in_gap(const ViewLayout& view, std::int64_t at) {
  std::vector<std::pair<std::int64_t, std::int64_t>> axes;  // (stride, extent)
  std::int64_t last = 0;
  for (std::size_t axis = 0; axis < view.shape.size(); ++axis) {
    if (view.shape[axis] == 1) continue;
    if (view.shape[axis] < 1 || view.strides[axis] < 1) return false;
    axes.emplace_back(view.strides[axis], view.shape[axis]);
    last += (view.shape[axis] - 1) * view.strides[axis];
  }
  if (at < 0 || at > last) return false;
  std::sort(axes.begin(), axes.end(), std::greater<>());
  for (const auto& [stride, extent] : axes) {
    if (at / stride >= extent) return true;
    at %= stride;
  }
  return at != 0;
}

std::string list_text(const std::vector<std::int64_t>& numbers) {
  return fmt::format("({})", fmt::join(numbers, ", "));
}

std::string plural(std::uint64_t count, const char* thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

}  // namespace

std::vector<bool> values_of(std::size_t object_bytes, SimtMarkValues mark_values, Recorder& recorder) {
  unsigned char bytes[4096] = {};  // the most that simt_names.h asks for
  if (mark_values == nullptr || object_bytes > sizeof bytes) return {};
  // A file's own function, in place of the header's, could say what it likes.
  if (user_line(CallStack::at(reinterpret_cast<std::uintptr_t>(mark_values))).line != 0) return {};
  {
    const StackOnly guard(recorder);
    mark_values(bytes);
  }
  return std::vector<bool>(bytes, bytes + object_bytes);
}

MemoryMap& memory_map() {
  static auto* map = new MemoryMap;
  return *map;
}

void MemoryMap::begin_launch(const KernelModule& module, std::size_t dynamic_bytes, const void* arguments,
                             std::size_t arguments_bytes) {
  global_.clear(), shared_.clear(), elsewhere_.clear(), global_names_.clear(), shared_names_.clear();
  next_offset_ = kArenaBytes;
  for (const DeviceRange& range : device_memory().ranges())
    global_.push_back({range.offset, range.bytes, range.serial, range.caller, range.written, {}});
  for (const HostSharedRange& range : host_shared_ranges())
    add_elsewhere(reinterpret_cast<std::uintptr_t>(range.begin), range.bytes, Owner::kernels,
                  {.host_sees = true, .shared = range.begin});
  std::erase_if(kernel_heap_, [](const Elsewhere& heap) { return heap.owner == Owner::freed; });
  for (Elsewhere& heap : kernel_heap_)  // that earlier launches have left
    if (!add_to_window(heap, kHeapMargin, {.host_sees = true})) heap.owner = Owner::host;

  std::vector<DataVariable> variables = module.data;
  std::sort(variables.begin(), variables.end(),
            [](const DataVariable& a, const DataVariable& b) { return a.address < b.address; });
  std::uintptr_t end = 0;
  for (const DataVariable& variable : variables) {
    if (variable.address < end) continue;  // two names for one thing
    end = variable.address + variable.bytes;
    add_elsewhere(variable.address, variable.bytes, Owner::kernels,
                  {.symbol = variable.symbol, .host_sees = true});
  }
  // Read-only, as constant memory is: the host keeps these.
  add_elsewhere(reinterpret_cast<std::uintptr_t>(arguments), arguments_bytes, Owner::program, {});
  const auto by_address = [](const Elsewhere& a, const Elsewhere& b) { return a.begin < b.begin; };
  std::sort(elsewhere_.begin(), elsewhere_.end(), by_address);
  std::sort(global_.begin(), global_.end(),
            [](const GlobalRange& a, const GlobalRange& b) { return a.offset < b.offset; });
  AddressRanges segments;
  dl_iterate_phdr(note_segments, &segments);
  segments_.clear();
  for (const auto& [begin, stop] : segments) segments_.push_back({begin, stop, Owner::nobody, 0});
  std::sort(segments_.begin(), segments_.end(), by_address);

  for (const SharedVariable& variable : module.shared) {
    shared_.push_back({Recorder::kMargin + variable.offset, variable.bytes, variable.symbol, true,
                       variable.function.empty(), variable.function});
  }
  for (const SharedVariable& variable : module.thread_locals)
    shared_.push_back({.offset = Recorder::kMargin + variable.offset,
                       .bytes = variable.bytes,
                       .symbol = variable.symbol,
                       .watched = false,
                       .points_to_dynamic = variable.points_to_dynamic});
  if (dynamic_bytes > 0)
    shared_.push_back({Recorder::kDynamicOffset + Recorder::kMargin, dynamic_bytes, {}, true});
  std::sort(shared_.begin(), shared_.end(),
            [](const SharedRange& a, const SharedRange& b) { return a.offset < b.offset; });
}

void MemoryMap::add_elsewhere(std::uintptr_t begin, std::size_t bytes, Owner owner, GlobalRange range) {
  Elsewhere place{begin, begin + bytes, owner, 0};
  if (owner == Owner::kernels && !add_to_window(place, Recorder::kMargin, std::move(range))) return;
  elsewhere_.push_back(place);
}

// 2 GB of it: more is not watched, and no kernel may touch it.
bool MemoryMap::add_to_window(Elsewhere& place, std::size_t margin, GlobalRange range) {
  range.bytes = place.end - place.begin;
  range.offset = next_offset_ + place.begin % 256;  // sectors lie where they lie in memory
  if (range.end() + margin > kWindowBytes) return false;
  place.owner = Owner::kernels;
  place.offset = range.offset;
  next_offset_ = (range.end() + margin) / 256 * 256;
  global_.push_back(std::move(range));
  return true;
}

MemoryMap::Owner MemoryMap::find_elsewhere(std::uintptr_t address, std::uint64_t& offset) const {
  if (address < kFirstPageEnd) return Owner::nobody;  // faults by itself, with a sentence of its own
  const auto find = [address](const std::vector<Elsewhere>& places) -> const Elsewhere* {
    const auto next =
        std::upper_bound(places.begin(), places.end(), address,
                         [](std::uintptr_t value, const Elsewhere& e) { return value < e.begin; });
    return next != places.begin() && address < std::prev(next)->end ? &*std::prev(next) : nullptr;
  };
  if (const Elsewhere* place = find(elsewhere_)) {
    offset = place->offset + (address - place->begin);
    return place->owner;
  }
  if (find(segments_) != nullptr) return Owner::program;
  if (const Elsewhere* heap = find(kernel_heap_)) {
    offset = heap->offset + (address - heap->begin);
    return heap->owner;
  }
  for (const Elsewhere& place : elsewhere_) {
    if (place.owner != Owner::kernels) continue;
    const bool behind = address - place.end < kBeside, before = place.begin - address <= kBeside;
    if (!behind && !before) continue;
    offset = place.offset + (address - place.begin);  // modulo 2^64
    return Owner::beside;
  }
  return is_mapped(address) ? Owner::host : Owner::nobody;  // what is not mapped faults by itself
}

const GlobalRange* MemoryMap::find_global(std::uint64_t offset) const {
  const auto range = last_not_after(global_, offset);
  return range != global_.end() && offset < range->end() ? &*range : nullptr;
}

const SharedRange* MemoryMap::find_shared(std::uint64_t offset) const {
  const auto range = last_not_after(shared_, offset);
  return range != shared_.end() && offset < range->offset + range->bytes ? &*range : nullptr;
}

const GlobalRange* MemoryMap::nearest_global(std::uint64_t offset) const {
  const GlobalRange* best = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const GlobalRange& range : global_) {
    const std::uint64_t distance = offset < range.offset   ? range.offset - offset
                                   : offset >= range.end() ? offset - range.end() + 1
                                                           : 0;
    // Past the end is likelier than before the start: count the latter double.
    const std::uint64_t weighed = offset < range.offset ? 2 * distance : distance;
    if (weighed < least) least = weighed, best = &range;
  }
  return best;
}

const SharedRange* MemoryMap::nearest_shared(std::uint64_t offset) const {
  const SharedRange* best = nullptr;
  std::uint64_t least = ~std::uint64_t{0};
  for (const SharedRange& range : shared_) {
    if (!range.watched || !range.reached || (range.symbol.empty() != (offset >= Recorder::kDynamicOffset)))
      continue;
    const std::uint64_t distance = offset < range.offset ? 2 * (range.offset - offset)
                                   : offset >= range.offset + range.bytes
                                       ? offset - range.offset - range.bytes + 1
                                       : 0;
    if (distance < least) least = distance, best = &range;
  }
  return best;
}

void MemoryMap::reach(const std::string& function) {
  for (SharedRange& range : shared_)
    if (range.function == function) range.reached = true;
}

// Another instantiation of a function whose variables have names would have told of its own.
bool MemoryMap::reach_unnamed(const SharedRange& variable, const std::vector<SourceCall>& calls) {
  const std::string name = base_name(variable.function);
  const bool is_called =
      std::any_of(calls.begin(), calls.end(), [&](const SourceCall& call) { return call.function == name; });
  const bool tells = std::any_of(shared_.begin(), shared_.end(), [&](const SharedRange& range) {
    return range.reached && base_name(range.function) == name;
  });
  if (!is_called || tells) return false;
  reach(variable.function);
  return true;
}

// A view that each thread, or each step of a loop, lays elsewhere names nothing that a report could be read
// by.
void MemoryMap::name_shared(ArrayName name) {
  const SharedRange* const variable = name.what == NameOf::variable ? find_shared(name.offset) : nullptr;
  if (variable != nullptr && !variable->reached) reach(std::string(variable->function));
  for (ArrayName& known : shared_names_) {
    if (known.offset == name.offset) {
      if (known.name == name.name) return;
      // Two variables for the dynamic buffer: the first stays.
      if (known.what == NameOf::variable && name.what == NameOf::variable) return;
    } else if (known.what == NameOf::view && name.what == NameOf::view && known.name == name.name) {
      known.moves = true;
      return;
    }
  }
  shared_names_.push_back(std::move(name));
}

bool MemoryMap::knows_shared(const char* source, std::uint64_t offset) const {
  return std::any_of(shared_names_.begin(), shared_names_.end(), [&](const ArrayName& known) {
    return known.source == source && (known.offset == offset || known.moves);
  });
}

void MemoryMap::name_global(std::uintptr_t address, const char* name, std::size_t element_bytes,
                            ViewLayout view, std::vector<bool> values) {
  std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(device_memory().base());
  if (offset >= kArenaBytes && find_elsewhere(address, offset) != Owner::kernels) return;
  global_names_.push_back({name, offset, 0, element_bytes, {0}, name, std::move(view)});
  global_names_.back().values = std::move(values);
}

std::optional<bool> MemoryMap::is_padding(Space space, std::uint64_t offset, unsigned bytes) const {
  std::uint64_t begin = 0, end = 0;
  if (const GlobalRange* range = space == Space::global ? find_global(offset) : nullptr)
    begin = range->offset, end = range->end();
  else if (const SharedRange* shared = space == Space::shared ? find_shared(offset) : nullptr)
    begin = shared->offset, end = shared->offset + shared->bytes;
  std::optional<bool> padding;
  for (const ArrayName& name : space == Space::global ? global_names_ : shared_names_) {
    if (name.values.empty() || name.moves || name.offset < begin || name.offset >= end) continue;
    if (name.bytes != 0 && !name.holds(offset)) continue;
    const auto size = static_cast<std::int64_t>(name.values.size());
    const std::int64_t from_first = static_cast<std::int64_t>(offset - name.offset) % size;
    const auto at = name.values.begin() + (from_first < 0 ? from_first + size : from_first);
    padding = std::none_of(at, std::min(at + bytes, name.values.end()), [](bool value) { return value; });
    if (*padding) break;
  }
  return padding;
}

// Of the arrays that hold the place, and of what else begins before it, the one that begins last, because it
// is the most precise; of equals an array before a pointer, a view before a variable, and the first. The
// source may know better: members of a union lie at one place, and so do a pointer and what it was made from.
MemoryMap::Choice MemoryMap::name_for(Space space, std::uint64_t offset, std::uint64_t begin,
                                      std::uint64_t end, const SourceTexts& source) const {
  const auto rank = [&](const ArrayName& name) {
    return std::tuple(name.holds(offset), name.offset, name.bytes != 0, name.what == NameOf::view);
  };
  Choice choice;
  const ArrayName* first = nullptr;
  std::vector<const ArrayName*> there;
  for (const ArrayName& name : space == Space::global ? global_names_ : shared_names_) {
    if (name.moves || name.offset < begin || (name.offset > end && !name.holds(offset))) continue;
    if (first == nullptr || name.offset < first->offset) first = &name;
    if (name.offset > offset) continue;
    if (name.holds(offset) || name.bytes == 0) there.push_back(&name);
    if (choice.name == nullptr || rank(name) > rank(*choice.name)) choice.name = &name;
  }
  if (choice.name == nullptr) return {first};
  if (choice.name->holds(offset))  // the whole buffer is what everything in it was made from
    std::erase_if(there,
                  [](const ArrayName* name) { return name->bytes == 0 && name->what == NameOf::variable; });
  for (const std::string& line : space == Space::shared ? source : SourceTexts{}) {
    std::vector<const ArrayName*> mentioned;
    std::copy_if(there.begin(), there.end(), std::back_inserter(mentioned),
                 [&](const ArrayName* name) { return mentions(line, name->name); });
    if (mentioned.size() == 1) return {mentioned.front(), true};
    if (!mentioned.empty())  // any of these
      return {mentioned.front(), false, {mentioned.begin() + 1, mentioned.end()}};
  }
  for (const ArrayName* name : there)
    if (name != choice.name && name->holds(offset) && choice.name->holds(offset))
      choice.others.push_back(name);
  return choice;
}

std::string ElementName::full_text() const {
  return also.empty() ? text : fmt::format("{} (which is {}'s memory, too)", text, also);
}

ElementName MemoryMap::element(Space space, std::uint64_t offset, unsigned bytes,
                               const SourceTexts& source) const {
  ElementName element;
  std::uint64_t begin = 0, end = 0;
  std::string symbol;
  std::string origin;
  if (space == Space::global) {
    const GlobalRange* range = nearest_global(offset);
    if (range == nullptr) {
      element.text = "device memory";
      return element;
    }
    begin = range->offset, end = range->end(), symbol = range->symbol;
    if (range->caller != nullptr) origin = to_string(user_line(*range->caller));
  } else {
    const SharedRange* range = nearest_shared(offset);
    if (range == nullptr) {
      element.text = "shared memory";
      return element;
    }
    begin = range->offset, end = range->offset + range->bytes, symbol = range->symbol;
  }
  const Choice choice = name_for(space, offset, begin, end, source);
  const ArrayName* name = choice.name;
  element.offset = static_cast<std::int64_t>(offset - (name != nullptr ? name->offset : begin));
  if (name == nullptr) {
    if (!symbol.empty()) {
      element.array = short_name(symbol);
      element.text =
          bytes == end - begin ? element.array : fmt::format("{}, byte {}", element.array, element.offset);
    } else if (space == Space::shared) {
      element.text = fmt::format("dynamic shared memory, byte {}", element.offset);
    } else {
      element.text = fmt::format("byte {} of the {} allocated{}", element.offset, plural(end - begin, "byte"),
                                 origin.empty() ? "" : " at " + origin);
    }
    return element;
  }
  element.array = name->name;
  element.by_source = choice.by_source;
  for (const ArrayName* other : choice.others)
    element.also += (element.also.empty() ? "" : "'s and ") + other->name;
  element.element_bytes = name->element_bytes;
  std::int64_t flat = element.offset / static_cast<std::int64_t>(name->element_bytes);
  if (element.offset < 0 && element.offset % static_cast<std::int64_t>(name->element_bytes) != 0) --flat;
  for (std::size_t axis = name->extents.size(); axis-- > 0;) {
    const auto extent = static_cast<std::int64_t>(name->extents[axis]);
    const bool outermost = axis == 0;
    element.index.insert(element.index.begin(), outermost ? flat : flat % extent);
    if (!outermost) flat /= extent;
  }
  element.text = indexed(*name, element.index);
  return element;
}

bool MemoryMap::past_dynamic(std::uint64_t offset) const {
  const SharedRange* range = nearest_shared(offset);
  if (range == nullptr) return offset >= Recorder::kDynamicOffset;
  return range->symbol.empty() && offset >= range->offset + range->bytes;
}

std::string MemoryMap::describe_bounds(Space space, std::uint64_t offset) const {
  if (space == Space::shared) {
    const SharedRange* range = nearest_shared(offset);
    if (range == nullptr)
      return offset >= Recorder::kDynamicOffset ? "the launch gave the block no dynamic shared memory"
                                                : "the kernel has no shared memory there";
    const ArrayName* name = name_for(space, offset, range->offset, range->offset + range->bytes).name;
    if (range->symbol.empty())
      return fmt::format("the launch gave the block {} of dynamic shared memory",
                         plural(range->bytes, "byte"));
    if (name == nullptr)
      return fmt::format("{} has {}", short_name(range->symbol), plural(range->bytes, "byte"));
    if (name->extents.empty())
      return fmt::format("{} is one variable of {}", name->name, plural(range->bytes, "byte"));
    std::string shape;
    for (const std::size_t extent : name->extents) shape += fmt::format("[{}]", extent);
    return fmt::format("it is declared as {}{}", name->name, shape);
  }
  const GlobalRange* range = nearest_global(offset);
  if (range == nullptr) return "nothing is allocated on the device";
  if (!range->symbol.empty())
    return fmt::format("{} has {}", short_name(range->symbol), plural(range->bytes, "byte"));
  const std::string origin = range->caller != nullptr ? to_string(user_line(*range->caller)) : "";
  const std::string made = origin.empty() ? "" : fmt::format(", allocated at {}", origin);
  const ArrayName* name = name_for(space, offset, range->offset, range->end()).name;
  if (name == nullptr || name->offset != range->offset)
    return fmt::format("its memory has {}{}", plural(range->bytes, "byte"), made);
  return fmt::format("{} has {} ({}{})", name->name, plural(range->bytes / name->element_bytes, "element"),
                     plural(range->bytes, "byte"), made);
}

std::string MemoryMap::gap(std::uint64_t offset) const {
  const GlobalRange* const range = find_global(offset);
  if (range == nullptr) return "";
  const ArrayName* const name = name_for(Space::global, offset, range->offset, range->end()).name;
  if (name == nullptr || offset < name->offset) return "";
  if (!in_gap(name->view, static_cast<std::int64_t>((offset - name->offset) / name->element_bytes)))
    return "";
  const std::string view = name->name.substr(0, name->name.rfind('.'));
  return fmt::format("{}, of shape {} and strides {}", view, list_text(name->view.shape),
                     list_text(name->view.strides));
}

bool MemoryMap::is_pointer_name(const std::string& name) const {
  return std::any_of(global_names_.begin(), global_names_.end(),
                     [&](const ArrayName& known) { return known.name == name; });
}

void MemoryMap::add_kernel_heap(std::uintptr_t address, std::size_t bytes) {
  Elsewhere heap{address, address + bytes, Owner::host, 0};
  add_to_window(heap, kHeapMargin, {});
  std::erase_if(kernel_heap_,
                [&](const Elsewhere& old) { return old.begin < heap.end && heap.begin < old.end; });
  kernel_heap_.insert(
      std::upper_bound(kernel_heap_.begin(), kernel_heap_.end(), heap,
                       [](const Elsewhere& a, const Elsewhere& b) { return a.begin < b.begin; }),
      heap);
}

MemoryMap::Owner MemoryMap::free_kernel_heap(std::uintptr_t address) {
  for (Elsewhere& heap : kernel_heap_)
    if (heap.begin == address)
      return std::exchange(heap.owner, Owner::freed) == Owner::freed ? Owner::freed : Owner::kernels;
  return Owner::host;
}

}  // namespace simt::check
