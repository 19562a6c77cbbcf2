// A student's file that does whatever the test asks of it. Host code alone: what kernels do wrong is the
// simulator's to find, and its tests' to try.
#include <cuda_runtime.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "contract.hpp"
#include "device/cuda_check.hpp"
#include "misdeeds.hpp"

namespace course {
namespace {

struct DerivedError : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

volatile int zero = 0;
volatile bool always = true;
volatile int keep;
volatile float* volatile nowhere = nullptr;

int recurse(int depth) {
  volatile char room[4096];
  room[0] = static_cast<char>(depth);
  return always ? recurse(depth + 1) + room[0] : 0;
}

void fill(float* out, std::int64_t n) {
  const std::vector<float> ones(static_cast<std::size_t>(n), 1.0f);
  cudaMemcpy(out, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice);
}

void write_everywhere(const std::string& text) {
  for (int fd = 3; fd < 64; ++fd)
    if (send(fd, text.data(), text.size(), MSG_NOSIGNAL) < 0 && write(fd, text.data(), text.size()) < 0)
      continue;
}

void close_everything() {
  for (int fd = 0; fd < 1024; ++fd) close(fd);
}

/// Tries to cut off every shared memory that it can find.
void resize_shared_memory() {
  for (int fd = 3; fd < 64; ++fd)
    if (ftruncate(fd, 0) == 0) std::printf("cut %d\n", fd);
}

std::string forged_reply(std::size_t padding) {
  return R"({"id":1,"ready":false,"running":false,"unusable":false,"copied":true,"reusable":true,"moves":{"read":[],"filled":[],"to_host":0,"shared":0,"asked":0,"variables":0},"status":"returned","message":")" +
         std::string(padding, 'x') +
         R"(","exception_type":"","exception_message":"","exception_bases":[],"leaks":[],"leak_count":0,)"
         R"("leak_bytes":0,"findings":[],"counters":{}})";
}

void spin() {
  while (always) keep = keep + 1;
}

}  // namespace

void misbehave(std::int32_t what, float* out, std::int64_t n) {
  if (what >= kSystemCall) {
    syscall(what - kSystemCall, 0, 0, 0, 0, 0, 0);
    what = kNothing;
  }
  switch (static_cast<Misdeed>(what)) {
    case kNothing:
      break;
    case kDereferenceNull:
      *nowhere = 1;
      break;
    case kDereferenceDevice:
      *static_cast<volatile float*>(out) = 1;
      break;
    case kRecurseForever:
      keep = recurse(0);
      break;
    case kDivideByZero:
      keep = keep / zero;
      break;
    case kAbort:
      std::abort();
    case kExitZero:
      std::exit(0);
    case kExitThree:
      std::exit(3);
    case kQuickExit:
      _exit(0);
    case kKillItself:
      kill(getpid(), SIGKILL);
      break;
    case kLoopForever:
      spin();
      break;
    case kSleepForever:
      for (;;) pause();
    case kThrowInt:
      throw 42;
    case kThrowInvalidArgument:
      throw std::invalid_argument("n must not be negative, and is " + std::to_string(n));
    case kThrowDerived:
      throw DerivedError("n");
    case kThrowForeignBytes:
      throw std::runtime_error("\xff\xfe\"quoted\"\n");
    case kThrowEndless:
      throw std::runtime_error(std::string(std::size_t{1} << 22, 'e'));
    case kThrowSharedRefused:
      CUDA_CHECK(cudaFuncSetAttribute(const_cast<const int*>(&zero),
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
      break;
    case kCloseEverything:
      close_everything();
      break;
    case kCloseChannelAndStay:
      close_everything();
      spin();
      break;
    case kWriteGarbage:
      write_everywhere("{\"passed\": true}");
      break;
    case kForgeReply:
      write_everywhere(forged_reply(0));
      _exit(0);
    case kForgeHugeReply:
      write_everywhere(forged_reply(100000));
      break;
    case kWriteToChannel:
      if (write(3, "{}", 2) < 0) throw std::runtime_error(std::strerror(errno));
      break;
    case kReadChannel: {
      char byte = 0;
      if (read(3, &byte, 1) < 0) throw std::runtime_error(std::strerror(errno));
      break;
    }
    case kFork:
      fork();
      break;
    case kForkAndStay:
      if (fork() == 0) spin();
      break;
    case kForkOnly:
      if (fork() == 0) _exit(0);
      break;
    case kSpawn:
      if (std::system("true") != 0) std::puts("no shell");
      break;
    case kLeak:
    case kLeakTwice:
      for (int i = 0; i < (what == kLeak ? 1 : 2); ++i) {
        void* lost = nullptr;
        cudaMalloc(&lost, 4000);
      }
      break;
    case kLeaveError:
      cudaFree(const_cast<int*>(&keep));
      break;
    case kConsumeError:
      cudaFree(const_cast<int*>(&keep));
      (void)cudaGetLastError();
      break;
    case kPastEnd: {
      fill(out, n + 24);
      return;
    }
    case kBeforeStart:
      fill(out - 1, n + 1);
      return;
    case kWriteHalf:
      fill(out, n / 2);
      return;
    case kPrint:
      std::printf("a = %d\n", 7);
      std::fprintf(stderr, "b = 8\n");
      break;
    case kPrintForever:
      for (;;) std::puts("the same line again and again");
    case kPrintThenCrash:
      std::printf("before the crash\n");
      *nowhere = 1;
      break;
    case kOutOfMemory:
      throw std::bad_alloc();
    case kResizeShared:
      resize_shared_memory();
      break;
    case kThreadOutlives:
      std::thread(spin).detach();
      break;
    case kBlockSignals: {
      sigset_t all;
      sigfillset(&all);
      sigprocmask(SIG_SETMASK, &all, nullptr);
      for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_IGN);
      spin();
      break;
    }
    case kLeaveGroupThenHang:
      setsid();
      spin();
      break;
    case kMapCode:
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      break;
    case kCallSystem: {
      long result = 0;  // getpid, which is allowed to who asks through the C library
      asm volatile("syscall" : "=a"(result) : "a"(SYS_getpid) : "rcx", "r11", "memory");
      break;
    }
    case kManyAddresses:
      if (mmap(nullptr, std::size_t{64} << 30, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
               0) == MAP_FAILED)
        throw std::runtime_error("no addresses left");
      break;
    case kCountCalls: {
      static int calls = 0;
      std::printf("call %d\n", ++calls);
      break;
    }
    case kLimitServer: {
      const rlimit few{8, 8};
      prlimit(getppid(), RLIMIT_NOFILE, &few, nullptr);
      break;
    }
  }
  fill(out, n);
}

void add(const float* a, const float* b, float* c, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> x(size), y(size);
  cudaMemcpy(x.data(), a, size * sizeof(float), cudaMemcpyDeviceToHost);
  cudaMemcpy(y.data(), b, size * sizeof(float), cudaMemcpyDeviceToHost);
  for (std::size_t i = 0; i < size; ++i) x[i] += y[i];
  cudaMemcpy(c, x.data(), size * sizeof(float), cudaMemcpyHostToDevice);
}

void add_host(const float* a, const float* b, float* c, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

void twice(float* x, std::int64_t n) { add(x, x, x, n); }

void scale(View<const float, 2> x, View<float, 2> y, float scale) {
  for (std::int64_t row = 0; row < x.shape[0]; ++row)
    for (std::int64_t col = 0; col < x.shape[1]; ++col) {
      float value = 0;
      cudaMemcpy(&value, x.data + row * x.strides[0] + col * x.strides[1], sizeof value,
                 cudaMemcpyDeviceToHost);
      value *= scale;
      cudaMemcpy(y.data + row * y.strides[0] + col * y.strides[1], &value, sizeof value,
                 cudaMemcpyHostToDevice);
    }
}

void tell(bool flag, std::int32_t small, std::uint64_t wide, float single, double precise,
          const float* nothing, double* out) {
  const double told[] = {
      flag ? 1.0 : 0.0, static_cast<double>(small),    static_cast<double>(wide), static_cast<double>(single),
      precise,          nothing == nullptr ? 1.0 : 0.0};
  cudaMemcpy(out, told, sizeof told, cudaMemcpyHostToDevice);
}

}  // namespace course
