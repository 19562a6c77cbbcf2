// What the student is told to do instead of using a symbol that import_list.cpp does not allow.

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "grading/confinement/import_list.hpp"
#include "grading/confinement/mangled_name.hpp"

namespace course::grading {
namespace {

/// A family of names, and what to do instead of using one of them. Names that nobody thought of get the
/// general advice.
struct ImportAdvice {
  std::string_view c_names;    ///< words
  std::string_view cpp_names;  ///< words; each with everything inside it
  std::string_view sentence;
};

constexpr std::array<ImportAdvice, 10> kAdvice = {{
    {"exit _exit _Exit quick_exit atexit on_exit at_quick_exit __cxa_at_quick_exit", "",
     "A function returns, or throws if it cannot do its work; it does not end the program."},
    {"fork vfork clone clone3 execve execv execvp execl execlp execle execvpe fexecve posix_spawn "
     "posix_spawnp system popen pclose wait waitpid waitid getpid getppid setsid setpgid kill killpg "
     "raise tgkill daemon",
     "", "Remove it: kernels start no processes, end none and ask for none."},
    {"pthread_create pthread_join pthread_detach pthread_exit pthread_mutex_lock "
     "pthread_mutex_unlock pthread_once pthread_self thrd_create sched_yield sleep usleep nanosleep "
     "clock_nanosleep sem_wait sem_post sem_init",
     "std::thread std::jthread std::this_thread std::condition_variable std::mutex std::future "
     "std::promise std::__future_base std::__once_callable std::__once_call "
     "std::__atomic_futex_unsigned_base",
     "Remove it: what is to run in parallel belongs into a kernel, and nothing waits but for the "
     "device."},
    {"signal sigaction sigprocmask pthread_sigmask sigaltstack alarm setitimer timer_create setjmp "
     "_setjmp __sigsetjmp longjmp siglongjmp __longjmp_chk getcontext setcontext makecontext swapcontext "
     "__sysv_signal",
     "", "Remove it: a function that cannot do its work throws; signals and jumps are not for kernels."},
    {"mmap mmap64 munmap mprotect mremap madvise msync mlock brk sbrk shm_open shmget shmat "
     "memfd_create",
     "", "Take cudaMalloc, new or std::vector for memory."},
    {"dlopen dlmopen dlsym dlvsym dladdr dl_iterate_phdr _r_debug dlinfo", "",
     "Call functions by their names; libraries are not searched at run time."},
    {"socket socketpair connect bind listen accept send sendto sendmsg recv recvfrom recvmsg "
     "shutdown getaddrinfo gethostbyname",
     "", "Remove it: kernels talk to nobody."},
    {"getenv secure_getenv setenv putenv unsetenv clearenv environ __environ _environ uname "
     "gethostname sysconf sysinfo getauxval",
     "", "Take what the function is given as arguments; it depends on nothing else."},
    {"syscall ptrace process_vm_readv process_vm_writev prctl arch_prctl personality setrlimit "
     "setpriority nice mount unshare setns chroot",
     "", "Remove it: kernels have nothing to ask of the operating system."},
    {"open open64 openat openat64 __open_2 __openat_2 creat fopen fopen64 fdopen freopen tmpfile "
     "mkstemp read __read_chk write pread pwrite readv writev lseek fread fgets fgetc getc getline "
     "getchar scanf fclose close dup dup2 dup3 fcntl fcntl64 ioctl pipe pipe2 truncate ftruncate "
     "unlink remove rename mkdir rmdir chdir chmod link symlink readlink stat fstat lstat access "
     "opendir readdir sendfile stdin",
     "std::basic_filebuf std::basic_ifstream std::basic_ofstream std::basic_fstream "
     "std::__basic_file std::filesystem std::cin std::random_device",
     "A function gets its data as arguments and gives back results through them; it opens and reads "
     "no files."},
}};

constexpr std::string_view kSimulatorAdvice =
    "Remove it: the simulator is set and read by the grader. Kernels use what CUDA's headers declare.";
constexpr std::string_view kDriverAdvice =
    "Take a function of the CUDA runtime API, whose names begin with cuda.";
constexpr std::string_view kRuntimeAdvice =
    "Of the CUDA runtime API, kernels need nothing that reaches the driver, files, screens or other "
    "processes.";
constexpr std::string_view kGeneralAdvice =
    "Kernels and their host functions get by with the CUDA runtime API, mathematics, memory and text "
    "functions, printing, and the containers of C++; write it with these.";

bool has_word(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != std::string_view::npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return !word.empty();
  }
  return false;
}

bool has_word_around(std::string_view words, std::string_view name) {
  for (std::size_t end = name.find("::"); end != std::string_view::npos; end = name.find("::", end + 2))
    if (has_word(words, name.substr(0, end))) return true;
  return has_word(words, name);
}

bool begins_with_and_capital(std::string_view symbol, std::string_view prefix) {
  return symbol.starts_with(prefix) && symbol.size() > prefix.size() && symbol[prefix.size()] >= 'A' &&
         symbol[prefix.size()] <= 'Z';
}

}  // namespace

std::string_view advice(std::string_view symbol) {
  const std::string_view name = symbol.substr(0, symbol.find('@'));
  const std::string cpp_name = qualified_name(name);
  if (name.starts_with("simt_") || name.starts_with("__wrap_") || cpp_name.starts_with("simt::"))
    return kSimulatorAdvice;
  if (begins_with_and_capital(name, "cu")) return kDriverAdvice;
  if (begins_with_and_capital(name, "cuda")) return kRuntimeAdvice;
  for (const ImportAdvice& advice : kAdvice)
    if (has_word(advice.c_names, name) || has_word_around(advice.cpp_names, cpp_name)) return advice.sentence;
  return kGeneralAdvice;
}

}  // namespace course::grading
