// Rewritten files go through a real compiler, against a stand-in for the simulator's header.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "support.hpp"
#include "support/temporary_folder.hpp"

namespace fs = std::filesystem;
using course::test::TemporaryFolder;
using simt::test::read, simt::test::write;

namespace {

const fs::path kTests = SIMT_REWRITER_TESTS;  // this folder

std::ptrdiff_t lines_in(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

/// Runs the compiler in the folder and returns what it said; nothing if it was content.
std::string compile(const TemporaryFolder& folder, const std::string& arguments) {
  const std::string command = "cd '" + folder.path().string() +
                              "' && '" SIMT_REWRITER_COMPILER "' -std=c++20 -I'" +
                              (kTests / "standin").string() + "' " + arguments + " >compiler.log 2>&1";
  const int status = std::system(command.c_str());
  return status == 0 ? "" : "status " + std::to_string(status) + "\n" + read(folder / "compiler.log");
}

/// Fills in the number of the line for each '@'.
std::string number_lines(const std::string& pattern) {
  std::string source;
  int line = 1;
  for (const char c : pattern) {
    if (c == '@') {
      source += std::to_string(line);
    } else {
      source += c;
    }
    if (c == '\n') ++line;
  }
  return source;
}

}  // namespace

TEST_CASE("a rewritten program runs its kernels and knows their names", "[rewriter][compile]") {
  const TemporaryFolder folder;
  const std::string source = R"cuda(
#include <cuda_runtime.h>
#include <string>

static int sum = 0;
static bool ok = true;
static void expect(const char* name, int wanted) {
  ok = ok && std::string(simt::last_kernel) == name && sum == wanted;
  if (!ok) std::printf("wanted %s %d, got %s %d\n", name, wanted, simt::last_kernel, sum);
  sum = 0;
}

template <int kFactor, class T = int>
__global__ void add_kernel(T x, int y) { sum += kFactor * int(x) + y; }
__global__ void one() {
  extern __shared__ int a[], b[][2];
  a[3] = 7;
  sum += b[1][1] == 7 ? 1 : 100;
}

#define LAUNCH(kernel, ...) kernel<<<2, 3>>>(__VA_ARGS__)
#define LAUNCH_T(name, F, T, rest...) name##_kernel<F, T><<<2, 3>>>(rest)
#define LAUNCH_NAMED(kernel, rest...) kernel<<<2, 3>>>(rest)

template <class... Arguments>
void forward(void (*kernel)(Arguments...), Arguments... arguments) {
  kernel<<<1, 2>>>(arguments...);
}

int main() {
  add_kernel<2><<<2, 3>>>(5, 1);           expect("add_kernel<2>", 66);
  one<<<4, 1>>>();                         expect("one", 4);
  one<<<4>>>();                            expect("one", 4);
  LAUNCH(one);                             expect("one", 6);
  LAUNCH((add_kernel<1, float>), 2.5f, 1); expect("(add_kernel<1, float>)", 18);
  LAUNCH_T(add, 3, long, 1, 0);            expect("add_kernel<3, long>", 18);
  LAUNCH_NAMED(one);                       expect("one", 6);
  void (*fn)(int, int) = add_kernel<1>;
  (*fn)<<<1, 1>>>(1, 2);                   expect("(*fn)", 3);
  forward(fn, 1, 1);                       expect("kernel", 4);
  forward(one);                            expect("kernel", 2);
  [&](auto value) { add_kernel<4, decltype(value)><<<1, 1>>>(value, 0); }(2.0);
  expect("add_kernel<4, decltype(value)>", 8);
  constexpr int kFactor = 5;
  if (sum > 0) one<<<1, 1>>>(); else add_kernel<(kFactor > 4) ? 1 : 2><<<kFactor < 4 ? 1 : 2, 1>>>(1, 0);
  expect("add_kernel<(kFactor > 4) ? 1 : 2>", 2);
  return ok ? 0 : 1;
}
)cuda";
  write(folder / "program.cpp", simt::rewrite(source, "program.cu"));
  CHECK(compile(folder, "program.cpp -o program && ./program") == "");
}

TEST_CASE("every line of a rewritten file keeps its number for the compiler", "[rewriter][compile]") {
  const TemporaryFolder folder;
  const std::string source = number_lines(R"cuda(#include <cuda_runtime.h>
template <int kActual, int kWanted> constexpr int line() { static_assert(kActual == kWanted); return 0; }
#define HERE(n) line<__LINE__, n>()
static_assert(__LINE__ == @);
extern __shared__
  float
  /* several
     lines */ names[]
  ; static_assert(__LINE__ == @);
template <class T, int N> __global__ void kernel(T, int, int) {
  extern __shared__ /*
  */ T s[]; static_assert(__LINE__ == @); __shared__ alignas(16
  ) float t[4]; static_assert(__LINE__ == @);
  s[0] = T(t[0]);
}
#define LAUNCH(k, n) \
  k<float, \
    2> \
  <<<n, \
  1>>>( \
  1.f, HERE(n), 3)
void run() {
  kernel<float, HERE(@)><<<1 + HERE(@), 2>>>(1.f, HERE(@), 3); static_assert(__LINE__ == @);
  kernel  // the name
    <float,
     (3 > 1)>  /* two
     lines */ <<<  // @
     1 + HERE(@), dim3{
     2 + HERE(@)}
     >>>
     (
       1.f,  // @
       HERE(@), [] { static_assert(__LINE__ == @);
         return HERE(@); }()
     ); static_assert(__LINE__ == @);
  LAUNCH(kernel, @); static_assert(__LINE__ == @);
  kernel<float, 1><\
<<1, 2>\
>>(1.f, 2, 3); static_assert(__LINE__ == @);
}
static_assert(__LINE__ == @);
)cuda");
  const std::string result = simt::rewrite(source, "lines.cu");
  CHECK(lines_in(result) == lines_in(source) + 1);
  write(folder / "lines.cpp", result);
  CHECK(compile(folder, "-fsyntax-only lines.cpp") == "");
}

TEST_CASE("CUDA files of many styles compile when rewritten, and keep the number of their lines",
          "[rewriter][compile]") {
  const TemporaryFolder folder;
  std::string names;
  for (const auto& entry : fs::directory_iterator(kTests / "corpus")) {
    if (entry.path().extension() != ".cu") continue;
    const std::string name = entry.path().stem().string();
    CAPTURE(name);
    const std::string source = read(entry.path());
    std::string result;
    REQUIRE_NOTHROW(result = simt::rewrite(source, name + ".cu"));
    CHECK(lines_in(result) == lines_in(source) + 1);
    result += "\nstatic_assert(__LINE__ == " + std::to_string(lines_in(source) + 2) + ");\n";
    write(folder / (name + ".cpp"), result);
    names += " " + name + ".cpp";
  }
  REQUIRE(std::count(names.begin(), names.end(), ' ') >= 15);
  CHECK(compile(folder, "-fsyntax-only" + names) == "");
}

TEST_CASE("a checked program tells the names of its arrays", "[rewriter][compile][names]") {
  const TemporaryFolder folder;
  const std::string source = R"cuda(
#include <cstdio>
#include <type_traits>
#define SIMT_CHECK 1
#include <simt_names.h>

void print(const char* name, std::size_t bytes, const SimtArray& array) {
  std::printf("%s %d", name, int(bytes));
  for (int i = 0; i < array.rank; ++i)
    std::printf("%s[%d]", i == array.rank - array.member_rank ? array.member : "", int(array.extents[i]));
  std::printf("\n");
}
static bool wanted = true;
alignas(16) static char memory[256];
const void* last;
extern "C" int simt_wants_names() { return wanted; }
extern "C" void simt_name_shared(const void* address, const char* name, const SimtArray* array) {
  last = address;
  print(name, array->element_bytes, *array);
}
extern "C" void simt_name_view(const void* address, const char* name, const SimtArray* array) {
  const auto offset = static_cast<const char*>(address) - memory;
  if (offset < 0 || offset >= long{sizeof memory}) return;
  std::printf("at %d: ", int(offset));
  print(name, array->element_bytes, *array);
}
extern "C" void simt_name_pointer(const void* address, const char* name, std::size_t bytes, SimtMarkValues,
                                  int rank, const long long* sizes) {
  last = address;
  for (int i = 0; i < 2 * rank; ++i) std::printf("%d ", int(sizes[i]));
  print(name, bytes, {bytes, 0, 0, "", nullptr, bytes, nullptr});
}
namespace simt { template <class T> T* dynamic_shared() { return reinterpret_cast<T*>(memory); } }
#define expect(condition) if (!(condition)) std::printf("line %d\n", __LINE__)

struct View { double* data; int n; View(double* d) : data(d), n(0) {} View(const View&) = default; ~View() {} };
struct Strided { float* data; long shape[2]; int strides[2]; };
class Hidden { float* data = nullptr; };
struct Method { float* data() const { return nullptr; } };
struct Number { int data = 1; };
struct Opaque;
extern __shared__ char outside[];

template <class T, int N>
__global__ void kernel(T* a, const void* raw, View view, Hidden, Hidden hidden, Method method, Number number, int n,
                       void (*f)(), Opaque* opaque, float (*rows)[3], volatile short s[]) {
  __shared__ T tile[N][5];
  expect(last == &tile);
  extern __shared__ float4_like dynamic[], wide[][7];
  expect(last == memory && dynamic == (void*)memory && outside == memory);
  switch (n) {
    case 0: __shared__ struct { int x; } one; expect(last == &one); [[fallthrough]];
    default: __shared__ volatile bool flag;
      expect(last == &flag);
  }
  auto inner = [&](auto x) { if constexpr (sizeof(x) == 4) { __shared__ decltype(x) *list[2]; (void)list; } };
  inner(n);
  (void)raw, (void)hidden, (void)method, (void)number, (void)f, (void)opaque, (void)rows, (void)s;
  (void)a, (void)wide;
}
template <class... T> __global__ void pack(T... pointers) { }

template <int N> struct Tile { float at[N][4]; };
template <int N>
struct Tiles {
  using Type = int;
  enum { kEnum };
  static constexpr int kConstant = N;
  union { Tile<N> K; float P[2][N]; };
  Tile<2> stages[2];
  const float scale = 1;
  int bits : 3;
  int total() const { return bits; }
 private:
  float hidden = 0;
};
template <class T> __device__ float helper(T& object) { return object.K.at[0][0] + object.scale; }
template <int N> __device__ float also(Tiles<N>& tiles) { return tiles.stages[1].at[1][1]; }
template <int N> __global__ void views() {
  extern __shared__ float4_like shared_memory[];
  auto& smem = *reinterpret_cast<Tiles<N>*>(shared_memory);
  smem.P[0][0] = smem.bits + smem.total() + smem.kEnum + smem.kConstant;
  helper(smem), also(smem);
  float* keys = reinterpret_cast<float*>(shared_memory), *const values = keys + 2;
  float (&rows)[2][2] = *reinterpret_cast<float (*)[2][2]>(values);
  const Tile<2>* tile = static_cast<const Tile<2>*>((void*)shared_memory);
  auto* const object = reinterpret_cast<const Tiles<N>*>(shared_memory);
  float one = values[0] + object->scale;
  const float* private_copy = &one;
  also<N>(*reinterpret_cast<Tiles<N>*>(shared_memory));
}

int main() {
  double d = 0;
  (views<3>)();
  (kernel<int, 3>)(nullptr, nullptr, View(&d), {}, {}, {}, {}, 0, nullptr, nullptr, nullptr, nullptr);
  (pack)(1, &d, View(&d));
  expect(last == &d);
  (pack)(Strided{nullptr, {3, 4}, {5, 1}});
  wanted = false;
  (pack)(&d);
}
)cuda";
  write(folder / "float4_like.hpp", "struct alignas(16) float4_like { float x[4]; };\n");
  write(folder / "program.cpp", simt::rewrite(source, "program.cu"));
  REQUIRE(compile(folder,
                  "-include float4_like.hpp -Wall -Wextra -Wshadow -Werror -Wno-unused-variable "
                  "-Wno-unused-parameter -I" SIMT_REWRITER_SHIM
                  " program.cpp -o program && (./program > printed.txt)") == "");
  CHECK(read(folder / "printed.txt") ==
        "shared_memory 16[0]\n"
        "at 48: smem.stages 4[2].at[2][4]\nat 0: smem.P 4[2][3]\n"
        "at 0: keys 4[0]\nat 8: values 4[0]\nat 8: rows 4[2][2]\nat 0: tile 4[0].at[2][4]\n"
        "at 0: object->K 4.at[3][4]\nat 112: object->scale 4\nat 48: object->stages 4[2].at[2][4]\n"
        "at 48: tiles.stages 4[2].at[2][4]\n"
        "a 4\nraw 1\nview.data 8\nopaque 1\nrows 12\ns 2\ntile 4[3][5]\ndynamic 16[0]\nwide 16[0][7]\none 4\n"
        "flag 1\nlist 8[2]\npointers 8\npointers.data 8\n3 4 5 1 pointers.data 4\n");
}
