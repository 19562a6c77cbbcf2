#include "cli/nvcc_words.hpp"

#include "support/catch.hpp"

using course::cli::architecture_number;
using course::cli::spell_out_nvcc_words;
using Words = std::vector<std::string>;

TEST_CASE("nvcc's options are spelt as those of simulate", "[cli][nvcc]") {
  CHECK(spell_out_nvcc_words({"-I", "inc", "-DN=64", "-D", "M", "-std=c++17", "-arch=sm_80", "a.cu"}) ==
        Words{"-Iinc", "-DN=64", "-DM", "--std=c++17", "--arch=sm_80", "a.cu"});
  CHECK(spell_out_nvcc_words({"-std", "c++14", "-arch", "sm_90", "-lcurand"}) ==
        Words{"--std=c++14", "--arch=sm_90", "--library=curand"});
}

TEST_CASE("options of nvcc without a use are told apart", "[cli][nvcc]") {
  CHECK(spell_out_nvcc_words(
            {"-O3", "-o", "prog", "-lineinfo", "-Xcompiler", "-Wall", "-gencode=arch=a,code=b"}) ==
        Words{"--ignored=-O3", "--ignored=-o prog", "--ignored=-lineinfo", "--ignored=-Xcompiler -Wall",
              "--ignored=-gencode=arch=a,code=b"});
}

TEST_CASE("our own options and the program's words stay", "[cli][nvcc]") {
  CHECK(spell_out_nvcc_words({"--check", "--order", "reverse", "a.cu", "12", "--", "-O3", "b.cu"}) ==
        Words{"--check", "--order", "reverse", "a.cu", "12", "--argument=-O3", "--argument=b.cu"});
  CHECK(spell_out_nvcc_words({"--chek", "-I"}) == Words{"--chek", "-I"});
}

TEST_CASE("an architecture is a number of __CUDA_ARCH__", "[cli][nvcc]") {
  CHECK(architecture_number("sm_80") == 800);
  CHECK(architecture_number("compute_90a") == 900);
  CHECK(architecture_number("75") == 750);
  CHECK(architecture_number("native") == 900);
  for (const char* wrong : {"", "sm_", "volta", "x86_64", "sm_100000"})
    CHECK(architecture_number(wrong) == 0);
}
