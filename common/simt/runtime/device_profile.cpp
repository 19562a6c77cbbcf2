#include "simt/runtime/device_profile.hpp"

#include <stdexcept>

namespace simt {
namespace {

constexpr std::size_t kKiB = 1024, kGiB = std::size_t{1} << 30;

// Figures: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability", and NVIDIA's
// data sheets of the four cards.
constexpr DeviceProfile kProfiles[] = {
    {"t4", "SIMT simulator (Tesla T4, sm_75)", 7, 5, 40, 1024, 16, 48 * kKiB, 64 * kKiB, 64 * kKiB, 15 * kGiB,
     4 << 20, 0x7fffffffu},
    {"rtx4090", "SIMT simulator (GeForce RTX 4090, sm_89)", 8, 9, 128, 1536, 24, 48 * kKiB, 99 * kKiB,
     100 * kKiB, 24 * kGiB, 72 << 20, 0x7fffffffu},
    {"a100", "SIMT simulator (A100, sm_80)", 8, 0, 108, 2048, 32, 48 * kKiB, 163 * kKiB, 164 * kKiB,
     40 * kGiB, 40 << 20, 0x7fffffffu},
    {"h200", "SIMT simulator (H200, sm_90)", 9, 0, 132, 2048, 32, 48 * kKiB, 227 * kKiB, 228 * kKiB,
     140 * kGiB, 60 << 20, 0x7fffffffu},
};

}  // namespace

const DeviceProfile& device_profile(const std::string& key) {
  std::string known;
  for (const DeviceProfile& profile : kProfiles) {
    if (key == profile.key) return profile;
    known += known.empty() ? profile.key : std::string(", ") + profile.key;
  }
  throw std::invalid_argument("no device profile is named '" + key + "'; known are " + known);
}

}  // namespace simt
