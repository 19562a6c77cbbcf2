#pragma once
// Thrust, as far as the simulator has it: vectors, iterators and algorithms. An algorithm on the device is a
// launch of one thread that works through its range from the first element to the last, so that functors run
// as device code and check mode judges what they touch.

#include "simt_library.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "cuda/functional"
#include "cuda_runtime.h"

namespace thrust {

class system_error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
namespace system {
using thrust::system_error;
}

// --- Functions

using cuda::maximum;
using cuda::minimum;
using std::bit_and, std::bit_or, std::bit_xor, std::divides, std::equal_to, std::greater, std::greater_equal,
    std::less, std::less_equal, std::logical_and, std::logical_not, std::logical_or, std::minus, std::modulus,
    std::multiplies, std::negate, std::not_equal_to, std::plus;
using std::get, std::make_pair, std::make_tuple, std::pair, std::swap, std::tie, std::tuple,
    std::tuple_element, std::tuple_size;
template <class T = void>
struct identity {
  template <class U>
  constexpr U operator()(const U& x) const {
    return x;
  }
};
template <class T = void>
struct square {
  template <class U>
  constexpr U operator()(const U& x) const {
    return x * x;
  }
};
// --- Where an algorithm runs

struct HostSystem {
  template <class Work>
  void run(Work work) const {
    work();
  }
};
struct DeviceSystem {
  cudaStream_t stream = nullptr;
  DeviceSystem on(cudaStream_t other) const { return {other}; }
  static void check(cudaError_t error) {
    if (error != cudaSuccess) throw system_error(std::string("Thrust: ") + cudaGetErrorString(error));
  }
  template <class Work>
  void run(Work work) const {
    simt::LaunchConfig config(1, 1, 0, stream);
    config.of_library = true;
    simt::queue(
        "a Thrust algorithm", config, nullptr, [](Work one) { one(); }, std::tuple<Work>{work});
    check(cudaGetLastError());
    check(cudaStreamSynchronize(stream));
  }
};
inline constexpr HostSystem host{}, seq{};
inline constexpr DeviceSystem device{};
namespace cuda {
inline constexpr DeviceSystem par{}, par_nosync{};
}

// --- Pointers to device memory

template <class T>
class device_ptr;

/// An element of device memory, for host code: each use is a copy.
template <class T>
class device_reference {
 public:
  using value_type = std::remove_const_t<T>;
  explicit device_reference(T* at) : at_(at) {}
  device_reference(const device_reference&) = default;
  operator value_type() const {
    value_type value;
    DeviceSystem::check(cudaMemcpy(&value, at_, sizeof(T), cudaMemcpyDeviceToHost));
    return value;
  }
  device_reference& operator=(const value_type& value) {
    DeviceSystem::check(cudaMemcpy(at_, &value, sizeof(T), cudaMemcpyHostToDevice));
    return *this;
  }
  device_reference& operator=(const device_reference& other) {
    return *this = static_cast<value_type>(other);
  }
#define SIMT_REFERENCE_OPERATOR(op)                                     \
  device_reference& operator op##=(const value_type& value) {           \
    return *this = static_cast<value_type>(value_type(*this) op value); \
  }
  SIMT_REFERENCE_OPERATOR(+)
  SIMT_REFERENCE_OPERATOR(-)
  SIMT_REFERENCE_OPERATOR(*)
  SIMT_REFERENCE_OPERATOR(/)
#undef SIMT_REFERENCE_OPERATOR
  device_ptr<T> operator&() const { return device_ptr<T>(at_); }
  device_reference& operator++() { return *this += 1; }
  device_reference& operator--() { return *this -= 1; }

 private:
  T* at_;
};

/// What iterators have in common that know their n-th element.
template <class Self, class Value, class Reference>
struct IteratorBase {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Value;
  using difference_type = std::ptrdiff_t;
  using reference = Reference;
  using pointer = void;
  friend Self operator+(Self a, difference_type n) { return a += n; }
  friend Self operator+(difference_type n, Self a) { return a += n; }
  friend Self operator-(Self a, difference_type n) { return a += -n; }
  friend Self& operator-=(Self& a, difference_type n) { return a += -n; }
  friend Self& operator++(Self& a) { return a += 1; }
  friend Self& operator--(Self& a) { return a += -1; }
  friend Self operator++(Self& a, int) {
    const Self before = a;
    a += 1;
    return before;
  }
  friend bool operator==(const Self& a, const Self& b) { return a - b == 0; }
  friend bool operator!=(const Self& a, const Self& b) { return a - b != 0; }
  friend bool operator<(const Self& a, const Self& b) { return a - b < 0; }
  Reference operator[](difference_type n) const { return *(static_cast<const Self&>(*this) + n); }
};

template <class T>
class device_ptr : public IteratorBase<device_ptr<T>, std::remove_const_t<T>, device_reference<T> > {
 public:
  device_ptr() = default;
  explicit device_ptr(T* at) : at_(at) {}
  template <class U, std::enable_if_t<std::is_convertible_v<U*, T*>, int> = 0>
  device_ptr(const device_ptr<U>& other) : at_(other.get()) {}
  T* get() const { return at_; }
  device_reference<T> operator*() const { return device_reference<T>(at_); }
  device_ptr& operator+=(std::ptrdiff_t n) {
    at_ += n;
    return *this;
  }
  friend std::ptrdiff_t operator-(const device_ptr& a, const device_ptr& b) { return a.at_ - b.at_; }

 private:
  T* at_ = nullptr;
};
/// Memory of no type: no elements, and so no arithmetic.
template <>
class device_ptr<void> {
 public:
  device_ptr() = default;
  explicit device_ptr(void* at) : at_(at) {}
  template <class T>
  device_ptr(const device_ptr<T>& other) : at_(other.get()) {}
  void* get() const { return at_; }

 private:
  void* at_ = nullptr;
};
template <class T>
T* raw_pointer_cast(device_ptr<T> pointer) {
  return pointer.get();
}
template <class T>
T* raw_pointer_cast(T* pointer) {
  return pointer;
}
template <class T>
device_ptr<T> device_pointer_cast(T* pointer) {
  return device_ptr<T>(pointer);
}
template <class T>
device_ptr<T> device_malloc(std::size_t n) {
  void* memory = nullptr;
  DeviceSystem::check(cudaMalloc(&memory, n * sizeof(T)));
  return device_ptr<T>(static_cast<T*>(memory));
}
inline device_ptr<void> device_malloc(std::size_t bytes) { return device_malloc<char>(bytes); }
template <class T>
void device_free(device_ptr<T> pointer) {
  DeviceSystem::check(cudaFree(pointer.get()));
}

/// The numbers from `first` on, which lie in no memory.
template <class T>
struct counting_iterator : IteratorBase<counting_iterator<T>, T, T> {
  T first{};
  std::ptrdiff_t at = 0;
  counting_iterator() = default;
  explicit counting_iterator(T x) : first(x) {}
  T operator*() const { return static_cast<T>(first + static_cast<T>(at)); }
  counting_iterator& operator+=(std::ptrdiff_t n) {
    at += n;
    return *this;
  }
  friend std::ptrdiff_t operator-(const counting_iterator& a, const counting_iterator& b) {
    return static_cast<std::ptrdiff_t>(a.first - b.first) + (a.at - b.at);
  }
};
template <class T>
counting_iterator<T> make_counting_iterator(T x) {
  return counting_iterator<T>(x);
}

/// Takes whatever is assigned, and keeps nothing.
struct Nothing {
  template <class T>
  const Nothing& operator=(const T&) const {
    return *this;
  }
};
struct discard_iterator : IteratorBase<discard_iterator, Nothing, Nothing> {
  std::ptrdiff_t at = 0;
  Nothing operator*() const { return {}; }
  discard_iterator& operator+=(std::ptrdiff_t n) {
    at += n;
    return *this;
  }
  friend std::ptrdiff_t operator-(const discard_iterator& a, const discard_iterator& b) {
    return a.at - b.at;
  }
};
inline discard_iterator make_discard_iterator() { return {}; }

/// What `f` makes of the elements of a range.
template <class F, class I>
class transform_iterator
    : public IteratorBase<
          transform_iterator<F, I>,
          std::decay_t<std::invoke_result_t<F, typename std::iterator_traits<I>::value_type> >,
          std::invoke_result_t<F, typename std::iterator_traits<I>::value_type> > {
 public:
  transform_iterator(I iterator, F f) : iterator_(iterator), f_(f) {}
  const I& base() const { return iterator_; }
  const F& functor() const { return f_; }
  auto operator*() const { return f_(*iterator_); }
  transform_iterator& operator+=(std::ptrdiff_t n) {
    iterator_ += n;
    return *this;
  }
  friend std::ptrdiff_t operator-(const transform_iterator& a, const transform_iterator& b) {
    return a.iterator_ - b.iterator_;
  }

 private:
  I iterator_;
  F f_;
};
template <class I, class F>
transform_iterator<F, I> make_transform_iterator(I iterator, F f) {
  return {iterator, f};
}

/// Several ranges side by side: an element is a tuple, of references where the ranges have such.
template <class Iterators>
class zip_iterator;
template <class... I>
class zip_iterator<tuple<I...> >
    : public IteratorBase<zip_iterator<tuple<I...> >, tuple<typename std::iterator_traits<I>::value_type...>,
                          tuple<decltype(*std::declval<const I&>())...> > {
 public:
  using Reference = tuple<decltype(*std::declval<const I&>())...>;
  zip_iterator() = default;
  zip_iterator(const tuple<I...>& iterators) : iterators_(iterators) {}
  const tuple<I...>& get_iterator_tuple() const { return iterators_; }
  Reference operator*() const {
    return std::apply([](const I&... one) { return Reference(*one...); }, iterators_);
  }
  zip_iterator& operator+=(std::ptrdiff_t n) {
    std::apply([n](I&... one) { (static_cast<void>(one += n), ...); }, iterators_);
    return *this;
  }
  friend std::ptrdiff_t operator-(const zip_iterator& a, const zip_iterator& b) {
    return std::get<0>(a.iterators_) - std::get<0>(b.iterators_);
  }

 private:
  tuple<I...> iterators_;
};
template <class... I>
zip_iterator<tuple<I...> > make_zip_iterator(const tuple<I...>& iterators) {
  return iterators;
}
template <class... I>
zip_iterator<tuple<I...> > make_zip_iterator(I... iterators) {
  return tuple<I...>(iterators...);
}

}  // namespace thrust

namespace simt::parts_of_thrust {

using thrust::DeviceSystem, thrust::HostSystem;

/// An iterator as the device has it: device_ptr is a pointer there.
template <class I>
I raw(I iterator) {
  return iterator;
}
template <class T>
T* raw(thrust::device_ptr<T> pointer) {
  return pointer.get();
}
template <class F, class I>
auto raw(const thrust::transform_iterator<F, I>& transformed) {
  return thrust::make_transform_iterator(raw(transformed.base()), transformed.functor());
}
template <class... I>
auto raw(const thrust::zip_iterator<std::tuple<I...> >& zipped) {
  return std::apply([](const I&... one) { return thrust::make_zip_iterator(std::make_tuple(raw(one)...)); },
                    zipped.get_iterator_tuple());
}
template <class T>
constexpr bool is_on_device = false;
template <class T>
constexpr bool is_on_device<thrust::device_ptr<T> > = true;
template <class F, class I>
constexpr bool is_on_device<thrust::transform_iterator<F, I> > = is_on_device<I>;
template <class... I>
constexpr bool is_on_device<thrust::zip_iterator<std::tuple<I...> > > = (is_on_device<I> || ...);
template <class T>
constexpr bool is_system = std::is_same_v<T, DeviceSystem> || std::is_same_v<T, HostSystem>;

/// Device memory that an algorithm needs for a while; on the host, memory of the host.
template <class T, class System>
class Temporary {
 public:
  explicit Temporary(std::size_t n) : memory_(static_cast<T*>(allocate(n * sizeof(T)))) {}
  ~Temporary() { kDevice ? static_cast<void>(cudaFree(memory_)) : ::operator delete(memory_); }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  T* get() const { return memory_; }
  T value() const {
    if constexpr (kDevice) return thrust::device_reference<T>(memory_);
    return *memory_;
  }

 private:
  static constexpr bool kDevice = std::is_same_v<System, DeviceSystem>;
  static void* allocate(std::size_t bytes) {
    if constexpr (kDevice) return thrust::device_malloc<char>(bytes).get();
    return ::operator new(bytes);
  }
  T* memory_;
};

/// What `work` returns, computed where the algorithm runs.
template <class System, class Work>
auto compute(const System& system, Work work) {
  using T = std::decay_t<decltype(work())>;
  const Temporary<T, System> result(1);
  system.run([work, at = result.get()]() mutable { ::new (static_cast<void*>(at)) T(work()); });
  return result.value();
}

/// Calls an algorithm with the system that its first argument is or that its iterators ask for.
template <class Algorithm, class First, class... Rest>
auto dispatch(const Algorithm& algorithm, First first, Rest... rest) {
  if constexpr (is_system<First>)
    return algorithm(first, rest...);
  else if constexpr (is_on_device<First> || (is_on_device<Rest> || ...))
    return algorithm(DeviceSystem{}, first, rest...);
  else
    return algorithm(HostSystem{}, first, rest...);
}

}  // namespace simt::parts_of_thrust

namespace thrust {

template <class T>
class device_vector;

template <class T>
class host_vector : public std::vector<T> {
 public:
  using std::vector<T>::vector;
  host_vector(const std::vector<T>& other) : std::vector<T>(other) {}
  host_vector(const device_vector<T>& other) : std::vector<T>(other.size()) { other.download(this->data()); }
  host_vector& operator=(const device_vector<T>& other) { return *this = host_vector(other); }
};

/// A vector whose elements are in device memory, for types that may be copied as bytes.
template <class T>
class device_vector {
  static_assert(std::is_trivially_copyable_v<T>,
                "the simulator's device_vector copies its elements as bytes");

 public:
  using value_type = T;
  using iterator = device_ptr<T>;
  using const_iterator = device_ptr<const T>;
  using reference = device_reference<T>;

  device_vector() = default;
  explicit device_vector(std::size_t n, const T& value = T()) { resize(n, value); }
  device_vector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  device_vector(const std::vector<T>& values) { assign(values.begin(), values.end()); }
  device_vector(const device_vector& other) { assign(other.begin(), other.end()); }
  device_vector(device_vector&& other) noexcept { swap(other); }
  template <class I, class = typename std::iterator_traits<I>::iterator_category>
  device_vector(I first, I last) {
    assign(first, last);
  }
  ~device_vector() { cudaFree(memory_); }
  device_vector& operator=(device_vector other) noexcept {
    swap(other);
    return *this;
  }

  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  bool empty() const { return size_ == 0; }
  iterator begin() { return iterator(memory_); }
  iterator end() { return begin() + static_cast<std::ptrdiff_t>(size_); }
  const_iterator begin() const { return const_iterator(memory_); }
  const_iterator end() const { return begin() + static_cast<std::ptrdiff_t>(size_); }
  const_iterator cbegin() const { return begin(); }
  const_iterator cend() const { return end(); }
  iterator data() { return begin(); }
  const_iterator data() const { return begin(); }
  device_reference<T> operator[](std::size_t i) { return device_reference<T>(memory_ + i); }
  T operator[](std::size_t i) const { return device_reference<T>(memory_ + i); }
  device_reference<T> front() { return (*this)[0]; }
  device_reference<T> back() { return (*this)[size_ - 1]; }

  void reserve(std::size_t n) {
    if (n <= capacity_) return;
    T* const memory = device_malloc<T>(n).get();
    DeviceSystem::check(cudaMemcpy(memory, memory_, size_ * sizeof(T), cudaMemcpyDeviceToDevice));
    DeviceSystem::check(cudaFree(std::exchange(memory_, memory)));
    capacity_ = n;
  }
  void resize(std::size_t n, const T& value = T()) {
    reserve(n);
    if (n > size_) upload(std::vector<T>(n - size_, value).data(), size_, n - size_);
    size_ = n;
  }
  void clear() { size_ = 0; }
  void push_back(const T& value) {
    if (size_ == capacity_) reserve(2 * size_ + 1);
    upload(&value, size_++, 1);
  }
  template <class I>
  void assign(I first, I last) {
    const auto n = static_cast<std::size_t>(last - first);
    reserve(n);
    if constexpr (simt::parts_of_thrust::is_on_device<I>) {
      if constexpr (std::is_same_v<typename std::iterator_traits<I>::value_type, T>)
        DeviceSystem::check(cudaMemcpy(memory_, first.get(), n * sizeof(T), cudaMemcpyDeviceToDevice));
      else
        DeviceSystem().run([=, from = first.get(), to = memory_] {
          for (std::size_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
        });
    } else {
      upload(std::vector<T>(first, last).data(), 0, n);
    }
    size_ = n;
  }
  void download(T* to) const {
    DeviceSystem::check(cudaMemcpy(to, memory_, size_ * sizeof(T), cudaMemcpyDeviceToHost));
  }
  void swap(device_vector& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(size_, other.size_), std::swap(capacity_, other.capacity_);
  }

 private:
  void upload(const T* from, std::size_t at, std::size_t n) {
    DeviceSystem::check(cudaMemcpy(memory_ + at, from, n * sizeof(T), cudaMemcpyHostToDevice));
  }
  T* memory_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace thrust

namespace simt::parts_of_thrust {

template <class I>
using value_of = typename std::iterator_traits<I>::value_type;

struct ForEach {
  template <class S, class I, class F>
  I operator()(const S& system, I first, I last, F f) const {
    system.run([from = raw(first), n = last - first, f]() mutable {
      for (std::ptrdiff_t i = 0; i < n; ++i) f(from[i]);
    });
    return last;
  }
};
struct Fill {
  template <class S, class I, class T>
  void operator()(const S& system, I first, I last, const T& value) const {
    system.run([to = raw(first), n = last - first, value] {
      for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = value;
    });
  }
};
struct Generate {
  template <class S, class I, class F>
  void operator()(const S& system, I first, I last, F f) const {
    system.run([to = raw(first), n = last - first, f]() mutable {
      for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = f();
    });
  }
};
struct Sequence {
  template <class S, class I, class T = value_of<I> >
  void operator()(const S& system, I first, I last, T begin = T(0), T step = T(1)) const {
    system.run([to = raw(first), n = last - first, begin, step] {
      for (std::ptrdiff_t i = 0; i < n; ++i)
        to[i] = static_cast<value_of<I> >(begin + static_cast<T>(i) * step);
    });
  }
};
/// Between host and device, bytes are copied; `out` is a pointer there, or both have the same type of
/// elements.
struct Copy {
  template <class S, class I, class O>
  O operator()(const S& system, I first, I last, O out) const {
    const std::ptrdiff_t n = last - first;
    using T = value_of<I>;
    if constexpr (std::is_same_v<S, DeviceSystem> && is_on_device<O> && !is_on_device<I>) {
      const std::vector<value_of<O> > values(first, last);
      DeviceSystem::check(
          cudaMemcpy(out.get(), values.data(), values.size() * sizeof(value_of<O>), cudaMemcpyDefault));
    } else if constexpr (std::is_same_v<S, DeviceSystem> && is_on_device<I> && !is_on_device<O>) {
      std::vector<T> values(static_cast<std::size_t>(n));
      DeviceSystem::check(
          cudaMemcpy(values.data(), first.get(), values.size() * sizeof(T), cudaMemcpyDefault));
      std::copy(values.begin(), values.end(), out);
    } else {
      system.run([from = raw(first), to = raw(out), n] {
        for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = from[i];
      });
    }
    return out + n;
  }
};
struct CopyIf {
  template <class S, class I, class O, class F>
  O operator()(const S& system, I first, I last, O out, F f) const {
    return (*this)(system, first, last, first, out, f);
  }
  /// Those whose neighbour in `stencil` is wanted.
  template <class S, class I, class J, class O, class F>
  O operator()(const S& system, I first, I last, J stencil, O out, F f) const {
    return out + compute(system, [from = raw(first), wanted = raw(stencil), to = raw(out), n = last - first,
                                  f]() mutable {
             std::ptrdiff_t count = 0;
             for (std::ptrdiff_t i = 0; i < n; ++i)
               if (f(wanted[i])) to[count++] = from[i];
             return count;
           });
  }
};
struct FindIf {
  template <class S, class I, class F>
  I operator()(const S& system, I first, I last, F f) const {
    return first + compute(system, [from = raw(first), n = last - first, f]() mutable {
             std::ptrdiff_t i = 0;
             while (i < n && !f(from[i])) ++i;
             return i;
           });
  }
};
struct Find {
  template <class S, class I, class T>
  I operator()(const S& system, I first, I last, const T& value) const {
    return FindIf()(system, first, last, [value](const value_of<I>& x) { return x == value; });
  }
};
struct Transform {
  template <class S, class I, class O, class F>
  O operator()(const S& system, I first, I last, O out, F f) const {
    const std::ptrdiff_t n = last - first;
    system.run([from = raw(first), to = raw(out), n, f]() mutable {
      for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = f(from[i]);
    });
    return out + n;
  }
  template <class S, class I, class J, class O, class F>
  O operator()(const S& system, I first, I last, J second, O out, F f) const {
    const std::ptrdiff_t n = last - first;
    system.run([a = raw(first), b = raw(second), to = raw(out), n, f]() mutable {
      for (std::ptrdiff_t i = 0; i < n; ++i) to[i] = f(a[i], b[i]);
    });
    return out + n;
  }
};
struct TransformReduce {
  template <class S, class I, class F, class T, class Op>
  T operator()(const S& system, I first, I last, F f, T initial, Op op) const {
    return compute(system, [from = raw(first), n = last - first, f, initial, op]() mutable {
      T sum = initial;
      for (std::ptrdiff_t i = 0; i < n; ++i) sum = op(sum, f(from[i]));
      return sum;
    });
  }
};
struct Reduce {
  template <class S, class I, class T = value_of<I>, class Op = std::plus<> >
  T operator()(const S& system, I first, I last, T initial = T{}, Op op = {}) const {
    return TransformReduce()(system, first, last, thrust::identity<>(), initial, op);
  }
};
struct InnerProduct {
  template <class S, class I, class J, class T, class Sum = std::plus<>, class Product = std::multiplies<> >
  T operator()(const S& system, I first, I last, J second, T initial, Sum sum = {},
               Product product = {}) const {
    return compute(system,
                   [a = raw(first), b = raw(second), n = last - first, initial, sum, product]() mutable {
                     T result = initial;
                     for (std::ptrdiff_t i = 0; i < n; ++i) result = sum(result, product(a[i], b[i]));
                     return result;
                   });
  }
};
struct CountIf {
  template <class S, class I, class F>
  std::ptrdiff_t operator()(const S& system, I first, I last, F f) const {
    return compute(system, [from = raw(first), n = last - first, f]() mutable {
      std::ptrdiff_t count = 0;
      for (std::ptrdiff_t i = 0; i < n; ++i) count += f(from[i]) ? 1 : 0;
      return count;
    });
  }
};
struct Count {
  template <class S, class I, class T>
  std::ptrdiff_t operator()(const S& system, I first, I last, const T& value) const {
    return CountIf()(system, first, last, [value](const value_of<I>& x) { return x == value; });
  }
};
struct IsSorted {
  template <class S, class I, class Less = std::less<> >
  bool operator()(const S& system, I first, I last, Less less = {}) const {
    return compute(system, [from = raw(first), n = last - first, less]() mutable {
      for (std::ptrdiff_t i = 1; i < n; ++i)
        if (less(from[i], from[i - 1])) return false;
      return true;
    });
  }
};
/// The first element before which no other comes.
struct MinElement {
  template <class S, class I, class Less = std::less<> >
  I operator()(const S& system, I first, I last, Less less = {}) const {
    return first + compute(system, [from = raw(first), n = last - first, less]() mutable {
             std::ptrdiff_t best = 0;
             for (std::ptrdiff_t i = 1; i < n; ++i)
               if (less(from[i], from[best])) best = i;
             return best;
           });
  }
};
struct MaxElement {
  template <class S, class I, class Less = std::less<> >
  I operator()(const S& system, I first, I last, Less less = {}) const {
    return MinElement()(system, first, last,
                        [less](const value_of<I>& a, const value_of<I>& b) mutable { return less(b, a); });
  }
};
struct InclusiveScan {
  template <class S, class I, class O, class Op = std::plus<> >
  O operator()(const S& system, I first, I last, O out, Op op = {}) const {
    const std::ptrdiff_t n = last - first;
    system.run([from = raw(first), to = raw(out), n, op]() mutable {
      if (n == 0) return;
      value_of<I> sum = from[0];
      to[0] = sum;
      for (std::ptrdiff_t i = 1; i < n; ++i) to[i] = sum = op(sum, from[i]);
    });
    return out + n;
  }
};
/// Equal keys beside each other are one segment, over which the values are summed.
struct InclusiveScanByKey {
  template <class S, class I, class J, class O, class Equal = std::equal_to<>, class Op = std::plus<> >
  O operator()(const S& system, I first, I last, J values, O out, Equal equal = {}, Op op = {}) const {
    const std::ptrdiff_t n = last - first;
    system.run([key = raw(first), from = raw(values), to = raw(out), n, equal, op]() mutable {
      if (n == 0) return;
      value_of<J> sum = from[0];
      to[0] = sum;
      for (std::ptrdiff_t i = 1; i < n; ++i) {
        if (equal(key[i - 1], key[i]))
          sum = op(sum, from[i]);
        else
          sum = from[i];
        to[i] = sum;
      }
    });
    return out + n;
  }
};
struct ReduceByKey {
  template <class S, class I, class J, class K, class O, class Equal = std::equal_to<>,
            class Op = std::plus<> >
  std::pair<K, O> operator()(const S& system, I first, I last, J values, K keys_out, O out, Equal equal = {},
                             Op op = {}) const {
    const std::ptrdiff_t segments =
        compute(system, [key = raw(first), from = raw(values), to_key = raw(keys_out), to = raw(out),
                         n = last - first, equal, op]() mutable {
          std::ptrdiff_t count = 0;
          for (std::ptrdiff_t i = 0; i < n; ++count) {
            value_of<J> sum = from[i];
            to_key[count] = key[i];
            for (++i; i < n && equal(key[i - 1], key[i]); ++i) sum = op(sum, from[i]);
            to[count] = sum;
          }
          return count;
        });
    return {keys_out + segments, out + segments};
  }
};
/// Of each segment, the first key and its value.
struct UniqueByKeyCopy {
  template <class S, class I, class J, class K, class O, class Equal = std::equal_to<> >
  std::pair<K, O> operator()(const S& system, I first, I last, J values, K keys_out, O out,
                             Equal equal = {}) const {
    return ReduceByKey()(system, first, last, values, keys_out, out, equal,
                         [](const value_of<J>& a, const value_of<J>&) { return a; });
  }
};
/// The first element, then what `op` makes of each and the one before it.
struct AdjacentDifference {
  template <class S, class I, class O, class Op = std::minus<> >
  O operator()(const S& system, I first, I last, O out, Op op = {}) const {
    const std::ptrdiff_t n = last - first;
    system.run([from = raw(first), to = raw(out), n, op]() mutable {
      if (n == 0) return;
      value_of<I> before = from[0];
      to[0] = before;
      for (std::ptrdiff_t i = 1; i < n; ++i) {
        const value_of<I> x = from[i];  // in place, too
        to[i] = op(x, before);
        before = x;
      }
    });
    return out + n;
  }
};
struct ExclusiveScan {
  template <class S, class I, class O, class T = value_of<I>, class Op = std::plus<> >
  O operator()(const S& system, I first, I last, O out, T initial = T{}, Op op = {}) const {
    const std::ptrdiff_t n = last - first;
    system.run([from = raw(first), to = raw(out), n, sum = initial, op]() mutable {
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        const T before = sum;
        sum = op(sum, from[i]);  // in place, too
        to[i] = before;
      }
    });
    return out + n;
  }
};

/// A merge sort, from runs of one element on. Values, if any, move with their keys.
struct SortByKey {
  template <class S, class I, class J, class Less = std::less<> >
  void operator()(const S& system, I first, I last, J values, Less less = {}) const {
    const std::ptrdiff_t n = last - first;
    const Temporary<value_of<I>, S> keys(static_cast<std::size_t>(n));
    const Temporary<value_of<J>, S> moved(static_cast<std::size_t>(n));
    system.run([key = raw(first), value = raw(values), k = keys.get(), v = moved.get(), n, less]() mutable {
      for (std::ptrdiff_t run = 1; run < n; run *= 2) {
        for (std::ptrdiff_t begin = 0; begin < n; begin += 2 * run) {
          const std::ptrdiff_t middle = std::ptrdiff_t(n - begin < run ? n : begin + run);
          const std::ptrdiff_t end = n - begin < 2 * run ? n : begin + 2 * run;
          for (std::ptrdiff_t a = begin, b = middle, to = begin; to < end; ++to) {
            const std::ptrdiff_t from = a == middle || (b < end && less(key[b], key[a])) ? b++ : a++;
            k[to] = key[from];
            v[to] = value[from];
          }
        }
        for (std::ptrdiff_t i = 0; i < n; ++i) key[i] = k[i], value[i] = v[i];
      }
    });
  }
};
struct Sort {
  template <class S, class I, class Less = std::less<> >
  void operator()(const S& system, I first, I last, Less less = {}) const {
    SortByKey()(system, first, last, thrust::discard_iterator(), less);
  }
};

}  // namespace simt::parts_of_thrust

namespace thrust {

#define SIMT_THRUST_ALGORITHM(name, Algorithm)                                        \
  template <class... A>                                                               \
  auto name(A... a) {                                                                 \
    return simt::parts_of_thrust::dispatch(simt::parts_of_thrust::Algorithm(), a...); \
  }
SIMT_THRUST_ALGORITHM(for_each, ForEach)
SIMT_THRUST_ALGORITHM(fill, Fill)
SIMT_THRUST_ALGORITHM(generate, Generate)
SIMT_THRUST_ALGORITHM(sequence, Sequence)
SIMT_THRUST_ALGORITHM(is_sorted, IsSorted)
SIMT_THRUST_ALGORITHM(copy, Copy)
SIMT_THRUST_ALGORITHM(copy_if, CopyIf)
SIMT_THRUST_ALGORITHM(find, Find)
SIMT_THRUST_ALGORITHM(find_if, FindIf)
SIMT_THRUST_ALGORITHM(transform, Transform)
SIMT_THRUST_ALGORITHM(transform_reduce, TransformReduce)
SIMT_THRUST_ALGORITHM(reduce, Reduce)
SIMT_THRUST_ALGORITHM(inner_product, InnerProduct)
SIMT_THRUST_ALGORITHM(count, Count)
SIMT_THRUST_ALGORITHM(count_if, CountIf)
SIMT_THRUST_ALGORITHM(min_element, MinElement)
SIMT_THRUST_ALGORITHM(max_element, MaxElement)
SIMT_THRUST_ALGORITHM(inclusive_scan, InclusiveScan)
SIMT_THRUST_ALGORITHM(exclusive_scan, ExclusiveScan)
SIMT_THRUST_ALGORITHM(inclusive_scan_by_key, InclusiveScanByKey)
SIMT_THRUST_ALGORITHM(reduce_by_key, ReduceByKey)
SIMT_THRUST_ALGORITHM(unique_by_key_copy, UniqueByKeyCopy)
SIMT_THRUST_ALGORITHM(adjacent_difference, AdjacentDifference)
SIMT_THRUST_ALGORITHM(sort, Sort)
SIMT_THRUST_ALGORITHM(stable_sort, Sort)
SIMT_THRUST_ALGORITHM(sort_by_key, SortByKey)
SIMT_THRUST_ALGORITHM(stable_sort_by_key, SortByKey)
#undef SIMT_THRUST_ALGORITHM

}  // namespace thrust
