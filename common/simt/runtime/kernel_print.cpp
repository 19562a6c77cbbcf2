// printf and its kin: of the C library for host code, and of the simulator in kernels. It replaces libc's, as
// kernel_abi.cpp does with __assert_fail.

#undef _FORTIFY_SOURCE  // with it, <cstdio> defines printf

#include "simt/runtime/kernel_print.hpp"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "simt/check/recorder.hpp"
#include "simt/runtime/block.hpp"
#include "simt/shim/simt_abi.h"

namespace simt {
namespace {

/// The text that the kernels of a launch have printed so far.
class Prints {
 public:
  /// As vprintf. A bad argument faults before the lock is taken.
  int add(const char* format, va_list arguments) {
    va_list measured;
    va_copy(measured, arguments);
    const int length = std::vsnprintf(nullptr, 0, format, measured);
    va_end(measured);
    if (length < 0) return length;
    const std::lock_guard lock(mutex_);
    if (static_cast<std::size_t>(length) >= kBytes - used_) put_out_all();
    const std::size_t room = kBytes - used_;
    const int printed = std::vsnprintf(text_ + used_, room, format, arguments);
    if (printed > 0) used_ += std::min(static_cast<std::size_t>(printed), room - 1);
    return printed;
  }

  void put_out() {
    const std::lock_guard lock(mutex_);
    put_out_all();
  }

 private:
  void put_out_all() {
    if (used_ == 0) return;
    std::fflush(stdout);
    for (std::size_t done = 0; done < used_;) {
      const ssize_t written = write(STDOUT_FILENO, text_ + done, used_ - done);
      if (written < 0 && errno != EINTR) break;
      done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
    }
    std::memset(text_, 0, used_);
    used_ = 0;
  }

  static constexpr std::size_t kBytes = 1 << 20;  // CUDA keeps no more either; a longer text loses its end
  std::mutex mutex_;
  std::size_t used_ = 0;
  char text_[kBytes] = {};
};

constinit Prints prints;

/// Moves on past what comes next of these characters. True if there was any.
bool skip(const char*& at, const char* characters) {
  const std::size_t count = std::strspn(at, characters);
  at += count;
  return count > 0;
}
bool skip_one(const char*& at, char character) {
  if (*at != character) return false;
  ++at;
  return true;
}

/// Moves on past what tells the size of a conversion's argument. Before anything else, such as `hl`, the C
/// library gives up the conversion and takes no argument.
std::string_view skip_size(const char*& at) {
  for (const std::string_view size : {"hh", "h", "ll", "l", "j", "z", "t"})
    if (std::strncmp(at, size.data(), size.size()) == 0) {
      at += size.size();
      return size;
    }
  return {};
}

/// Tells check mode of all that printf is about to read by pointers: the format, and the texts that it names.
/// In any mode, a conversion that CUDA does not have ends the launch: `%n` would store unseen, and `%ls`
/// read. A lone percent sign prints itself. Returns how many arguments there are.
int note_texts(const char* format, va_list arguments, std::uintptr_t caller) {
  note_text(format, kWholeText, caller);
  va_list left;
  va_copy(left, arguments);
  int count = 0;
  for (const char* at = format; (at = std::strchr(at, '%')) != nullptr;) {
    const char* const begin = ++at;
    skip(at, " #+-0'I");
    if (!skip(at, "0123456789") && skip_one(at, '*')) {
      (void)va_arg(left, int);
      ++count;
    }
    std::size_t most = kWholeText;  // bytes that are read of a text
    if (skip_one(at, '.')) {
      if (skip_one(at, '*')) {
        const int precision = va_arg(left, int);
        ++count;
        if (precision >= 0) most = static_cast<std::size_t>(precision);
      } else {
        most = std::strtoul(at, nullptr, 10);
        skip(at, "0123456789");
      }
    }
    const std::string_view size = skip_size(at);
    const bool is_lone = at == begin;
    const char conversion = *at;
    if (conversion == '\0') break;
    ++at;
    ++count;
    if (std::strchr("diouxX", conversion) != nullptr) {
      if (size.empty() || size.front() == 'h')
        (void)va_arg(left, int);
      else
        (void)va_arg(left, long long);
    } else if (std::strchr("aAeEfFgG", conversion) != nullptr && (size.empty() || size == "l")) {
      (void)va_arg(left, double);
    } else if (conversion == 'c' && size.empty()) {
      (void)va_arg(left, int);
    } else if (conversion == 'p' && size.empty()) {
      (void)va_arg(left, void*);
    } else if (conversion == 's' && size.empty()) {
      const char* const text = va_arg(left, const char*);
      if (text != nullptr) note_text(text, most, caller);
    } else if (conversion != '%' &&
               (!is_lone || std::isalpha(static_cast<unsigned char>(conversion)) != 0 || conversion == '$')) {
      simt_host_function("printf with a conversion that CUDA does not have");
    } else {
      --count;
    }
  }
  va_end(left);
  return count;
}

/// In a kernel, the result is CUDA's: how many arguments were printed, and not how many characters.
int print(const char* format, va_list arguments, std::uintptr_t caller) {
  if (BlockRunner::current() == nullptr) return std::vprintf(format, arguments);
  const int count = note_texts(format, arguments, caller);
  return prints.add(format, arguments) < 0 ? -2 : count;
}

/// What the simulator itself hands to print().
int print_in_kernel(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int printed = prints.add(format, arguments);
  va_end(arguments);
  return printed;
}

}  // namespace

void note_text(const char* text, std::size_t most, std::uintptr_t caller) {
  if (check::active_recorder == nullptr) return;
  for (std::size_t i = 0; i < most; ++i) {
    check::note_runtime_access(check::Kind::read, text + i, 1, false, caller);
    if (text[i] == '\0') return;
  }
}

void put_out_prints() { prints.put_out(); }

}  // namespace simt

#define SIMT_CALLER() (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

extern "C" {

// __wrap_: the names by which the linker has kernels call them in check mode.
#define SIMT_PRINTING_FUNCTION(NAME, ...)                              \
  int NAME(__VA_ARGS__ const char* format, ...) {                      \
    va_list arguments;                                                 \
    va_start(arguments, format);                                       \
    const int printed = simt::print(format, arguments, SIMT_CALLER()); \
    va_end(arguments);                                                 \
    return printed;                                                    \
  }
SIMT_PRINTING_FUNCTION(printf)
SIMT_PRINTING_FUNCTION(__printf_chk, int, )
SIMT_PRINTING_FUNCTION(__wrap_printf)
SIMT_PRINTING_FUNCTION(__wrap___printf_chk, int, )

// What compilers make of a printf without conversions.
int puts(const char* text) {
  if (simt::BlockRunner::current() == nullptr)
    return std::fputs(text, stdout) < 0 ? EOF : std::putc('\n', stdout);
  if (simt::check::active_recorder != nullptr) simt::note_text(text, simt::kWholeText, SIMT_CALLER());
  return simt::print_in_kernel("%s\n", text);
}
int putchar(int character) {
  if (simt::BlockRunner::current() == nullptr) return std::putc(character, stdout);
  simt::print_in_kernel("%c", character);
  return static_cast<unsigned char>(character);
}

}  // extern "C"
