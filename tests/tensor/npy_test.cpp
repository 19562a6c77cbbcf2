#include "tensor/npy.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "npy_files.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace course;
using namespace course::test;

TEMPLATE_TEST_CASE("an array of rank 0 to 4 survives writing and reading", "", float, double, std::int32_t,
                   std::int64_t) {
  const TemporaryFolder folder;
  const auto file = folder / "x.npy";
  for (const Shape& shape : {Shape{}, Shape{7}, Shape{2, 3}, Shape{3, 1, 4}, Shape{2, 3, 4, 5}}) {
    Tensor<TestType> tensor(shape);
    for (std::int64_t i = 0; i < tensor.numel(); ++i) tensor.at_linear(i) = static_cast<TestType>(3 * i - 10);

    write_npy(file, tensor);
    const auto copy = read_npy<TestType>(file);

    CHECK(copy.shape() == shape);
    CHECK(copy.is_contiguous());
    REQUIRE(copy.storage().size() == tensor.storage().size());
    CHECK(std::equal(copy.storage().begin(), copy.storage().end(), tensor.storage().begin()));
  }
}

TEST_CASE("an empty array keeps its shape") {
  const TemporaryFolder folder;
  for (const Shape& shape : {Shape{0}, Shape{3, 0, 2}}) {
    write_npy(folder / "x.npy", Tensor<float>(shape));
    CHECK(read_npy<float>(folder / "x.npy").shape() == shape);
  }
}

TEST_CASE("every bit survives, NaN payloads and signed zeros included") {
  const TemporaryFolder folder;
  auto tensor =
      Tensor<float>::from({4}, {-0.0f, std::nanf("0x1234"), std::numeric_limits<float>::denorm_min(),
                                -std::numeric_limits<float>::infinity()});
  write_npy(folder / "x.npy", tensor);
  const Tensor<float> copy = read_npy<float>(folder / "x.npy");
  CHECK(std::memcmp(copy.data(), tensor.data(), 16) == 0);
}

TEST_CASE("the extremes of the integers survive") {
  const TemporaryFolder folder;
  const std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
  write_npy(folder / "x.npy", Tensor<std::int64_t>({1}, lowest));
  CHECK(read_npy<std::int64_t>(folder / "x.npy")(0) == lowest);
}

TEST_CASE("a strided tensor is written in row-major order without its gaps") {
  const TemporaryFolder folder;
  Tensor<float> tensor({2, 3}, {1, 4}, -1.0f);
  for (std::int64_t i = 0; i < 6; ++i) tensor.at_linear(i) = static_cast<float>(i);
  write_npy(folder / "x.npy", tensor);

  const std::string bytes = read_bytes(folder / "x.npy");
  CHECK(bytes.substr(bytes.size() - 24) == bytes_of<float>({0, 1, 2, 3, 4, 5}));
}

TEST_CASE("a written file has the layout that NumPy documents") {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", Tensor<float>({2, 3}, 1.0f));

  const std::string bytes = read_bytes(folder / "x.npy");
  REQUIRE(bytes.size() == 128 + 24);
  CHECK(bytes.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(bytes.substr(8, 2) == std::string("\x76\x00", 2));  // 118 more bytes of header
  CHECK(bytes.substr(10).starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, ), }  "));
  CHECK(bytes[127] == '\n');
}

TEST_CASE("the data start at a multiple of 64 bytes whatever the length of the header") {
  const TemporaryFolder folder;
  std::set<std::size_t> header_sizes;
  for (std::size_t rank = 0; rank <= 40; ++rank) {
    write_npy(folder / "x.npy", Tensor<float>(Shape(rank, 1)));
    const std::size_t header = read_bytes(folder / "x.npy").size() - sizeof(float);
    CHECK(header % 64 == 0);
    header_sizes.insert(header);
    CHECK(peek_npy(folder / "x.npy").shape == Shape(rank, 1));
  }
  CHECK(header_sizes.size() > 1);
}

TEST_CASE("format versions 1, 2 and 3 are read") {
  const char version = GENERATE(char{1}, char{2}, char{3});
  const TemporaryFolder folder;
  const std::string dictionary = "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
  write_bytes(folder / "x.npy", npy_preamble(dictionary, version) + bytes_of<std::int32_t>({1, -2, 3}));

  const auto tensor = read_npy<std::int32_t>(folder / "x.npy");
  CHECK(tensor.shape() == Shape{3});
  CHECK(tensor(1) == -2);
}

TEST_CASE("an array in Fortran order becomes row-major") {
  const TemporaryFolder folder;
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
  write_bytes(folder / "x.npy", npy_preamble(dictionary) + bytes_of<float>({0, 10, 1, 11, 2, 12}));

  CHECK(peek_npy(folder / "x.npy").fortran_order);
  const auto tensor = read_npy<float>(folder / "x.npy");
  CHECK(tensor.strides() == Strides{3, 1});
  for (std::int64_t row = 0; row < 2; ++row) {
    for (std::int64_t col = 0; col < 3; ++col) CHECK(tensor(row, col) == static_cast<float>(10 * row + col));
  }
}

TEST_CASE("an array in Fortran order with axes of one element has row-major strides") {
  const TemporaryFolder folder;
  const std::string dictionary = "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 1), }";
  write_bytes(folder / "x.npy", npy_preamble(dictionary) + bytes_of<float>({0, 1, 2}));
  CHECK(read_npy<float>(folder / "x.npy").strides() == Strides{1, 1});
}

TEST_CASE("big-endian values are turned around") {
  const TemporaryFolder folder;
  write_bytes(folder / "f.npy", npy_preamble("{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }") +
                                    std::string("\x3f\x80\x00\x00\xc0\x20\x00\x00", 8));
  const auto floats = read_npy<float>(folder / "f.npy");
  CHECK(floats(0) == 1.0f);
  CHECK(floats(1) == -2.5f);

  write_bytes(folder / "i.npy", npy_preamble("{'descr': '>i8', 'fortran_order': False, 'shape': (1,), }") +
                                    std::string("\x01\x02\x03\x04\x05\x06\x07\x08", 8));
  CHECK(read_npy<std::int64_t>(folder / "i.npy")(0) == 0x0102030405060708);
}

TEST_CASE("headers are read however they are spelled") {
  const char* dictionary =
      GENERATE("{'shape':(2,1),'fortran_order':False,'descr':'<f4'}",  //
               "{\"descr\": \"<f4\", \"shape\": ( 2 , 1 , ), \"fortran_order\": False}",
               "{'descr': '=f4', 'fortran_order': False, 'shape': (2L, 1L)}\n",  // Python 2
               "\t{ 'descr' : 'f4' , 'fortran_order' : False , 'shape' : (2, 1) , } \n\n");
  const TemporaryFolder folder;
  write_bytes(folder / "x.npy", npy_preamble(dictionary) + bytes_of<float>({4, 5}));
  const auto tensor = read_npy<float>(folder / "x.npy");
  CHECK(tensor.shape() == Shape{2, 1});
  CHECK(tensor(1, 0) == 5.0f);
}

TEST_CASE("bytes after the array are left alone") {
  const TemporaryFolder folder;
  write_bytes(folder / "x.npy", npy_preamble("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }") +
                                    bytes_of<float>({4, 5, 6}));
  CHECK(read_npy<float>(folder / "x.npy").storage().size() == 1);
}

TEST_CASE("peeking tells type and shape without the data") {
  const TemporaryFolder folder;
  write_bytes(folder / "x.npy",
              npy_preamble("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000,), }"));
  const NpyInfo info = peek_npy(folder / "x.npy");
  CHECK(info.dtype == "float64");
  CHECK(info.shape == Shape{1000000});
  CHECK_FALSE(info.fortran_order);
}

TEST_CASE("peeking names types that cannot be read") {
  struct Named {
    const char *descr, *name;
  };
  const Named named =
      GENERATE(Named{"'|O'", "object"}, Named{"'>c16'", "complex128"}, Named{"'|b1'", "bool"},
               Named{"'<f2'", "float16"}, Named{"'<U5'", "<U5"},
               Named{"[('a]', '<f4'), ('b', '<i4', (2,)), ('c', [('d', '<f8')])]", "structured"});
  const TemporaryFolder folder;
  write_bytes(folder / "x.npy", npy_preamble(std::string("{'descr': ") + named.descr +
                                             ", 'fortran_order': False, 'shape': (1,), }"));
  CHECK(peek_npy(folder / "x.npy").dtype == named.name);
}

TEST_CASE("ten million floats are read to the last") {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", Tensor<float>({10'000'000}, 1.0f));
  const auto tensor = read_npy<float>(folder / "x.npy");
  REQUIRE(tensor(0) == 1.0f);
  REQUIRE(tensor(9'999'999) == 1.0f);
}

TEMPLATE_TEST_CASE("all 65,536 numbers of 16 bits survive writing and reading", "", bfloat16, float16) {
  const TemporaryFolder folder;
  Tensor<TestType> x({256, 256});
  for (std::int64_t i = 0; i < x.numel(); ++i)
    x.at_linear(i) = TestType::from_bits(static_cast<std::uint16_t>(i));
  write_npy(folder / "x.npy", x);
  const auto copy = read_npy<TestType>(folder / "x.npy");
  CHECK(copy.shape() == x.shape());
  CHECK(std::memcmp(copy.data(), x.data(), x.storage().size_bytes()) == 0);
}

TEST_CASE("float16 is NumPy's float16, and bfloat16 a word of 16 bits") {
  const TemporaryFolder folder;
  write_npy(folder / "half.npy", Tensor<float16>({3}, float16(1.0f)));
  write_npy(folder / "brain.npy", Tensor<bfloat16>({3}, bfloat16(1.0f)));
  CHECK(peek_npy(folder / "half.npy").dtype == "float16");
  CHECK(read_bytes(folder / "half.npy").ends_with(std::string("\x00\x3c\x00\x3c\x00\x3c", 6)));
  CHECK(peek_npy(folder / "brain.npy").dtype == "uint16");
  CHECK(read_bytes(folder / "brain.npy").ends_with("\x80\x3f\x80\x3f\x80\x3f"));
  CHECK_FALSE(kNpyRemark<bfloat16>.empty());
  CHECK(kNpyRemark<float16>.empty());
}

TEST_CASE("bfloat16 is read from words of 16 bits, whatever they are called, in both byte orders") {
  const TemporaryFolder folder;
  for (const std::string descr : {"<u2", "<i2", "|V2", "<V2", ">u2", ">i2"}) {
    INFO(descr);
    const bool swapped = descr.front() == '>';
    write_bytes(folder / "x.npy",
                npy_preamble("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }") +
                    (swapped ? "\xc0\x40" : "\x40\xc0"));
    CHECK(read_npy<bfloat16>(folder / "x.npy")(0) == bfloat16(-3.0f));
  }
}

TEST_CASE("other types are refused where 16 bits are wanted, with the way to make them") {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", Tensor<float>({2}));
  CHECK_THROWS_WITH(
      read_npy<float16>(folder / "x.npy"),
      Catch::Matchers::ContainsSubstring("it holds float32 values, but float16 is needed; convert it "
                                         "with array.astype(\"float16\") before numpy.save"));
  CHECK_THROWS_WITH(read_npy<bfloat16>(folder / "x.npy"),
                    Catch::Matchers::ContainsSubstring(
                        "it holds float32 values, but bfloat16 is needed, which NumPy lacks") &&
                        Catch::Matchers::ContainsSubstring("tensor.bfloat16().view(torch.int16).numpy()"));
  write_npy(folder / "x.npy", Tensor<float16>({2}));
  CHECK_THROWS_AS(read_npy<bfloat16>(folder / "x.npy"), NpyError);
}
