#include "23_autotuning/devices.hpp"

#include <fmt/format.h>

namespace course::lesson_23 {

Tensor<int> limits_of(const Device& d) {
  return Tensor<int>::from(
      {9}, {d.multiprocessors, d.warps, d.blocks, d.registers, d.shared_bytes, d.block_shared_bytes,
            d.reserved_shared_bytes, d.block_threads, d.thread_registers});
}

Device random_device(Random& random) {
  const auto up_to = [&](int least, int most) { return static_cast<int>(random.integer(least, most)); };
  Device device = kH100;
  device.warps = up_to(2, 64), device.blocks = up_to(1, 32);
  device.registers = 256 * up_to(48, 512), device.thread_registers = up_to(64, 255);
  device.block_threads = 32 * up_to(2, 48);
  device.block_shared_bytes = 1024 * up_to(8, 227);
  device.shared_bytes = device.block_shared_bytes + 1024 * up_to(1, 100);
  device.reserved_shared_bytes = up_to(0, 2000);
  device.name = fmt::format(
      "{} warps, {} blocks, {} registers, {} a thread, {} threads and {} bytes of shared memory for a block, "
      "{} of the system's",
      device.warps, device.blocks, device.registers, device.thread_registers, device.block_threads,
      device.block_shared_bytes, device.reserved_shared_bytes);
  return device;
}

}  // namespace course::lesson_23
