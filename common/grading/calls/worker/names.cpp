#include "grading/calls/worker/names.hpp"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace course::grading {
namespace {

struct Pages {
  std::uintptr_t begin, end;
};
std::vector<Pages> tables;

/// Pages with the symbols and their names, which lie one after the other; without the first page, whose
/// headers tell where a library's code lies and how to unwind it.
int note_library(dl_phdr_info* library, std::size_t, void*) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  std::uintptr_t symbols = 0, names = 0, bytes = 0;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = library->dlpi_phdr[i];
    if (segment.p_type != PT_DYNAMIC) continue;
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(library->dlpi_addr + segment.p_vaddr);
         entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) symbols = entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRTAB) names = entry->d_un.d_ptr;
      if (entry->d_tag == DT_STRSZ) bytes = entry->d_un.d_val;
    }
  }
  const std::uintptr_t begin = std::max(symbols / page * page, library->dlpi_addr + page);
  const std::uintptr_t end = (names + bytes) / page * page;
  // The system's own library, the vDSO, has addresses from 0 there.
  if (symbols > library->dlpi_addr && begin < end) tables.push_back({begin, end});
  return 0;
}

}  // namespace

void note_names() { dl_iterate_phdr(note_library, nullptr); }

void hide_names() {
  for (const Pages& pages : tables)
    mprotect(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, PROT_NONE);
}

}  // namespace course::grading

/// What a submission's library calls before any code of the student's: see kernel_build.cpp.
extern "C" __attribute__((visibility("default"))) void course_hide_names() { course::grading::hide_names(); }
