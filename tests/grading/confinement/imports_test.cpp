#include "grading/confinement/imports.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "grading/base/subprocess.hpp"
#include "grading/confinement/import_list.hpp"
#include "grading/confinement/mangled_name.hpp"
#include "support/catch.hpp"

using namespace course::grading;

namespace {

using Strings = std::vector<std::string>;

struct Symbol {
  std::string name;
  unsigned char binding = STB_GLOBAL;
  bool defined = false;
};

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <class T>
void patch(std::string& bytes, std::uint64_t at, const T& value) {
  REQUIRE(at + sizeof value <= bytes.size());
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A shared library in small: a page or more that cannot be written, with headers and tables, then a page
/// with the dynamic section and room for variables. Addresses are the same as offsets.
struct Library {
  std::vector<Symbol> symbols;  // beside the empty first one
  std::vector<Elf64_Rela> relocations, plt_relocations;
  Strings libraries;
  std::vector<Elf64_Dyn> entries;  // more of the dynamic section
  std::uint32_t counted = 0;       // symbols that the hash table knows of; 0: all
  bool gnu_hash = false;

  static constexpr std::uint64_t kVariables = 2048;  // where they begin, behind the dynamic section

  std::uint64_t names = 0, table = 0, hash = 0, dynamic = 0;  // where they lie; bytes() sets them

  std::string bytes() {
    std::string file(sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr), '\0'), text(1, '\0');
    table = file.size();
    append(file, Elf64_Sym{});
    for (const Symbol& symbol : symbols) append(file, entry_of(symbol, text));
    std::vector<Elf64_Dyn> section = entries;
    for (const std::string& library : libraries) section.push_back({DT_NEEDED, {add_name(text, library)}});
    names = file.size();
    file += text;
    file.resize((file.size() + 7) / 8 * 8);
    add_hash(file, section);
    add_relocations(file, section, relocations, DT_RELA, DT_RELASZ);
    add_relocations(file, section, plt_relocations, DT_JMPREL, DT_PLTRELSZ);
    section.insert(section.end(), {{DT_SYMTAB, {table}},
                                   {DT_SYMENT, {sizeof(Elf64_Sym)}},
                                   {DT_STRTAB, {names}},
                                   {DT_STRSZ, {text.size()}},
                                   {DT_PLTREL, {DT_RELA}}});
    dynamic = (file.size() + 4095) / 4096 * 4096;
    write_headers(file, section.size() + 1);
    file.resize(dynamic);
    for (const Elf64_Dyn& entry : section) append(file, entry);
    file.resize(dynamic + 4096);
    return file;
  }

  /// A relocation of variable number `variable`.
  Elf64_Rela relocation(std::uint64_t symbol, std::uint64_t type = R_X86_64_GLOB_DAT,
                        std::uint64_t variable = 0) {
    bytes();
    return {dynamic + kVariables + 8 * variable, ELF64_R_INFO(symbol, type), 0};
  }

 private:
  static std::uint32_t add_name(std::string& text, const std::string& name) {
    const std::size_t at = text.size();
    text += name + '\0';
    return static_cast<std::uint32_t>(at);
  }
  static Elf64_Sym entry_of(const Symbol& symbol, std::string& text) {
    Elf64_Sym entry{};
    entry.st_name = add_name(text, symbol.name);
    entry.st_info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, STT_FUNC));
    entry.st_shndx = symbol.defined ? 1 : SHN_UNDEF;
    return entry;
  }
  void add_hash(std::string& file, std::vector<Elf64_Dyn>& section) {
    hash = file.size();
    const std::uint32_t count = counted != 0 ? counted : static_cast<std::uint32_t>(symbols.size()) + 1;
    section.push_back({gnu_hash ? DT_GNU_HASH : DT_HASH, {hash}});
    if (!gnu_hash) {
      for (const std::uint32_t word : {1u, count, 0u})
        append(file, word);  // one bucket, the number of chains
      return;
    }
    for (const std::uint32_t word : {1u, 1u, 1u, 0u, 0u, 0u})
      append(file, word);  // one bucket, first hashed, one bloom word
    append(file, std::uint32_t{count > 1 ? 1u : 0u});
    for (std::uint32_t i = 1; i < count; ++i) append(file, std::uint32_t{i + 1 == count ? 1u : 2u});
    file.resize((file.size() + 7) / 8 * 8);
  }
  static void add_relocations(std::string& file, std::vector<Elf64_Dyn>& section,
                              const std::vector<Elf64_Rela>& all, Elf64_Sxword table_tag,
                              Elf64_Sxword size_tag) {
    if (all.empty()) return;
    section.push_back({table_tag, {file.size()}});
    section.push_back({size_tag, {all.size() * sizeof(Elf64_Rela)}});
    for (const Elf64_Rela& one : all) append(file, one);
  }
  void write_headers(std::string& file, std::size_t dynamic_entries) const {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_phoff = sizeof header;
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 3;
    patch(file, 0, header);
    const std::uint64_t dynamic_bytes = dynamic_entries * sizeof(Elf64_Dyn);
    patch(file, program_header(0), Elf64_Phdr{PT_LOAD, PF_R, 0, 0, 0, file.size(), file.size(), 4096});
    patch(file, program_header(1),
          Elf64_Phdr{PT_LOAD, PF_R | PF_W, dynamic, dynamic, dynamic, 4096, 4096, 4096});
    patch(file, program_header(2),
          Elf64_Phdr{PT_DYNAMIC, PF_R | PF_W, dynamic, dynamic, dynamic, dynamic_bytes, dynamic_bytes, 8});
  }

 public:
  static std::uint64_t program_header(std::size_t index) {
    return sizeof(Elf64_Ehdr) + index * sizeof(Elf64_Phdr);
  }
};

/// An ordinary one: it uses memcpy and defines vector_add.
Library ordinary() {
  Library library;
  library.symbols = {{"memcpy"}, {"vector_add", STB_GLOBAL, true}};
  library.libraries = {"libc.so.6"};
  const Elf64_Rela relocation = library.relocation(1, R_X86_64_JUMP_SLOT);
  library.relocations = {{relocation.r_offset + 8, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0}};
  library.plt_relocations = {relocation};
  return library;
}

/// Why it is refused; empty if it is not. Whatever else is thrown goes on.
std::string refusal(const std::string& file) {
  try {
    read_imports(file);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

std::uint64_t entry_at(const Library& library, const std::string& file, Elf64_Sxword tag) {
  for (std::uint64_t at = library.dynamic;; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    std::memcpy(&entry, file.data() + at, sizeof entry);
    if (entry.d_tag == tag) return at + offsetof(Elf64_Dyn, d_un);
    REQUIRE(entry.d_tag != DT_NULL);
  }
}

/// What is said about an ordinary library in which one entry of the dynamic section has another value.
std::string refusal_with(Elf64_Sxword tag, std::uint64_t value) {
  Library library = ordinary();
  std::string file = library.bytes();
  patch(file, entry_at(library, file, tag), value);
  return refusal(file);
}

std::string forbidden(const std::string& symbol, Backend backend = Backend::cpu) {
  return forbidden_import({{symbol}, {}, {}}, backend);
}

/// The file's content as a shared library, made by the compiler of this machine.
std::string compiled(const std::string& source) {
  const ScratchFolder scratch(std::filesystem::temp_directory_path());
  const std::string code = scratch.path() / "kernel.cpp", library = scratch.path() / "kernel.so";
  std::ofstream(code) << source;
  Command command;
  command.arguments = {"c++", "-std=c++20", "-fPIC", "-shared", "-w", code, "-o", library};
  const CommandResult result = run_command(command);
  INFO(result.output);
  REQUIRE(result.ok());
  return read_file(library);
}

}  // namespace

TEST_CASE("imports are the undefined symbols, weak ones among them, and the needed libraries") {
  Library library = ordinary();
  library.symbols.push_back({"optional_hook", STB_WEAK});
  library.symbols.push_back({"of_this_file", STB_LOCAL});
  library.libraries.push_back("libm.so.6");
  library.gnu_hash = GENERATE(false, true);
  const Imports imports = read_imports(library.bytes());
  CHECK(imports.symbols == Strings{"memcpy", "optional_hook"});
  CHECK(imports.libraries == Strings{"libc.so.6", "libm.so.6"});
  CHECK(imports.preemptible.empty());
}

TEST_CASE("a symbol that only a relocation names, beyond the counted ones, is an import") {
  Library library;
  library.symbols = {{"memcpy"}, {"system"}};
  library.counted = 2;
  CHECK(read_imports(library.bytes()).symbols == Strings{"memcpy"});
  SECTION("in the table of data") { library.relocations = {library.relocation(2)}; }
  SECTION("in the table of functions") {
    library.plt_relocations = {library.relocation(2, R_X86_64_JUMP_SLOT)};
  }
  CHECK(read_imports(library.bytes()).symbols == Strings{"memcpy", "system"});
}

TEST_CASE("the first symbol of the table is looked up like every other one") {
  Library library;
  library.symbols = {{"memcpy"}};
  library.relocations = {library.relocation(0)};
  std::string file = library.bytes();
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
  patch(file, library.table, symbol);
  patch(file, library.names + 1, std::array<char, 6>{'s', 'y', 's', 't', 'e', 'm'});
  CHECK(read_imports(file).symbols == Strings{"system"});
}

TEST_CASE("a defined symbol that a relocation names is preemptible, and a local one is not") {
  Library library;
  library.symbols = {{"system", STB_WEAK, true},
                     {"helper", STB_GLOBAL, true},
                     {"own", STB_LOCAL, true},
                     {"unused", STB_GLOBAL, true}};
  library.relocations = {library.relocation(1), library.relocation(2), library.relocation(3)};
  const Imports imports = read_imports(library.bytes());
  CHECK(imports.symbols.empty());
  CHECK(imports.preemptible == Strings{"helper", "system"});
}

TEST_CASE("a file that is no shared library for this machine is refused in a sentence") {
  const std::string file = ordinary().bytes();
  CHECK(refusal(file).empty());
  CHECK(refusal("") ==
        "The library built from your file cannot be checked: it ends in the middle of its headers. "
        "Leave out assembler directives and linker tricks.");
  CHECK(refusal("#!/bin/sh\n" + std::string(100, ' ')).find("not an ELF shared library") !=
        std::string::npos);
  for (const std::size_t at : {std::size_t{0}, std::size_t{EI_CLASS}, std::size_t{EI_DATA},
                               offsetof(Elf64_Ehdr, e_type), offsetof(Elf64_Ehdr, e_machine)}) {
    std::string other = file;
    other[at] = 1 + (other[at] == 1);
    CAPTURE(at);
    CHECK(refusal(other).find("not an ELF shared library") != std::string::npos);
  }
}

TEST_CASE("dynamic entries by which a loader would find more than the tables say are refused") {
  const std::int64_t tag = GENERATE(DT_FILTER, DT_AUXILIARY, DT_AUDIT, DT_DEPAUDIT, DT_RPATH, DT_SONAME,
                                    DT_TEXTREL, DT_REL, DT_DEBUG, std::int64_t{36} /* DT_RELR */,
                                    DT_PREINIT_ARRAY, std::int64_t{0x12345678}, std::int64_t{-1});
  Library library = ordinary();
  library.entries = {{tag, {0}}};
  CAPTURE(tag);
  CHECK_FALSE(refusal(library.bytes()).empty());
}

TEST_CASE("loader flags that change whose symbols are found are refused, and those of a link are not") {
  const auto with = [](Elf64_Sxword tag, std::uint64_t flags) {
    Library library = ordinary();
    library.entries = {{tag, {flags}}};
    return refusal(library.bytes());
  };
  CHECK(with(DT_FLAGS, DF_STATIC_TLS | DF_BIND_NOW).empty());
  CHECK(with(DT_FLAGS_1, DF_1_NOW).empty());
  CHECK(with(DT_FLAGS, DF_TEXTREL).find("loader flags 0x4") != std::string::npos);
  CHECK(with(DT_FLAGS_1, DF_1_GLOBAL).find("loader flags 0x2") != std::string::npos);
  CHECK(with(DT_FLAGS_1, DF_1_INTERPOSE).find("loader flags 0x400") != std::string::npos);
  CHECK(with(DT_FLAGS_1, DF_1_PIE).find("it is a program") != std::string::npos);
}

TEST_CASE("an entry that occurs twice is refused, because loaders take the last one") {
  Library library = ordinary();
  library.entries = {{DT_SYMTAB, {0}}};
  CHECK(refusal(library.bytes()).find("twice") != std::string::npos);
}

TEST_CASE("segments that could show the loader other bytes than the file's are refused") {
  Library library = ordinary();
  const std::string good = library.bytes();
  const std::uint64_t tables = Library::program_header(0), variables = Library::program_header(1);
  const auto refusal_of = [&](std::uint64_t at, std::uint64_t value) {
    std::string file = good;
    patch(file, at, value);
    return refusal(file);
  };
  CHECK(refusal_of(tables + offsetof(Elf64_Phdr, p_memsz), library.dynamic + 1).find("overlap") !=
        std::string::npos);
  CHECK_FALSE(refusal_of(tables + offsetof(Elf64_Phdr, p_align), 1).empty());
  CHECK_FALSE(refusal_of(tables + offsetof(Elf64_Phdr, p_offset), 8).empty());
  CHECK_FALSE(refusal_of(tables + offsetof(Elf64_Phdr, p_filesz), ~std::uint64_t{0}).empty());
  CHECK_FALSE(refusal_of(tables + offsetof(Elf64_Phdr, p_memsz), 0).empty());
  CHECK_FALSE(refusal_of(variables + offsetof(Elf64_Phdr, p_vaddr), ~std::uint64_t{0} - 4095).empty());
  CHECK_FALSE(refusal_of(variables + offsetof(Elf64_Phdr, p_memsz), ~std::uint64_t{0}).empty());
  CHECK_FALSE(refusal_of(Library::program_header(2) + offsetof(Elf64_Phdr, p_offset), 0).empty());
  std::string writable = good;
  patch(writable, tables + offsetof(Elf64_Phdr, p_flags), std::uint32_t{PF_R | PF_W});
  CHECK(refusal(writable).find("can be written") != std::string::npos);
  std::string doubled = good;
  patch(doubled, Library::program_header(0), std::uint32_t{PT_DYNAMIC});
  CHECK(refusal(doubled).find("two dynamic sections") != std::string::npos);
}

TEST_CASE("relocations may change variables of the library and nothing else") {
  Library library = ordinary();
  const auto with = [&](Elf64_Rela relocation) {
    library.relocations = {relocation};
    return refusal(library.bytes());
  };
  const Elf64_Rela good = library.relocation(1);
  const std::uint64_t info = good.r_info, end = library.dynamic + 4096;
  CHECK(with(good).empty());
  CHECK(with({end - 8, info, 0}).empty());
  CHECK_FALSE(with({end - 7, info, 0}).empty());
  CHECK_FALSE(with({library.table, info, 0}).empty());
  CHECK_FALSE(with({library.dynamic, info, 0}).empty());
  CHECK_FALSE(with({~std::uint64_t{0} - 3, info, 0}).empty());
  CHECK_FALSE(with({end + (std::uint64_t{1} << 30), info, 0}).empty());
  CHECK(with({good.r_offset, ELF64_R_INFO(1, R_X86_64_COPY), 0}).find("relocation of type 5") !=
        std::string::npos);
  CHECK_FALSE(with({good.r_offset, ELF64_R_INFO(1, R_X86_64_PC32), 0}).empty());
  CHECK_FALSE(with({end - 8, ELF64_R_INFO(1, R_X86_64_TLSDESC), 0}).empty());
  CHECK(with({good.r_offset, ELF64_R_INFO(0, R_X86_64_IRELATIVE), 0}).empty());
}

TEST_CASE("huge counts, sizes and indices are refused without following them") {
  const std::uint64_t huge = GENERATE(std::uint64_t{1} << 31, std::uint64_t{1} << 62, ~std::uint64_t{0} - 23,
                                      ~std::uint64_t{0} / 24 * 24);
  CAPTURE(huge);
  for (const Elf64_Sxword tag : {DT_SYMTAB, DT_STRTAB, DT_STRSZ, DT_HASH, DT_RELA, DT_RELASZ, DT_JMPREL,
                                 DT_PLTRELSZ, DT_SYMENT, DT_PLTREL, DT_NEEDED}) {
    CAPTURE(tag);
    CHECK_FALSE(refusal_with(tag, huge).empty());
  }
  Library library = ordinary();
  library.relocations = {library.relocation(0xffffffff)};
  CHECK(refusal(library.bytes()).find("a symbol that it does not have") != std::string::npos);
}

TEST_CASE("hash tables that promise more symbols than there are, or have no end, are refused") {
  Library library = ordinary();
  std::string file = library.bytes();
  patch(file, library.hash + 4, 0xffffffffu);
  CHECK(refusal(file).find("more symbols than room") != std::string::npos);
  library.gnu_hash = true;
  const std::string good = library.bytes();
  CHECK(refusal(good).empty());
  const auto with = [&](std::uint64_t word, std::uint32_t value) {
    std::string other = good;
    patch(other, library.hash + 4 * word, value);
    return refusal(other);
  };
  CHECK_FALSE(with(0, 0xffffffffu).empty());  // buckets
  CHECK_FALSE(with(1, 0xffffffffu).empty());  // first symbol
  CHECK_FALSE(with(2, 0xffffffffu).empty());  // bloom words
  CHECK_FALSE(with(6, 0xffffffffu).empty());  // the bucket
  CHECK(with(0, 0).empty());                  // no bucket: what relocations name is found all the same
}

TEST_CASE("a library that is cut off anywhere is refused") {
  const std::string file = ordinary().bytes();
  for (std::size_t length = 0; length < file.size(); ++length)
    if (refusal(file.substr(0, length)).empty()) FAIL("read with " << length << " bytes");
  CHECK(refusal(file).empty());
}

TEST_CASE("a library with any byte changed is read or refused, and never anything else") {
  Library library = ordinary();
  library.gnu_hash = GENERATE(false, true);
  const std::string file = library.bytes();
  std::size_t refused = 0, read = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int flip : {0x01, 0x02, 0x10, 0x40, 0x80, 0xff}) {
      std::string other = file;
      other[at] = static_cast<char>(other[at] ^ flip);
      ++(refusal(other).empty() ? read : refused);
    }
  }
  CHECK(refused > 1000);
  CHECK(read > 1000);
}

TEST_CASE("names that overlap are read up to a limit, however many symbols share them") {
  Library library;
  library.symbols.assign(40'000, {"f"});
  library.symbols.front().name = std::string(100'000, 'a');
  std::string file = library.bytes();
  for (std::uint32_t i = 1; i <= 40'000; ++i)  // each begins one byte later: 3.2 GB if all were copied
    patch(file, library.table + i * sizeof(Elf64_Sym), i);
  CHECK(refusal(file).find("names are too long") != std::string::npos);
}

TEST_CASE("a symbol that a million relocations name is read once") {
  Library library;
  library.symbols = {{std::string(10'000, 'a')}};
  library.relocations.resize(1'000'000);
  const Elf64_Rela relocation = library.relocation(1);  // behind the table's final size
  std::fill(library.relocations.begin(), library.relocations.end(), relocation);
  CHECK(read_imports(library.bytes()).symbols == Strings{std::string(10'000, 'a')});
}

TEST_CASE("what kernels and their host functions use is allowed") {
  const std::string symbol =
      GENERATE("cudaMalloc", "cudaMemcpy", "simt_launch", "threadIdx", "__tsan_read4",
               "__tsan_atomic32_fetch_add", "__ubsan_handle_out_of_bounds", "__sanitizer_cov_trace_pc",
               "__wrap_memcpy", "expf", "sqrt", "fmaf", "memcpy", "memcpy@GLIBC_2.14", "__memcpy_chk",
               "__printf_chk", "strlen", "malloc", "free", "_Znwm", "_ZdlPvm", "_ZnwmSt11align_val_t",
               "__cxa_throw", "__gxx_personality_v0", "_Unwind_Resume", "__assert_fail", "abort", "printf",
               "stderr", "rand", "_ZSt4cout", "_ZSt9terminatev", "_ZTISt16invalid_argument", "_ZTIi",
               "_ZTIPKc", "_ZNSt16invalid_argumentC1EPKc", "_ZSt20__throw_length_errorPKc",
               "_ZNSt8ios_base4InitC1Ev", "_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
               "_ZNSolsEf", "_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE9_M_appendEPKcm",
               "_ZTVNSt7__cxx1119basic_ostringstreamIcSt11char_traitsIcESaIcEEE",
               "_ZNSt6chrono3_V212steady_clock3nowEv", "_ZTVN10__cxxabiv120__si_class_type_infoE");
  CAPTURE(symbol);
  CHECK(forbidden(symbol).empty());
}

TEST_CASE("what reaches beyond a kernel's work is refused by its name, with what to do instead") {
  struct Refused {
    const char *symbol, *shown, *instead;
  };
  const Refused refused = GENERATE(
      Refused{"exit", "exit", "A function returns, or throws"},
      Refused{"_exit", "_exit", "A function returns"},
      Refused{"quick_exit@GLIBC_2.24", "quick_exit", "A function returns"},
      Refused{"atexit", "atexit", "A function returns"}, Refused{"fork", "fork", "start no processes"},
      Refused{"execve", "execve", "start no processes"}, Refused{"system", "system", "start no processes"},
      Refused{"popen", "popen", "start no processes"}, Refused{"kill", "kill", "start no processes"},
      Refused{"open", "open", "opens and reads no files"},
      Refused{"fopen", "fopen", "opens and reads no files"},
      Refused{"read", "read", "opens and reads no files"},
      Refused{"write", "write", "opens and reads no files"},
      Refused{"ioctl", "ioctl", "opens and reads no files"}, Refused{"__read_chk", "__read_chk", "no files"},
      Refused{"mmap", "mmap", "Take cudaMalloc"}, Refused{"mprotect", "mprotect", "Take cudaMalloc"},
      Refused{"dlopen", "dlopen", "not searched at run time"}, Refused{"dlsym", "dlsym", "not searched"},
      Refused{"dl_iterate_phdr", "dl_iterate_phdr", "not searched"},
      Refused{"socket", "socket", "talk to nobody"}, Refused{"connect", "connect", "talk to nobody"},
      Refused{"ptrace", "ptrace", "operating system"},
      Refused{"process_vm_writev", "process_vm_writev", "operating system"},
      Refused{"syscall", "syscall", "operating system"}, Refused{"prctl", "prctl", "operating system"},
      Refused{"raise", "raise", "processes"}, Refused{"sigaction", "sigaction", "signals and jumps"},
      Refused{"longjmp", "longjmp", "signals and jumps"}, Refused{"_setjmp", "_setjmp", "signals and jumps"},
      Refused{"pthread_create", "pthread_create", "belongs into a kernel"},
      Refused{"_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
              "std::thread::_M_start_thread", "belongs into a kernel"},
      Refused{"nanosleep", "nanosleep", "belongs into a kernel"}, Refused{"getenv", "getenv", "as arguments"},
      Refused{"environ", "environ", "as arguments"},
      Refused{"_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode",
              "std::basic_filebuf::open", "opens and reads no files"},
      Refused{"_ZTVSt14basic_ifstreamIcSt11char_traitsIcEE", "std::basic_ifstream", "no files"},
      Refused{"_ZNSt10filesystem6statusERKNS_7__cxx114pathE", "std::filesystem::status", "no files"},
      Refused{"_ZNSt13random_device7_M_initERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
              "std::random_device::_M_init", "no files"},
      Refused{"_ZSt13set_terminatePFvvE", "std::set_terminate", "get by with"},
      Refused{"_ZNSt6locale6globalERKS_", "std::locale::global", "get by with"},
      Refused{"cuModuleLoad", "cuModuleLoad", "runtime API"},
      Refused{"cuLaunchKernel", "cuLaunchKernel", "runtime API"},
      Refused{"cudaGetDriverEntryPoint", "cudaGetDriverEntryPoint", "reaches the driver"},
      Refused{"cudart_internal", "cudart_internal", "get by with"},
      Refused{"backtrace_open", "backtrace_open", "get by"}, Refused{"", "", "get by with"});
  CAPTURE(refused.symbol);
  const std::string sentence = forbidden(refused.symbol);
  CHECK(sentence.starts_with(std::string("Your file uses ") + refused.shown + ", which a file"));
  CHECK(sentence.find(refused.instead) != std::string::npos);
  CHECK_FALSE(forbidden(refused.symbol, Backend::gpu).empty());
}

TEST_CASE("the simulator's controls are refused, and so are functions of its inside") {
  const std::string symbol =
      GENERATE("_ZN4simt9configureERKNS_8SettingsE", "_ZN4simt5resetEv", "_ZN4simt13take_findingsEv",
               "_ZN4simt11take_faultsEv", "_ZN4simt13take_profilesEv", "_ZN4simt18protect_host_rangeEPvm",
               "_ZN4simt20unprotect_host_rangeEPv", "_ZN4simt17set_fatal_handlerEPFvRKNS_5FaultEE",
               "_ZN4simt7Context3getEv", "_ZN4simt5check7Checker3getEv", "_ZN4simt5check15active_recorderE",
               "__wrap_dl_iterate_phdr");
  CAPTURE(symbol);
  CHECK(forbidden(symbol).find("the simulator is set and read by the grader") != std::string::npos);
  CHECK_FALSE(forbidden_import({{}, {}, {symbol}}, Backend::cpu).empty());
}

TEST_CASE("each backend has its own runtime") {
  CHECK(forbidden("__cudaRegisterFunction", Backend::gpu).empty());
  CHECK_FALSE(forbidden("__cudaRegisterFunction", Backend::cpu).empty());
  CHECK(forbidden("simt_launch", Backend::cpu).empty());
  CHECK_FALSE(forbidden("simt_launch", Backend::gpu).empty());
  const auto needs = [](const char* library, Backend backend) {
    return forbidden_import({{}, {library}, {}}, backend);
  };
  CHECK(needs("libsimt.so", Backend::cpu).empty());
  CHECK(needs("libcudart.so.13", Backend::gpu).empty());
  CHECK(needs("libstdc++.so.6", Backend::gpu).empty());
  CHECK_FALSE(needs("libcudart.so.13", Backend::cpu).empty());
  CHECK_FALSE(needs("libsimt.so", Backend::gpu).empty());
  CHECK(needs("libcuda.so.1", Backend::gpu).find("asks for libcuda.so.1") != std::string::npos);
  CHECK_FALSE(needs("libcudart.so.", Backend::gpu).empty());
  CHECK_FALSE(needs("libcudart.so.13/../evil.so", Backend::gpu).empty());
  CHECK_FALSE(needs("/tmp/libm.so.6", Backend::cpu).empty());
}

TEST_CASE("a definition is refused if the loader would take another library's instead") {
  const auto defines = [](const char* symbol) { return forbidden_import({{}, {}, {symbol}}, Backend::cpu); };
  CHECK(defines("scratch_of_my_kernel").empty());
  CHECK(defines("_ZN6course10vector_addEPKfS1_Pfl").empty());
  CHECK(defines("memcpy").empty());  // may be used, so it does no harm to be given it
  CHECK(defines("_ZNSt6vectorIfSaIfEE17_M_realloc_insertIJRKfEEEvN9__gnu_cxx17__normal_iteratorIPfS1_EEDpOT_")
            .empty());
  CHECK(defines("_ZN4simt6launchIZN6course3addEvEUlDpRT_E_JEEEvPKcRKNS_12LaunchConfigET_").empty());
  CHECK(defines("_ZN4simt5ShapeIA32_fE8kExtentsE").empty());
  CHECK(defines("system").starts_with("Your file defines system, as another library does"));
  CHECK_FALSE(defines("_ZNSt13basic_filebufIcSt11char_traitsIcEE5closeEv").empty());
  CHECK_FALSE(defines("backtrace_open").empty());
}

TEST_CASE("the sentence names three, counts the others, and shows nothing that a terminal obeys") {
  const auto sentence = [](Strings symbols) {
    return forbidden_import({std::move(symbols), {}, {}}, Backend::cpu);
  };
  CHECK(sentence({"fork", "kill", "memcpy"}).find("uses fork and kill, which") != std::string::npos);
  CHECK(sentence({"fork", "kill", "open"}).find("uses fork, kill and open, which") != std::string::npos);
  CHECK(sentence({"fork", "kill", "open", "popen", "read"}).find("uses fork, kill, open and 2 more, which") !=
        std::string::npos);
  CHECK(sentence({"__environ", "environ"}).find("uses environ and __environ, which") != std::string::npos);
  CHECK(sentence(
            {"_ZNSt13basic_filebufIcSt11char_traitsIcEEC1Ev", "_ZTVSt13basic_filebufIcSt11char_traitsIcEE"})
            .find("uses std::basic_filebuf, which") != std::string::npos);
  const std::string escape = forbidden("\x1b]0;PASS\x07\n\xff");
  CHECK(escape.find("uses ?]0;PASS???, which") != std::string::npos);
  CHECK(forbidden(std::string(100'000, 'x')).size() < 600);
  CHECK(forbidden_import({{"expf"}, {"libm.so.6"}, {"own"}}, Backend::cpu).empty());
}

TEST_CASE("a mangled name is told without parameters, in one pass") {
  CHECK(qualified_name("_ZN4simt9configureERKNS_8SettingsE") == "simt::configure");
  CHECK(qualified_name("_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4findEPKcm") ==
        "std::basic_string::find");
  CHECK(qualified_name("_ZNSaIcED1Ev") == "std::allocator");
  CHECK(qualified_name("_ZTv0_n24_NSt14basic_ifstreamIcSt11char_traitsIcEED0Ev") == "std::basic_ifstream");
  CHECK(qualified_name("_ZGVZN6course3addEvE5table") == "course::add");
  CHECK(qualified_name("_ZN6course4tileILi64ELb1EE4loadEv") == "course::tile::load");
  CHECK(qualified_name("_ZSt21ios_base_library_initv") == "std::ios_base_library_init");
  CHECK(qualified_name("_Znam") == "operator new[]");
  CHECK(qualified_name("memcpy").empty());
  CHECK(qualified_name("_ZN99999999999999999999999999a").empty());
  CHECK(qualified_name("_ZN4simt").ends_with("simt"));
  for (const char* part : {"Z", "N", "NS", "I", "1a", "S_", "L", "Li", "T_", "E", "9", "C", "cv"}) {
    std::string deep = "_ZN1aI";
    while (deep.size() < 60'000) deep += part;
    CAPTURE(part);
    CHECK(qualified_name(deep).size() <= deep.size() * 2);
    CHECK(qualified_name(deep + deep).empty());
  }
}

TEST_CASE("a library from the compiler gives what nm gives, and what nm does not give") {
  const Imports imports = read_imports(compiled(R"(
    extern "C" __attribute__((weak)) int system(const char*) { return 0; }
    extern "C" double expm1(double);
    static int own(int n) { return 2 * n; }
    double calls(int n) { return expm1(system("true") + own(n)); }
  )"));
  CHECK(std::count(imports.symbols.begin(), imports.symbols.end(), "expm1") == 1);
  CHECK(std::count(imports.symbols.begin(), imports.symbols.end(), "system") == 0);
  CHECK(imports.preemptible == Strings{"system"});
  CHECK(forbidden_import(imports, Backend::cpu).starts_with("Your file defines system,"));
}

TEST_CASE("a library that reads a file by std::ifstream is refused, and one that prints is not") {
  CHECK(forbidden_import(read_imports(compiled(
                             "#include <fstream>\n"
                             "int first() { int n = 0; std::ifstream(\"/etc/passwd\") >> n; return n; }")),
                         Backend::cpu)
            .find("opens and reads no files") != std::string::npos);
  CHECK(
      forbidden_import(read_imports(compiled("#include <iostream>\n#include <map>\n#include <stdexcept>\n"
                                             "#include <string>\n#include <vector>\n"
                                             "std::map<std::string, int> seen;\n"
                                             "void say(int n) {\n"
                                             "  if (n < 0) throw std::invalid_argument(std::to_string(n));\n"
                                             "  ++seen[\"n\"];\n"
                                             "  std::vector<float> all(static_cast<unsigned>(n));\n"
                                             "  std::cout << all.size() << std::endl;\n"
                                             "}")),
                       Backend::cpu)
          .empty());
}
