// What kernels print, beside what the host prints.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "support.hpp"

namespace {

__global__ void say_kernel(const char* text, int* counts) {
  counts[threadIdx.x] = printf("%s %d\n", text, static_cast<int>(threadIdx.x));
}

}  // namespace

TEST_CASE(
    "what kernels print comes in order with what the host prints, and they learn how many arguments it had",
    "[simt][print]") {
  const FreshDevice device;
  char* const text = device_array<char>(4, 'a');
  int* const counts = device_array<int>(2);
  REQUIRE(cudaMemset(text + 3, 0, 1) == cudaSuccess);
  std::fflush(stdout);
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  const int before = dup(STDOUT_FILENO);
  dup2(ends[1], STDOUT_FILENO);
  std::printf("host\n");
  say_kernel<<<1, 2>>>(text, counts);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("end\n");
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  for (const int end : {before, ends[1]}) close(end);
  std::string printed(64, '\0');
  const ssize_t bytes = read(ends[0], printed.data(), printed.size());
  close(ends[0]);
  REQUIRE(error == cudaSuccess);
  REQUIRE(bytes > 0);
  CHECK(printed.substr(0, static_cast<std::size_t>(bytes)) == "host\naaa 0\naaa 1\nend\n");
  CHECK(to_host(counts, 2) == std::vector<int>{2, 2});
}
