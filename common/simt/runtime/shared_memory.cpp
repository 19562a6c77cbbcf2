#include "simt/runtime/shared_memory.hpp"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "simt/runtime/device_profile.hpp"
#include "simt/runtime/file_view.hpp"
#include "simt/runtime/memory.hpp"
#include "simt/runtime/symbolize.hpp"
#include "simt/shim/simt_abi.h"

// Of the dynamic linker: the address of byte `offset` in the calling thread's copy of a module's thread-local
// variables, which it makes if need be.
struct TlsIndex {
  unsigned long module, offset;
};
extern "C" void* __tls_get_addr(TlsIndex*);

namespace simt {
namespace {

constexpr int kPoisonByte = 0xff;

// A `__shared__` variable is mostly a local static of a function: in the Itanium C++ ABI its name begins with
// _ZZ. (Guard variables begin with _ZGV.)
bool is_shared_variable(const char* name) { return std::strncmp(name, "_ZZ", 3) == 0; }

/// Whether it is the pointer that `extern __shared__ T name[]` becomes outside of functions. A file could
/// give that label to another variable; check mode makes sure that it holds nothing else.
bool points_to_dynamic(const char* name, std::size_t bytes) {
  return std::strncmp(name, SIMT_LABEL_OF_DYNAMIC, sizeof SIMT_LABEL_OF_DYNAMIC - 1) == 0 &&
         bytes == sizeof(void*);
}

/// Whether it is a flag of the compiler's, which says that variables have been set.
bool is_guard(const char* name) {
  return std::strncmp(name, "_ZGV", 4) == 0 || std::strcmp(name, "__tls_guard") == 0;
}

/// Lies behind shared memory to be no variable of a kernel's. One that a file calls so lies before it.
constexpr const char* kRoom = "room_behind_shared_memory";

/// "void kernel<float>(float*)" for the variable "void kernel<float>(float*)::tile".
std::string function_of(const char* variable) {
  std::string name = demangle(variable);
  const std::size_t colon = name.rfind("::");
  return colon == std::string::npos ? name : name.substr(0, colon);
}

/// Whether it is what SIMT_LAUNCH_BOUNDS declares in a kernel.
bool tells_launch_bounds(const char* name) {
  return std::strncmp(name, "_ZZ", 3) == 0 && std::strstr(name, "18simt_launch_bounds") != nullptr;
}

/// Tables of virtual functions, type descriptions, guards of local statics.
bool is_made_by_compiler(const char* name) {
  return std::strncmp(name, "_ZT", 3) == 0 || std::strncmp(name, "_ZGV", 4) == 0 || name[0] == '.';
}

/// The memory that `__managed__` places variables in.
WritableRange managed_variables(const FileView& file, const ElfW(Ehdr) & header,
                                std::uintptr_t load_address) {
  const auto* sections = file.at<ElfW(Shdr)>(header.e_shoff, header.e_shnum);
  if (sections == nullptr || header.e_shstrndx >= header.e_shnum) return {};
  const auto& strings = sections[header.e_shstrndx];
  const char* names = file.at<char>(strings.sh_offset, strings.sh_size);
  for (const ElfW(Shdr) & section : std::span(sections, names == nullptr ? 0 : header.e_shnum))
    if (section.sh_name < strings.sh_size && std::strcmp(names + section.sh_name, "simt_managed") == 0)
      return {load_address + section.sh_addr, load_address + section.sh_addr + section.sh_size};
  return {};
}

/// Reads the module's symbol table: its `__shared__` variables, the variables of its namespaces, its
/// functions.
void read_variables(KernelModule& module, std::uintptr_t load_address) {
  const FileView file(module.path.empty() ? own_program() : module.path.c_str());
  const auto* header = file.at<ElfW(Ehdr)>(0);
  if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return;
  module.managed = managed_variables(file, *header, load_address);
  const auto* sections = file.at<ElfW(Shdr)>(header->e_shoff, header->e_shnum);
  for (std::size_t s = 0; sections != nullptr && s < header->e_shnum; ++s) {
    if (sections[s].sh_type != SHT_SYMTAB || sections[s].sh_link >= header->e_shnum) continue;
    const std::size_t count = sections[s].sh_size / sizeof(ElfW(Sym));
    const auto* symbols = file.at<ElfW(Sym)>(sections[s].sh_offset, count);
    const auto& strings = sections[sections[s].sh_link];
    const char* names = file.at<char>(strings.sh_offset, strings.sh_size);
    for (std::size_t i = 0; symbols != nullptr && names != nullptr && i < count; ++i) {
      const auto& symbol = symbols[i];
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= strings.sh_size || symbol.st_size == 0) continue;
      const char* name = names + symbol.st_name;
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (type == STT_TLS && is_shared_variable(name))
        module.shared.push_back({symbol.st_value, symbol.st_size, name, function_of(name)});
      else if (type == STT_TLS && (is_guard(name) || points_to_dynamic(name, symbol.st_size)))
        module.thread_locals.push_back({symbol.st_value, symbol.st_size, name, {}, !is_guard(name)});
      else if (type == STT_TLS)  // of a namespace: `__shared__`, or the host's own, which looks alike
        module.shared.push_back({symbol.st_value, symbol.st_size, name});
      else if (type == STT_OBJECT && tells_launch_bounds(name))
        module.launch_bounds.push_back({function_of(name), symbol.st_size});
      else if (type == STT_OBJECT && !is_made_by_compiler(name))
        module.data.push_back({load_address + symbol.st_value, symbol.st_size, name});
      else if (type == STT_FUNC)
        module.functions.push_back(load_address + symbol.st_value);
    }
  }
  std::ranges::sort(module.functions);
  const auto is_room = [](const SharedVariable& variable) {
    return variable.symbol.find(kRoom) != std::string::npos;
  };
  std::ranges::sort(module.shared, {}, &SharedVariable::offset);
  const auto room = std::find_if(module.shared.rbegin(), module.shared.rend(), is_room);
  if (room != module.shared.rend()) module.shared.erase(std::next(room).base());
  // In run mode, such a pointer may be a variable of a function; so may another one that has a constructor.
  for (SharedVariable& variable : module.shared)
    variable.points_to_dynamic = variable.bytes == sizeof(void*) &&
                                 std::ranges::find(module.thread_locals, "_ZGV" + variable.symbol.substr(2),
                                                   &SharedVariable::symbol) != module.thread_locals.end();
}

/// What to compare names by. A variable's symbol says nothing of its kernel's return type, which a template's
/// own symbol names.
auto comparable_name_for(const std::string& kernel) {
  return kernel.find('(') != std::string::npos ? written_name : base_name;
}

struct Search {
  std::uintptr_t code;
  KernelModule* module;
  std::uintptr_t load_address = 0;
};

std::size_t thread_local_bytes(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_TLS) return info.dlpi_phdr[i].p_memsz;
  return 0;
}

int visit_module(dl_phdr_info* info, std::size_t, void* out) {
  auto& search = *static_cast<Search*>(out);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
    if (segment.p_type != PT_LOAD || search.code < begin || search.code >= end) continue;
    search.module->begin = begin;
    search.module->end = end;
    search.module->tls_module = info->dlpi_tls_modid;
    search.module->path = info->dlpi_name;
    search.load_address = info->dlpi_addr;
    search.module->writable = writable_ranges(*info);
    search.module->tls_bytes = thread_local_bytes(*info);
    return 1;
  }
  return 0;
}

}  // namespace

void* allocate_dynamic_shared() {
  const std::size_t page = page_bytes();
  const std::size_t bytes = (kMaxDynamicSharedBytes + page - 1) / page * page;
  void* memory =
      mmap(nullptr, page + bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  void* const buffer = static_cast<std::byte*>(memory) + page;
  if (mprotect(buffer, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
  return buffer;
}

std::vector<WritableRange> writable_ranges(const dl_phdr_info& library) {
  const std::uintptr_t page = page_bytes();
  const std::span segments(library.dlpi_phdr, library.dlpi_phnum);
  std::uintptr_t read_only_end = 0;
  for (const auto& segment : segments)
    if (segment.p_type == PT_GNU_RELRO)
      read_only_end = (library.dlpi_addr + segment.p_vaddr + segment.p_memsz) / page * page;
  std::vector<WritableRange> ranges;
  for (const auto& segment : segments) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) continue;
    const std::uintptr_t first = library.dlpi_addr + segment.p_vaddr, last = first + segment.p_memsz;
    const std::uintptr_t end = (last + page - 1) / page * page;
    const bool starts_read_only = first < read_only_end && read_only_end <= end;
    const std::uintptr_t begin = starts_read_only ? read_only_end : first / page * page;
    if (begin < end) ranges.push_back({begin, end});
  }
  return ranges;
}

bool lies_in_module(const void* begin, std::size_t bytes) {
  struct Memory {
    std::uintptr_t begin, end;
  } memory{reinterpret_cast<std::uintptr_t>(begin), reinterpret_cast<std::uintptr_t>(begin) + bytes};
  const auto holds = [](dl_phdr_info* info, std::size_t, void* of) {
    const auto& asked = *static_cast<const Memory*>(of);
    const std::span segments(info->dlpi_phdr, info->dlpi_phnum);
    return std::ranges::any_of(segments,
                               [&](const auto& segment) {
                                 const std::uintptr_t first = info->dlpi_addr + segment.p_vaddr;
                                 return segment.p_type == PT_LOAD && asked.begin >= first &&
                                        asked.end <= first + segment.p_memsz;
                               })
               ? 1
               : 0;
  };
  return dl_iterate_phdr(holds, &memory) != 0;
}

const KernelModule& kernel_module(const void* code) {
  static std::mutex mutex;
  static std::vector<std::unique_ptr<KernelModule>>
      modules;  // few; a library that holds kernels stays loaded
  const auto address = reinterpret_cast<std::uintptr_t>(code);
  const std::lock_guard lock(mutex);
  for (const auto& module : modules)
    if (module->contains(address)) return *module;
  auto module = std::make_unique<KernelModule>();
  Search search{address, module.get()};
  dl_iterate_phdr(visit_module, &search);
  read_variables(*module, search.load_address);
  return *modules.emplace_back(std::move(module));
}

std::size_t static_shared_bytes(const KernelModule& module, const std::string& kernel) {
  const auto name_of = comparable_name_for(kernel);
  std::map<std::string, std::size_t> bytes;
  for (const SharedVariable& variable : module.shared)
    if (!variable.function.empty() && name_of(variable.function) == name_of(kernel) &&
        !variable.points_to_dynamic)
      bytes[variable.function] += variable.bytes;
  const auto fewest = std::ranges::min_element(bytes, {}, [](const auto& entry) { return entry.second; });
  return fewest == bytes.end() ? 0 : fewest->second;
}

std::size_t most_threads(const KernelModule& module, const std::string& kernel) {
  const auto name_of = comparable_name_for(kernel);
  std::size_t most = 0;
  for (const LaunchBounds& bounds : module.launch_bounds)
    if (name_of(bounds.kernel) == name_of(kernel)) most = std::max(most, bounds.threads);
  return most == 0 ? kMaxThreadsPerBlock : most;
}

std::byte* thread_local_storage(const KernelModule& module) {
  if (module.tls_module == 0) return nullptr;
  TlsIndex index{module.tls_module, 0};
  return static_cast<std::byte*>(__tls_get_addr(&index));
}

KeptThreadLocals::KeptThreadLocals(const KernelModule& module) : storage_(thread_local_storage(module)) {
  if (storage_ != nullptr) before_.assign(storage_, storage_ + module.tls_bytes);
}
KeptThreadLocals::~KeptThreadLocals() {
  if (storage_ != nullptr) std::copy(before_.begin(), before_.end(), storage_);
}

void poison_shared_memory(const KernelModule& module, void* dynamic_buffer, std::size_t dynamic_bytes) {
  std::memset(dynamic_buffer, kPoisonByte, dynamic_bytes);
  if (module.shared.empty()) return;
  std::byte* const storage = thread_local_storage(module);
  for (const SharedVariable& variable : module.shared) {
    if (variable.function.empty()) continue;  // it may be the host's
    if (variable.points_to_dynamic) continue;
    std::memset(storage + variable.offset, kPoisonByte, variable.bytes);
  }
}

// With the small variables beside it: a pointer to dynamic shared memory is set where it is first used, and a
// block may come there before others do.
std::vector<std::byte> shared_memory(const KernelModule& module, const void* dynamic_buffer,
                                     std::size_t dynamic_bytes) {
  std::vector<std::byte> values;
  const std::byte* const storage = thread_local_storage(module);
  for (const auto* variables : {&module.shared, &module.thread_locals})
    for (const SharedVariable& variable : *variables) {
      const std::byte* const bytes = storage + variable.offset;
      values.insert(values.end(), bytes, bytes + variable.bytes);
    }
  const auto* const dynamic = static_cast<const std::byte*>(dynamic_buffer);
  values.insert(values.end(), dynamic, dynamic + dynamic_bytes);
  return values;
}

void restore_shared_memory(const KernelModule& module, const std::vector<std::byte>& values,
                           void* dynamic_buffer) {
  std::byte* const storage = thread_local_storage(module);
  const std::byte* from = values.data();
  for (const auto* variables : {&module.shared, &module.thread_locals})
    for (const SharedVariable& variable : *variables) {
      std::copy(from, from + variable.bytes, storage + variable.offset);
      from += variable.bytes;
    }
  std::copy(from, values.data() + values.size(), static_cast<std::byte*>(dynamic_buffer));
}

}  // namespace simt
