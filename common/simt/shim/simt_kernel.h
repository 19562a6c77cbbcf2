#pragma once
// What a kernel finds around it: the built-in variables, barriers, warp operations, and the launch itself.

#include <cstring>
#include <ctime>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "simt_abi.h"
#include "simt_bits.h"
#include "simt_vector_types.h"

// Set by the scheduler whenever a thread gets its turn. Const, so that `threadIdx.x = 0` does not compile.
// initial-exec: the runtime is loaded when the program starts, so an access is one instruction.
#if __cplusplus >= 202002L
#define SIMT_CONSTINIT constinit
#else
#define SIMT_CONSTINIT __constinit
#endif
#define SIMT_BUILTIN extern SIMT_CONSTINIT thread_local const __attribute__((tls_model("initial-exec")))
SIMT_BUILTIN uint3 threadIdx;
SIMT_BUILTIN uint3 blockIdx;
SIMT_BUILTIN dim3 blockDim;
SIMT_BUILTIN dim3 gridDim;
#undef SIMT_BUILTIN
#undef SIMT_CONSTINIT
inline constexpr int warpSize = 32;

namespace simt {
/// The rewriter calls it where a function of a lesson's file begins that is for the host alone. A lambda may
/// stand in a constant expression, which no kernel works out.
__forceinline__ constexpr void host_function(const char* name) {
  if (!__builtin_is_constant_evaluated()) simt_host_function(name);
}
}  // namespace simt

// --- Barriers of the block -------------------------------------------------------------------------------

__forceinline__ void __syncthreads() { simt_syncthreads(simt_barrier_plain, 0); }
__forceinline__ int __syncthreads_count(int predicate) {
  return simt_syncthreads(simt_barrier_count, predicate);
}
__forceinline__ int __syncthreads_and(int predicate) { return simt_syncthreads(simt_barrier_and, predicate); }
__forceinline__ int __syncthreads_or(int predicate) { return simt_syncthreads(simt_barrier_or, predicate); }

// Within a process, memory is coherent: a fence orders what the compiler and the host processor do.
__forceinline__ void __threadfence_block() { simt_fence(simt_fence_block); }
__forceinline__ void __threadfence() { simt_fence(simt_fence_device); }
__forceinline__ void __threadfence_system() { simt_fence(simt_fence_device); }

// --- Warp operations -------------------------------------------------------------------------------------

namespace simt {

template <class T>
constexpr SimtShuffle shuffle_of(SimtShuffle kind) {
  return sizeof(T) > 4 ? static_cast<SimtShuffle>(kind | simt_shuffle_wide) : kind;
}

__forceinline__ unsigned segment_first(unsigned lane, int width) {
  return lane & ~(static_cast<unsigned>(width) - 1u);
}

}  // namespace simt

__forceinline__ void __syncwarp(unsigned mask = 0xffffffffu) { simt_ballot(simt_op_syncwarp, mask, 0); }
__forceinline__ unsigned __activemask() { return simt_active_lanes(); }

template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const unsigned lane = simt_lane();
  const unsigned from = simt::segment_first(lane, width) +
                        (static_cast<unsigned>(source) & (static_cast<unsigned>(width) - 1u));
  return simt::from_bits<T>(
      simt_shuffle(simt::shuffle_of<T>(simt_shuffle_index), mask, simt::to_bits(value), from));
}

template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = simt_lane(), first = simt::segment_first(lane, width);
  delta &= 31u;
  const unsigned from = lane < first + delta ? lane : lane - delta;  // below the segment: keep one's own
  return simt::from_bits<T>(
      simt_shuffle(simt::shuffle_of<T>(simt_shuffle_up), mask, simt::to_bits(value), from));
}

template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = simt_lane(),
                 last = simt::segment_first(lane, width) + static_cast<unsigned>(width) - 1u;
  delta &= 31u;
  const unsigned from = lane + delta > last ? lane : lane + delta;  // above the segment: keep one's own
  return simt::from_bits<T>(
      simt_shuffle(simt::shuffle_of<T>(simt_shuffle_down), mask, simt::to_bits(value), from));
}

template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32) {
  const unsigned lane = simt_lane(),
                 last = simt::segment_first(lane, width) + static_cast<unsigned>(width) - 1u;
  const unsigned partner = lane ^ (static_cast<unsigned>(lane_mask) & 31u);
  const unsigned from = partner > last ? lane : partner;
  return simt::from_bits<T>(
      simt_shuffle(simt::shuffle_of<T>(simt_shuffle_xor), mask, simt::to_bits(value), from));
}

__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate) {
  return simt_ballot(simt_op_ballot, mask, predicate);
}
__forceinline__ int __any_sync(unsigned mask, int predicate) {
  return simt_ballot(simt_op_any, mask, predicate) != 0;
}
__forceinline__ int __all_sync(unsigned mask, int predicate) {
  return simt_ballot(simt_op_all, mask, !predicate) == 0;
}

template <class T>
__forceinline__ unsigned __match_any_sync(unsigned mask, T value) {
  return simt_match(simt_op_match_any, mask, simt::to_bits(value));
}

template <class T>
__forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* all_equal) {
  *all_equal = simt_match(simt_op_match_all, mask, simt::to_bits(value)) != 0;
  return *all_equal != 0 ? mask : 0u;
}

#define SIMT_WARP_REDUCE(NAME, TYPE)                                                                     \
  __forceinline__ TYPE __reduce_##NAME##_sync(unsigned mask, TYPE value) {                               \
    return static_cast<TYPE>(                                                                            \
        simt_reduce(simt_op_reduce_##NAME, std::is_signed_v<TYPE>, mask, static_cast<unsigned>(value))); \
  }
SIMT_WARP_REDUCE(add, unsigned)
SIMT_WARP_REDUCE(add, int)
SIMT_WARP_REDUCE(min, unsigned)
SIMT_WARP_REDUCE(min, int)
SIMT_WARP_REDUCE(max, unsigned)
SIMT_WARP_REDUCE(max, int)
SIMT_WARP_REDUCE(and, unsigned)
SIMT_WARP_REDUCE(or, unsigned)
SIMT_WARP_REDUCE(xor, unsigned)
#undef SIMT_WARP_REDUCE

// --- Time, traps (clock() is that of the C library)
// -----------------------------------------------------------------------------------------

__forceinline__ long long clock64() { return simt_clock(); }
__forceinline__ void __nanosleep(unsigned) { simt_spin_hint(); }
__forceinline__ void __trap() { simt_trap(); }

// What the compiler may take for granted, which is not worked out.
#define __builtin_assume(...) (static_cast<void>(sizeof(!(__VA_ARGS__))))
#define __assume(...) __builtin_assume(__VA_ARGS__)

// --- Launches (written by the rewriter) ------------------------------------------------------------------

namespace simt {

/// The dynamic shared memory of the running block: what `extern __shared__ T name[]` becomes.
template <class T>
T* dynamic_shared() {
  return static_cast<T*>(simt_dynamic_shared());
}

/// `<<<grid, block, bytes, stream>>>`
struct LaunchConfig {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes;
  void* stream;
  bool cooperative = false, of_library = false;

  LaunchConfig(dim3 grid_, dim3 block_ = dim3(), std::size_t bytes = 0, void* stream_ = nullptr)
      : grid(grid_), block(block_), dynamic_shared_bytes(bytes), stream(stream_) {}
};

/// A literal 0 among the arguments of a launch: a number, a null pointer or an object made of a number, as
/// the parameter has it.
struct Zero {
  operator int() const { return 0; }
  template <class T>
  operator T*() const {
    return nullptr;
  }
  template <class T>
  requires std::is_class_v<T> && std::is_convertible_v<int, T>
  operator T() const { return 0; }
};
/// Known to no compiler beforehand, as an argument of a kernel is not.
inline int as_number(Zero&) {
  int zero = 0;
  asm("" : "+r"(zero));
  return zero;
}
template <class T>
T& as_number(T& argument) {
  return argument;
}

/// Values in braces among the arguments of a launch: an object of the parameter's type, which is made once.
template <class Make>
struct Braced {
  mutable Make make;
  template <class T>
  operator T() const {
    return make.template operator()<T>();
  }
};
template <class Make>
Braced<Make> braced(Make make) {
  return {make};
}

/// @brief Queues `kernel(arguments...)` for every thread of the grid; in a kernel, for when its grid has
/// ended. Each thread gets its own copy of the arguments through the kernel's parameters.
/// @param function Where the kernel lies; nullptr if only a call tells which one it is.
/// @param by_name Whether the launch names the kernel, and no pointer to it.
template <class Kernel, class... Arguments>
void queue(const char* name, const LaunchConfig& config, const void* function, Kernel kernel,
           std::tuple<Arguments...> arguments, bool by_name = false) {
  static_assert(
      (std::is_copy_constructible_v<Arguments> && ...),
      "a launch copies its arguments, and one of these cannot be copied: pass a pointer to device memory");
  constexpr std::size_t kMostBytes = 32764;  // since CUDA 12.1; before, 4096
  static_assert(
      (sizeof(Arguments) + ... + std::size_t{0}) <= kMostBytes,
      "the arguments of a launch have more than 32,764 bytes, which is more than CUDA passes: pass a "
      "pointer to device memory");
  struct Call {
    Kernel kernel;
    std::tuple<Arguments...> arguments;
  };
  SimtLaunch request{.name = name,
                     .function = function,
                     .by_name = by_name,
                     .grid = {config.grid.x, config.grid.y, config.grid.z},
                     .block = {config.block.x, config.block.y, config.block.z},
                     .dynamic_shared_bytes = config.dynamic_shared_bytes,
                     .stream = config.stream,
                     .invoke =
                         [](void* call) {
                           std::apply(static_cast<Call*>(call)->kernel, static_cast<Call*>(call)->arguments);
                         },
                     .destroy =
                         [](void* call) {
                           static_cast<Call*>(call)->~Call();
                           simt_delete_arguments(call, alignof(Call));
                         },
                     .arguments = nullptr,
                     .arguments_bytes = sizeof(Call),
                     .cooperative = config.cooperative,
                     .of_library = config.of_library};
  if (simt_in_kernel() != 0) {
#ifndef SIMT_PROGRAM
    host_function("the launch of a kernel");
#endif
    // The memory of a thread is its own; the runtime makes a copy where the host's memory is.
    constexpr bool kBytes = (std::is_trivially_copyable_v<Arguments> && ...);
    simt_check(kBytes, "arguments of a launch by a kernel are trivially copyable");
    Call call{kernel, std::move(arguments)};
    request.arguments = &call;
    simt_launch_from_kernel(&request);
  } else {
    request.arguments =
        ::new (simt_new_arguments(sizeof(Call), alignof(Call))) Call{kernel, std::move(arguments)};
    simt_launch(&request);
  }
}

/// A kernel of which the type is known, from `kernel` in `kernel<<<...>>>`.
/// @tparam kByName Whether that is its own name, and no pointer to it.
template <bool kByName, class... Parameters>
struct Known {
  static constexpr bool kIsName = kByName;
  void (*kernel)(Parameters...);

  Known operator()() const { return *this; }  // as a KernelOfName
};
/// Makes that of a function or a pointer to one, and nothing of a set of functions.
struct AsKnown {
  template <bool kByName, class... Parameters>
  static Known<kByName, Parameters...> known(void (*kernel)(Parameters...)) {
    return {kernel};
  }
  template <class Function>
  auto operator()(Function&& kernel) const
      -> decltype(known<std::is_function_v<std::remove_reference_t<Function>>>(kernel)) {
    return {kernel};
  }
};

/// `kernel<<<config>>>`, which waits for its arguments. Which kernel is meant, or what its other parameters
/// are, only a call tells: the arguments are copied now, and converted by that call, as the kernel runs.
template <class Call>
struct LaunchByCall {
  const char* name;
  LaunchConfig config;
  Call call;

  template <class... Args>
  void operator()(const Args&... args) const {
    queue(name, config, nullptr, call, std::tuple<std::decay_t<const Args&>...>{args...});
  }
};

/// The same of a kernel of which the first parameters are known, and the others are not given.
template <class Call, class FirstParameters>
struct LaunchOfFirst;
template <class Call, class... First>
struct LaunchOfFirst<Call, std::tuple<First...>> {
  const LaunchByCall<Call>& by_call;
  const void* function;
  bool by_name;

  void operator()(First... arguments) const {
    queue(by_call.name, by_call.config, function, by_call.call,
          std::tuple<First...>{std::forward<First>(arguments)...}, by_name);
  }
};

/// The types of the first parameters, as std::tuple.
template <class Indices, class... Parameters>
struct FirstOf;
template <std::size_t... kIndex, class... Parameters>
struct FirstOf<std::index_sequence<kIndex...>, Parameters...> {
  using Types = std::tuple<std::tuple_element_t<kIndex, std::tuple<Parameters...>>...>;
};

/// A kernel by its name, of which nothing is compiled before the arguments of a launch fit. Of a template
/// whose first arguments are given, a pack behind them counts as empty here; only a call tells what is in it.
template <class Name>
struct KernelOfName {
  Name name;
  auto operator()() const { return name(AsKnown()); }
};

/// `kernel<<<config>>>`, which waits for its arguments and turns them into the kernel's parameters, as a call
/// of a function does.
/// @tparam Source Gives the Known: a KernelOfName, or the Known itself of a pointer, which is worked out
/// once.
template <class Call, class Source, class... Parameters>
struct LaunchKnown {
  LaunchByCall<Call> by_call;
  Source source;

  /// Has a type of its own for each launch in the text, so that no two share code.
  struct Kernel {
    void (*kernel)(Parameters...);
    void operator()(Parameters&... arguments) const { kernel(arguments...); }
  };

  void operator()(Parameters... arguments) const {
    const auto known = source();
    queue(by_call.name, by_call.config, reinterpret_cast<const void*>(known.kernel), Kernel{known.kernel},
          std::tuple<Parameters...>{std::forward<Parameters>(arguments)...}, known.kIsName);
  }
  /// With parameters that are not given, since they have default arguments.
  template <class... Args>
  requires(sizeof...(Args) < sizeof...(Parameters)) void operator()(Args&&... args) const {
    using First = typename FirstOf<std::make_index_sequence<sizeof...(Args)>, Parameters...>::Types;
    using Launch = LaunchOfFirst<Call, First>;
    if constexpr (std::is_invocable_v<Launch, Args...>) {
      const auto known = source();
      Launch{by_call, reinterpret_cast<const void*>(known.kernel),
             known.kIsName}(std::forward<Args>(args)...);
    } else {
      by_call(args...);  // which does not fit: the compiler says where the call is
    }
  }
  template <class... Args>
  requires(sizeof...(Args) >= sizeof...(Parameters) &&
           !std::is_invocable_v<void (*)(Parameters...), Args...>) void
  operator()(Args&&... args) const {
    by_call(args...);
  }
};

/// The LaunchKnown of that kernel.
template <class Call, class Source, bool kByName, class... Parameters>
auto launch_known(LaunchByCall<Call> by_call, Source source, const Known<kByName, Parameters...>*) {
  return LaunchKnown<Call, Source, Parameters...>{by_call, source};
}

/// Whether the launch of this kernel is a LaunchKnown; see launch().
template <class Kernel>
constexpr std::is_invocable<Kernel, AsKnown> is_known(Kernel) {
  return {};
}

/// @brief Begins `kernel<<<config>>>(...)`.
/// @param kernel Calls its argument with `kernel`, if that can be called with it.
/// @param call   Calls `kernel` with its arguments.
template <class Kernel, class Call>
auto launch(const char* name, const LaunchConfig& config, Kernel kernel, Call call) {
  const LaunchByCall<Call> by_call{name, config, call};
  if constexpr (decltype(is_known(kernel))::value) {
    using Found = decltype(kernel(AsKnown()));
    constexpr const Found* kType = nullptr;
    if constexpr (Found::kIsName)
      return launch_known(by_call, KernelOfName<Kernel>{kernel}, kType);
    else
      return launch_known(by_call, kernel(AsKnown()), kType);
  } else {
    return by_call;
  }
}

}  // namespace simt
