#include "grading/calls/worker/confine.hpp"

#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "grading/base/descriptor.hpp"
#include "grading/calls/worker/fatal_report.hpp"

namespace course::grading {
namespace {

struct SystemCall {
  long number;
  const char* name;
};
#define COURSE_CALL(name) \
  SystemCall { SYS_##name, #name }

constexpr SystemCall kForbidden[] = {
    // other processes
    COURSE_CALL(fork),
    COURSE_CALL(vfork),
    COURSE_CALL(execve),
    COURSE_CALL(execveat),
    COURSE_CALL(kill),
    COURSE_CALL(tkill),
    COURSE_CALL(rt_sigqueueinfo),
    COURSE_CALL(rt_tgsigqueueinfo),
    COURSE_CALL(ptrace),
    COURSE_CALL(process_vm_readv),
    COURSE_CALL(process_vm_writev),
    COURSE_CALL(pidfd_open),
    COURSE_CALL(pidfd_send_signal),
    COURSE_CALL(pidfd_getfd),
    COURSE_CALL(process_madvise),
    COURSE_CALL(setpriority),
    COURSE_CALL(sched_setscheduler),
    COURSE_CALL(sched_setparam),
    COURSE_CALL(sched_setattr),
    COURSE_CALL(kcmp),
    // networks and other ways to talk
    COURSE_CALL(socket),
    COURSE_CALL(socketpair),
    COURSE_CALL(connect),
    COURSE_CALL(bind),
    COURSE_CALL(listen),
    COURSE_CALL(accept),
    COURSE_CALL(accept4),
    COURSE_CALL(shmget),
    COURSE_CALL(shmat),
    COURSE_CALL(msgget),
    COURSE_CALL(semget),
    COURSE_CALL(mq_open),
    // interfaces of the kernel that attacks go through
    COURSE_CALL(bpf),
    COURSE_CALL(io_uring_setup),
    COURSE_CALL(io_uring_enter),
    COURSE_CALL(io_uring_register),
    COURSE_CALL(userfaultfd),
    COURSE_CALL(perf_event_open),
    COURSE_CALL(add_key),
    COURSE_CALL(request_key),
    COURSE_CALL(keyctl),
    COURSE_CALL(personality),
    COURSE_CALL(modify_ldt),
    COURSE_CALL(fanotify_init),
    COURSE_CALL(open_by_handle_at),
    COURSE_CALL(name_to_handle_at),
    COURSE_CALL(init_module),
    COURSE_CALL(finit_module),
    COURSE_CALL(delete_module),
    COURSE_CALL(kexec_load),
    COURSE_CALL(kexec_file_load),
    COURSE_CALL(reboot),
    COURSE_CALL(swapon),
    COURSE_CALL(swapoff),
    COURSE_CALL(acct),
    COURSE_CALL(quotactl),
    COURSE_CALL(syslog),
    COURSE_CALL(iopl),
    COURSE_CALL(ioperm),
    COURSE_CALL(settimeofday),
    COURSE_CALL(clock_settime),
    COURSE_CALL(clock_adjtime),
    COURSE_CALL(adjtimex),
    COURSE_CALL(sethostname),
    COURSE_CALL(setdomainname),
    // another view of the file system
    COURSE_CALL(mount),
    COURSE_CALL(umount2),
    COURSE_CALL(pivot_root),
    COURSE_CALL(chroot),
    COURSE_CALL(unshare),
    COURSE_CALL(setns),
    COURSE_CALL(open_tree),
    COURSE_CALL(move_mount),
    COURSE_CALL(fsopen),
    COURSE_CALL(fsconfig),
    COURSE_CALL(fsmount),
    COURSE_CALL(fspick),
    // who it is
    COURSE_CALL(setuid),
    COURSE_CALL(setgid),
    COURSE_CALL(setreuid),
    COURSE_CALL(setregid),
    COURSE_CALL(setresuid),
    COURSE_CALL(setresgid),
    COURSE_CALL(setgroups),
    COURSE_CALL(setfsuid),
    COURSE_CALL(setfsgid),
    COURSE_CALL(capset),
    // memory that looks like the grader's
    COURSE_CALL(memfd_create),
};

constexpr SystemCall kChangesOfFiles[] = {
    COURSE_CALL(openat2),   COURSE_CALL(creat),       COURSE_CALL(truncate),     COURSE_CALL(ftruncate),
    COURSE_CALL(fallocate), COURSE_CALL(unlink),      COURSE_CALL(unlinkat),     COURSE_CALL(rename),
    COURSE_CALL(renameat),  COURSE_CALL(renameat2),   COURSE_CALL(mkdir),        COURSE_CALL(mkdirat),
    COURSE_CALL(rmdir),     COURSE_CALL(mknod),       COURSE_CALL(mknodat),      COURSE_CALL(link),
    COURSE_CALL(linkat),    COURSE_CALL(symlink),     COURSE_CALL(symlinkat),    COURSE_CALL(chmod),
    COURSE_CALL(fchmod),    COURSE_CALL(fchmodat),    COURSE_CALL(chown),        COURSE_CALL(fchown),
    COURSE_CALL(lchown),    COURSE_CALL(fchownat),    COURSE_CALL(utime),        COURSE_CALL(utimes),
    COURSE_CALL(utimensat), COURSE_CALL(futimesat),   COURSE_CALL(setxattr),     COURSE_CALL(lsetxattr),
    COURSE_CALL(fsetxattr), COURSE_CALL(removexattr), COURSE_CALL(lremovexattr), COURSE_CALL(fremovexattr),
};

/// By these, bytes would get from one descriptor to another, or a descriptor to another number.
constexpr SystemCall kBetweenDescriptors[] = {
    COURSE_CALL(sendfile),        COURSE_CALL(splice), COURSE_CALL(tee),  COURSE_CALL(vmsplice),
    COURSE_CALL(copy_file_range), COURSE_CALL(dup),    COURSE_CALL(dup2), COURSE_CALL(dup3),
};

/// Only to what the process prints to. The grader's channel sends and receives instead.
constexpr SystemCall kWrites[] = {COURSE_CALL(write), COURSE_CALL(writev), COURSE_CALL(pwrite64),
                                  COURSE_CALL(pwritev), COURSE_CALL(pwritev2)};

/// Only from the standard input, once the libraries are loaded.
constexpr SystemCall kReads[] = {COURSE_CALL(read), COURSE_CALL(readv), COURSE_CALL(pread64),
                                 COURSE_CALL(preadv), COURSE_CALL(preadv2)};

/// Forbidden only with certain arguments.
constexpr SystemCall kConditional[] = {COURSE_CALL(clone),
                                       COURSE_CALL(tgkill),
                                       COURSE_CALL(prctl),
                                       COURSE_CALL(openat),
                                       COURSE_CALL(open),
                                       COURSE_CALL(mprotect),
                                       COURSE_CALL(pkey_mprotect),
                                       COURSE_CALL(mmap),
                                       COURSE_CALL(fcntl),
                                       COURSE_CALL(prlimit64),
                                       COURSE_CALL(sched_setaffinity)};
#undef COURSE_CALL

const char* name_of(long number) {
  for (const auto& list :
       {std::span<const SystemCall>(kForbidden), std::span<const SystemCall>(kChangesOfFiles),
        std::span<const SystemCall>(kBetweenDescriptors), std::span<const SystemCall>(kWrites),
        std::span<const SystemCall>(kConditional)})
    for (const SystemCall& call : list)
      if (call.number == number) return call.name;
  return "something that this system has no name for";
}

/// Addresses [begin, end), all with the same upper half.
struct CodeRange {
  std::uint64_t begin = 0, end = 0;
};

std::uint32_t upper_half(std::uint64_t address) { return static_cast<std::uint32_t>(address >> 32); }
std::uint32_t lower_half(std::uint64_t address) { return static_cast<std::uint32_t>(address); }

/// Where the code of this process lies now, by the library that has it: "" is the program.
std::vector<std::pair<std::string, CodeRange>> code_ranges() {
  std::vector<std::pair<std::string, CodeRange>> ranges;
  const auto add = [](dl_phdr_info* library, std::size_t, void* list) {
    for (const ElfW(Phdr) & segment : std::span(library->dlpi_phdr, library->dlpi_phnum)) {
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      const std::uint64_t begin = library->dlpi_addr + segment.p_vaddr, end = begin + segment.p_memsz;
      const std::uint64_t border = std::uint64_t{upper_half(end)} << 32;
      auto& to = *static_cast<decltype(ranges)*>(list);
      if (border > begin) to.push_back({library->dlpi_name, {begin, border - 1}});
      to.push_back({library->dlpi_name, {std::max(begin, border), end}});
    }
    return 0;
  };
  dl_iterate_phdr(add, &ranges);
  return ranges;
}

/// Code that maps libraries: the dynamic loader.
bool is_loader(const std::string& library) { return library.find("/ld-linux") != std::string::npos; }

/// A program for the kernel's filter machine. Each rule ends in a verdict or falls through to the next.
class FilterProgram {
 public:
  FilterProgram() {
    load(offsetof(seccomp_data, arch));
    add({BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64});
    answer(SECCOMP_RET_KILL_PROCESS);
    load(offsetof(seccomp_data, nr));
    // The calls of the x32 interface have numbers of their own.
    add({BPF_JMP | BPF_JGE | BPF_K, 0, 1, 0x40000000});
    answer(SECCOMP_RET_KILL_PROCESS);
  }

  void forbid(long number) {
    skip_unless_equal(static_cast<std::uint32_t>(number), 1);
    answer(SECCOMP_RET_TRAP);
  }
  /// The call fails as if the system did not know it.
  void hide(long number) {
    skip_unless_equal(static_cast<std::uint32_t>(number), 1);
    answer(SECCOMP_RET_ERRNO | ENOSYS);
  }
  enum class Test : std::uint16_t { equals = BPF_JEQ, has_any_bit_of = BPF_JSET };
  /// Whatever gets here and was not asked for by code within these ranges is trapped. `reason` is told to the
  /// handler.
  void require_code(const std::vector<CodeRange>& ranges, std::uint16_t reason) {
    constexpr std::size_t kPerRange = 6, kInstructions = offsetof(seccomp_data, instruction_pointer);
    for (std::size_t left = ranges.size(); const CodeRange& range : ranges) {
      load(kInstructions + 4);
      add({BPF_JMP | BPF_JEQ | BPF_K, 0, 4, upper_half(range.begin)});
      load(kInstructions);
      add({BPF_JMP | BPF_JGE | BPF_K, 0, 2, lower_half(range.begin)});
      add({BPF_JMP | BPF_JGE | BPF_K, 1, 0, lower_half(range.end)});
      add({BPF_JMP | BPF_JA, 0, 0, static_cast<std::uint32_t>(kPerRange * --left + 1)});  // past the trap
    }
    answer(SECCOMP_RET_TRAP | reason);
    load(offsetof(seccomp_data, nr));
  }
  /// The next instructions count only for the call with that number whose argument has one of those bits;
  /// there are to be that many.
  void only_if(long number, int argument, std::uint32_t bits, std::size_t instructions) {
    skip_unless_equal(static_cast<std::uint32_t>(number), static_cast<std::uint8_t>(instructions + 3));
    load(offsetof(seccomp_data, args) + static_cast<std::size_t>(argument) * sizeof(std::uint64_t));
    add({BPF_JMP | BPF_JSET | BPF_K, 1, 0, bits});
    add({BPF_JMP | BPF_JA, 0, 0, static_cast<std::uint32_t>(instructions - 1)});  // to the load of the number
  }
  static constexpr std::size_t instructions_of_require_code(std::size_t ranges) { return 6 * ranges + 2; }

  /// Forbids the call if the low half of its argument passes the test, or, with `only` false, if it does not.
  void forbid_if(long number, int argument, Test test, std::uint32_t value, bool only = true) {
    skip_unless_equal(static_cast<std::uint32_t>(number), 4);
    load(offsetof(seccomp_data, args) + static_cast<std::size_t>(argument) * sizeof(std::uint64_t));
    const std::uint8_t skip_if_passed = only ? 0 : 1, skip_if_not = only ? 1 : 0;
    add({static_cast<std::uint16_t>(BPF_JMP | static_cast<std::uint16_t>(test) | BPF_K), skip_if_passed,
         skip_if_not, value});
    answer(SECCOMP_RET_TRAP);
    load(offsetof(seccomp_data, nr));
  }

  /// Gives that verdict on the call unless its first argument, a descriptor, is one from `first` to `last`.
  void require_descriptor(long number, std::uint32_t first, std::uint32_t last, std::uint32_t verdict) {
    skip_unless_equal(static_cast<std::uint32_t>(number), 5);
    load(offsetof(seccomp_data, args));  // the system, too, looks at the low half alone
    add({BPF_JMP | BPF_JGE | BPF_K, 0, 1, first});
    add({BPF_JMP | BPF_JGT | BPF_K, 0, 1, last});
    answer(verdict);
    load(offsetof(seccomp_data, nr));
  }

  /// @throws std::system_error
  void install() {
    answer(SECCOMP_RET_ALLOW);
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0)
      fail_by_errno("cannot filter system calls");
  }

 private:
  void add(sock_filter instruction) { code_.push_back(instruction); }
  void load(std::size_t offset) { add({BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(offset)}); }
  void answer(std::uint32_t verdict) { add({BPF_RET | BPF_K, 0, 0, verdict}); }
  void skip_unless_equal(std::uint32_t value, std::uint8_t instructions) {
    add({BPF_JMP | BPF_JEQ | BPF_K, 0, instructions, value});
  }

  std::vector<sock_filter> code_;
};

/// What the filter tells the handler beside the call: it did not come from code that was there before the
/// kernel's.
constexpr std::uint16_t kByItself = 1;

/// Ends the process as a shell would tell of it.
[[noreturn]] void end_by(int signal) { _exit(128 + signal); }

void on_forbidden_call(int signal, siginfo_t* info, void*) {
  static std::array<char, 256> message;  // the stack may be short
  if (info->si_errno == kByItself)
    std::snprintf(
        message.data(), message.size(),
        "Your code made a system call (number %d) by an instruction of its own, which a kernel has no "
        "need of. Remove it.",
        info->si_syscall);
  else
    std::snprintf(message.data(), message.size(),
                  "Your code asked the system for %s, which a kernel has no need of. Remove that call.",
                  name_of(info->si_syscall));
  report_fatal("forbidden_call", message.data(), "", 0);
  end_by(signal);
}

void install_handlers() {
  struct sigaction action {};
  action.sa_sigaction = on_forbidden_call;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSYS, &action, nullptr);
  action.sa_flags = SA_ONSTACK;
  action.sa_handler = [](int signal) { end_by(signal); };
  sigaction(SIGABRT, &action, nullptr);
}

void limit(__rlimit_resource resource, rlim_t value) {
  rlimit both{};
  getrlimit(resource, &both);
  both.rlim_max = std::min(both.rlim_max, value);
  both.rlim_cur = both.rlim_max;
  if (setrlimit(resource, &both) != 0) fail_by_errno("cannot limit what the worker may use");
}

}  // namespace

namespace {

/// How much address space this process has now. There is no /proc to ask: the smallest limit under which one
/// more page can be mapped.
rlim_t address_space() {
  constexpr rlim_t kExact = rlim_t{1} << 20;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlim_t too_little = 0, enough = rlim_t{1} << 47;
  while (enough - too_little > kExact) {
    const rlim_t middle = too_little + (enough - too_little) / 2;
    const rlimit trial{std::min(middle, before.rlim_max), before.rlim_max};
    setrlimit(RLIMIT_AS, &trial);
    void* const page = mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (page == MAP_FAILED ? too_little : enough) = middle;
    if (page != MAP_FAILED) munmap(page, 1);
  }
  setrlimit(RLIMIT_AS, &before);
  return enough;
}

}  // namespace

void confine(const Privileges& privileges) {
  // Of what is mapped and touched here and there, the page tables take memory that nobody counts.
  constexpr rlim_t kMoreAddresses = rlim_t{16} << 30;
  if (!privileges.start_threads) limit(RLIMIT_AS, address_space() + kMoreAddresses);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, 600);  // the grader has shorter limits by the clock; this one outlives the grader
  limit(RLIMIT_NOFILE, privileges.write_files ? 1024 : 64);
  limit(RLIMIT_FSIZE, privileges.write_files ? rlim_t{64} << 20 : 0);
  install_handlers();

  using Test = FilterProgram::Test;
  FilterProgram filter;
  for (const SystemCall& call : kForbidden) filter.forbid(call.number);
  filter.hide(SYS_clone3);  // its flags are in memory, where the filter cannot look; libraries then use clone
  if (privileges.start_threads)
    filter.forbid_if(SYS_clone, 0, Test::has_any_bit_of, CLONE_THREAD, false);
  else
    filter.forbid(SYS_clone);
  if (!privileges.start_threads) {                                       // a driver compiles kernels
    filter.forbid_if(SYS_mprotect, 2, Test::has_any_bit_of, PROT_EXEC);  // code that has been changed
    filter.forbid_if(SYS_pkey_mprotect, 2, Test::has_any_bit_of, PROT_EXEC);
  }
  filter.forbid_if(SYS_tgkill, 0, Test::equals, static_cast<std::uint32_t>(getpid()), false);
  filter.forbid_if(SYS_prctl, 0, Test::equals, PR_SET_PDEATHSIG);
  filter.forbid_if(SYS_prlimit64, 0, Test::equals, 0, false);  // of another process: that of the next calls
  if (!privileges.start_threads) filter.forbid_if(SYS_sched_setaffinity, 0, Test::equals, 0, false);
  if (!privileges.write_files) {
    for (const SystemCall& call : kChangesOfFiles) filter.forbid(call.number);
    constexpr std::uint32_t kChanging = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
    filter.forbid_if(SYS_open, 1, Test::has_any_bit_of, kChanging);
    filter.forbid_if(SYS_openat, 2, Test::has_any_bit_of, kChanging);
    for (const SystemCall& call : kBetweenDescriptors) filter.forbid(call.number);
    filter.forbid_if(SYS_fcntl, 1, Test::equals, F_DUPFD);
    filter.forbid_if(SYS_fcntl, 1, Test::equals, F_DUPFD_CLOEXEC);
    for (const SystemCall& call : kWrites)
      filter.require_descriptor(call.number, STDOUT_FILENO, STDERR_FILENO, SECCOMP_RET_TRAP);
  }
  if (!privileges.start_threads) {  // a driver loads libraries when it needs them
    std::vector<CodeRange> ours, of_loader;
    for (const auto& [library, range] : code_ranges()) {
      ours.push_back(range);
      if (is_loader(library)) of_loader.push_back(range);
    }
    filter.only_if(SYS_mmap, 2, PROT_EXEC, FilterProgram::instructions_of_require_code(of_loader.size()));
    filter.require_code(of_loader, 0);
    filter.require_code(ours, kByItself);
  }
  filter.install();
}

void end_loading() {
  FilterProgram filter;
  filter.forbid_if(SYS_mmap, 2, FilterProgram::Test::has_any_bit_of, PROT_EXEC);
  // An error that the C library takes for a file that it may not read: it looks into some by itself.
  for (const SystemCall& call : kReads)
    filter.require_descriptor(call.number, STDIN_FILENO, STDIN_FILENO, SECCOMP_RET_ERRNO | EBADF);
  filter.install();
}

}  // namespace course::grading
