#include "grading/confinement/import_list.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "grading/confinement/imports.hpp"
#include "grading/confinement/mangled_name.hpp"

namespace course::grading {
namespace {

using Names = std::set<std::string_view>;

/// The words of a text.
Names words(std::string_view text) {
  Names names;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (end > 0) names.insert(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return names;
}

// ---- Functions and variables with C names. Nothing here opens, starts, maps or signals anything.

const Names kCNames = words(
    // bytes and text
    "memcpy memmove memset memcmp memchr memrchr mempcpy bcmp bzero strlen strnlen strcmp strncmp "
    "strcasecmp strncasecmp strcpy strncpy stpcpy strcat strncat strchr strrchr strstr strspn strcspn "
    "strpbrk strtok strtok_r strdup strndup strerror isalnum isalpha isblank iscntrl isdigit isgraph "
    "islower isprint ispunct isspace isupper isxdigit tolower toupper __ctype_b_loc __ctype_tolower_loc "
    "__ctype_toupper_loc "
    // numbers from text, sorting, small arithmetic
    "atoi atol atoll atof strtol strtoll strtoul strtoull strtof strtod strtold qsort bsearch abs labs "
    "llabs div ldiv lldiv rand srand rand_r random srandom drand48 erand48 lrand48 nrand48 srand48 "
    // memory
    "malloc calloc realloc reallocarray free aligned_alloc posix_memalign "
    // printing, and reading from a text: to and from streams that are open already
    "printf vprintf fprintf vfprintf snprintf vsnprintf sprintf vsprintf puts putchar putc fputc fputs "
    "fwrite fflush setvbuf setbuf stdout stderr sscanf vsscanf "
    // clocks
    "time clock clock_gettime clock_getres gettimeofday difftime "
    // giving up, which the worker reports by its name
    "abort __assert_fail __stack_chk_fail");

/// Of these, what CUDA has in kernels. Copies and allocations are seen by check mode, which links its own in
/// their place.
const Names kKernelNames = words(
    "memcpy memmove memset malloc free _Znwm _Znam _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm "
    "printf puts putchar clock abort __assert_fail __stack_chk_fail");

/// Functions of mathematics that store to where they are told, or read a text, and of which check mode links
/// none of its own.
const Names kPointedNames = words("modfl frexpl remquol sincosl lgamma_r lgammaf_r lgammal_r nan nanf nanl");

/// With f or l at the end as well: float and long double.
const Names kMathNames = words(
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 "
    "fabs fdim floor fma fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log "
    "log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo "
    "rint round roundeven scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn cabs carg "
    "ccos ccosh cexp cimag clog conj cpow cproj creal csin csinh csqrt ctan ctanh __finite __fpclassify "
    "__isinf __isnan __signbit");

/// What the compiler calls without being asked: the C++ runtime, exceptions, wide integers, thread-local
/// variables.
const Names kCompilerNames = words(
    "__cxa_allocate_exception __cxa_atexit __cxa_bad_cast __cxa_bad_typeid __cxa_begin_catch "
    "__cxa_call_terminate __cxa_call_unexpected __cxa_current_exception_type __cxa_deleted_virtual "
    "__cxa_end_catch __cxa_finalize __cxa_free_exception __cxa_get_exception_ptr __cxa_get_globals "
    "__cxa_get_globals_fast __cxa_guard_abort __cxa_guard_acquire __cxa_guard_release "
    "__cxa_init_primary_exception __cxa_pure_virtual __cxa_rethrow __cxa_thread_atexit __cxa_throw "
    "__cxa_throw_bad_array_new_length __cxa_uncaught_exceptions __cxa_vec_cctor __cxa_vec_cleanup "
    "__cxa_vec_ctor __cxa_vec_delete __cxa_vec_delete2 __cxa_vec_delete3 __cxa_vec_dtor __cxa_vec_new "
    "__cxa_vec_new2 __cxa_vec_new3 __dynamic_cast __gxx_personality_v0 _Unwind_DeleteException "
    "_Unwind_RaiseException _Unwind_Resume _Unwind_Resume_or_Rethrow __bswapdi2 __bswapsi2 __clzdi2 "
    "__clzti2 __ctzdi2 __ctzti2 __divdc3 __divmodti4 __divsc3 __divti3 __extendhfdf2 __extendhfsf2 "
    "__ffsdi2 __ffsti2 __fixdfti __fixsfti __fixunsdfti __fixunssfti __floattidf __floattisf "
    "__floatuntidf __floatuntisf __modti3 __muldc3 __mulsc3 __multi3 __paritydi2 __parityti2 "
    "__popcountdi2 __popcountti2 __powidf2 __powisf2 __truncdfhf2 __truncsfhf2 __udivmodti4 __udivti3 "
    "__umodti3 __cpu_indicator_init __cpu_model __errno_location __tls_get_addr __dso_handle "
    "__libc_single_threaded __pthread_key_create __gmon_start__ _ITM_deregisterTMCloneTable "
    "_ITM_registerTMCloneTable");

/// Of these, the functions that touch memory where they are told, keep what they are told, or hand it to
/// others. A kernel has nothing that they are for: no variables with constructors, no arrays of such objects,
/// no exceptions that it catches.
const Names kCompilerNamesForHost = words(
    "__cxa_atexit __cxa_begin_catch __cxa_current_exception_type __cxa_finalize __cxa_free_exception "
    "__cxa_get_exception_ptr __cxa_get_globals __cxa_get_globals_fast __cxa_guard_abort "
    "__cxa_guard_acquire __cxa_guard_release __cxa_init_primary_exception __cxa_rethrow "
    "__cxa_thread_atexit __cxa_uncaught_exceptions __cxa_vec_cctor __cxa_vec_cleanup __cxa_vec_ctor "
    "__cxa_vec_delete __cxa_vec_delete2 __cxa_vec_delete3 __cxa_vec_dtor __cxa_vec_new __cxa_vec_new2 "
    "__cxa_vec_new3 __dynamic_cast _Unwind_DeleteException _Unwind_RaiseException "
    "_Unwind_Resume_or_Rethrow __divmodti4 __udivmodti4 __errno_location __pthread_key_create");

/// The simulator's side of shim headers and instrumentation. Left out of what libsimt.so has: its controls
/// (simt::configure and others of simt/control.hpp) and its inside, by which a kernel could change what is
/// found.
const Names kSimulatorNames = words(
    "threadIdx blockIdx blockDim gridDim simt_active_lanes simt_async_bind simt_async_commit "
    "simt_async_copy simt_async_land simt_async_wait simt_atomic_add_floats "
    "simt_ballot simt_bound_broken simt_check simt_clock "
    "simt_copies_asynchronously simt_delete_arguments simt_dynamic_shared simt_fast_cosf "
    "simt_fast_log10f simt_fast_log2f simt_fast_logf simt_fast_powf simt_fast_rsqrtf simt_fast_sinf "
    "simt_fast_tanf simt_fast_tanhf simt_fence simt_from_shared simt_grid_can_sync "
    "simt_host_function simt_in_kernel simt_kernel_name simt_lane simt_launch simt_launch_from_kernel "
    "simt_ldmatrix simt_match simt_misaligned simt_mma simt_movmatrix simt_name_pointer simt_name_shared "
    "simt_name_view simt_new_arguments simt_operand_call simt_operand_is_own simt_operand_read "
    "simt_operand_stack simt_operand_write simt_phase_ends simt_ptx simt_reduce simt_shift_out_of_range "
    "simt_shuffle "
    "simt_spin_hint simt_stmatrix simt_symbol_address simt_sync_grid simt_syncthreads simt_tile_get "
    "simt_tile_put simt_tile_sync simt_to_shared simt_trap simt_wants_names simt_warp_together simt_wmma "
    "simt_word_compare simt_word_exchange simt_word_load simt_word_update "
    "__sanitizer_cov_trace_pc course_hide_names "
    // the functions of which --wrap makes these, in course_checked_kernel_flags
    "__wrap_malloc __wrap_free __wrap_memcpy __wrap_memmove __wrap_memset __wrap__Znwm __wrap__Znam "
    "__wrap__ZdlPv __wrap__ZdlPvm __wrap__ZdaPv __wrap__ZdaPvm __wrap_modf __wrap_modff __wrap_frexp "
    "__wrap_frexpf __wrap_remquo __wrap_remquof __wrap_sincos __wrap_sincosf __wrap_printf "
    "__wrap___printf_chk");

/// What nvcc's host code calls to register and launch kernels, and what the ledger that is linked into every
/// kernel for a GPU calls (worker/ledger.cpp): its lock, and its own functions that stand in for CUDA's.
const Names kGpuNames = words(
    "__cudaGetKernel __cudaInitModule __cudaLaunchKernel __cudaLaunchKernel_ptsz "
    "__cudaPopCallConfiguration __cudaPushCallConfiguration __cudaRegisterFatBinary "
    "__cudaRegisterFatBinaryEnd __cudaRegisterFunction __cudaRegisterHostVar __cudaRegisterManagedVar "
    "__cudaRegisterVar __cudaUnregisterFatBinary pthread_mutex_lock pthread_mutex_unlock "
    "__wrap_cudaMalloc __wrap_cudaMallocManaged __wrap_cudaMallocAsync __wrap_cudaFree "
    "__wrap_cudaFreeAsync __wrap___cudaPushCallConfiguration __wrap_cudaMallocHost __wrap_cudaHostAlloc "
    "__wrap_cudaHostRegister __wrap_cudaFreeHost __wrap_cudaHostUnregister __wrap_cudaMemcpy "
    "__wrap_cudaMemcpyAsync __wrap_cudaMemcpy2D __wrap_cudaMemcpy2DAsync __wrap_cudaMemcpyFromSymbol "
    "__wrap_cudaMemcpyFromSymbolAsync");

// ---- Beginnings of C names, each a family that an interface reserves for itself.

struct Family {
  std::string_view prefix;
  bool capital_next;  ///< what follows begins with a capital letter: cudaMalloc, not cudart
};

constexpr std::array kFamilies = {
    Family{"cuda", true},              // the CUDA runtime API, less kRefusedCuda
    Family{"__tsan_", false},          // accesses in check mode: libsimt.so has no others
    Family{"__ubsan_handle_", false},  // failed checks in check mode
#ifdef __SANITIZE_ADDRESS__
    Family{"__asan_", false},  // kernels are built with the sanitizers of the project's own code
#endif
};

/// Of the runtime API: ways to the driver and its internals, to files, to memory of other processes, to
/// screens, and copies that no ledger counts. Whatever begins with one of these.
const Names kRefusedCuda = words(
    "cudaGetDriverEntryPoint cudaGetExportTable cudaLibrary cudaGraphDebugDotPrint cudaLogs cudaIpc "
    "cudaImportExternal cudaExternalMemory cudaMemPoolExport cudaMemPoolImport cudaGraphics cudaEGL cudaGL "
    "cudaVDPAU cudaMemcpy3D cudaMemcpyPeer cudaMemcpyArray cudaMemcpyBatch cudaMemcpyToArray "
    "cudaMemcpyFromArray cudaMemcpy2DArray cudaMemcpy2DToArray cudaMemcpy2DFromArray cudaGraphAdd "
    "cudaGraphMemcpy cudaGraphExecMemcpy cudaGraphNodeSetParams");

// ---- C++ names without parameters, as mangled_name.hpp gives them; each with everything inside it.

const Names kCppNames = words(
    // exceptions
    "std::exception std::bad_exception std::bad_alloc std::bad_array_new_length std::bad_cast "
    "std::bad_typeid std::bad_function_call std::bad_optional_access std::bad_variant_access "
    "std::bad_any_cast std::bad_weak_ptr std::logic_error std::domain_error std::invalid_argument "
    "std::length_error std::out_of_range std::runtime_error std::range_error std::overflow_error "
    "std::underflow_error std::system_error std::error_code std::error_condition std::error_category "
    "std::generic_category std::system_category std::nested_exception "
    "std::__exception_ptr::exception_ptr std::current_exception std::rethrow_exception "
    "std::uncaught_exception std::uncaught_exceptions std::terminate std::nothrow "
    "std::__glibcxx_assert_fail "
    // descriptions of types
    "std::type_info __cxxabiv1::__class_type_info __cxxabiv1::__si_class_type_info "
    "__cxxabiv1::__vmi_class_type_info __cxxabiv1::__function_type_info __cxxabiv1::__pointer_type_info "
    "__cxxabiv1::__enum_type_info __cxxabiv1::__array_type_info __cxxabiv1::__pbase_type_info "
    "__cxxabiv1::__pointer_to_member_type_info __cxxabiv1::__fundamental_type_info "
    // text, and streams of text; files are in std::basic_filebuf and what is built on it
    "std::basic_string std::allocator std::basic_ios std::ios_base std::basic_istream "
    "std::basic_ostream std::basic_iostream std::basic_streambuf std::basic_stringbuf "
    "std::basic_istringstream std::basic_ostringstream std::basic_stringstream std::cout std::cerr "
    "std::clog std::endl std::ends std::flush std::ws std::getline std::operator<< std::operator>> "
    "std::operator+ std::__ostream_insert std::__istream_extract std::ctype std::locale std::use_facet "
    "std::has_facet std::numpunct std::num_put std::num_get std::to_chars std::from_chars "
    // containers, hashes, shared pointers, clocks
    "std::_Rb_tree_increment std::_Rb_tree_decrement std::_Rb_tree_insert_and_rebalance "
    "std::_Rb_tree_rebalance_for_erase std::_Rb_tree_black_count std::__detail::_List_node_base "
    "std::__detail::_Prime_rehash_policy std::_Hash_bytes std::_Fnv_hash_bytes std::_Sp_make_shared_tag "
    "std::hash std::numeric_limits std::placeholders std::piecewise_construct std::collate "
    "std::regex_error __gnu_cxx::__atomic_add __gnu_cxx::__exchange_and_add std::chrono::steady_clock "
    "std::chrono::system_clock");

/// Functions that throw for a header: std::__throw_length_error and its like.
constexpr std::string_view kThrower = "std::__throw_";

/// Inside names of the list above, and yet not.
const Names kRefusedCppNames = words("std::locale::global");

/// What the shim headers define in every kernel that uses them. A name that they gain joins the list.
const Names kShimNames = words(
    "simt::AsKnown simt::Braced simt::FirstOf simt::Group simt::Kernel simt::KernelOfName simt::Known "
    "simt::LaunchByCall simt::LaunchConfig simt::LaunchKnown simt::LaunchOfFirst simt::Name "
    "simt::NamedPointer "
    "simt::NamedView simt::OnlyMember simt::Shape simt::StoredAs simt::Unnamed simt::WarpGroup simt::Zero "
    "simt::as_number simt::block_thread simt::block_threads simt::braced "
    "simt::by_rank simt::cub simt::dynamic_shared simt::element_bytes simt::from_bits simt::host_function "
    "simt::inline_ptx simt::is_known simt::launch simt::launch_known simt::launch_pointers simt::mark_values "
    "simt::mark_values_of "
    "simt::name_once_a_launch simt::name_parameters simt::name_shared simt::name_view simt::nth_lane "
    "simt::object_of simt::parameter simt::queue simt::rank_among simt::seen_as simt::segment_first "
    "simt::shim simt::to_bits");

const Names kLibraries = words("libstdc++.so.6 libm.so.6 libgcc_s.so.1 libc.so.6 ld-linux-x86-64.so.2");

bool is_one_of(std::string_view name, const Names& names) { return names.contains(name); }

bool begins_with_one_of(std::string_view name, const Names& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return name.starts_with(prefix); });
}

/// The name itself, or one that it is inside of.
bool lies_within_one_of(std::string_view name, const Names& names) {
  for (std::size_t end = name.find("::"); end != std::string_view::npos; end = name.find("::", end + 2))
    if (is_one_of(name.substr(0, end), names)) return true;
  return is_one_of(name, names);
}

bool is_math(std::string_view name) {
  if (is_one_of(name, kMathNames) || name == "lgamma_r" || name == "lgammaf_r") return true;
  return (name.ends_with('f') || name.ends_with('l')) &&
         is_one_of(name.substr(0, name.size() - 1), kMathNames);
}

bool is_of_c_library(std::string_view name) { return is_one_of(name, kCNames) || is_math(name); }

/// What headers make of functions of the C library: __printf_chk with overflow checks, __isoc99_sscanf by the
/// standard asked for, __expf_finite with -ffast-math.
bool is_variant_of_c_library(std::string_view name) {
  for (const std::string_view prefix : {"__isoc99_", "__isoc23_"})
    if (name.starts_with(prefix)) return is_of_c_library(name.substr(prefix.size()));
  for (const std::string_view suffix : {"_chk", "_finite"})
    if (name.starts_with("__") && name.ends_with(suffix) && name.size() > 2 + suffix.size())
      return is_of_c_library(name.substr(2, name.size() - 2 - suffix.size()));
  return false;
}

bool is_of_family(std::string_view name) {
  if (begins_with_one_of(name, kRefusedCuda)) return false;
  if (name.ends_with("_ptds") || name.ends_with("_ptsz")) return false;  // second names, past the ledger
  return std::any_of(kFamilies.begin(), kFamilies.end(), [&](const Family& family) {
    if (!name.starts_with(family.prefix)) return false;
    const std::string_view rest = name.substr(family.prefix.size());
    return !family.capital_next || (!rest.empty() && rest[0] >= 'A' && rest[0] <= 'Z');
  });
}

bool is_cpp_name(std::string_view symbol) {
  const std::string name = qualified_name(symbol);
  if (is_one_of(name, kRefusedCppNames)) return false;
  if (name.starts_with("operator new") || name.starts_with("operator delete") || name == "built-in type")
    return true;
  return lies_within_one_of(name, kCppNames) || name.starts_with(kThrower);
}

std::string_view without_version(std::string_view symbol) { return symbol.substr(0, symbol.find('@')); }

bool is_of_simulator(std::string_view symbol) {
  return symbol.starts_with("simt_") || symbol.starts_with("__wrap_") ||
         qualified_name(symbol).starts_with("simt::");
}

}  // namespace

bool may_import(std::string_view symbol, Backend backend) {
  const std::string_view name = without_version(symbol);
  if (is_of_c_library(name) || is_variant_of_c_library(name) || is_one_of(name, kCompilerNames)) return true;
  if (is_of_family(name) || is_cpp_name(name)) return true;
  return is_one_of(name, backend == Backend::gpu ? kGpuNames : kSimulatorNames);
}

bool is_host_function(std::string_view symbol) {
  const std::string_view name = without_version(symbol);
  if (is_one_of(name, kPointedNames) || is_one_of(name, kCompilerNamesForHost)) return true;
  if (is_of_family(name)) return name.starts_with("cuda");
  if (is_math(name) || is_one_of(name, kCompilerNames) || is_one_of(name, kKernelNames)) return false;
  if (is_one_of(name, kCNames)) return name != "stdout" && name != "stderr";
  if (is_variant_of_c_library(name)) return name != "__printf_chk";  // for which check mode links its own
  if (!name.starts_with("_Z") || is_of_simulator(name)) return false;
  if (const std::string plain = qualified_name(name);
      plain.starts_with(kThrower) || plain == "std::terminate")
    return false;
  const std::string text(name);
  void* const address = dlsym(RTLD_DEFAULT, text.c_str());
  Dl_info unused{};
  const ElfW(Sym)* entry = nullptr;
  return address != nullptr &&
         dladdr1(address, &unused, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&entry)),
                 RTLD_DL_SYMENT) != 0 &&
         entry != nullptr && ELF64_ST_TYPE(entry->st_info) == STT_FUNC;
}

bool is_library_function(std::string_view symbol) {
  const std::string_view name = without_version(symbol);
  return is_of_c_library(name) || is_variant_of_c_library(name) || is_one_of(name, kCompilerNames) ||
         is_one_of(name, kKernelNames) || is_one_of(name, kPointedNames);
}

bool may_define(std::string_view symbol, Backend backend) {
  if (may_import(symbol, backend)) return true;
  const std::string_view name = without_version(symbol);
  if (name.starts_with("backtrace_")) return false;  // of a library that is part of libsimt.so
  if (is_of_simulator(name)) return lies_within_one_of(qualified_name(name), kShimNames);
  // The loader also takes a symbol of the C library's first version that is there only for old programs.
  const std::string text(name);
  return dlsym(RTLD_DEFAULT, text.c_str()) == nullptr &&
         dlvsym(RTLD_DEFAULT, text.c_str(), "GLIBC_2.2.5") == nullptr;
}

bool may_need_library(std::string_view name, Backend backend) {
  if (is_one_of(name, kLibraries)) return true;
  if (backend == Backend::cpu) return name == "libsimt.so";
  constexpr std::string_view kRuntime = "libcudart.so.";
  return name.starts_with(kRuntime) && name.size() > kRuntime.size() &&
         name.find_first_not_of("0123456789.", kRuntime.size()) == std::string_view::npos;
}

}  // namespace course::grading
