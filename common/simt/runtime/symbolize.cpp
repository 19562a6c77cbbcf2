#include "simt/runtime/symbolize.hpp"

#include <backtrace.h>
#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <string_view>

#include "simt/control.hpp"
#include "simt/runtime/file_view.hpp"

namespace {

// The C library and its kin hold no line of a user. Where their debug files are installed, libbacktrace would
// read and unpack all of them at its first question: a third of a second in every worker. Nor does this
// library, whose symbols it would sort: a millisecond. Nor the program, where that is said of it.
thread_local bool other_modules_are_hidden = false;
std::atomic<bool> program_is_left_out = false;

using ModuleCallback = int (*)(dl_phdr_info*, std::size_t, void*);

struct VisibleModules {
  ModuleCallback callback;
  void* data;
};

bool is_system_module(std::string_view file) {
  return file.starts_with("/lib/") || file.starts_with("/lib64/") || file.starts_with("/usr/lib/");
}

struct ModuleRange {
  std::uintptr_t begin = 0, end = 0;
};

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

// The linker lets every dl_iterate_phdr() of this library, libbacktrace's among them, arrive here.
extern "C" int __real_dl_iterate_phdr(ModuleCallback callback, void* data);
extern "C" int __wrap_dl_iterate_phdr(ModuleCallback callback, void* data) {
  if (!other_modules_are_hidden) return __real_dl_iterate_phdr(callback, data);
  VisibleModules visible{callback, data};
  return __real_dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t size, void* out) {
        const auto* to = static_cast<const VisibleModules*>(out);
        ModuleRange unused;
        const bool is_program = *info->dlpi_name == '\0';
        const bool hidden = is_system_module(info->dlpi_name) || find_runtime(info, size, &unused) != 0 ||
                            (is_program && program_is_left_out);
        return hidden ? 0 : to->callback(info, size, to->data);
      },
      &visible);
}

namespace simt {

void leave_program_out() { program_is_left_out = true; }

const char* own_program() {
  constexpr const char* kLink = "/proc/self/exe";
  return access(kLink, R_OK) == 0 ? kLink : reinterpret_cast<const char*>(getauxval(AT_EXECFN));
}

namespace {

/// While it lives, libbacktrace sees no modules but those that may hold a user's code.
struct HiddenOtherModules {
  HiddenOtherModules() { other_modules_are_hidden = true; }
  ~HiddenOtherModules() { other_modules_are_hidden = false; }
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

/// The call operator of a lambda, or the function that its pointer leads to. That of a launch in a template
/// is one that the C++ library fails to demangle.
bool is_lambda(const std::string& demangled) {
  constexpr std::string_view kGeneric = "UlDpRT_E";  // then "_cl", or "0_cl" of the second in its function
  if (const std::size_t at = demangled.find(kGeneric); at != std::string::npos) {
    const std::size_t end = demangled.find_first_not_of("0123456789", at + kGeneric.size());
    if (end != std::string::npos && demangled.compare(end, 3, "_cl") == 0) return true;
  }
  return demangled.find("}::operator()") != std::string::npos ||
         demangled.find("_FUN") != std::string::npos || demangled.starts_with("operator()");
}

struct Frames {
  std::vector<SourceCall> calls;
  std::vector<std::string> names;  ///< demangled, one for each call
};

// Called for each inlined frame at one address, innermost first.
int take_every_user_frame(void* result, std::uintptr_t, const char* file, int line, const char* function) {
  SourceLine place;
  if (take_user_frame(&place, 0, file, line, nullptr) == 0) return 0;
  const std::string name = function == nullptr ? std::string() : demangle(function);
  auto& frames = *static_cast<Frames*>(result);
  frames.calls.push_back(
      {place.file, place.line, is_lambda(name) ? kLambda : base_name(name), source_text(place)});
  frames.names.push_back(name);
  return 0;
}

/// Where the parameters of a function begin: the index of the "(" in "f<g(int)>(float)".
std::size_t parameters_begin(std::string_view name) {
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (name[i] == '(' && depth == 0) return i;
  }
  return name.size();
}

void visit_frames(std::uintptr_t pc, backtrace_full_callback visit, void* data) {
  if (in_runtime(pc)) return;
  backtrace_state* state = current_state();
  const HiddenOtherModules hidden;
  backtrace_pcinfo(state, pc, visit, ignore_error, data);
}

}  // namespace

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

SourceLine user_line(const CallStack& stack) {
  SourceLine line;
  for (std::size_t i = 0; i < stack.count && line.line == 0; ++i)
    visit_frames(stack.pcs[i], take_user_frame, &line);
  return line;
}

UserCalls user_calls(const CallStack& stack) {
  Frames frames;
  for (std::size_t i = 0; i < stack.count; ++i) visit_frames(stack.pcs[i], take_every_user_frame, &frames);
  // `kernel<<<...>>>(...)` has become a lambda, which calls the kernel: that is the launch, and no part of
  // it.
  if (frames.calls.size() > 1 && is_lambda(frames.names.back())) {
    frames.calls.pop_back();
    frames.names.pop_back();
  }
  const bool whole = stack.count < std::size(stack.pcs) && !frames.names.empty();
  return {std::move(frames.calls), whole ? written_name(frames.names.back()) : std::string()};
}

std::string source_text(const SourceLine& line) {
  namespace fs = std::filesystem;
  fs::path file = line.file;
  // Programs that ran the compiler elsewhere say where its relative names start from.
  if (const char* folder = std::getenv("SIMT_SOURCES"); file.is_relative() && folder != nullptr)
    file = fs::path(folder) / file;
  const FileView view(file.c_str());
  std::string_view text = view.text();
  for (int number = 1; number < line.line; ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (line.line < 1 || begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin));
}

std::string function_name(const void* address) {
  std::string mangled;
  backtrace_state* state = current_state();
  const HiddenOtherModules hidden;
  backtrace_syminfo(
      state, reinterpret_cast<std::uintptr_t>(address),
      [](void* out, std::uintptr_t, const char* name, std::uintptr_t, std::uintptr_t) {
        if (name != nullptr) *static_cast<std::string*>(out) = name;
      },
      ignore_error, &mangled);
  return mangled.empty() ? mangled : demangle(mangled);
}

std::string demangle(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;  // "g" is a variable's own name, and that of a type
  int status = 0;
  char* demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : symbol;
  std::free(demangled);
  return name;
}

std::string base_name(const std::string& name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  const std::size_t anonymous = name.rfind(kAnonymous);
  const std::string_view all =
      std::string_view(name).substr(anonymous == std::string::npos ? 0 : anonymous + kAnonymous.size());
  std::string head;  // without template arguments, also those of the class
  int depth = 0;
  for (const char c : all.substr(0, parameters_begin(all))) {
    if (c == '>') --depth;
    if (depth == 0 && c != '<' && c != '>') head += c;
    if (c == '<') ++depth;
  }
  const std::size_t last = head.find_last_not_of(' ');
  const std::size_t before = head.find_last_of(": ", last);
  const std::size_t first = before == std::string::npos ? 0 : before + 1;
  return last == std::string::npos ? std::string() : head.substr(first, last + 1 - first);
}

std::string written_name(const std::string& demangled) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  std::string head = demangled;
  for (std::size_t at = head.find(kAnonymous); at != std::string::npos; at = head.find(kAnonymous))
    head.erase(at, kAnonymous.size());
  head.resize(parameters_begin(head));
  std::string name;
  int depth = 0;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == '<') ++depth;
    if (head[i] == '>') --depth;
    if (head[i] == ' ' && depth == 0)
      name.clear();  // the return type lies before
    else if (head[i] != ' ' || i + 1 >= head.size() || head[i + 1] != '>')
      name += head[i];
  }
  // Namespaces go everywhere, also those of template arguments.
  for (std::size_t scope = name.find("::"); scope != std::string::npos; scope = name.find("::", scope)) {
    std::size_t begin = scope;
    while (begin > 0 && is_name(name[begin - 1])) --begin;
    if (begin == scope) {
      scope += 2;  // the scope of a template's instance stays
      continue;
    }
    name.erase(begin, scope + 2 - begin);
    scope = begin;
  }
  return name;
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
