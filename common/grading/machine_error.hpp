#pragma once

#include <stdexcept>

namespace course::grading {

/// The machine lacks something, whatever the student wrote: no GPU, no worker program, no memory left. The message says
/// what to do.
class MachineError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace course::grading
