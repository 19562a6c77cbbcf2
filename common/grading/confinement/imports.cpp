#include "grading/confinement/imports.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "grading/confinement/elf_reader.hpp"
#include "grading/confinement/import_list.hpp"
#include "grading/confinement/mangled_name.hpp"

namespace course::grading {
namespace {

constexpr std::size_t kMaxNameBytes = std::size_t{16}
                                      << 20;  // of all names together; a linked kernel has some 10 KB

/// Bytes that a relocation of that type changes; 0 for types that no link of ours makes. R_X86_64_COPY is one
/// of these: it would copy as many bytes as a symbol says.
std::uint64_t bytes_changed(std::uint64_t type) {
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_GLOB_DAT:
    case R_X86_64_JUMP_SLOT:
    case R_X86_64_RELATIVE:
    case R_X86_64_IRELATIVE:  // asks code of the library itself for an address
    case R_X86_64_DTPMOD64:
    case R_X86_64_DTPOFF64:
    case R_X86_64_TPOFF64:
      return 8;
    case R_X86_64_TLSDESC:
      return 16;
    default:
      return 0;
  }
}

/// Collects what the tables of one library name.
class Collector {
 public:
  explicit Collector(const ElfImage& image)
      : image_(image),
        symbols_(image.constant_bytes_from(image.get(DT_SYMTAB))),
        strings_(image.constant_bytes(image.get(DT_STRTAB), image.get(DT_STRSZ))),
        seen_(symbols_.size() / sizeof(Elf64_Sym)) {
    if (image.get(DT_SYMENT) != sizeof(Elf64_Sym)) refuse_library("its symbols have an unknown form");
    if (strings_.empty() || strings_.back() != '\0') refuse_library("its names have no end");
  }

  Imports collect() {
    add_relocated_symbols(DT_RELA, DT_RELASZ);
    if (image_.find(DT_JMPREL) && image_.get(DT_PLTREL) != DT_RELA)
      refuse_library("its relocations have an unknown form");
    add_relocated_symbols(DT_JMPREL, DT_PLTRELSZ);
    const std::uint64_t count = symbol_count();
    for (std::uint64_t i = 0; i < count; ++i) add_symbol(i, false);
    // A loader that binds late writes the first three words there.
    if (const auto table = image_.find(DT_PLTGOT); table && !image_.is_variable(*table, 24))
      refuse_library("its table of addresses lies outside of its variables");
    return {names(std::move(undefined_)), libraries(), names(std::move(preemptible_))};
  }

 private:
  void add_relocated_symbols(std::int64_t table_tag, std::int64_t size_tag) {
    if (!image_.find(table_tag)) return;
    if (image_.find(DT_RELAENT).value_or(sizeof(Elf64_Rela)) != sizeof(Elf64_Rela))
      refuse_library("its relocations have an unknown form");
    const std::string_view table = image_.constant_bytes(image_.get(table_tag), image_.get(size_tag));
    if (table.size() % sizeof(Elf64_Rela) != 0) refuse_library("its relocations have an unknown form");
    for (std::size_t at = 0; at < table.size(); at += sizeof(Elf64_Rela)) {
      const auto relocation = read_as<Elf64_Rela>(table, at);
      const std::uint64_t type = ELF64_R_TYPE(relocation.r_info);
      if (type == R_X86_64_NONE) continue;
      const std::uint64_t bytes = bytes_changed(type);
      if (bytes == 0) refuse_library(fmt::format("it has a relocation of type {}", type));
      // Else the loader could be made to change the tables that this class has read, or another library.
      if (!image_.is_variable(relocation.r_offset, bytes))
        refuse_library("a relocation changes what is not a variable of its own");
      // Those of the types that name none have index 0, the empty symbol.
      add_symbol(ELF64_R_SYM(relocation.r_info), true);
    }
  }

  /// How many symbols the table has, from the hash table that the loader searches.
  std::uint64_t symbol_count() const {
    std::uint64_t count = 0;
    const auto old_table = image_.find(DT_HASH), table = image_.find(DT_GNU_HASH);
    if (!old_table && !table) refuse_library("it has no table of its symbols");
    if (old_table) count = read_as<std::uint32_t>(image_.constant_bytes(*old_table, 8), 4);
    if (table) count = std::max(count, count_hashed(*table));
    if (count > seen_.size()) refuse_library("it has more symbols than room for them");
    return count;
  }

  /// The chain that begins last has the last symbol, and the lowest bit set there.
  std::uint64_t count_hashed(std::uint64_t address) const {
    const std::string_view header = image_.constant_bytes(address, 16);
    const std::uint64_t buckets = read_as<std::uint32_t>(header, 0),
                        first = read_as<std::uint32_t>(header, 4);
    const std::uint64_t begin = 16 + 8 * std::uint64_t{read_as<std::uint32_t>(header, 8)};
    const std::uint64_t chains = begin + 4 * buckets;
    const std::string_view table = image_.constant_bytes_from(address);
    if (chains > table.size()) refuse_library("the table of its symbols is too long");
    std::uint64_t last = 0;
    for (std::uint64_t i = 0; i < buckets; ++i)
      last = std::max(last, std::uint64_t{read_as<std::uint32_t>(table, begin + 4 * i)});
    if (last == 0) return first;  // it defines none
    if (last < first) refuse_library("the table of its symbols contradicts itself");
    for (;; ++last) {
      const std::uint64_t at = chains + 4 * (last - first);
      if (table.size() - 4 < at) refuse_library("the table of its symbols has no end");
      if ((read_as<std::uint32_t>(table, at) & 1u) != 0) return last + 1;
    }
  }

  /// `relocated`: the loader looks it up, even if the library defines it.
  void add_symbol(std::uint64_t index, bool relocated) {
    if (index >= seen_.size()) refuse_library("it names a symbol that it does not have");
    if (seen_[index]) return;
    const auto symbol = read_as<Elf64_Sym>(symbols_, index * sizeof(Elf64_Sym));
    if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) return;
    if (symbol.st_shndx != SHN_UNDEF && !relocated) return;
    seen_[index] = true;
    (symbol.st_shndx == SHN_UNDEF ? undefined_ : preemptible_).push_back(symbol.st_name);
  }

  std::string name_at(std::uint64_t offset) {
    if (offset >= strings_.size()) refuse_library("a name lies outside of its names");
    const std::string_view from = strings_.substr(offset, kMaxNameBytes - name_bytes_ + 1);
    const std::string_view name = from.substr(0, from.find('\0'));
    name_bytes_ += name.size();
    if (name_bytes_ > kMaxNameBytes) refuse_library("its names are too long");
    return std::string(name);
  }

  /// Symbols of the same name share an offset or not.
  std::vector<std::string> names(std::vector<std::uint64_t> offsets) {
    std::sort(offsets.begin(), offsets.end());
    offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
    std::vector<std::string> all;
    for (const std::uint64_t offset : offsets) all.push_back(name_at(offset));
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }

  std::vector<std::string> libraries() {
    std::vector<std::string> all;
    for (const std::uint64_t offset : image_.needed()) all.push_back(name_at(offset));
    return all;
  }

  const ElfImage& image_;
  std::string_view symbols_, strings_;
  std::vector<bool> seen_;
  std::vector<std::uint64_t> undefined_, preemptible_;  // offsets of names
  std::size_t name_bytes_ = 0;
};

/// A symbol as it may be shown: its name in the source if it has one, and nothing that a terminal obeys.
std::string shown(std::string_view symbol) {
  constexpr std::size_t kMaxShown = 80;
  const std::string_view unversioned = symbol.substr(0, symbol.find('@'));
  std::string name = qualified_name(unversioned);
  if (name.empty()) name = unversioned;
  const bool cut = name.size() > kMaxShown;
  if (cut) name.resize(kMaxShown);
  for (char& c : name)
    if (c < ' ' || c > '~') c = '?';
  return name + (cut ? "..." : "");
}

/// Names that belong to the inside of a library; people write others.
bool is_internal(const std::string& name) {
  return name.starts_with('_') || name.find("::_") != std::string::npos;
}

/// "fork", "fork and kill", "fork, kill and open", "fork, kill, open and 2 more".
std::string enumerate(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNamed = 3;
  const std::size_t named = std::min(names.size(), kMaxNamed);
  std::string text = names.front();
  for (std::size_t i = 1; i < named; ++i) text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  if (names.size() > named) text += fmt::format(" and {} more", names.size() - named);
  return text;
}

/// What is forbidden of a list, in its order: those first whose names people write.
struct Selection {
  std::vector<std::string_view> symbols;
  std::vector<std::string> names;  // as shown; none twice
};

template <class Predicate>
Selection select(const std::vector<std::string>& all, Predicate is_forbidden) {
  Selection selection;
  for (const std::string& one : all)
    if (is_forbidden(one)) selection.symbols.push_back(one);
  std::stable_partition(selection.symbols.begin(), selection.symbols.end(),
                        [](std::string_view symbol) { return !is_internal(shown(symbol)); });
  std::set<std::string> seen;
  for (const std::string_view symbol : selection.symbols)
    if (const std::string name = shown(symbol); seen.insert(name).second) selection.names.push_back(name);
  return selection;
}

}  // namespace

Imports read_imports(std::string_view elf_file_content) {
  const ElfImage image(elf_file_content);
  return Collector(image).collect();
}

std::string forbidden_import(const Imports& imports, Backend backend) {
  const auto used =
      select(imports.symbols, [&](std::string_view name) { return !may_import(name, backend); });
  if (!used.symbols.empty())
    return fmt::format("Your file uses {}, which a file that is graded may not use. {}",
                       enumerate(used.names), advice(used.symbols.front()));
  const auto loaded =
      select(imports.libraries, [&](std::string_view name) { return !may_need_library(name, backend); });
  if (!loaded.symbols.empty())
    return fmt::format(
        "The library built from your file asks for {}, which a file that is graded may not load. "
        "Leave out assembler directives and linker tricks.",
        enumerate(loaded.names));
  const auto defined =
      select(imports.preemptible, [&](std::string_view name) { return !may_define(name, backend); });
  if (!defined.symbols.empty())
    return fmt::format(
        "Your file defines {}, as another library does, so that the program would take that one. "
        "Give it another name, put it into a namespace or make it static.",
        enumerate(defined.names));
  return "";
}

}  // namespace course::grading
