#include "grading/build/operand_hooks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "grading/build/compiler_text.hpp"
#include "grading/build/frame_addresses.hpp"
#include "grading/build/functions_to_hook.hpp"

namespace course::grading {
namespace {

// ---- What an instruction does to memory.

enum class Touch { nothing, read, write, update };

struct Access {
  Touch touch = Touch::nothing;
  std::string address{}, bytes{};  // operands for leaq and movq
};

/// Whether an operand is memory that a kernel could have got from elsewhere: not in its own frame at a known
/// place, not a constant, not an address of the linker's.
bool is_foreign_memory(std::string_view operand) {
  const bool is_of_linker = operand.find('@') != std::string_view::npos && operand.ends_with("(%rip)");
  return operand.ends_with(')') &&
         (operand.find("(%rsp") == std::string_view::npos ||
          operand.find("(%rsp,%") != std::string_view::npos) &&
         !is_of_linker && !operand.starts_with("%st(") &&  // a register
         !operand.starts_with(".L") && !operand.starts_with('*');
}

/// How many bytes a general register has, by its name; 0: it is none.
int register_bytes(std::string_view name) {
  if (!name.starts_with("%")) return 0;
  if (name.starts_with("%ymm")) return 32;
  if (name.starts_with("%xmm")) return 16;
  if (name.starts_with("%r"))
    return name.ends_with('d') ? 4 : name.ends_with('w') ? 2 : name.ends_with('b') ? 1 : 8;
  if (name.starts_with("%e")) return 4;
  return name.ends_with('l') ? 1 : 2;
}

int bytes_of_suffix(char suffix) {
  switch (suffix) {
    case 'b':
      return 1;
    case 'w':
      return 2;
    case 'l':
      return 4;
    default:
      return 8;
  }
}

/// How many bytes of memory an instruction moves, by its name and its other operand.
int bytes_moved(std::string_view name, std::string_view other) {
  if (name.starts_with("fi")) return name.ends_with("ll") ? 8 : name.ends_with('l') ? 4 : 2;
  if (name.starts_with('f')) return name.ends_with('s') ? 4 : name.ends_with('t') ? 10 : 8;
  if (name.starts_with('v')) name.remove_prefix(1);
  if (name == "insertps" || name == "pinsrd" || name == "pextrd" || name == "movd" || name == "extractps")
    return 4;
  if (begins_with_any(name, {"movlp", "movhp", "movq", "pinsrq", "pextrq"})) return 8;
  if (begins_with_any(name, {"pinsrw", "pextrw", "pbroadcastw"})) return 2;
  if (begins_with_any(name, {"pinsrb", "pextrb", "pbroadcastb"})) return 1;
  if (begins_with_any(name, {"movzb", "movsb"})) return 1;
  if (begins_with_any(name, {"movzw", "movsw"})) return 2;
  if (begins_with_any(name, {"movsl", "cvtss2", "cvttss2"})) return 4;
  if (begins_with_any(name, {"cvtsd2", "cvttsd2"})) return 8;
  if (name.starts_with("cvtsi2")) return name.ends_with('l') ? 4 : 8;
  if (name.ends_with("ss")) return 4;
  if (name.ends_with("sd")) return 8;
  if (const int bytes = register_bytes(other)) return bytes;
  return bytes_of_suffix(name.back());
}

constexpr const char* kTargetOfCopy = "(%rdi)";

/// What "vmovss\t(%rbx), %xmm0" does.
Access access_of(std::string_view line) {
  const std::size_t gap = line.find_first_of(" \t");
  if (gap == std::string_view::npos) return {};
  std::string_view name = line.substr(0, gap);
  if (name == "rep") {
    const std::string_view moved = trimmed(line.substr(gap));
    const std::string bytes = fmt::format("(,%rcx,{})", bytes_of_suffix(moved.back()));
    if (moved.starts_with("movs")) return {Touch::read, "(%rsi)", bytes};
    return {Touch::write, kTargetOfCopy, bytes};
  }
  if (begins_with_any(name, {".", "lea", "nop", "prefetch", "call", "j", "data16"})) return {};
  std::vector<std::string_view> operands;
  for_each_part(line.substr(gap), [&](std::string_view operand) { operands.push_back(operand); });
  const auto memory = std::find_if(operands.begin(), operands.end(), is_foreign_memory);
  if (memory == operands.end()) return {};
  const bool last = memory + 1 == operands.end();
  const bool stores = last && begins_with_any(name, {"mov", "vmov", "set", "pop", "vpextr", "vextract",
                                                     "vcvtps2ph", "fst", "fist", "fnst"});
  const bool updates =
      last && begins_with_any(name, {"add", "adc",  "sub",  "sbb",     "and", "or",  "xor", "inc",
                                     "dec", "neg",  "not",  "sal",     "sar", "shl", "shr", "rol",
                                     "ror", "xadd", "xchg", "cmpxchg", "bts", "btr", "btc"});
  const std::string_view other = operands.size() == 1 ? "" : last ? operands.front() : operands.back();
  return {stores    ? Touch::write
          : updates ? Touch::update
                    : Touch::read,
          std::string(*memory), std::to_string(bytes_moved(name, other))};
}

// ---- Where the hooks go.

/// Whether "call\t__tsan_read4@PLT" calls a function whose name begins so. No file has such functions of its
/// own: see foreign_assembly().
bool calls_one_of(std::string_view code, std::initializer_list<std::string_view> beginnings) {
  constexpr std::string_view kCall = "call";
  return code.starts_with(kCall) && begins_with_any(trimmed(code.substr(kCall.size())), beginnings);
}

bool is_hook(std::string_view code) { return calls_one_of(code, {"__tsan_", "__sanitizer_cov_"}); }

constexpr std::string_view kThreadLocal = "%fs:";

/// What stands before the instruction: the address in %r11, the bytes in %r10. Both are kept in the part of
/// the stack below its end that signals leave alone. Where thread-local variables begin stands at %fs:0.
std::string hook_of(const Access& access) {
  const bool is_thread_local = access.address.starts_with(kThreadLocal);
  return fmt::format(
      "\tmovq\t%r11, -120(%rsp)\n\tmovq\t%r10, -112(%rsp)\n\tleaq\t{}, %r11\n{}\t{}, %r10\n\tcall\t{}\n"
      "\tmovq\t-112(%rsp), %r10\n\tmovq\t-120(%rsp), %r11\n",
      access.address.substr(is_thread_local ? kThreadLocal.size() : 0),
      is_thread_local ? "\tmovq\t%fs:0, %r10\n\tleaq\t(%r10,%r11), %r11\n" : "",
      access.bytes.starts_with('(') ? "leaq\t" + access.bytes : "movq\t$" + access.bytes,
      access.touch == Touch::write ? "course_operand_write" : "course_operand_read");
}

/// "8(%rax)" of "call\t*8(%rax)", and of a jump; "" for one that goes to a name.
std::string_view pointed_target(std::string_view code) {
  if (code.starts_with("notrack ")) code.remove_prefix(8);
  if (code.find("@GOTPCREL") != std::string_view::npos) return {};
  for (const std::string_view name : {"call", "jmp"})
    if (code.starts_with(name))
      if (const std::string_view target = trimmed(code.substr(name.size())); target.starts_with('*'))
        return target.substr(1);
  return {};
}

/// What stands before a call by a pointer: the address of the function in %r11.
std::string hook_of_call(std::string_view target) {
  return fmt::format(
      "\tmovq\t%r11, -120(%rsp)\n\tmovq\t{}, %r11\n\tcall\tcourse_operand_call\n\tmovq\t-120(%rsp), %r11\n",
      target);
}

/// Whether an instruction takes the stack's end from elsewhere than the function's own frame: by a length
/// that was computed, or from memory.
bool moves_stack(std::string_view code) {
  constexpr std::string_view kStack = ", %rsp";
  if (!code.ends_with(kStack)) return false;
  return code.find("\t$") == std::string_view::npos && code.find("%rbp") == std::string_view::npos &&
         code.find("%rsp") + 4 == code.size();
}

/// What stands behind such an instruction: the stack's end in %r11.
constexpr std::string_view kHookOfStack =
    "\tmovq\t%r11, -120(%rsp)\n\tmovq\t%rsp, %r11\n\tcall\tcourse_operand_stack\n"
    "\tmovq\t-120(%rsp), %r11\n";

/// What stands behind a call in a function that finds its variables by %rbp: the function that was called
/// kept that on its stack, and may have changed it there. Nearly always it is a little above the stack's end.
/// Behind a call, neither %r11 nor the flags hold anything.
std::string hook_behind_call(int number) {
  return fmt::format(
      "\tmovq\t%rbp, %r11\n\tsubq\t%rsp, %r11\n\tshrq\t$12, %r11\n\tjz\t.Lcourse_kept{}\n"
      "\tmovq\t%rbp, %r11\n\tcall\tcourse_operand_stack\n.Lcourse_kept{}:\n",
      number, number);
}

/// What stands before an access that is nearly always in the function's own frame: then nothing is called.
/// None of this changes the flags.
std::string hook_past_frame(const Access& access, int number) {
  return fmt::format(
      "\tmovq\t%rcx, -104(%rsp)\n\tmovq\t%r11, -120(%rsp)\n\tleaq\t{}, %rcx\n\tmovq\t%rsp, %r11\n"
      "\tnotq\t%r11\n\tleaq\t1(%rcx,%r11), %rcx\n\tleaq\t(,%rcx,8), %rcx\n\tleaq\t(%rcx,%rcx), %rcx\n"
      "\tmovq\t%rcx, -96(%rsp)\n"
      "\tmovl\t-94(%rsp), %ecx\n"  // 0: less than 4 KB above the stack's end, where no other can be
      "\tjrcxz\t.Lcourse_frame{}\n\tmovq\t-104(%rsp), %rcx\n\tmovq\t-120(%rsp), %r11\n{}"
      ".Lcourse_frame{}:\n\tmovq\t-104(%rsp), %rcx\n\tmovq\t-120(%rsp), %r11\n",
      access.address, number, hook_of(access), number);
}

/// Puts hooks into one function after another, a line at a time. A load belongs to the call that follows it
/// before anything else is called, a store to the call before it. Those that turn out to have a hook of the
/// compiler's, just before them, are not counted twice: see simt_operand_read().
class HookWriter {
 public:
  HookWriter(FunctionsToHook functions, FrameAddresses addresses)
      : functions_(std::move(functions)), addresses_(std::move(addresses)) {}

  void take(std::string_view line) {
    const std::string_view code = trimmed(line);
    if (code.starts_with(".type\t")) enter(code);
    look_at(code);
    text_.append(line).append("\n");
    look_behind(code);
    addresses_.pass(code);
  }

  std::string text() && { return std::move(text_); }
  bool any() const { return any_; }

 private:
  struct Load {
    std::size_t at;  // in text_
    Access access;
  };

  void enter(std::string_view directive) {
    const std::string_view name = directive.substr(6, directive.find(',') - 6);
    const std::string_view whole = name.substr(0, name.size() - (name.ends_with(".cold") ? 5 : 0));
    const auto is_one_of = [&](const FunctionsToHook::Names& names) {
      return names.contains(name) || names.contains(whole);
    };
    loads_.clear();
    has_operands_ = is_one_of(functions_.with_operands);
    // The compiler writes a thunk of a virtual base as text: its loads have no hooks.
    hook_all_ = is_one_of(functions_.everywhere) || name.starts_with("_ZT");
    behind_call_ = false;
    has_frame_pointer_ = has_frame_pointer_ && name.ends_with(".cold");
  }

  void look_at(std::string_view code) {
    if (const std::string_view target = pointed_target(code); !target.empty()) put(hook_of_call(target));
    if (code.starts_with("call")) {
      if (is_hook(code))
        loads_.clear();
      else
        hook_loads();
      if (!calls_one_of(code, {"__ubsan_handle_"})) behind_call_ = !is_hook(code);  // beside the way
    } else if (code.starts_with('j') || code.starts_with("ret")) {
      hook_loads();
      behind_call_ = behind_call_ && !code.starts_with("jmp") && !code.starts_with("ret");
    } else if (const Access access = access_of(code); access.touch != Touch::nothing) {
      const bool is_load = access.touch != Touch::write;
      if (code.starts_with("rep") && is_load && addresses_.is_moved(kTargetOfCopy))
        put(hook_past_frame({Touch::write, kTargetOfCopy, access.bytes}, frames_++));
      if (addresses_.is_moved(access.address)) {
        put(hook_past_frame(access, frames_++));
        if (access.touch == Touch::update)
          put(hook_past_frame({Touch::write, access.address, access.bytes}, frames_++));
      } else if (hook_all_ || (has_operands_ && !is_load && behind_call_))
        put(hook_of(access));
      else if (has_operands_ && is_load)
        loads_.push_back({text_.size(), access});
    }
  }

  void look_behind(std::string_view code) {
    // Who unwinds the stack is told at once of a frame's pointer, but not of a variable's address.
    has_frame_pointer_ = has_frame_pointer_ || (takes_stacks_end_ && code.starts_with(".cfi_"));
    takes_stacks_end_ = code == "movq\t%rsp, %rbp";
    if (moves_stack(code))
      put(kHookOfStack);
    else if (has_frame_pointer_ && code.starts_with("call") && !is_hook(code))
      put(hook_behind_call(calls_++));
  }

  void put(std::string_view hook) {
    text_ += hook;
    any_ = true;
  }

  void hook_loads() {
    if (loads_.empty()) return;
    const std::size_t begin = loads_.front().at;
    const std::string since = text_.substr(begin);
    text_.resize(begin);
    std::size_t from = 0;
    for (const Load& load : loads_) {
      text_.append(since, from, load.at - begin - from);
      from = load.at - begin;
      put(hook_of(load.access));
    }
    text_.append(since, from);
    loads_.clear();
  }

  FunctionsToHook functions_;
  FrameAddresses addresses_;
  std::string text_;
  std::vector<Load> loads_;
  int frames_ = 0, calls_ = 0;
  bool has_operands_ = false, hook_all_ = false, behind_call_ = false, has_frame_pointer_ = false,
       takes_stacks_end_ = false, any_ = false;
};

/// Where the stub keeps what it saves: general registers, then vectors.
constexpr int kVectors = 16, kVectorBytes = 32, kGeneralBytes = 96;

/// Saves every register that a call may spoil, flags too, and tells the simulator the address, the bytes and
/// the instruction; of a call and of the stack, there are no bytes. For an access to the thread's own stack,
/// only simt_operand_is_own() is called, which uses no vectors: they are not saved. Flags go through %ah and
/// %al, since popfq would take longer than all the rest.
std::string stub(std::string_view kind, std::string_view vector_move, std::string_view vector) {
  static constexpr const char* kGeneral[] = {"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"};
  std::string save, restore, save_vectors, restore_vectors;
  int at = 0;
  for (const char* name : kGeneral) {
    save += fmt::format("  movq %{}, {}(%rsp)\n", name, at);
    restore += fmt::format("  movq {}(%rsp), %{}\n", at, name);
    at += 8;
  }
  for (int i = 0; i < kVectors; ++i) {
    const int place = kGeneralBytes + i * kVectorBytes;
    save_vectors += fmt::format("  {} %{}{}, {}(%rsp)\n", vector_move, vector, i, place);
    restore_vectors += fmt::format("  {} {}(%rsp), %{}{}\n", vector_move, place, vector, i);
  }
  std::string ask;
  if (kind == "read" || kind == "write")
    ask = fmt::format(
        "  movq %r11, %rdi\n  call simt_operand_is_own@PLT\n  testb %al, %al\n  jne .Lcourse_own_{}\n", kind);
  return fmt::format(R"(  .text
  .type course_operand_{0}, @function
course_operand_{0}:
  .cfi_startproc
  leaq -128(%rsp), %rsp
  .cfi_def_cfa_offset 136
  pushq %rax
  .cfi_def_cfa_offset 144
  pushq %rbp
  .cfi_def_cfa_offset 152
  .cfi_offset %rbp, -152
  movq %rsp, %rbp
  .cfi_def_cfa_register %rbp
  lahf
  seto %al
  subq ${1}, %rsp
  andq $-32, %rsp
{2}{6}  movq 64(%rsp), %rdi
  movq 56(%rsp), %rsi
  movq 144(%rbp), %rdx
{4}  call simt_operand_{0}@PLT
{5}.Lcourse_own_{0}:
{3}  addb $0x7f, %al
  sahf
  leave
  .cfi_def_cfa %rsp, 144
  popq %rax
  .cfi_def_cfa_offset 136
  leaq 128(%rsp), %rsp
  .cfi_def_cfa_offset 8
  ret
  .cfi_endproc
  .size course_operand_{0}, .-course_operand_{0}
)",
                     kind, kGeneralBytes + kVectors * kVectorBytes + 32, save, restore, save_vectors,
                     restore_vectors, ask);
}

}  // namespace

std::string with_operand_hooks(std::string_view assembly, const CompilerDumps& dumps) {
  HookWriter writer(functions_to_hook(dumps), FrameAddresses(assembly));
  const bool wide = assembly.find("\tvmov") != std::string_view::npos;
  for_each_line(assembly, [&](std::string_view line) {
    writer.take(line);
    return true;
  });
  const bool any = writer.any();
  std::string text = std::move(writer).text();
  if (!any) return text;
  for (const char* kind : {"read", "write", "call", "stack"})
    text += stub(kind, wide ? "vmovups" : "movups", wide ? "ymm" : "xmm");
  return text;
}

}  // namespace course::grading
