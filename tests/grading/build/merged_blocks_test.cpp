// Which basic blocks lose their hook, and what the note says of them. The texts are as g++ 12 writes them.
#include "grading/build/merged_blocks.hpp"

#include <string>

#include "support/catch.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

const std::string kBegin = "\tcall\t__sanitizer_cov_trace_pc@PLT\n";
const std::string kAccess = "\tcall\t__tsan_read4@PLT\n";

/// Whether the hook of a block before these lines is merged.
bool is_merged(const std::string& lines) {
  const std::string text = with_merged_blocks(kBegin + lines);
  const bool hook = text.find(kBegin) != std::string::npos;
  CHECK((text.find(".Lsimt_access0:\n") == std::string::npos) == hook);
  return !hook;
}

}  // namespace

TEST_CASE("the hook of an access stands for the block that it begins", "[build][blocks]") {
  const std::string between = "\t.loc 1 3 5 view .LVU2\n.LVL3:\n.LBB7:\n\tmovq\t%rbp, %rdi\n";
  CHECK(with_merged_blocks("f:\n" + kBegin + between + kAccess + "\tret\n") ==
        "f:\n.Lsimt_block0:\n\tnop\n" + between + kAccess +
            ".Lsimt_access0:\n\tret\n"
            "\t.section\t.note.simt,\"a\",@note\n\t.balign\t4\n\t.long\t5, 8, "
            "1\n\t.string\t\"SIMT\"\n\t.balign\t4\n"
            "\t.long\t.Lsimt_block0 - .\n\t.long\t.Lsimt_access0 - 1 - .\n");
  CHECK(is_merged("\tcall\t__tsan_write16@PLT\n"));
}

TEST_CASE("what happens in a block before its first access keeps the hook", "[build][blocks]") {
  CHECK_FALSE(is_merged("\tcall\tf\n" + kAccess));
  CHECK_FALSE(is_merged("\tcall\t*8(%rax)\n" + kAccess));
  CHECK_FALSE(is_merged(kBegin.substr(0, kBegin.size() - 5) + "\n" + kAccess));
  CHECK_FALSE(is_merged("\tcall\t__tsan_read_range@PLT\n" + kAccess));
  CHECK_FALSE(is_merged("\tcall\t__tsan_volatile_read4@PLT\n" + kAccess));
  CHECK_FALSE(is_merged("\tcall\t__tsan_read4th@PLT\n" + kAccess));
  CHECK_FALSE(is_merged("\tcall\t__tsan_write3\n" + kAccess));
  CHECK_FALSE(is_merged("\tcall\tcourse_operand_read\n" + kAccess));
  CHECK_FALSE(is_merged("\tjmp\t.L3\n" + kAccess));
  CHECK_FALSE(is_merged("\tjne\t.L3\n" + kAccess + ".L3:\n"));
  CHECK_FALSE(is_merged(".L3:\n" + kAccess));
  CHECK_FALSE(is_merged("g:\n" + kAccess));
  CHECK_FALSE(is_merged("\tret\n" + kAccess));
  CHECK_FALSE(is_merged("\t.section\t.text.unlikely\n" + kAccess));
  CHECK_FALSE(is_merged("\taddl\t%eax, %ebx\n"));
}

TEST_CASE("a check of an index or an address is gone past, if nothing else arrives there",
          "[build][blocks]") {
  const std::string check =
      "\tjbe\t.L3\n\tmovq\t%rax, %rsi\n\tleaq\t.Lubsan_data8(%rip), %rdi\n"
      "\tcall\t__ubsan_handle_out_of_bounds@PLT\n.L3:\n";
  CHECK(is_merged(check + kAccess));
  CHECK(is_merged(check +
                  "\ttestb\t$3, %bpl\n\tjbe\t.L4\n\tcall\t__ubsan_handle_type_mismatch_v1@PLT\n.L4:\n" +
                  kAccess));
  CHECK_FALSE(is_merged(check + kAccess + "\tjne\t.L3\n"));
  CHECK_FALSE(is_merged("\tjbe\t.L3\n\tcall\tf\n.L3:\n" + kAccess));
  CHECK_FALSE(is_merged("\tjbe\t.L3\n\tmovl\t$1, %eax\n.L3:\n" + kAccess));
  CHECK_FALSE(
      is_merged("\tjbe\t.L3\n\tcall\t__ubsan_handle_out_of_bounds@PLT\n\tjmp\t.L5\n.L3:\n" + kAccess));
}

TEST_CASE("a note names every block, in the group of its function", "[build][blocks]") {
  const std::string text = with_merged_blocks(
      "\t.text\nf:\n" + kBegin + "\tret\n\t.section\t.text._Z1gv,\"axG\",@progbits,_Z1gv,comdat\ng:\n" +
      kBegin + kAccess + kBegin + "\tret\n");
  CHECK_THAT(text, ContainsSubstring(kBegin + ".Lsimt_block0:\n"));
  CHECK_THAT(text,
             ContainsSubstring(".note.simt,\"a\",@note\n\t.balign\t4\n\t.long\t5, 8, 1\n\t.string\t\"SIMT\"\n"
                               "\t.balign\t4\n\t.long\t.Lsimt_block0 - 1 - .\n\t.long\t0\n"));
  CHECK_THAT(text,
             ContainsSubstring(".note.simt,\"aG\",@note,_Z1gv,comdat\n\t.balign\t4\n\t.long\t5, 16, 1\n"));
}

TEST_CASE("a text without such hooks stays as it is", "[build][blocks]") {
  for (const char* text : {"", "f:\n\tret\n", "\tbl\t__sanitizer_cov_trace_pc\n\tbl\t__tsan_read4\n"})
    CHECK(with_merged_blocks(text) == text);
}
