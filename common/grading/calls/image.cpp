#include "grading/calls/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "grading/calls/shared_memory.hpp"

namespace course::grading {
namespace {

/// Different from word to word, and from half to half, so that a guard copied elsewhere, or shifted, is
/// noticed. Around inputs each half is a NaN, as bfloat16 and as half, and so is a word as float and two as
/// double: reading one spoils the result. Around outputs they are large finite numbers in all of these types:
/// a kernel that runs past the end of all its arrays would turn a NaN into the same NaN. None is poison, nor
/// the NaN that a GPU computes, 0x7FFF.
std::uint32_t guard_word(Access access, std::size_t index) {
  auto mixed = static_cast<std::uint32_t>(index) * 0x9E3779B1U;
  mixed ^= mixed >> 15;
  const std::uint32_t high = mixed >> 16, low = mixed & 0xFFFFU;
  return access == Access::in ? (0x7FF1U + high % 14) << 16 | (0x7FF1U + low % 14)
                              : (0x7B80U | (high & 0x7FU)) << 16 | 0x7B80U | (low & 0x7FU);
}

std::byte guard_byte(Access access, std::size_t position) {
  return static_cast<std::byte>(guard_word(access, position / 4) >> (8 * (position % 4)));
}

void fill_guard(Access access, std::byte* image, std::size_t begin, std::size_t end) {
  for (; begin < end && begin % 4 != 0; ++begin) image[begin] = guard_byte(access, begin);
  for (; begin + 4 <= end; begin += 4) {
    const std::uint32_t word = guard_word(access, begin / 4);
    std::memcpy(image + begin, &word, 4);
  }
  for (; begin < end; ++begin) image[begin] = guard_byte(access, begin);
}

/// Calls visit(storage index) for each element that an index reaches.
template <class Visit>
void for_each_element(const ArrayArgument& array, Visit visit) {
  if (std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end()) return;
  std::vector<std::int64_t> index(array.shape.size(), 0);
  for (std::int64_t offset = 0;;) {
    visit(static_cast<std::size_t>(offset));
    std::size_t axis = index.size();
    for (; axis > 0; --axis) {
      offset += array.strides[axis - 1];
      if (++index[axis - 1] < array.shape[axis - 1]) break;
      offset -= array.shape[axis - 1] * array.strides[axis - 1];
      index[axis - 1] = 0;
    }
    if (axis == 0) return;
  }
}

std::vector<bool> reachable(const ArrayArgument& array) {
  std::vector<bool> mask(array.elements, array.contiguous);
  if (!array.contiguous) for_each_element(array, [&](std::size_t i) { mask[i] = true; });
  return mask;
}

void poison_elements(const ArrayArgument& array, std::byte* data) {
  const std::size_t size = array.element_bytes;
  const auto fill = [&]<class Word>(Word poison) {
    std::fill_n(reinterpret_cast<Word*>(data), array.elements, poison);
  };
  if (array.contiguous && size == 4) return fill(static_cast<std::uint32_t>(array.poison));
  if (array.contiguous && size == 2) return fill(static_cast<std::uint16_t>(array.poison));
  for_each_element(array, [&](std::size_t i) { std::memcpy(data + i * size, &array.poison, size); });
}

std::string count_of(std::size_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

/// The elements of a guard [begin, end) that were overwritten, counted from the data's first element.
struct Overwritten {
  std::size_t count = 0;
  std::int64_t first = 0, last = 0;
};

Overwritten overwritten(const ArrayArgument& array, const std::byte* image, std::size_t begin,
                        std::size_t end) {
  Overwritten result;
  std::int64_t previous = INT64_MIN;
  const auto size = static_cast<std::int64_t>(array.element_bytes);
  for (std::size_t position = begin; position < end; ++position) {
    if (image[position] == guard_byte(array.access, position)) continue;
    const auto distance = static_cast<std::int64_t>(position) - static_cast<std::int64_t>(kGuardBytes);
    const std::int64_t element = distance >= 0 ? distance / size : -((-distance + size - 1) / size);
    if (element == previous) continue;
    if (result.count++ == 0) result.first = element;
    result.last = previous = element;
  }
  return result;
}

std::string elements_named(const Overwritten& found) {
  if (found.count == 1) return fmt::format("element {} was", found.first);
  const bool all = static_cast<std::int64_t>(found.count) == found.last - found.first + 1;
  return all ? fmt::format("elements {} to {} were", found.first, found.last)
             : fmt::format("some between {} and {} were", found.first, found.last);
}

void check_guards(const ArrayArgument& array, const std::byte* image, std::string_view label,
                  std::vector<Violation>& violations) {
  const std::size_t end = kGuardBytes + data_bytes(array);
  if (const Overwritten past = overwritten(array, image, end, image_bytes(array)); past.count > 0)
    violations.push_back(
        {fmt::format(
             "Your code wrote {} past the end of {}, which has room for {}: {} overwritten. Compare "
             "the index with the size before you write; if you do, look at the strides that the place is "
             "computed with.",
             count_of(past.count, "element"), label, array.elements, elements_named(past)),
         true});
  if (const Overwritten before = overwritten(array, image, 0, kGuardBytes); before.count > 0)
    violations.push_back({fmt::format("Your code wrote {} before the start of {}: {} overwritten. Look for "
                                      "an index that becomes negative.",
                                      count_of(before.count, "element"), label, elements_named(before)),
                          true});
}

/// Counts the storage elements, out of those chosen, that differ from the tensor's.
template <class Chosen>
void check_kept(const ArrayArgument& array, const std::byte* data, Chosen chosen, std::size_t& count,
                std::size_t& first) {
  const std::size_t size = array.element_bytes;
  for (std::size_t i = 0; i < array.elements; ++i) {
    if (!chosen(i) || std::memcmp(data + i * size, array.input + i * size, size) == 0) continue;
    if (count++ == 0) first = i;
  }
}

}  // namespace

std::size_t data_bytes(const ArrayArgument& array) { return array.elements * array.element_bytes; }

std::size_t image_bytes(const ArrayArgument& array) {
  return whole_pages(kGuardBytes + data_bytes(array) + kGuardBytes);
}

void fill_image(const ArrayArgument& array, std::byte* image) {
  std::byte* data = image + kGuardBytes;
  fill_guard(array.access, image, 0, kGuardBytes);
  fill_guard(array.access, image, kGuardBytes + data_bytes(array), image_bytes(array));
  const bool all_poison = array.access == Access::out && array.contiguous;
  if (!all_poison && data_bytes(array) > 0) std::memcpy(data, array.input, data_bytes(array));
  if (array.access == Access::out) poison_elements(array, data);
}

std::vector<Violation> image_violations(const ArrayArgument& array, const std::byte* image,
                                        std::string_view label) {
  std::vector<Violation> violations;
  check_guards(array, image, label, violations);

  const std::byte* data = image + kGuardBytes;
  std::size_t count = 0, first = 0;
  if (array.access == Access::in) {
    if (data_bytes(array) > 0 && std::memcmp(data, array.input, data_bytes(array)) != 0) {
      check_kept(
          array, data, [](std::size_t) { return true; }, count, first);
      violations.push_back(
          {fmt::format("Your code changed its input {}: {}, the first at position {} of its memory. An input "
                       "must stay as it is; "
                       "write only to the outputs.",
                       label, count_of(count, "element"), first)});
    }
  } else if (!array.contiguous) {
    const std::vector<bool> mask = reachable(array);
    check_kept(
        array, data, [&](std::size_t i) { return !mask[i]; }, count, first);
    const bool rows = array.strides.back() == 1;  // an element of a row lies beside the next
    if (count > 0)
      violations.push_back(
          {fmt::format(
               "Your code wrote {} into the gaps between the {} of {}, the first at position {} of its "
               "memory. {}",
               count_of(count, "element"), rows ? "rows" : "elements", label, first,
               rows ? "Rows may lie further apart than they are long: step from row to row with the stride, "
                      "and stop at the row's length."
                    : "Neighbours in a row may lie apart, too. Each index goes with the stride of its axis."),
           true});
  }
  return violations;
}

void read_image(const ArrayArgument& array, const std::byte* image) {
  const std::byte* data = image + kGuardBytes;
  const std::size_t size = array.element_bytes;
  if (array.contiguous) {
    if (data_bytes(array) > 0) std::memcpy(array.output, data, data_bytes(array));
    return;
  }
  for_each_element(array,
                   [&](std::size_t i) { std::memcpy(array.output + i * size, data + i * size, size); });
}

void poison_output(const ArrayArgument& array) { poison_elements(array, array.output); }

}  // namespace course::grading
