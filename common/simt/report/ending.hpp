#pragma once
/// @file
/// What there is to say of a program that has ended, each mistake once.

#include <string>
#include <vector>

#include "simt/control.hpp"
#include "simt/findings.hpp"

namespace simt::report {

/// What the simulator knows at the end of a program.
struct Remains {
  std::vector<Finding> findings;
  std::vector<Fault> faults;
  std::vector<Allocation> live;  ///< allocated and not freed; empty if that is no mistake
  bool error_pending = false;    ///< cudaPeekAtLastError() gives one
};

/// What is left to tell.
struct Ending {
  std::vector<Finding> findings;  ///< with faults of kernels, leaks and an error that nobody looked at
  std::vector<Fault> faults;      ///< of host code, where the program may have dealt with them
};

/// @brief The fault as a finding, an error.
Finding finding_of(const Fault& fault);

/// @brief Turns into findings what are mistakes beyond doubt, and drops faults that a finding tells of.
Ending sum_up(Remains remains);

}  // namespace simt::report
