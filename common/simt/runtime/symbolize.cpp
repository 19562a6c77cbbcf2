#include "simt/runtime/symbolize.hpp"

#include <backtrace.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string_view>

namespace {

// The C library and its kin hold no line of a user. Where their debug files are installed, libbacktrace would
// read and unpack all of them at its first question: a third of a second in every worker.
thread_local bool system_modules_are_hidden = false;

using ModuleCallback = int (*)(dl_phdr_info*, std::size_t, void*);

struct VisibleModules {
  ModuleCallback callback;
  void* data;
};

bool is_system_module(std::string_view file) {
  return file.starts_with("/lib/") || file.starts_with("/lib64/") || file.starts_with("/usr/lib/");
}

}  // namespace

// The linker lets every dl_iterate_phdr() of this library, libbacktrace's among them, arrive here.
extern "C" int __real_dl_iterate_phdr(ModuleCallback callback, void* data);
extern "C" int __wrap_dl_iterate_phdr(ModuleCallback callback, void* data) {
  if (!system_modules_are_hidden) return __real_dl_iterate_phdr(callback, data);
  VisibleModules visible{callback, data};
  return __real_dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t size, void* out) {
        const auto* to = static_cast<const VisibleModules*>(out);
        return is_system_module(info->dlpi_name) ? 0 : to->callback(info, size, to->data);
      },
      &visible);
}

namespace simt {

const char* own_program() {
  constexpr const char* kLink = "/proc/self/exe";
  return access(kLink, R_OK) == 0 ? kLink : reinterpret_cast<const char*>(getauxval(AT_EXECFN));
}

namespace {

/// While it lives, libbacktrace sees no system modules.
struct HiddenSystemModules {
  HiddenSystemModules() { system_modules_are_hidden = true; }
  ~HiddenSystemModules() { system_modules_are_hidden = false; }
};

void ignore_error(void*, const char*, int) {}

int count_module(dl_phdr_info*, std::size_t, void* count) {
  ++*static_cast<int*>(count);
  return 0;
}

// libbacktrace lists the loaded modules once per state, so a library that is loaded later needs a new state.
// States cannot be freed; a process loads few kernels.
backtrace_state* current_state() {
  static std::mutex mutex;
  static backtrace_state* state = nullptr;
  static int known_modules = -1;
  const std::lock_guard lock(mutex);
  int modules = 0;
  dl_iterate_phdr(count_module, &modules);
  if (modules != known_modules) {
    known_modules = modules;
    state = backtrace_create_state(own_program(), 1, ignore_error, nullptr);
  }
  return state;
}

bool is_user_file(std::string_view file) {
  for (const std::string_view folder : {"common/simt/shim/", "common/simt/runtime/", "common/simt/check/",
                                        "/sysdeps/", "/nptl/", "/stdlib/", "/csu/"})
    if (file.find(folder) != std::string_view::npos) return false;
  return !file.starts_with("/usr/include/") && !file.starts_with("/usr/lib/");
}

// Called for each inlined frame at one address, innermost first.
int take_user_frame(void* result, std::uintptr_t, const char* file, int line, const char*) {
  if (file == nullptr || line == 0 || !is_user_file(file)) return 0;
  *static_cast<SourceLine*>(result) = {std::filesystem::path(file).lexically_normal().string(), line};
  return 1;
}

struct CallingFrame {
  SourceLine line;
  bool in_header = false;  ///< a frame of user code has been seen, in a header
  bool done = false;
};

int take_calling_frame(void* result, std::uintptr_t, const char* file, int line, const char*) {
  auto& frame = *static_cast<CallingFrame*>(result);
  if (file == nullptr || line == 0 || !is_user_file(file)) return 0;
  if (std::string_view(file).ends_with(".cu")) {
    if (frame.in_header) take_user_frame(&frame.line, 0, file, line, nullptr);
    frame.done = true;
  }
  frame.in_header = true;
  return frame.done ? 1 : 0;
}

struct ModuleRange {
  std::uintptr_t begin = 0, end = 0;
};

void visit_frames(std::uintptr_t pc, backtrace_full_callback visit, void* data) {
  if (in_runtime(pc)) return;
  backtrace_state* state = current_state();
  const HiddenSystemModules hidden;
  backtrace_pcinfo(state, pc, visit, ignore_error, data);
}

int find_runtime(dl_phdr_info* info, std::size_t, void* out) {
  const auto here = reinterpret_cast<std::uintptr_t>(&find_runtime);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type != PT_LOAD || here < begin || here >= begin + segment.p_memsz) continue;
    *static_cast<ModuleRange*>(out) = {begin, begin + segment.p_memsz};
    return 1;
  }
  return 0;
}

}  // namespace

SourceLine user_line(const CallStack& stack) {
  SourceLine line;
  for (std::size_t i = 0; i < stack.count && line.line == 0; ++i)
    visit_frames(stack.pcs[i], take_user_frame, &line);
  return line;
}

SourceLine calling_line(const CallStack& stack) {
  CallingFrame frame;
  for (std::size_t i = 0; i < stack.count && !frame.done; ++i)
    visit_frames(stack.pcs[i], take_calling_frame, &frame);
  return frame.line;
}

std::string function_name(const void* address) {
  std::string mangled;
  backtrace_state* state = current_state();
  const HiddenSystemModules hidden;
  backtrace_syminfo(
      state, reinterpret_cast<std::uintptr_t>(address),
      [](void* out, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
        if (name != nullptr) *static_cast<std::string*>(out) = name;
      },
      ignore_error, &mangled);
  return mangled.empty() ? mangled : demangle(mangled);
}

std::string demangle(const std::string& symbol) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : symbol;
  std::free(demangled);
  return name;
}

std::string base_name(const std::string& name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  const std::size_t anonymous = name.rfind(kAnonymous);
  const std::size_t start = anonymous == std::string::npos ? 0 : anonymous + kAnonymous.size();
  const std::string head = name.substr(start, name.find_first_of("<(", start) - start);
  const std::size_t last = head.find_last_not_of(' ');
  const std::size_t before = head.find_last_of(": ", last);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  return last == std::string::npos ? std::string() : head.substr(first, last + 1 - first);
}

bool in_runtime(std::uintptr_t pc) {
  static const ModuleRange range = [] {
    ModuleRange found;
    dl_iterate_phdr(find_runtime, &found);
    return found;
  }();
  return pc >= range.begin && pc < range.end;
}

std::string to_string(const SourceLine& line) {
  if (line.line == 0) return {};
  return std::filesystem::path(line.file).filename().string() + ":" + std::to_string(line.line);
}

}  // namespace simt
