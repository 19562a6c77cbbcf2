#include "tensor/npy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <new>
#include <string_view>
#include <system_error>
#include <utility>

#include "tensor/format.hpp"
#include "tensor/npy_header.hpp"

namespace course {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the byte orders below assume a little-endian host");

// NumPy needs some hundred bytes; a damaged length must not make us read, or wait for, gigabytes.
constexpr std::uint32_t kMaxHeaderBytes = 1 << 20;

template <class T>
constexpr std::string_view kDescr{};
template <>
constexpr std::string_view kDescr<float> = "<f4";
template <>
constexpr std::string_view kDescr<double> = "<f8";
template <>
constexpr std::string_view kDescr<std::int32_t> = "<i4";
template <>
constexpr std::string_view kDescr<std::int64_t> = "<i8";
template <>
constexpr std::string_view kDescr<float16> = "<f2";
template <>
constexpr std::string_view kDescr<bfloat16> = "<u2";

std::string quoted(const std::filesystem::path& path) { return "\"" + path.string() + "\""; }

[[noreturn]] void fail_to_read(const std::filesystem::path& path, const std::string& why) {
  throw NpyError("Cannot read " + quoted(path) + ": " + why + ".");
}

[[noreturn]] void fail_to_write(const std::filesystem::path& path, const std::string& why) {
  throw NpyError("Cannot write " + quoted(path) + ": " + why + ".");
}

std::string reason(int error) { return std::generic_category().message(error); }

/// An open file that closes itself.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }

  /// Closes now and says whether that worked: some file systems report a full disk only here.
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

/// An .npy file that has been read up to its data.
struct OpenNpy {
  File file;
  detail::NpyHeader header;
  std::uint64_t data_bytes;  // that the file holds after the header
};

/// Reads exactly `size` bytes; false if the file ends first.
bool read_exactly(const File& file, const std::filesystem::path& path, void* into, std::size_t size) {
  auto* next = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = ::read(file.get(), next, size);  // Linux stops at 2 GiB a call; the loop goes on
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path, reason(errno));
    if (got == 0) return false;
    next += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

OpenNpy open_npy(const std::filesystem::path& path) {
  // Not blocking, or a pipe without a writer would hang here; on a regular file it means nothing.
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) {
    fail_to_read(path, errno == ENOENT ? "there is no such file" : reason(errno));
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail_to_read(path, reason(errno));
  if (S_ISDIR(status.st_mode)) fail_to_read(path, "it is a folder, not an .npy file");
  if (!S_ISREG(status.st_mode)) fail_to_read(path, "it is not a regular file");

  std::array<unsigned char, detail::kNpyVersionEnd + 4> start{};
  if (!read_exactly(file, path, start.data(), detail::kNpyVersionEnd) ||
      !std::equal(detail::kNpyMagic.begin(), detail::kNpyMagic.end(), start.begin(),
                  [](char wanted, unsigned char got) { return static_cast<unsigned char>(wanted) == got; })) {
    fail_to_read(path,
                 "it is not an .npy file (it does not start with \"\\x93NUMPY\"); "
                 "write it with numpy.save");
  }
  const unsigned major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    fail_to_read(path, "its format is version " + std::to_string(major) + "." + std::to_string(minor) +
                           ", but only 1.0, 2.0 and 3.0 are known");
  }

  const std::string cut_short = "it is cut short inside its header";
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (!read_exactly(file, path, start.data() + detail::kNpyVersionEnd, length_bytes))
    fail_to_read(path, cut_short);
  std::uint32_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::uint32_t>(start[detail::kNpyVersionEnd + i]) << (8 * i);
  }
  if (length > kMaxHeaderBytes) {
    fail_to_read(path, "its header claims to be " + std::to_string(length) + " bytes long, more than the " +
                           std::to_string(kMaxHeaderBytes) + " that are allowed");
  }
  std::string text(length, '\0');
  if (!read_exactly(file, path, text.data(), text.size())) fail_to_read(path, cut_short);

  try {
    detail::NpyHeader header = detail::parse_npy_header(text);
    const std::uint64_t data_start = detail::kNpyVersionEnd + length_bytes + length;
    const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
    return {std::move(file), std::move(header), file_bytes - std::min(data_start, file_bytes)};
  } catch (const std::invalid_argument& error) {
    fail_to_read(path, std::string("its header ") + error.what());
  }
}

/// Strides of an array without gaps whose first axis is adjacent in memory (Fortran order).
Strides column_major_strides(Shape shape) {
  std::reverse(shape.begin(), shape.end());
  Strides strides = row_major_strides(shape);
  std::reverse(strides.begin(), strides.end());
  return strides;
}

template <class T>
void swap_bytes(std::span<T> values) {
  for (T& value : values) {
    auto bytes = std::bit_cast<std::array<unsigned char, sizeof(T)>>(value);
    std::reverse(bytes.begin(), bytes.end());
    value = std::bit_cast<T>(bytes);
  }
}

std::string held_by(const std::string& dtype) {
  return dtype == "object"       ? "Python objects"
         : dtype == "structured" ? "structured values"
                                 : dtype + " values";
}

template <class T>
void check_type(const std::filesystem::path& path, std::string_view descr) {
  const std::string got = detail::npy_dtype_name(descr), wanted = detail::npy_dtype_name(kDescr<T>);
  if (got == wanted) return;
  fail_to_read(path, "it holds " + held_by(got) + ", but " + wanted +
                         " is needed; convert it with array.astype(\"" + wanted + "\") before numpy.save");
}
template <>
void check_type<bfloat16>(const std::filesystem::path& path, std::string_view descr) {
  const std::string got = detail::npy_dtype_name(descr);
  if (got == "uint16" || got == "int16" || descr.ends_with("V2")) return;
  fail_to_read(path,
               "it holds " + held_by(got) +
                   ", but bfloat16 is needed, which NumPy lacks and a file holds as words of 16 bits; save "
                   "a tensor of PyTorch as tensor.bfloat16().view(torch.int16).numpy()");
}

/// The number of data bytes that the header asks for.
std::uint64_t needed_bytes(const std::filesystem::path& path, const Shape& shape, std::size_t element_bytes) {
  try {
    std::uint64_t bytes = 0;
    const auto elements = static_cast<std::uint64_t>(element_count(shape));
    if (!__builtin_mul_overflow(elements, element_bytes, &bytes)) return bytes;
  } catch (const std::invalid_argument&) {  // the product of the axes overflows
  }
  fail_to_read(path, "its header has the shape " + format_shape(shape) + ", larger than any file can be");
}

/// A new file beside `target` that takes its name by commit(), or is removed again.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target) : target_(target), file_(create()) {}
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  void write(const void* from, std::size_t size) {
    const auto* next = static_cast<const char*>(from);
    while (size > 0) {
      const ssize_t done = ::write(file_.get(), next, size);
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) fail_to_write(target_, reason(errno));
      next += done;
      size -= static_cast<std::size_t>(done);
    }
  }

  void commit() {
    if (!file_.close() || std::rename(path_.c_str(), target_.c_str()) != 0) {
      fail_to_write(target_, reason(errno));
    }
    path_.clear();
  }

 private:
  /// mkstemp would do, but its files are private to the user whatever the umask.
  File create() {
    for (int attempt = 0;; ++attempt) {
      path_ = target_.parent_path() /
              (".npy-" + std::to_string(::getpid()) + "-" + std::to_string(attempt) + ".tmp");
      const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor >= 0) return File(descriptor);
      if (errno == EEXIST) continue;
      path_.clear();
      fail_to_write(target_, errno == ENOENT ? "its folder does not exist" : reason(errno));
    }
  }

  std::filesystem::path target_;
  std::filesystem::path path_;  // empty once there is nothing to remove
  File file_;
};

}  // namespace

NpyInfo peek_npy(const std::filesystem::path& path) {
  OpenNpy npy = open_npy(path);
  return {detail::npy_dtype_name(npy.header.descr), std::move(npy.header.shape), npy.header.fortran_order};
}

template <class T>
Tensor<T> read_npy(const std::filesystem::path& path) {
  const OpenNpy npy = open_npy(path);
  const Shape& shape = npy.header.shape;
  check_type<T>(path, npy.header.descr);
  const std::uint64_t bytes = needed_bytes(path, shape, sizeof(T));
  const std::string cut_short = "it is cut short: its shape " + format_shape(shape) + " needs " +
                                std::to_string(bytes) + " bytes of data, but it has " +
                                std::to_string(npy.data_bytes);
  if (npy.data_bytes < bytes) fail_to_read(path, cut_short);  // before memory is asked for

  try {
    Tensor<T> tensor =
        npy.header.fortran_order ? Tensor<T>(shape, column_major_strides(shape), T{}) : Tensor<T>(shape);
    // The file may have been shortened since its size was taken.
    if (!read_exactly(npy.file, path, tensor.data(), bytes)) fail_to_read(path, cut_short);
    if (npy.header.descr.front() == '>') swap_bytes(tensor.storage());
    if (npy.header.fortran_order) return tensor.contiguous();
    return tensor;
  } catch (const std::bad_alloc&) {
    fail_to_read(path,
                 "this machine does not have the " + std::to_string(bytes) + " bytes of memory it needs");
  }
}

template <class T>
void write_npy(const std::filesystem::path& path, const Tensor<T>& tensor) {
  if (!tensor.is_contiguous()) return write_npy(path, tensor.contiguous());

  // Renaming onto a device would replace it, and onto a folder would fail with a less helpful reason.
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) fail_to_write(path, "it is a folder");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    fail_to_write(path, "it exists and is not a regular file");
  }
  std::string preamble;
  try {
    preamble = detail::make_npy_preamble(kDescr<T>, tensor.shape());
  } catch (const std::invalid_argument& error) {
    fail_to_write(path, error.what());
  }
  TemporaryFile file(path);
  file.write(preamble.data(), preamble.size());
  file.write(tensor.data(), tensor.storage().size_bytes());
  file.commit();
}

template Tensor<float> read_npy<float>(const std::filesystem::path&);
template Tensor<double> read_npy<double>(const std::filesystem::path&);
template Tensor<std::int32_t> read_npy<std::int32_t>(const std::filesystem::path&);
template Tensor<std::int64_t> read_npy<std::int64_t>(const std::filesystem::path&);
template Tensor<bfloat16> read_npy<bfloat16>(const std::filesystem::path&);
template Tensor<float16> read_npy<float16>(const std::filesystem::path&);

template void write_npy(const std::filesystem::path&, const Tensor<float>&);
template void write_npy(const std::filesystem::path&, const Tensor<double>&);
template void write_npy(const std::filesystem::path&, const Tensor<std::int32_t>&);
template void write_npy(const std::filesystem::path&, const Tensor<std::int64_t>&);
template void write_npy(const std::filesystem::path&, const Tensor<bfloat16>&);
template void write_npy(const std::filesystem::path&, const Tensor<float16>&);

}  // namespace course
