#pragma once
// What a benchmark writes, a line for each thing, in the tests of those that read it.

namespace course::test {

inline constexpr const char* kMachine =
    R"({"gpu": "NVIDIA H200", "driver": "580.1", "cuda": "13.0", "date": "2026-11-22", "pci_bus_id": "0000:18:00.0"})"
    "\n";
inline constexpr const char* kOne =
    R"({"series": "flash2_forward", "label": "N=1024 D=64", "shape": {"N": 1024, "D": 64}, "milliseconds": 0.5,)"
    R"( "repetitions": 20, "operations": 17179869184, "unit": "float32", "bytes": 67371008})"
    "\n";

}  // namespace course::test
