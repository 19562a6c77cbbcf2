#include "grading/calls/worker/arrays.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "grading/calls/worker/backend.hpp"

namespace course::grading {

CallArrays::CallArrays(const CallMessage& call, const Descriptor& input) {
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

void CallArrays::copy_results(const Mapping& output) const {
  for (const Placed& placed : arrays_) {
    if (!placed.message.result) continue;
    std::byte* target = output.data() + *placed.message.result;
    if (placed.device)
      backend::copy_to_host(target, placed.device, placed.message.bytes);
    else
      std::memcpy(target, placed.host.data(), placed.message.bytes);
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
