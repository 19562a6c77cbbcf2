#include "grading/calls/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace course::grading {
namespace {

constexpr int kSizeSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

bool add_seals(int fd, int seals) { return fcntl(fd, F_ADD_SEALS, seals) == 0; }

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  if (this != &other) {
    reset();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
  }
  return *this;
}

Mapping::~Mapping() { reset(); }

void Mapping::reset() {
  if (data_) munmap(data_, size_);
  data_ = nullptr;
  size_ = 0;
}

Mapping Mapping::map(int fd, std::size_t offset, std::size_t bytes, Mode mode) {
  // Every page is going to be used: populating at once saves a page fault for each.
  const int flags = (mode == Mode::private_copy ? MAP_PRIVATE : MAP_SHARED) | MAP_POPULATE;
  const int protection = mode == Mode::shared_read ? PROT_READ : PROT_READ | PROT_WRITE;
  void* data = mmap(nullptr, bytes, protection, flags, fd, static_cast<off_t>(offset));
  if (data == MAP_FAILED) fail_by_errno("cannot map shared memory");
  Mapping mapping;
  mapping.data_ = static_cast<std::byte*>(data);
  mapping.size_ = bytes;
  return mapping;
}

Descriptor create_memory(const char* name, std::size_t bytes) {
  Descriptor memory(memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) fail_by_errno("cannot create shared memory");
  if (ftruncate(memory.get(), static_cast<off_t>(bytes)) != 0) fail_by_errno("cannot size shared memory");
  return memory;
}

void seal_contents(int fd) {
  // F_SEAL_WRITE refuses while anybody maps the memory for writing, and a process that another thread is just
  // starting has inherited our mapping until it calls exec.
  if (add_seals(fd, F_SEAL_FUTURE_WRITE | kSizeSeals)) return;
  const bool unknown = errno == EINVAL;  // Linux before 5.1
  if (!unknown || !add_seals(fd, F_SEAL_WRITE | kSizeSeals)) fail_by_errno("cannot seal shared memory");
}

void seal_size(int fd) {
  if (!add_seals(fd, kSizeSeals)) fail_by_errno("cannot seal shared memory");
}

}  // namespace course::grading
