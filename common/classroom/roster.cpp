#include "classroom/roster.hpp"

#include <algorithm>
#include <functional>

#include "classroom/text.hpp"
#include "grading/base/messages.hpp"

namespace course::classroom {
namespace {

constexpr std::size_t kNobody = static_cast<std::size_t>(-1);

char32_t lower(char32_t c) {
  const bool latin1 = c >= 0xc0 && c <= 0xde && c != 0xd7;
  const bool greek = c >= 0x391 && c <= 0x3a9;
  const bool cyrillic = c >= 0x410 && c <= 0x42f;
  if ((c >= 'A' && c <= 'Z') || latin1 || greek || cyrillic) return c + 0x20;
  if (c >= 0x400 && c <= 0x40f) return c + 0x50;
  const bool odd_is_upper = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e);
  if (odd_is_upper) return c + (c & 1);
  const bool even_is_upper = c >= 0x100 && c <= 0x177 && c != 0x130 && c != 0x131 && c != 0x138 && c != 0x149;
  return even_is_upper ? c | 1 : c;
}

/// The order of "Lima, Ana" turned around; "" without a comma.
std::string turned(const std::string& name) {
  const std::size_t comma = name.find(',');
  return comma == std::string::npos ? "" : letters_only(name.substr(comma + 1) + name.substr(0, comma));
}

/// Without the id that tells two folders of one name apart.
std::string own_name(const StudentMarks& student) {
  const std::string suffix = " (" + student.id + ")";
  const bool has_suffix = !student.id.empty() && student.name.ends_with(suffix);
  return has_suffix ? student.name.substr(0, student.name.size() - suffix.size()) : student.name;
}

bool same_id(std::string_view a, std::string_view b) {
  return !a.empty() && grading::ascii_lower(a) == grading::ascii_lower(b);
}

/// A folder may be named like a login, which is often the part of an address before the @.
bool is_named_like(const std::string& name, const std::string& id) {
  return same_id(name, id) || same_id(name, id.substr(0, id.find('@')));
}

bool same_name(const std::string& a, const std::string& b) {
  const std::string plain = letters_only(a), other = letters_only(b);
  if (plain.empty() || other.empty()) return false;
  const std::string plain_turned = turned(a), other_turned = turned(b);
  return plain == other || plain_turned == other || plain == other_turned ||
         (!plain_turned.empty() && plain_turned == other_turned);
}

/// The ways to recognise a student, surest first.
std::vector<std::function<bool(const RosterRow&)>> ways(const StudentMarks& student, std::size_t id_count) {
  std::vector<std::function<bool(const RosterRow&)>> tests;
  for (std::size_t i = 0; i < id_count; ++i)
    tests.push_back(
        [=](const RosterRow& row) { return i < row.ids.size() && same_id(student.id, row.ids[i]); });
  const std::string name = own_name(student);
  tests.push_back([=](const RosterRow& row) {
    return std::any_of(row.ids.begin(), row.ids.end(),
                       [&](const std::string& id) { return is_named_like(name, id); });
  });
  tests.push_back([=](const RosterRow& row) { return same_name(name, row.name); });
  return tests;
}

/// A row that a student lays claim to, by one of ways().
struct Claim {
  std::size_t row = kNobody, way = 0;
};

Claim claim_of(const StudentMarks& student, const std::vector<RosterRow>& rows, std::size_t id_count,
               std::string& problem) {
  const auto tests = ways(student, id_count);
  for (std::size_t way = 0; way < tests.size(); ++way) {
    const auto first = std::find_if(rows.begin(), rows.end(), tests[way]);
    if (first == rows.end()) continue;
    if (std::find_if(first + 1, rows.end(), tests[way]) == rows.end())
      return {static_cast<std::size_t>(first - rows.begin()), way};
    problem = "fits more than one row";
    return {};
  }
  problem = "has no row";
  return {};
}

}  // namespace

std::string letters_only(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Unit unit = first_unit(text);
    text.remove_prefix(unit.bytes.size());
    const char32_t c = lower(unit.code_point);
    const bool ascii_letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (unit.valid && (ascii_letter || c >= 0xc0)) result += to_utf8(c);
  }
  return result;
}

std::vector<RosterMatch> match_students(const std::vector<StudentMarks>& students,
                                        const std::vector<RosterRow>& rows) {
  std::size_t id_count = 0;
  for (const RosterRow& row : rows) id_count = std::max(id_count, row.ids.size());
  std::vector<RosterMatch> matches(students.size());
  std::vector<Claim> claims;
  for (std::size_t i = 0; i < students.size(); ++i)
    claims.push_back(claim_of(students[i], rows, id_count, matches[i].problem));
  // A name may be the student's own, also one that is like another's login. So may an id be, as Gradescope's
  // numbers are: of two ids that fit a row, none is surer than the other.
  const auto is_by_id = [&](const Claim& claim) { return claim.way < id_count; };
  for (std::size_t i = 0; i < students.size(); ++i) {
    if (claims[i].row == kNobody) continue;
    bool contested = false;
    for (std::size_t j = 0; j < students.size(); ++j)
      contested = contested ||
                  (j != i && claims[j].row == claims[i].row && (is_by_id(claims[j]) || !is_by_id(claims[i])));
    if (contested)
      matches[i].problem = "fits the same row as another student";
    else
      matches[i].row = claims[i].row;
  }
  return matches;
}

}  // namespace course::classroom
