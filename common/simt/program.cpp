// Linked into a CUDA program with a main() of its own: takes the simulator's settings from the environment
// before main() begins, and reports what went wrong when the program ends.
//
//   SIMT_ORDER           forward, reverse or random
//   SIMT_SEED            for the random order
//   SIMT_DEVICE          t4, rtx4090, a100 or h200
//   SIMT_LAUNCH_SECONDS  after which a kernel counts as endless

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include "simt/control.hpp"

namespace {

void print(const simt::Fault& fault) { std::fprintf(stderr, "simulator: %s\n", fault.message.c_str()); }

/// A program that says all is well although a kernel failed ends with status 1.
void report_at_exit(int status, void*) {
  const std::size_t dropped = simt::drop_pending();
  bool kernel_failed = false;
  for (const simt::Fault& fault : simt::take_faults()) {
    print(fault);
    kernel_failed = kernel_failed || fault.in_kernel;
  }
  if (dropped > 0)
    std::fprintf(
        stderr,
        "simulator: %zu queued operation%s never ran: the program ended before anything waited for %s. "
        "Call cudaDeviceSynchronize().\n",
        dropped, dropped == 1 ? "" : "s", dropped == 1 ? "it" : "them");
  if (status == 0 && kernel_failed) {
    std::fflush(nullptr);
    _exit(1);
  }
}

simt::Order order_named(const std::string& name) {
  if (name == "forward") return simt::Order::forward;
  if (name == "reverse") return simt::Order::reverse;
  if (name == "random") return simt::Order::random;
  throw std::invalid_argument("SIMT_ORDER is '" + name + "'; it can be forward, reverse or random");
}

void configure_from_environment() {
  simt::Settings settings;
  if (const char* order = std::getenv("SIMT_ORDER")) settings.order = order_named(order);
  if (const char* seed = std::getenv("SIMT_SEED")) settings.seed = std::strtoull(seed, nullptr, 10);
  if (const char* device = std::getenv("SIMT_DEVICE")) settings.device = device;
  if (const char* seconds = std::getenv("SIMT_LAUNCH_SECONDS")) settings.launch_seconds = std::atof(seconds);
  simt::configure(settings);
}

struct Program {
  Program() {
    try {
      configure_from_environment();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "simulator: %s.\n", error.what());
      std::exit(2);
    }
    simt::set_fatal_handler(print);
    on_exit(report_at_exit, nullptr);
  }
};

const Program program;

}  // namespace
