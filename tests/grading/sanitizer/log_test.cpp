// What compute-sanitizer 2025.3 wrote on an H200 of programs with one mistake each, shortened, and how it is
// read.
#include "grading/sanitizer/log.hpp"

#include "grading/facts/finding.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/catch.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;

namespace {

const std::string kBanner = "========= COMPUTE-SANITIZER\n";

std::vector<Finding> read(const std::string& reports, const std::string& tool, const std::string& source) {
  return findings_of(
      parse_sanitizer_log(kBanner + reports + "========= ERROR SUMMARY: 1 error\n", tool, source), tool);
}

Finding read_one(const std::string& reports, const std::string& tool, const std::string& source) {
  const std::vector<Finding> found = read(reports, tool, source);
  REQUIRE(found.size() == 1);
  CHECK(found[0].tool == tool);
  return found[0];
}

std::string access(const std::string& what, const std::string& thread, const std::string& address) {
  return "========= Invalid " + what +
         "\n"
         "=========     at fill(float *, int)+0xc0 in fill.cu:9\n"
         "=========     by thread " +
         thread + " in block (1,0,0)\n=========     Access to " + address +
         "\n"
         "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
         "=========         Host Frame: main [0x8d09] in bounds_bytes_as_elements\n"
         "========= \n";
}

}  // namespace

TEST_CASE("a clean log has no findings and is complete") {
  const SanitizerLog memcheck = parse_sanitizer_log(
      kBanner +
          "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n========= ERROR SUMMARY: 0 errors\n",
      "memcheck", "a.cu");
  CHECK(memcheck.complete);
  CHECK(memcheck.findings.empty());
  CHECK(memcheck.problem.empty());
  const SanitizerLog racecheck = parse_sanitizer_log(
      kBanner + "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n", "racecheck",
      "a.cu");
  CHECK(racecheck.complete);
  CHECK(racecheck.findings.empty());
}

TEST_CASE("a log without its summary is not complete") {
  CHECK_FALSE(parse_sanitizer_log(kBanner, "memcheck", "a.cu").complete);
  CHECK_FALSE(parse_sanitizer_log(kBanner + "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n",
                                  "memcheck", "a.cu")
                  .complete);
  CHECK_FALSE(parse_sanitizer_log("", "memcheck", "a.cu").complete);
  CHECK_FALSE(parse_sanitizer_log("anything\n\x01\xff at all", "memcheck", "a.cu").complete);
}

TEST_CASE("an access behind an allocation is out_of_bounds, told once with its thread") {
  const Finding found = read_one(
      access(
          "__global__ write of size 4 bytes", "(0,0,0)",
          "0x7f6a72800100 is out of bounds\n"
          "=========     and is 1 bytes after the nearest allocation at 0x7f6a72800000 of size 256 bytes") +
          access("__global__ write of size 4 bytes", "(1,0,0)",
                 "0x7f6a72800104 is out of bounds\n"
                 "=========     and is 5 bytes after the nearest allocation at 0x7f6a72800000 of size 256 "
                 "bytes"),
      "memcheck", "/home/me/fill.cu");
  CHECK(found.kind == "out_of_bounds");
  CHECK(found.severity == Severity::error);
  CHECK(found.here.file == "fill.cu");
  CHECK(found.here.line == 9);
  CHECK(found.count == 2);
  CHECK(found.message() ==
        "fill.cu:9: error: out_of_bounds: thread (0,0,0) of block (1,0,0) writes 4 bytes of global memory "
        "out of bounds: at byte 256 of an allocation of 256 bytes. On a GPU this hits other data or ends the "
        "launch with cudaErrorIllegalAddress. Test the index against the size before the access, by < and "
        "not by <=; if it is tested, look at that test, the strides and the grid. (memcheck, 2 times)");
}

TEST_CASE("an access before an allocation says how far before") {
  const Finding found = read_one(
      access(
          "__global__ read of size 4 bytes", "(0,0,0)",
          "0x7f4dbe7ffffc is out of bounds\n"
          "=========     and is 4 bytes before the nearest allocation at 0x7f4dbe800000 of size 1,200 bytes"),
      "memcheck", "fill.cu");
  CHECK(found.kind == "out_of_bounds");
  CHECK_THAT(found.message(),
             ContainsSubstring("reads 4 bytes of global memory out of bounds: 4 bytes before an "
                               "allocation of 1200 bytes."));
  CHECK_THAT(found.message(), EndsWith("(memcheck)"));
}

TEST_CASE("an address that does not fit the access is misaligned, in any memory") {
  const Finding global = read_one(
      access("__global__ read of size 16 bytes", "(0,0,0)",
             "0x7f0c98800004 is misaligned\n"
             "=========     and is inside the nearest allocation at 0x7f0c98800000 of size 528 bytes"),
      "memcheck", "fill.cu");
  CHECK(global.kind == "misaligned");
  CHECK_THAT(global.message(),
             ContainsSubstring("reads 16 bytes of global memory at an address that is not a "
                               "multiple of 16. A GPU ends the launch with"));
  const Finding shared = read_one(
      access("__shared__ write of size 4 bytes", "(0,0,0)", "0x432 is misaligned"), "memcheck", "fill.cu");
  CHECK(shared.kind == "misaligned");
  CHECK_THAT(shared.message(), ContainsSubstring("writes 4 bytes of shared memory"));
  const Finding older = read_one(
      "========= Invalid __global__ read of size 4 bytes\n=========     at f()+0x70 in fill.cu:9\n"
      "=========     by thread (0,0,0) in block (0,0,0)\n=========     Address 0x7f0c98800001 is "
      "misaligned\n",
      "memcheck", "fill.cu");
  CHECK(older.kind == "misaligned");
}

TEST_CASE("shared memory out of bounds is not taken for a null pointer") {
  const Finding found = read_one(
      access("__shared__ read of size 4 bytes", "(31,0,0)", "0x80 is out of bounds"), "memcheck", "fill.cu");
  CHECK(found.kind == "out_of_bounds");
  CHECK_THAT(found.message(),
             ContainsSubstring("reads 4 bytes of shared memory out of bounds. On a GPU this hits "
                               "other shared variables"));
}

TEST_CASE("a null pointer and an address far from all memory have classes of their own") {
  const Finding null = read_one(access("__global__ write of size 4 bytes", "(0,0,0)",
                                       "0x0 is out of bounds\n=========     and is 140,188,037,152,768 "
                                       "bytes before the nearest allocation at "
                                       "0x7f8012280000 of size 65,536 bytes"),
                                "memcheck", "fill.cu");
  CHECK(null.kind == "null_pointer");
  CHECK_THAT(null.message(), ContainsSubstring("writes 4 bytes through a null pointer (address 0x0)"));
  const Finding host = read_one(
      access(
          "__global__ atomic of size 4 bytes", "(0,0,0)",
          "0x55d7539b9b40 is out of bounds\n=========     and is 45,718,029,231,296 bytes before the nearest "
          "allocation at 0x7f6be2800000 of size 400 bytes"),
      "memcheck", "fill.cu");
  CHECK(host.kind == "illegal_address");
  CHECK_THAT(host.message(), ContainsSubstring("atomically updates 4 bytes of global memory at address "
                                               "0x55d7539b9b40, far from every allocation"));
}

TEST_CASE("a copy of memory that nobody has written is no mistake, one outside of memory is") {
  const std::string report =
      "========= Host API memory access error at host access to 0x7ff7a2802400 of size 2,800 bytes\n"
      "=========     Uninitialized access at 0x7ff7a2802400 on access by cudaMemcpy source\n"
      "=========     Saved host backtrace up to driver entry point at error\n";
  CHECK(parse_sanitizer_log(report, "initcheck", "sum.cu").findings.empty());
  CHECK(parse_sanitizer_log(report, "memcheck", "sum.cu").findings.size() == 1);
}

TEST_CASE("a line in one of CUDA's headers gives way to the line that led there") {
  const std::string report =
      "========= Uninitialized __global__ memory read of size 4 bytes\n"
      "=========     at atomicAdd(int *, int)+0x150 in device_atomic_functions.hpp:107\n"
      "=========     by thread (0,0,0) in block (2,0,0)\n"
      "=========     Address 0x7f486e800200\n"
      "=========         Device Frame: sum_all(const int *, int *)+0x130 in sum.cu:10\n"
      "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
      "=========         Host Frame: main [0x8d2b] in uninit_atomic_sum\n";
  const Finding found = read_one(report, "initcheck", "sum.cu");
  CHECK(found.kind == "uninitialised_read");
  CHECK(found.here.line == 10);
  CHECK(found.message() ==
        "sum.cu:10: error: uninitialised_read: thread (0,0,0) of block (2,0,0) reads 4 bytes of global "
        "memory, which neither the host nor a kernel has written. cudaMalloc does not clear memory. Fill it "
        "first, by a copy, cudaMemset or an earlier kernel; or do not read it. (initcheck)");
}

TEST_CASE("a line in a header of the course is named with the line that called it") {
  const Finding found = read_one(
      "========= Invalid __shared__ write of size 4 bytes\n"
      "=========     at load_tile(float *)+0x150 in /home/me/course/common/device/tile.hpp:31\n"
      "=========     by thread (0,0,0) in block (0,0,0)\n=========     Access to 0x4000 is out of bounds\n"
      "=========         Device Frame: kernel(float *)+0x130 in /home/me/course/lessons/06/matmul.cu:44\n",
      "memcheck", "/home/me/course/lessons/06/matmul.cu");
  CHECK(found.here.file == "/home/me/course/common/device/tile.hpp");
  CHECK_THAT(found.message(), StartsWith("tile.hpp:31: error: out_of_bounds: "));
  CHECK_THAT(found.message(), ContainsSubstring("Called from matmul.cu:44."));
}

TEST_CASE("hazards and their analysis are one race, with the later access first") {
  std::string reports;
  for (const char* const address : {"0x404", "0x405"})
    reports +=
        "========= Error: Potential RAW hazard detected at __shared__ " + std::string(address) +
        " in block (1,0,0) :\n"
        "=========     Write Thread (0,1,0) at attend(const float *, float *)+0x2b0 in attend.cu:15\n"
        "=========     Read Thread (0,0,0) at attend(const float *, float *)+0x390 in attend.cu:20\n"
        "=========     Current Value : 0\n=========     Saved host backtrace up to driver entry point\n";
  reports +=
      "========= Error: Potential WAR hazard detected at __shared__ 0x404 in block (0,0,0) :\n"
      "=========     Read Thread (0,1,0) at attend(const float *, float *)+0x390 in attend.cu:20\n"
      "=========     Write Thread (0,0,0) at attend(const float *, float *)+0x2b0 in attend.cu:15\n"
      "========= \n";
  const std::string analysis =
      "========= Error: Race reported between Write access at attend(const float *, float *)+0x2b0 in "
      "attend.cu:15\n"
      "=========     and Read access at attend(const float *, float *)+0x390 in attend.cu:20 [24 "
      "hazards]\n========= \n";
  const Finding found = read_one(reports + analysis, "racecheck", "attend.cu");
  CHECK(found.kind == "race");
  CHECK(found.here.line == 20);
  CHECK(found.other.line == 15);
  CHECK(found.count == 3);
  CHECK_THAT(
      found.message(),
      StartsWith("attend.cu:20: error: race: thread (0,0,0) of block (1,0,0) reads shared memory, which "
                 "thread (0,1,0) writes at attend.cu:15, and nothing orders the two. Threads of different "
                 "warps run in any order between two __syncthreads()."));
  const Finding summed = read_one(analysis, "racecheck", "attend.cu");
  CHECK(summed.kind == "race");
  CHECK(summed.count == 24);
  CHECK_THAT(summed.message(),
             ContainsSubstring("a thread reads shared memory, which another thread writes at "
                               "attend.cu:15, and nothing orders"));
}

TEST_CASE("two writes in one line are a race that asks for elements of their own") {
  const Finding found = read_one(
      "========= Error: Potential WAW hazard detected at __shared__ 0x0 in block (0,0,0) :\n"
      "=========     Write Thread (0,0,0) at f(int *)+0x2b0 in f.cu:13\n"
      "=========     Write Thread (32,0,0) at f(int *)+0x2b0 in f.cu:13\n",
      "racecheck", "f.cu");
  CHECK_THAT(found.message(),
             ContainsSubstring("writes shared memory, which thread (0,0,0) writes in the same line"));
  CHECK_THAT(found.message(), ContainsSubstring("Give each thread an element of its own"));
}

TEST_CASE("a race of lanes is a warning, and a copy that nobody awaited is missing_wait") {
  const std::string threads =
      "=========     Write Thread (0,0,0) at f(int *)+0x2b0 in f.cu:12\n"
      "=========     Read Thread (1,0,0) at f(int *)+0x390 in f.cu:13\n";
  const Finding lanes = read_one(
      "========= Warning: (Warp Level Programming) Potential RAW hazard detected at __shared__ 0x0 in block "
      "(0,0,0) :\n" +
          threads,
      "racecheck", "f.cu");
  CHECK(lanes.kind == "missing_syncwarp");
  CHECK(lanes.severity == Severity::warning);
  const Finding copy = read_one(
      "========= Error: Potential RAW hazard detected (invalid memcpy_async synchronization) at __shared__ "
      "0x0 in block (0,0,0) :\n" +
          threads,
      "racecheck", "f.cu");
  CHECK(copy.kind == "missing_wait");
  CHECK(copy.severity == Severity::error);
  CHECK_THAT(copy.message(),
             ContainsSubstring("while the asynchronous copy that thread (0,0,0) issued at f.cu:12"));
}

TEST_CASE("threads that part at a barrier are a divergent_barrier") {
  const Finding found = read_one(
      "========= Barrier error detected. Divergent thread(s) in warp.\n"
      "=========     at split(const float *, float *)+0x120 in split.cu:15\n"
      "=========     by thread (1,0,0) in block (0,0,0)\n",
      "synccheck", "split.cu");
  CHECK(found.kind == "divergent_barrier");
  CHECK(found.message() ==
        "split.cu:15: error: divergent_barrier: thread (1,0,0) of block (0,0,0) waits at this barrier, and "
        "other threads of its warp do not come to it. All threads of a block must come to the same "
        "__syncthreads(). Move "
        "the barrier out of the branch or the loop whose condition differs between threads. (synccheck)");
}

TEST_CASE("leaks are summed up by the function that allocated") {
  std::string reports;
  for (int i = 0; i < 3; ++i)
    reports +=
        "========= Leaked 1,200 bytes at 0x7fb590800200\n"
        "=========     Saved host backtrace up to driver entry point at allocation time\n"
        "=========         Host Frame: cuMemAlloc_v2 [0x32b91f]\n"
        "=========                        in /usr/lib64/libcuda.so.1\n"
        "=========         Host Frame:  [0x41b5d]\n"
        "=========                        in /usr/lib64/libcudart.so.13\n"
        "=========         Host Frame: __wrap_cudaMalloc [0x1bdd4]\n"
        "=========                        in /home/ada/kernel.so\n"
        "=========         Host Frame: cudaMalloc [0x4cbf6] in kernel.so\n"
        "=========         Host Frame: cudaError cudaMalloc<float>(float**, unsigned long) [0x90ae] in "
        "kernel.so\n"
        "=========         Host Frame: course::scale_host(float const*, long) [0x8ca0] in "
        "kernel.so\n========= \n";
  const Finding found = read_one(reports + "========= LEAK SUMMARY: 3600 bytes leaked in 3 allocations\n",
                                 "memcheck", "scale.cu");
  CHECK(found.kind == "leak");
  CHECK(found.here.line == 0);
  CHECK(found.message() ==
        "error: leak: 3600 bytes in 3 allocations, allocated in course::scale_host, were never freed. Every "
        "cudaMalloc needs its cudaFree, on every way out. Free the memory, or let a destructor do it. "
        "(memcheck, 3 times)");
}

TEST_CASE("what follows a fault is not told: errors of later calls, memory that cannot be freed") {
  const std::string aftermath =
      "========= Program hit cudaErrorLaunchFailure (error 719) due to \"unspecified launch failure\" on "
      "CUDA API call to cudaDeviceSynchronize.\n"
      "=========     Saved host backtrace up to driver entry point at error\n========= \n"
      "========= Leaked 1,200 bytes at 0x7f4dbe800000\n========= \n";
  const Finding fault = read_one(
      access("__global__ read of size 4 bytes", "(0,0,0)",
             "0x7f4dbe7ffffc is out of bounds\n=========     and is 4 bytes before the nearest allocation at "
             "0x7f4dbe800000 of size 1,200 bytes") +
          aftermath,
      "memcheck", "fill.cu");
  CHECK(fault.kind == "out_of_bounds");
  const Finding alone = read_one(aftermath, "memcheck", "fill.cu");
  CHECK(alone.kind == "sanitizer");
  CHECK_THAT(alone.message(), ContainsSubstring("memcheck says: Program hit cudaErrorLaunchFailure"));
}

TEST_CASE("a call that CUDA refused is a note, since the program may have looked") {
  const std::string reports =
      "========= Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call to "
      "cudaLaunchKernel.\n========= \n"
      "========= Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call to "
      "cudaGetLastError.\n========= \n";
  const Finding found = read_one(reports, "memcheck", "fill.cu");
  CHECK(found.kind == "unchecked_error");
  CHECK(found.severity == Severity::note);
  CHECK_THAT(found.message(),
             ContainsSubstring(
                 "CUDA refused the call of cudaLaunchKernel: invalid argument (cudaErrorInvalidValue)."));
}

TEST_CASE("assertions and traps keep their thread") {
  const std::string where =
      "=========     at gather(int *)+0x120 in gather.cu:12\n=========     by thread (7,0,0) in block "
      "(0,0,0)\n";
  const Finding assertion = read_one("========= Warp assert\n" + where, "memcheck", "gather.cu");
  CHECK(assertion.kind == "assertion");
  CHECK_THAT(assertion.message(),
             ContainsSubstring("gather.cu:12: error: assertion: thread (7,0,0) of block (0,0,0)"));
  CHECK(read_one("========= Trace/breakpoint trap\n" + where, "memcheck", "gather.cu").kind == "trap");
}

TEST_CASE("what is not understood is passed on in the tool's words") {
  const std::vector<Finding> found = read(
      "========= Barrier error detected. Invalid arguments\n"
      "=========     at f(int *)+0x120 in f.cu:12\n=========     by thread (7,0,0) in block (0,0,0)\n"
      "========= Barrier error detected. Something else\n=========     at f(int *)+0x120 in f.cu:12\n"
      "========= A report of a later version.\n=========     with details\n",
      "synccheck", "f.cu");
  REQUIRE(found.size() == 3);
  CHECK(found[0].message() ==
        "f.cu:12: error: sanitizer: synccheck says: Barrier error detected. Invalid arguments. (synccheck)");
  CHECK(found[1].here.line == 12);
  CHECK(found[2].message() == "error: sanitizer: synccheck says: A report of a later version. (synccheck)");
}

TEST_CASE("a tool that cannot work says why, and a program that crashed is no finding") {
  const SanitizerLog device = parse_sanitizer_log(kBanner +
                                                      "========= Device not supported. Please refer to the "
                                                      "documentation\n========= ERROR SUMMARY: 0 errors\n",
                                                  "racecheck", "f.cu");
  CHECK_THAT(device.problem, StartsWith("Device not supported"));
  const SanitizerLog none = parse_sanitizer_log(
      kBanner + "========= Target application doesn't exist or is not a valid executable\n", "memcheck",
      "f.cu");
  CHECK_THAT(none.problem, StartsWith("Target application doesn't exist"));
  const SanitizerLog crashed = parse_sanitizer_log(
      kBanner +
          "========= Error: process didn't terminate successfully\n"
          "=========     The application may have hit an error when dereferencing Unified Memory from the "
          "host.\n"
          "========= Target application returned an error\n"
          "========= LEAK SUMMARY: 0 bytes leaked in 0 allocations\n========= ERROR SUMMARY: 0 errors\n",
      "memcheck", "f.cu");
  CHECK(crashed.problem.empty());
  CHECK(crashed.findings.empty());
}

TEST_CASE("reports that the tool did not print make the count a lower bound") {
  const SanitizerLog log = parse_sanitizer_log(
      kBanner + access("__shared__ read of size 4 bytes", "(0,0,0)", "0x80 is out of bounds") +
          access("__shared__ read of size 4 bytes", "(1,0,0)", "0x84 is out of bounds") +
          "========= ERROR SUMMARY: 1,004 errors\n========= ERROR SUMMARY: 1,002 errors were not printed. "
          "Use --print-limit option to adjust the number of printed errors\n",
      "memcheck", "fill.cu");
  CHECK(log.complete);
  CHECK(log.unprinted == 1002);
  const std::vector<Finding> found = findings_of(log, "memcheck");
  REQUIRE(found.size() == 1);
  CHECK_THAT(found[0].message(), EndsWith("(memcheck, at least 2 times)"));
}

TEST_CASE("logs of several workers are one: mistakes told once, complete if all are") {
  const std::string report = access("__shared__ read of size 4 bytes", "(0,0,0)", "0x80 is out of bounds");
  SanitizerLog log =
      parse_sanitizer_log(kBanner + report + "========= ERROR SUMMARY: 1 error\n", "memcheck", "fill.cu");
  add_log(log, parse_sanitizer_log(kBanner + report, "memcheck", "fill.cu"));
  REQUIRE(log.findings.size() == 1);
  CHECK(log.findings[0].count == 2);
  CHECK_FALSE(log.complete);
}

TEST_CASE("a log of nothing but odd reports stays short and is read in no time") {
  std::string text = kBanner;
  for (int i = 0; i < 200000; ++i) text += "========= Odd report " + std::to_string(i) + "\n";
  const SanitizerLog log = parse_sanitizer_log(text + std::string(1 << 20, 'x'), "memcheck", "fill.cu");
  CHECK(log.findings.size() == 100);
  const SanitizerLog one_line =
      parse_sanitizer_log("=========" + std::string(8 << 20, '('), "racecheck", "fill.cu");
  REQUIRE(one_line.findings.size() == 1);
  CHECK(one_line.findings[0].what.size() < 1100);
}

TEST_CASE("a finding of a tool keeps its name and count in JSON") {
  const Finding found = read_one(
      access("__shared__ read of size 4 bytes", "(0,0,0)", "0x80 is out of bounds"), "memcheck", "fill.cu");
  const nlohmann::json value = finding_to_json(found);
  CHECK(value.at("tool") == "memcheck");
  CHECK(value.at("count") == 1);
  CHECK(finding_from_json(value).tool == "memcheck");
  CHECK_FALSE(finding_to_json(Finding{}).contains("tool"));
}
