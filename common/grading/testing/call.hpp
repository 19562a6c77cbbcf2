#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "grading/calls/argument.hpp"
#include "grading/calls/session.hpp"
#include "grading/facts/outcome.hpp"
#include "tensor/tensor.hpp"
#include "tensor/view.hpp"

namespace course::grading {

/// An entry of a kernel library, named with the type of the contract's function. Never refers to the function
/// itself.
template <class Function>
struct Entry;

template <class... Parameters>
struct Entry<void(Parameters...)> {
  std::string_view name;
};

/// @brief The entry for a function declared in a contract: ENTRY(vector_add). The function is not linked.
#define ENTRY(function) \
  (::course::grading::Entry<decltype(function)>{::course::grading::detail::last_name(#function)})

/// A tensor handed to an entry, and how.
template <class T, Access kAccess, Place kPlace>
struct Array {
  const Tensor<T>* input;
  Tensor<T>* output;  // nullptr for inputs
  std::string_view name;
};

/// An argument that is nullptr.
struct Null {};

/// @brief Arrays in device memory. `name` is what reports call the array ("c"); without it they say "argument
/// 3". in: the entry must leave it as it is. out: filled with poison first; the result replaces the tensor's
/// elements. inout: starts with the tensor's elements. Gaps of strided tensors must stay as they are. A
/// tensor that is an input twice is one array. Parameter: `const T*` or `View<const T, rank>` for in, `T*` or
/// `View<T, rank>` for the others.
template <class T>
Array<T, Access::in, Place::device> in(const Tensor<T>& tensor, std::string_view name = {}) {
  return {&tensor, nullptr, name};
}
template <class T>
Array<T, Access::out, Place::device> out(Tensor<T>& tensor, std::string_view name = {}) {
  return {&tensor, &tensor, name};
}
template <class T>
Array<T, Access::inout, Place::device> inout(Tensor<T>& tensor, std::string_view name = {}) {
  return {&tensor, &tensor, name};
}

/// @brief The same in host memory, which kernels cannot touch.
template <class T>
Array<T, Access::in, Place::host> host_in(const Tensor<T>& tensor, std::string_view name = {}) {
  return {&tensor, nullptr, name};
}
template <class T>
Array<T, Access::out, Place::host> host_out(Tensor<T>& tensor, std::string_view name = {}) {
  return {&tensor, &tensor, name};
}
template <class T>
Array<T, Access::inout, Place::host> host_inout(Tensor<T>& tensor, std::string_view name = {}) {
  return {&tensor, &tensor, name};
}

/// @brief nullptr, for the cases that check what an entry does with it.
inline Null null() { return {}; }

namespace detail {

template <class P>
struct ParameterOf {
  using Element = void;
  static constexpr bool is_pointer = false, is_view = false;
};
template <class T>
struct ParameterOf<T*> {
  using Element = T;
  static constexpr bool is_pointer = true, is_view = false;
};
template <class T, int kRank>
struct ParameterOf<View<T, kRank>> {
  using Element = T;
  static constexpr bool is_pointer = false, is_view = true;
  static constexpr int rank = kRank;
};

template <class A>
struct IsArray : std::false_type {};
template <class T, Access kAccess, Place kPlace>
struct IsArray<Array<T, kAccess, kPlace>> : std::true_type {};

template <class P, class T, Access kAccess, Place kPlace>
Argument marshal_array(const Array<T, kAccess, kPlace>& array) {
  using Parameter = ParameterOf<P>;
  using Element = typename Parameter::Element;
  static_assert(Parameter::is_pointer || Parameter::is_view,
                "this argument is an array, but the entry's parameter is neither a pointer nor a View");
  static_assert(std::is_void_v<Element> || std::is_same_v<std::remove_const_t<Element>, T>,
                "the tensor's element type is not the one that the entry's parameter points to");
  static_assert(
      kAccess != Access::in || std::is_const_v<Element>,
      "in(tensor) needs a parameter that points to const; use out() or inout() for what the entry writes");
  static_assert(kAccess == Access::in || !std::is_const_v<Element>,
                "the entry's parameter points to const: hand the tensor over with in() or host_in()");
  static_assert(!Parameter::is_view || kPlace == Place::device,
                "a View describes device memory: use in/out/inout");

  Argument argument;
  argument.array = describe(array.name, kAccess, kPlace, *array.input, array.output);
  if constexpr (Parameter::is_view) {
    const Tensor<T>& tensor = *array.input;
    if (tensor.rank() != Parameter::rank)
      throw std::invalid_argument("a tensor of rank " + std::to_string(tensor.rank()) +
                                  " was handed to a View of rank " + std::to_string(Parameter::rank));
    View<Element, Parameter::rank> view{};
    static_assert(offsetof(decltype(view), data) == 0,
                  "the worker patches the pointer at the start of a View");
    for (std::size_t axis = 0; axis < std::size_t{Parameter::rank}; ++axis) {
      view.shape[axis] = tensor.shape()[axis];
      view.strides[axis] = tensor.strides()[axis];
    }
    argument.bytes = bytes_of(view);
  } else {
    argument.bytes = bytes_of(static_cast<void*>(nullptr));
  }
  return argument;
}

template <class P, class A>
Argument marshal(const A& value) {
  if constexpr (IsArray<A>::value) {
    return marshal_array<P>(value);
  } else if constexpr (std::is_same_v<A, Null>) {
    static_assert(std::is_pointer_v<P>, "null() fits only a parameter that is a pointer");
    return Argument{bytes_of(static_cast<void*>(nullptr)), {}};
  } else {
    static_assert(
        std::is_arithmetic_v<P>,
        "the entry's parameter is a pointer or a View: use in(), out(), inout(), host_in() ... or null()");
    static_assert(!std::is_arithmetic_v<P> || std::is_arithmetic_v<A>,
                  "the entry's parameter is a number, and so must the argument be");
    static_assert(!(std::is_integral_v<P> && std::is_floating_point_v<A>),
                  "a floating-point argument would be cut off by the entry's integer parameter");
    const P converted = static_cast<P>(value);
    if constexpr (std::is_integral_v<P> && std::is_integral_v<A>) {
      if (static_cast<A>(converted) != value || (converted < P{}) != (value < A{}))
        throw std::invalid_argument("the argument " + std::to_string(value) +
                                    " does not fit the type of the entry's parameter");
    }
    return Argument{bytes_of(converted), {}};
  }
}

/// Session::invoke(). If this machine cannot make the call, the current case says that it is not the code's
/// fault.
Outcome invoke(Session& session, std::string_view entry, std::string_view signature,
               const std::vector<Argument>& arguments, const CallOptions& options);

}  // namespace detail

/// @brief Calls an entry of the kernel library in a worker process and waits for it.
/// Every argument is checked against its parameter at compile time. Outputs are written back into their
/// tensors; if the call did not come back they hold poison. Cost: copies every array to the worker and,
/// checked, back; about 1 ms for small arrays.
/// @throws std::invalid_argument for a scalar or rank that does not fit; MachineError if no worker can be
/// started.
template <class... Parameters, class... Arguments>
Outcome call_in(Session& session, const CallOptions& options, Entry<void(Parameters...)> entry,
                const Arguments&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "this call has a different number of arguments than the entry has parameters");
  std::vector<Argument> list;
  if constexpr (sizeof...(Parameters) == sizeof...(Arguments)) {
    list.reserve(sizeof...(Arguments));
    (list.push_back(detail::marshal<Parameters>(arguments)), ...);
  }
  return detail::invoke(session, entry.name, typeid(void(Parameters...)).name(), list, options);
}

/// @brief call_in() the session of this test executable.
template <class Function, class... Arguments>
Outcome call_with(const CallOptions& options, Entry<Function> entry, const Arguments&... arguments) {
  return call_in(default_session(), options, entry, arguments...);
}

/// @brief call_with() default options.
template <class Function, class... Arguments>
Outcome call(Entry<Function> entry, const Arguments&... arguments) {
  return call_in(default_session(), CallOptions{}, entry, arguments...);
}

}  // namespace course::grading
