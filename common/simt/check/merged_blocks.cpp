#include "simt/check/merged_blocks.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace simt::check {
namespace {

constexpr char kOwner[] = "SIMT";
constexpr std::uint32_t kKind = 1;

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// The notes of the module that has this code.
std::vector<std::span<const std::byte>> notes_of(std::uintptr_t code) {
  struct Wanted {
    std::uintptr_t code;
    std::vector<std::span<const std::byte>> notes;
  } wanted{code, {}};
  const auto visit = [](dl_phdr_info* object, std::size_t, void* data) {
    auto& [address, notes] = *static_cast<Wanted*>(data);
    notes.clear();
    bool is_it = false;
    for (const ElfW(Phdr) & part : std::span(object->dlpi_phdr, object->dlpi_phnum)) {
      const std::uintptr_t begin = object->dlpi_addr + part.p_vaddr;
      if (part.p_type == PT_NOTE) notes.emplace_back(reinterpret_cast<const std::byte*>(begin), part.p_memsz);
      is_it = is_it || (part.p_type == PT_LOAD && address >= begin && address - begin < part.p_memsz);
    }
    if (!is_it) notes.clear();
    return is_it ? 1 : 0;
  };
  dl_iterate_phdr(visit, &wanted);
  return std::move(wanted.notes);
}

}  // namespace

void MergedBlocks::begin_launch(std::uintptr_t code_begin, std::size_t code_bytes) {
  if (code_begin == code_begin_ && code_bytes == code_bytes_) return;
  code_begin_ = code_begin;
  code_bytes_ = code_bytes;
  begun_by_ = {};
  begins_.clear();
  for (const std::span<const std::byte> notes : notes_of(code_begin))
    take_notes(notes.data(), notes.data() + notes.size());
}

// Source: ELF's gABI, "Note Section"; with the padding to 4 bytes that all tools write.
void MergedBlocks::take_notes(const std::byte* begin, const std::byte* end) {
  ElfW(Nhdr) head;
  while (static_cast<std::size_t>(end - begin) >= sizeof head) {
    std::memcpy(&head, begin, sizeof head);
    begin += sizeof head;
    const std::size_t rest = static_cast<std::size_t>(end - begin), name_bytes = padded(head.n_namesz);
    if (rest < name_bytes || rest - name_bytes < head.n_descsz) return;
    const std::byte* const content = begin + name_bytes;
    if (head.n_type == kKind && head.n_namesz == sizeof kOwner &&
        std::memcmp(begin, kOwner, sizeof kOwner) == 0)
      take_pairs(reinterpret_cast<const std::int32_t*>(content),
                 reinterpret_cast<const std::int32_t*>(content + head.n_descsz / 8 * 8));
    begin = content + std::min(rest - name_bytes, padded(head.n_descsz));
  }
}

void MergedBlocks::take_pairs(const std::int32_t* begin, const std::int32_t* end) {
  const auto offset_at = [&](const std::int32_t* distance) {
    return reinterpret_cast<std::uintptr_t>(distance) +
           static_cast<std::uintptr_t>(std::intptr_t{*distance}) - code_begin_;
  };
  for (const std::int32_t* pair = begin; pair < end; pair += 2) {
    const std::uintptr_t block = offset_at(pair);
    if (block == 0 || block >= code_bytes_) continue;
    begins_.insert(static_cast<std::uint32_t>(block));
    const std::uintptr_t access = offset_at(pair + 1);
    if (pair[1] == 0 || access >= code_bytes_) continue;
    if (begun_by_.data() == nullptr) begun_by_ = ZeroedTable<std::uint32_t>(code_bytes_);
    begun_by_[access] = static_cast<std::uint32_t>(block);
  }
}

}  // namespace simt::check
