// Files that are not what they should be: each is refused with one sentence that says what is wrong.

#include <sys/stat.h>

#include <cctype>

#include "npy_files.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"
#include "tensor/random.hpp"

using namespace course;
using namespace course::test;
using Catch::Matchers::ContainsSubstring;

namespace {

/// What reading float32 from a file of these bytes complains about, without the name of the file.
std::string complaint(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto file = folder / "x.npy";
  write_bytes(file, bytes);
  const std::string message = npy_error([&] { read_npy<float>(file); });
  const std::string start = "Cannot read \"" + file.string() + "\": ";
  if (!message.starts_with(start) || !message.ends_with('.'))
    return "(not a sentence about the file) " + message;
  return message.substr(start.size());
}

/// The same for a file whose header is this text.
std::string header_complaint(const std::string& dictionary) { return complaint(npy_preamble(dictionary)); }

std::string dictionary_with_shape(const std::string& shape) {
  return "{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + ", }";
}

std::string dictionary_with_descr(const std::string& descr) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }";
}

const std::string kGood = npy_preamble(dictionary_with_shape("(2, 3)")) + bytes_of<float>({1, 2, 3, 4, 5, 6});

}  // namespace

TEST_CASE("a missing file is named") {
  const TemporaryFolder folder;
  const auto file = folder / "a.npy";
  const std::string expected = "Cannot read \"" + file.string() + "\": there is no such file.";
  CHECK(npy_error([&] { read_npy<float>(file); }) == expected);
  CHECK(npy_error([&] { peek_npy(file); }) == expected);
  CHECK_THAT(npy_error([&] { read_npy<float>(folder / "no" / "a.npy"); }), ContainsSubstring("no such file"));
}

TEST_CASE("a folder in place of a file is called a folder") {
  const TemporaryFolder folder;
  CHECK_THAT(npy_error([&] { read_npy<float>(folder.path()); }),
             ContainsSubstring("it is a folder, not an .npy file."));
}

TEST_CASE("a pipe is refused at once, even when nobody writes to it") {
  const TemporaryFolder folder;
  REQUIRE(::mkfifo((folder / "x.npy").c_str(), 0600) == 0);
  CHECK_THAT(npy_error([&] { read_npy<float>(folder / "x.npy"); }), ContainsSubstring("not a regular file."));
}

TEST_CASE("a path through a file is refused") {
  const TemporaryFolder folder;
  write_bytes(folder / "x.npy", kGood);
  CHECK_THAT(npy_error([&] { read_npy<float>(folder / "x.npy" / "y.npy"); }),
             ContainsSubstring("Not a directory"));
}

TEST_CASE("a file that is no .npy file is refused") {
  const std::string bytes =
      GENERATE(as<std::string>{}, "", "\x93", "\x93NUMPZ\x01", "hello, world: not an array",
               "PK\x03\x04 this is how an .npz file starts");
  CHECK(complaint(bytes) ==
        "it is not an .npy file (it does not start with \"\\x93NUMPY\"); write it with numpy.save.");
}

TEST_CASE("an unknown format version is refused") {
  std::string bytes = kGood;
  SECTION("version 4") { bytes[6] = 4; }
  SECTION("version 0") { bytes[6] = 0; }
  SECTION("version 1.1") { bytes[7] = 1; }
  CHECK_THAT(complaint(bytes), ContainsSubstring("but only 1.0, 2.0 and 3.0 are known."));
}

TEST_CASE("a good file cut at any byte is refused") {
  const TemporaryFolder folder;
  const auto file = folder / "x.npy";
  write_bytes(file, kGood);
  REQUIRE(read_npy<float>(file)(1, 2) == 6.0f);

  for (std::size_t size = 0; size < kGood.size(); ++size) {
    CAPTURE(size);
    std::filesystem::resize_file(file, kGood.size() - 1 - size);
    REQUIRE_THROWS_AS(read_npy<float>(file), NpyError);
  }
}

TEST_CASE("a file cut inside its data says how much is missing") {
  CHECK(complaint(kGood.substr(0, kGood.size() - 1)) ==
        "it is cut short: its shape (2, 3) needs 24 bytes of data, but it has 23.");
}

TEST_CASE("a file cut inside its header says so") {
  CHECK(complaint(kGood.substr(0, 9)) == "it is cut short inside its header.");
  CHECK(complaint(kGood.substr(0, 40)) == "it is cut short inside its header.");
}

TEST_CASE("a header that claims to be huge is refused without being read") {
  std::string bytes = npy_preamble(dictionary_with_shape("(1,)"), 2) + bytes_of<float>({1});
  for (std::size_t i = 8; i < 12; ++i) bytes[i] = '\xff';
  CHECK(complaint(bytes) ==
        "its header claims to be 4294967295 bytes long, more than the 1048576 that are allowed.");
}

TEST_CASE("a type other than the one asked for is refused, with the way to convert it") {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", Tensor<double>({2}));
  CHECK(complaint(read_bytes(folder / "x.npy")) ==
        "it holds float64 values, but float32 is needed; convert it with array.astype(\"float32\") before "
        "numpy.save.");
  CHECK_THAT(npy_error([&] { read_npy<std::int32_t>(folder / "x.npy"); }),
             ContainsSubstring("float64 values, but int32 is needed"));
}

TEST_CASE("types that no tensor has are refused by name") {
  CHECK_THAT(header_complaint(dictionary_with_descr("'|O'")),
             ContainsSubstring("it holds Python objects, but"));
  CHECK_THAT(header_complaint(dictionary_with_descr("[('a', '<f4')]")),
             ContainsSubstring("structured values"));
  CHECK_THAT(header_complaint(dictionary_with_descr("'<c8'")), ContainsSubstring("complex64 values"));
  CHECK_THAT(header_complaint(dictionary_with_descr("'<M8[ns]'")), ContainsSubstring("<M8[ns] values"));
  CHECK_THAT(header_complaint(dictionary_with_descr("'<u4'")), ContainsSubstring("uint32 values"));
}

TEST_CASE("negative axes are refused") {
  CHECK(header_complaint(dictionary_with_shape("(2, -3)")) ==
        "its header has the shape (2, -3), with a negative axis.");
}

TEST_CASE("shapes that overflow are refused before memory is asked for") {
  CHECK(header_complaint(dictionary_with_shape("(9223372036854775808,)")) ==
        "its header has an axis of 2^63 elements or more.");
  CHECK(header_complaint(dictionary_with_shape("(4294967296, 4294967296)")) ==
        "its header has the shape (4294967296, 4294967296), larger than any file can be.");
  CHECK_THAT(header_complaint(dictionary_with_shape("(9223372036854775807,)")),
             ContainsSubstring("larger than any file can be."));
  CHECK_THAT(header_complaint(dictionary_with_shape("(0, 4294967296, 4294967296)")),
             ContainsSubstring("larger than any file can be."));
  CHECK(header_complaint(dictionary_with_shape("(1000000000000,)")) ==
        "it is cut short: its shape (1000000000000) needs 4000000000000 bytes of data, but it has 0.");
}

TEST_CASE("a header that is not a dictionary of the three keys is refused") {
  CHECK(header_complaint("") == "its header ends where '{' was expected.");
  CHECK(header_complaint("[]") == "its header has \"[]\" where '{' was expected.");
  CHECK(header_complaint("{}") == "its header lacks the key 'descr'.");
  CHECK(header_complaint("{'descr': '<f4', 'shape': ()}") == "its header lacks the key 'fortran_order'.");
  CHECK(header_complaint("{'descr': '<f4', 'fortran_order': True}") == "its header lacks the key 'shape'.");
  CHECK(header_complaint("{'descr': '<f4', 'descr': '<f4'}") == "its header has the key 'descr' twice.");
  CHECK(header_complaint("{'dtype': '<f4'}") == "its header has an unknown key.");
  CHECK(header_complaint(dictionary_with_shape("(1,)") + " x") ==
        "its header has \"x\" where the end of the header was expected.");
}

TEST_CASE("values of the wrong kind in a header are refused") {
  CHECK(header_complaint("{'descr': 4}") == "its header has \"4}\" where '\"' was expected.");
  CHECK(header_complaint("{'descr': ''}") == "its header has \"}\" where an element type was expected.");
  CHECK(header_complaint("{'descr': '<f4\x1b[31m'}") ==
        "its header has \"}\" where an element type was expected.");
  CHECK(header_complaint("{'descr': '<f4") == "its header has \"<f4\" where a closing quote was expected.");
  CHECK(header_complaint("{'fortran_order': 0}") ==
        "its header has \"0}\" where True or False was expected.");
  CHECK(header_complaint("{'shape': 3}") == "its header has \"3}\" where '(' was expected.");
  CHECK(header_complaint("{'shape': (3.5,)}") == "its header has \".5,)}\" where ',' was expected.");
  CHECK(header_complaint("{'shape': (,)}") == "its header has \",)}\" where a number was expected.");
  CHECK(header_complaint("{'shape': (1") == "its header ends where ',' was expected.");
  CHECK(header_complaint("{'descr': [('a'") == "its header ends where ']' was expected.");
}

TEST_CASE("control characters of a damaged header do not reach the terminal") {
  CHECK(header_complaint("\x1b[31m{}") == "its header has \"?[31m{}\" where '{' was expected.");
}

TEST_CASE("random damage is refused or read, but never crashes") {
  const TemporaryFolder folder;
  const auto file = folder / "x.npy";
  Random random(2026);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = kGood;
    for (std::int64_t change = random.integer(1, 3); change > 0; --change) {
      const auto place =
          static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(bytes.size()) - 25));
      bytes[place] = static_cast<char>(random.bits());
    }
    write_bytes(file, bytes);
    try {
      read_npy<float>(file);
    } catch (const NpyError& error) {
      ++refused;
      for (const char c : std::string_view(error.what()))
        REQUIRE(std::isprint(static_cast<unsigned char>(c)));
    }
  }
  CHECK(refused > 1500);
}
