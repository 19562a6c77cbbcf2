#include "grading/calls/worker/arrays.hpp"

#include <algorithm>
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
    } else {
      place_image(placed, image);
    }
  }
}

void CallArrays::place_image(Placed& placed, const Mapping& image) {
  placed.device = static_cast<std::byte*>(backend::allocate(placed.message.bytes));
  backend::copy_to_device(placed.device, image.data(), placed.message.bytes);
  placed.data = placed.device + placed.message.data;
}

void CallArrays::place_bare(Placed& placed, const Mapping& image) {
  const std::size_t bytes = placed.message.data_bytes;
  placed.device =
      static_cast<std::byte*>(backend::allocate(std::max<std::size_t>(bytes, 1)));  // 0 gives nullptr
  if (placed.message.filled && bytes > 0)
    backend::copy_to_device(placed.device, image.data() + placed.message.data, bytes);
  placed.data = placed.device;
}

CallArrays::~CallArrays() {
  for (Placed& placed : arrays_)
    if (placed.host.data()) backend::unprotect_host(placed.host.data());
}

void* CallArrays::data(std::size_t i) const { return arrays_.at(i).data; }

HostMoves CallArrays::moves(const backend::Copies& copies) const {
  HostMoves moves{{}, {}, copies.to_host, copies.shared};
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
    std::byte* target = output.data() + *placed.message.result;
    const std::size_t bytes = bare_ ? placed.message.data_bytes : placed.message.bytes;
    if (bytes == 0) continue;
    if (placed.device)
      backend::copy_to_host(target, placed.device, bytes);
    else
      std::memcpy(target, bare_ ? placed.data : placed.host.data(), bytes);
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
