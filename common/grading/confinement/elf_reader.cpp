#include "grading/confinement/elf_reader.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

namespace course::grading {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t kAddressLimit = std::uint64_t{1}
                                        << 46;  // sums of addresses and sizes stay far from 2^64
constexpr std::size_t kMaxProgramHeaders = 64;  // a linked kernel has about 10

constexpr std::uint64_t page_begin(std::uint64_t address) { return address / kPageBytes * kPageBytes; }
constexpr std::uint64_t page_end(std::uint64_t address) { return page_begin(address + kPageBytes - 1); }

/// Dynamic entries that a link of ours makes, beside DT_NEEDED. None of them brings in symbols that the
/// tables named here do not have. DT_FILTER, DT_AUXILIARY, DT_AUDIT, DT_DEPAUDIT and DT_RPATH do, or change
/// where libraries come from; DT_SONAME would let the library pose as one of the system's; DT_TEXTREL and
/// DT_RELR let the loader write where nobody expects it.
constexpr std::array kKnownEntries = {
    DT_RUNPATH,      DT_INIT,      DT_FINI,      DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAY,
    DT_FINI_ARRAYSZ, DT_HASH,      DT_GNU_HASH,  DT_STRTAB,     DT_STRSZ,        DT_SYMTAB,
    DT_SYMENT,       DT_PLTGOT,    DT_PLTRELSZ,  DT_PLTREL,     DT_JMPREL,       DT_RELA,
    DT_RELASZ,       DT_RELAENT,   DT_RELACOUNT, DT_VERSYM,     DT_VERNEED,      DT_VERNEEDNUM,
    DT_VERDEF,       DT_VERDEFNUM, DT_FLAGS,     DT_FLAGS_1,    DT_SYMBOLIC,     DT_BIND_NOW};

// DF_TEXTREL is missing: the loader would write into code and constants.
constexpr std::uint64_t kKnownFlags = DF_ORIGIN | DF_SYMBOLIC | DF_BIND_NOW | DF_STATIC_TLS;
// DF_1_GLOBAL and DF_1_INTERPOSE are missing, by which a library's symbols take the place of others'.
constexpr std::uint64_t kKnownFlags1 = DF_1_NOW | DF_1_NODELETE | DF_1_ORIGIN;

/// What people call the entries that somebody might try.
std::string entry_name(std::int64_t tag) {
  switch (tag) {
    case DT_FILTER:
      return "DT_FILTER";
    case DT_AUXILIARY:
      return "DT_AUXILIARY";
    case DT_AUDIT:
      return "DT_AUDIT";
    case DT_DEPAUDIT:
      return "DT_DEPAUDIT";
    case DT_RPATH:
      return "DT_RPATH";
    case DT_SONAME:
      return "DT_SONAME";
    case DT_TEXTREL:
      return "DT_TEXTREL";
    case DT_REL:
      return "DT_REL";
    default:
      return fmt::format("{:#x}", static_cast<std::uint64_t>(tag));
  }
}

bool has_unknown_flags(std::int64_t tag, std::uint64_t value) {
  return (tag == DT_FLAGS && (value & ~kKnownFlags) != 0) ||
         (tag == DT_FLAGS_1 && (value & ~kKnownFlags1) != 0);
}

}  // namespace

void refuse_library(const std::string& why) {
  throw std::invalid_argument("The library built from your file cannot be checked: " + why +
                              ". Leave out assembler directives and linker tricks.");
}

ElfImage::ElfImage(std::string_view file) : file_(file) {
  try {
    read_headers();
    read_dynamic();
  } catch (const std::out_of_range&) {
    refuse_library("it ends in the middle of its headers");
  }
}

void ElfImage::read_headers() {
  const auto header = read_as<Elf64_Ehdr>(file_, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != EM_X86_64 || header.e_type != ET_DYN)
    refuse_library("it is not an ELF shared library for x86-64");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMaxProgramHeaders)
    refuse_library("its program headers have another form than the linker gives them");
  if (header.e_phoff > file_.size()) refuse_library("its program headers lie outside of it");
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    const std::uint64_t at = header.e_phoff + i * sizeof(Elf64_Phdr);
    const auto type = read_as<Elf64_Phdr>(file_, at).p_type;
    if (type == PT_LOAD) add_segment(at);
    if (type == PT_DYNAMIC && dynamic_header_) refuse_library("it has two dynamic sections");
    if (type == PT_DYNAMIC) dynamic_header_ = at;
  }
}

void ElfImage::add_segment(std::uint64_t header) {
  const auto load = read_as<Elf64_Phdr>(file_, header);
  if (load.p_offset > file_.size() || load.p_filesz > file_.size() - load.p_offset)
    refuse_library("a segment reaches beyond its end");
  if (load.p_vaddr > kAddressLimit || load.p_memsz > kAddressLimit || load.p_memsz < load.p_filesz ||
      load.p_memsz == 0)
    refuse_library("a segment has an impossible size");
  if (load.p_align % kPageBytes != 0 || !std::has_single_bit(load.p_align) ||
      load.p_vaddr % kPageBytes != load.p_offset % kPageBytes)
    refuse_library("a segment does not begin as pages do");
  // Pages are what the loader maps, and of two segments on a page the later one would win.
  if (!segments_.empty() &&
      page_begin(load.p_vaddr) < page_end(segments_.back().address + segments_.back().memory_bytes))
    refuse_library("its segments overlap");
  segments_.push_back({load.p_vaddr, load.p_offset, load.p_filesz, load.p_memsz, (load.p_flags & PF_W) != 0});
}

const ElfImage::Segment* ElfImage::segment_of(std::uint64_t address, std::uint64_t size) const {
  const auto holds = [&](const Segment& segment) {
    return address >= segment.address && address - segment.address <= segment.memory_bytes &&
           size <= segment.memory_bytes - (address - segment.address);
  };
  const auto found = std::find_if(segments_.begin(), segments_.end(), holds);
  return found == segments_.end() ? nullptr : &*found;
}

void ElfImage::read_dynamic() {
  if (!dynamic_header_) refuse_library("it has no dynamic section");
  const auto header = read_as<Elf64_Phdr>(file_, *dynamic_header_);
  const Segment* const segment = segment_of(header.p_vaddr, header.p_memsz);
  // The loader goes by the address, other readers by the offset: they must be the same bytes.
  if (segment == nullptr || header.p_filesz != header.p_memsz ||
      header.p_vaddr - segment->address > segment->file_bytes ||
      header.p_filesz > segment->file_bytes - (header.p_vaddr - segment->address) ||
      header.p_offset != segment->offset + (header.p_vaddr - segment->address))
    refuse_library("its dynamic section is not where a segment has it");
  dynamic_begin_ = header.p_vaddr;
  dynamic_bytes_ = header.p_memsz;
  const std::string_view section = file_.substr(header.p_offset, header.p_filesz);
  for (std::uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
    if (at > section.size() || section.size() - at < sizeof(Elf64_Dyn))
      refuse_library("its dynamic section has no end");
    const auto entry = read_as<Elf64_Dyn>(section, at);
    if (entry.d_tag == DT_NULL) return;
    add_entry(entry.d_tag, entry.d_un.d_val);
  }
}

void ElfImage::add_entry(std::int64_t tag, std::uint64_t value) {
  if (tag == DT_NEEDED) {
    needed_.push_back(value);
    return;
  }
  if (tag == DT_DEBUG || (tag == DT_FLAGS_1 && (value & DF_1_PIE) != 0))
    refuse_library("it is a program and no library");
  if (std::find(kKnownEntries.begin(), kKnownEntries.end(), tag) == kKnownEntries.end())
    refuse_library(
        fmt::format("its dynamic section has the entry {}, which kernels do not need", entry_name(tag)));
  if (has_unknown_flags(tag, value)) refuse_library(fmt::format("it has the loader flags {:#x}", value));
  // The loader goes by the last one, and other readers by the first.
  if (!entries_.emplace(tag, value).second)
    refuse_library(fmt::format("its dynamic section has the entry {} twice", entry_name(tag)));
}

std::optional<std::uint64_t> ElfImage::find(std::int64_t tag) const {
  const auto found = entries_.find(tag);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

std::uint64_t ElfImage::get(std::int64_t tag) const {
  const auto found = find(tag);
  if (!found) refuse_library(fmt::format("its dynamic section lacks the entry {}", entry_name(tag)));
  return *found;
}

std::string_view ElfImage::constant_bytes_from(std::uint64_t address) const {
  const Segment* const segment = segment_of(address, 0);
  if (segment == nullptr || address - segment->address > segment->file_bytes)
    refuse_library("a table lies outside of what is loaded");
  if (segment->writable) refuse_library("a table that the loader reads lies in memory that can be written");
  const std::uint64_t begin = address - segment->address;
  return file_.substr(segment->offset + begin, segment->file_bytes - begin);
}

std::string_view ElfImage::constant_bytes(std::uint64_t address, std::uint64_t size) const {
  const std::string_view bytes = constant_bytes_from(address);
  if (size > bytes.size()) refuse_library("a table reaches beyond its segment");
  return bytes.substr(0, size);
}

bool ElfImage::is_variable(std::uint64_t address, std::uint64_t size) const {
  const Segment* const segment = segment_of(address, size);
  if (segment == nullptr || !segment->writable) return false;
  return address >= dynamic_begin_ + dynamic_bytes_ || address + size <= dynamic_begin_;
}

}  // namespace course::grading
