#include <set>
#include <stdexcept>

#include "classroom/csv.hpp"
#include "classroom/text.hpp"
#include "support/catch.hpp"

namespace {

using namespace course::classroom;
using Catch::Matchers::ContainsSubstring;
using Rows = std::vector<CsvRow>;

const std::string kBad = "\xef\xbf\xbd";  // U+FFFD

}  // namespace

TEST_CASE("invalid UTF-8 becomes one replacement character for each piece") {
  CHECK(valid_utf8("a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z") == "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z");
  CHECK(valid_utf8("\xff") == kBad);
  CHECK(valid_utf8("\xc0\xaf") == kBad + kBad);                        // overlong
  CHECK(valid_utf8("\xe2\x82") == kBad);                               // ends early
  CHECK(valid_utf8("\xe2\x82x") == kBad + "x");                        // broken off
  CHECK(valid_utf8("\xed\xa0\x80") == kBad + kBad + kBad);             // a surrogate
  CHECK(valid_utf8("\xf4\x90\x80\x80") == kBad + kBad + kBad + kBad);  // above U+10FFFF
  CHECK(valid_utf8("\xf0\x9f\x98") == kBad);
}

TEST_CASE("every character survives being taken apart and written again") {
  for (char32_t c = 0; c < 0x110000; c += c < 0x3000 ? 1 : 251) {
    if (c >= 0xd800 && c < 0xe000) continue;
    const std::string bytes = to_utf8(c);
    const Utf8Unit unit = first_unit(bytes + "x");
    if (!unit.valid || unit.code_point != c || unit.bytes != bytes)
      FAIL("U+" << std::hex << std::uint32_t{c});
  }
  SUCCEED();
}

TEST_CASE("HTML and XML keep text and escape what has a meaning") {
  CHECK(html_escape("<a href=\"x\" b='y'>&") == "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;");
  CHECK(html_escape("\x1b[2J\n\t\xff") == kBad + "[2J\n\t" + kBad);
  CHECK(xml_escape("]]>\r\n\x01\xff\xef\xbf\xbe") == "]]&gt;&#13;\n" + kBad + kBad + kBad);
  CHECK(xml_escape(std::string("a\0b", 3)) == "a" + kBad + "b");
}

TEST_CASE("a line for a terminal shows control characters and what turns the writing around") {
  CHECK(one_line("Ana\n\x1b[31m\x7f\t") == "Ana\\n\\x1b[31m\\x7f\\t");
  CHECK(one_line("\xe2\x80\xae x \xc2\x9b \xff") == "\\u{202e} x \\u{9b} \\xff");
  CHECK(one_line("\xc3\x87"
                 "elik \xe6\x9d\x8e") ==
        "\xc3\x87"
        "elik \xe6\x9d\x8e");
  CHECK(printable_lines("a\r\nb\rc\td\n\x1b") == "a\nb\\x0dc\td\n\\x1b");
}

TEST_CASE("a long text is cut between characters and says how much is missing") {
  CHECK(cut_text("\xc3\xa9\xc3\xa9\xc3\xa9", 3) == "\xc3\xa9\xc3\xa9\xc3\xa9");
  CHECK(cut_text("\xc3\xa9\xc3\xa9\xc3\xa9", 2) ==
        "\xc3\xa9\xc3\xa9\n[This message is cut here: 1 more characters are not shown.]");
  CHECK_THAT(cut_text(std::string(90, 'a') + "\n" + std::string(90, 'b'), 100), !ContainsSubstring("b\n"));
}

TEST_CASE("links encode all but the unreserved characters") {
  CHECK(percent_encoded("Az09-._~") == "Az09-._~");
  CHECK(percent_encoded("a/b %#?&\xc3\xa9\xff") == "a%2Fb%20%25%23%3F%26%C3%A9%FF");
}

TEST_CASE("usual names are folders as they are") {
  for (const char* name : {"Ana Lima", "O'Neil, Ben",
                           "\xc3\x87"
                           "elik",
                           "\xe6\x9d\x8e\xe5\xb0\x8f\xe9\xbe\x99", "limaana_1001", "Dr. X", "=cmd"})
    CHECK(safe_folder_name(name) == name);
}

TEST_CASE("other names become folders that stay in their place") {
  CHECK(safe_folder_name("..") == "%2E%2E");
  CHECK(safe_folder_name(".") == "%2E");
  CHECK(safe_folder_name("-rf") == "%2Drf");
  CHECK(safe_folder_name(" a ") == "%20a%20");
  CHECK(safe_folder_name("a/b\\c") == "a%2Fb%5Cc");
  CHECK(safe_folder_name(std::string("a\0b\n", 4)) == "a%00b%0A");
  CHECK(safe_folder_name("50%") == "50%25");
  CHECK(safe_folder_name("\xe2\x80\xae") == "%E2%80%AE");
  CHECK(safe_folder_name("a\xff") == "a%FF");
  CHECK(safe_folder_name("") == "%unnamed");
  for (const char* name : {"grades.csv", "canvas.csv", "moodle.csv", "index.html", "run.json", "similarity",
                           "Grades.CSV", "SIMILARITY", ".course", "run.lock"})
    CHECK(safe_folder_name(name)[0] == '%');
}

TEST_CASE("long names keep their begin and stay apart") {
  const std::string begin(200, 'x');
  const std::string a = safe_folder_name(begin + "a"), b = safe_folder_name(begin + "b");
  CHECK(a != b);
  CHECK(a.size() == 100);
  CHECK(safe_folder_name(std::string(100, 'x')) == std::string(100, 'x'));
  CHECK(safe_folder_name(a) != a);  // nobody can be named like the folder of another
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::string wide(shift, 'x'), escaped(shift, 'x');
    for (int i = 0; i < 60; ++i) {
      wide += "\xe6\x9d\x8e";
      escaped += "/";
    }
    const std::string folder = safe_folder_name(wide), other = safe_folder_name(escaped);
    CHECK(folder.size() <= 100);
    CHECK(valid_utf8(folder) == folder);
    CHECK(other[other.rfind('~') - 3] == '%');
  }
}

TEST_CASE("different names of one and two bytes give different folders") {
  std::set<std::string> folders;
  std::size_t names = 0;
  for (int first = 0; first < 256; ++first) {
    folders.insert(safe_folder_name(std::string(1, static_cast<char>(first))));
    ++names;
    for (int second = 0; second < 256; ++second, ++names)
      folders.insert(safe_folder_name(std::string{static_cast<char>(first), static_cast<char>(second)}));
  }
  CHECK(folders.size() == names);
}

TEST_CASE("tables are read with quotes, line ends of all kinds and a byte order mark") {
  CHECK(parse_csv("\xef\xbb\xbf"
                  "a,\"b \"\"c\"\"\",\r\n\"x\r\ny\",,z\n\n1\r2") ==
        Rows{{"a", "b \"c\"", ""}, {"x\r\ny", "", "z"}, {"1"}, {"2"}});
  CHECK(parse_csv("").empty());
  CHECK(parse_csv("\"\"\n") == Rows{{""}});
  CHECK(parse_csv("a;\"b;c\"", ';') == Rows{{"a", "b;c"}});
  CHECK(parse_csv_lines("a\n\"b\nc\"\n\nd").back().number == 5);
  CHECK(guess_separator("a;b,c;d\n,,,,") == ';');
  CHECK(guess_separator("\"a;b;c\",d") == ',');
  CHECK(guess_separator("a\tb") == '\t');
}

TEST_CASE("a broken table is refused with the line and the reason") {
  CHECK_THROWS_WITH(parse_csv("a\nb\"c"),
                    ContainsSubstring("Line 2") && ContainsSubstring("quote stands within"));
  CHECK_THROWS_WITH(parse_csv("\"a\"b"),
                    ContainsSubstring("Line 1") && ContainsSubstring("follows the quote"));
  CHECK_THROWS_WITH(parse_csv("a\n\"b\n\nc"),
                    ContainsSubstring("Line 2") && ContainsSubstring("never closed"));
  CHECK_THROWS_AS(parse_csv("\""), std::invalid_argument);
}

TEST_CASE("what is written is read back") {
  const Rows rows = {{"a", " b ", "c,d", "e;f"}, {"\"", "\n", "\r\n", ""}, {"\t", "'", "\xc3\xa9", "x"}};
  CHECK(parse_csv(format_csv(rows)) == rows);
  CHECK(format_csv({{"a", "b\"c"}}) == "a,\"b\"\"c\"\r\n");
}

TEST_CASE("cells that a spreadsheet would compute are marked as text") {
  for (const char* cell : {"=1+1", "+1", "-x", "@SUM(1)", "\r", "-1.5.2", "-"})
    CHECK(spreadsheet_safe(cell) == "'" + std::string(cell));
  CHECK(spreadsheet_safe("\t=1") == "'\t'=1");
  CHECK(spreadsheet_safe("  =1") == "  '=1");
  CHECK(spreadsheet_safe("x;\"=1+1;y.cu") ==
        "x;\"'=1+1;y.cu");  // two quotes, in a file, are none in that cell
  CHECK(spreadsheet_safe("x; \" \"@1") == "x; \" \"'@1");
  CHECK(spreadsheet_safe("a;=1;b\n@x") == "a;'=1;b\n'@x");
  CHECK(spreadsheet_safe("\xef\xbc\x9d"
                         "1") ==
        "'\xef\xbc\x9d"
        "1");
  for (const char* cell : {"", "-1.5", "-3", "12", "a=b", "x-y", "Ana"})
    CHECK(spreadsheet_safe(cell) == cell);
  CHECK(spreadsheet_safe(std::string("a\0\xff", 3)) == "a" + kBad + kBad);
}
