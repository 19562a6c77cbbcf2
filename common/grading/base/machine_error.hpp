#pragma once

#include <stdexcept>

namespace course::grading {

/// The machine, not the kernel, is the reason: no compiler, no GPU, no space, no permission. The message says
/// what was missing and what to do.
class MachineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace course::grading
