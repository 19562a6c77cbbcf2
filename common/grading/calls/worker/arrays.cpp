#include "grading/calls/worker/arrays.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace course::grading {

CallArrays::CallArrays(const CallMessage& call, const Descriptor& input) : bare_(call.bare) {
  arrays_.reserve(call.arrays.size());
  for (const ArrayMessage& message : call.arrays) {
    Placed& placed = arrays_.emplace_back();
    placed.message = message;
    // Pages of the sealed input are shared with the grader until somebody writes to the private copy.
    Mapping image = Mapping::map(input.get(), message.offset, message.bytes, Mapping::Mode::private_copy);
    if (message.place == Place::host) {
      placed.host = std::move(image);
      placed.data = placed.host.data() + message.data;
      backend::protect_host(placed.host.data(), placed.host.size());
    } else if (call.bare) {
      place_bare(placed, image);
    } else if (call.fenced && backend::can_fence()) {
      place_fenced(placed, std::move(image));
    } else {
      place_image(placed, image);
    }
  }
}

void CallArrays::place_image(Placed& placed, const Mapping& image) {
  const ArrayMessage& message = placed.message;
  placed.device = static_cast<std::byte*>(backend::allocate(message.bytes + message.shift));
  placed.data = placed.device + message.shift + message.data;
  placed.before = message.data;
  placed.after = message.bytes - message.data - message.data_bytes;
  backend::copy_to_device(placed.data - placed.before, image.data(), message.bytes);
}

void CallArrays::place_fenced(Placed& placed, Mapping image) {
  constexpr std::size_t kFence = 16 * whole_pages(1), kAlignment = 256;  // that of cudaMalloc
  const ArrayMessage& message = placed.message;
  const std::size_t padded = (message.shift + message.data_bytes + kAlignment - 1) / kAlignment * kAlignment;
  const std::size_t room = whole_pages(padded);
  placed.device = static_cast<std::byte*>(backend::allocate(whole_pages(1) + kFence + room + kFence));
  std::byte* const front =
      placed.device + (-reinterpret_cast<std::uintptr_t>(placed.device)) % whole_pages(1);
  std::byte* const end = front + kFence + room;
  placed.data = end - padded + message.shift;
  placed.before = room - padded + message.shift;
  placed.after = padded - message.shift - message.data_bytes;
  backend::copy_to_device(placed.data - placed.before, image.data() + message.data - placed.before, room);
  backend::fence(front, kFence);
  backend::fence(end, kFence);
  placed.host = std::move(image);
}

void CallArrays::place_bare(Placed& placed, const Mapping& image) {
  const std::size_t bytes = placed.message.data_bytes, shift = placed.message.shift;
  placed.device =
      static_cast<std::byte*>(backend::allocate(std::max<std::size_t>(shift + bytes, 1)));  // 0 gives nullptr
  placed.data = placed.device + shift;
  if (placed.message.filled && bytes > 0)
    backend::copy_to_device(placed.data, image.data() + placed.message.data, bytes);
}

CallArrays::~CallArrays() {
  for (Placed& placed : arrays_)
    if (placed.host.data()) backend::unprotect_host(placed.host.data());
}

void* CallArrays::data(std::size_t i) const { return arrays_.at(i).data; }

HostMoves CallArrays::moves(const backend::Copies& copies) const {
  HostMoves moves{{}, {}, copies.to_host, copies.shared, copies.asked, copies.variables};
  const auto touches = [](const std::vector<backend::Copies::Range>& ranges, const Placed& placed) {
    const std::byte* const end = placed.data + placed.message.data_bytes;
    return std::any_of(ranges.begin(), ranges.end(), [&](const backend::Copies::Range& range) {
      const auto* const begin = static_cast<const std::byte*>(range.begin);
      return begin < end && placed.data < begin + range.bytes;
    });
  };
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    if (arrays_[i].device == nullptr) continue;
    if (touches(copies.read, arrays_[i])) moves.read.push_back(i);
    if (touches(copies.written, arrays_[i])) moves.filled.push_back(i);
  }
  return moves;
}

void CallArrays::copy_results(const Mapping& output) const {
  for (const Placed& placed : arrays_) {
    if (!placed.message.result) continue;
    const ArrayMessage& message = placed.message;
    std::byte* const target = output.data() + *message.result;
    if (bare_ && message.data_bytes == 0) continue;
    if (placed.host.data())
      std::memcpy(target, bare_ ? placed.data : placed.host.data(),
                  bare_ ? message.data_bytes : message.bytes);
    if (placed.device)
      backend::copy_to_host(target + (bare_ ? 0 : message.data - placed.before), placed.data - placed.before,
                            placed.before + message.data_bytes + placed.after);
  }
}

void CallArrays::release() {
  for (Placed& placed : arrays_) {
    if (!placed.device) continue;
    backend::release(placed.device);
    placed.device = nullptr;
  }
}

}  // namespace course::grading
