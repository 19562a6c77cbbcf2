#include "simt/report/ending.hpp"

#include "samples.hpp"
#include "support/catch.hpp"

using namespace simt::report;
using Catch::Matchers::ContainsSubstring;

namespace {

simt::Fault kernel_fault() {
  simt::Fault fault;
  fault.kind = "null_pointer";
  fault.file = "src/transpose.cu";
  fault.line = 6;
  fault.thread = {1, 0, 0};
  fault.message = "transpose.cu:6: in transpose, block (0,0,0), thread (1,0,0) read from a null pointer.";
  return fault;
}

simt::Fault refused(const char* kind) {
  simt::Fault fault;
  fault.kind = kind;
  fault.file = "main.cu";
  fault.line = 9;
  fault.in_kernel = false;
  fault.message = "main.cu:9: the launch of transpose was refused. CUDA reports cudaErrorInvalidValue.";
  return fault;
}

}  // namespace

TEST_CASE("a fault that no finding tells of becomes one", "[report][ending]") {
  const Ending ending =
      sum_up({.findings = {samples::race()}, .faults = {kernel_fault()}, .live = {}, .error_pending = false});
  REQUIRE(ending.findings.size() == 2);
  CHECK(ending.findings[1].message() ==
        "transpose.cu:6: error: null_pointer: in transpose, block (0,0,0), thread (1,0,0) read from a null "
        "pointer.");
  CHECK(ending.faults.empty());
}

TEST_CASE("a fault that a finding tells of is dropped", "[report][ending]") {
  simt::Finding same_kind = finding_of(kernel_fault());
  same_kind.here.thread = {5, 0, 0};
  simt::Finding same_thread = finding_of(kernel_fault());
  same_thread.kind = "out_of_bounds";
  for (const simt::Finding& finding : {same_kind, same_thread}) {
    const Ending ending =
        sum_up({.findings = {finding}, .faults = {kernel_fault()}, .live = {}, .error_pending = false});
    CHECK(ending.findings.size() == 1);
    CHECK(ending.faults.empty());
  }
}

TEST_CASE("a refused launch that nobody looked at is an error", "[report][ending]") {
  const Ending ending =
      sum_up({.findings = {}, .faults = {refused("launch_refused")}, .live = {}, .error_pending = true});
  REQUIRE(ending.findings.size() == 1);
  CHECK(ending.findings[0].kind == "unchecked_error");
  CHECK(ending.findings[0].severity == simt::Severity::error);
  CHECK_THAT(ending.findings[0].message(),
             ContainsSubstring("main.cu:9: error: unchecked_error: the launch of transpose was refused."));
  CHECK(ending.faults.empty());
}

TEST_CASE("the error of any other call may have been looked at", "[report][ending]") {
  Ending ending =
      sum_up({.findings = {}, .faults = {refused("bad_copy")}, .live = {}, .error_pending = true});
  REQUIRE(ending.findings.size() == 1);
  CHECK(ending.findings[0].severity == simt::Severity::warning);
  ending = sum_up({.findings = {}, .faults = {refused("bad_copy")}, .live = {}, .error_pending = false});
  CHECK(ending.findings.empty());
  CHECK(ending.faults.size() == 1);
  ending = sum_up({.findings = {}, .faults = {}, .live = {}, .error_pending = true});
  CHECK(ending.findings.empty());
}

TEST_CASE("leaks are summed by the line that allocated", "[report][ending]") {
  const simt::Allocation one{.pointer = nullptr, .bytes = 1000, .file = "main.cu", .line = 3};
  const simt::Allocation two{.pointer = nullptr, .bytes = 24, .file = "main.cu", .line = 4};
  const Ending ending =
      sum_up({.findings = {}, .faults = {}, .live = {one, two, one}, .error_pending = false});
  REQUIRE(ending.findings.size() == 2);
  CHECK(ending.findings[0].count == 2);
  CHECK_THAT(
      ending.findings[0].message(),
      ContainsSubstring("main.cu:3: error: leak: 2,000 bytes in 2 allocations made here were never freed."));
  CHECK_THAT(ending.findings[1].message(),
             ContainsSubstring("main.cu:4: error: leak: 24 bytes allocated here were never freed."));
}

TEST_CASE("after a kernel failed, leaks and errors follow from it", "[report][ending]") {
  const simt::Allocation one{.pointer = nullptr, .bytes = 4, .file = "main.cu", .line = 3};
  const Ending ending =
      sum_up({.findings = {}, .faults = {kernel_fault()}, .live = {one}, .error_pending = true});
  CHECK(ending.findings.size() == 1);
}
