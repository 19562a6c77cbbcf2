#pragma once
// Sessions with the libraries of kernels/, for tests that run them.

#include <filesystem>
#include <string>

#include "grading/testing/call.hpp"
#include "kernels/contract.hpp"
#include "kernels/misdeeds.hpp"
#include "tensor/tensor.hpp"

namespace course::grading {

inline SessionConfig library(const std::string& name) {
  SessionConfig config;
  config.worker = COURSE_TEST_WORKER;
  config.kernel = std::filesystem::path(COURSE_TEST_KERNELS) / (name + ".so");
  return config;
}

/// Calls misbehave() with an output of ten elements that is to become 1.
inline Outcome misbehave(Session& session, Misdeed misdeed, double timeout_seconds = 0) {
  Tensor<float> result({10});
  CallOptions options;
  options.timeout_seconds = timeout_seconds;
  return call_in(session, options, ENTRY(course::misbehave), static_cast<std::int32_t>(misdeed),
                 out(result, "c"), result.numel());
}

}  // namespace course::grading
