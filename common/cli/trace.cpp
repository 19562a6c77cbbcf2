// The accesses of one block of a lesson's kernel, as JSON.

#include "simt/trace.hpp"
#include "cli/kernel_trace.hpp"

namespace course::cli {

int run_trace(const Terminal& terminal, const TraceArguments& arguments) {
  const auto traced = trace_kernel(terminal, "trace", arguments, simt::TraceRequest{}.most_steps);
  if (!traced) return kSomethingFailed;
  write_result(arguments.out, traced->json);
  return kAllPassed;
}

}  // namespace course::cli
