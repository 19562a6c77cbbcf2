#include "grading/calls/channel.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <system_error>

#include "grading/calls/channel_listener.hpp"
#include "grading/calls/shared_memory.hpp"
#include "support/catch.hpp"

using namespace course::grading;

namespace {

/// How many descriptors this process has open.
int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 256; ++fd)
    if (fcntl(fd, F_GETFD) != -1) ++count;
  return count;
}

}  // namespace

TEST_CASE("a channel keeps messages apart") {
  auto [left, right] = Channel::create();
  REQUIRE(left.send("one"));
  REQUIRE(left.send(std::string(100000, 'x')));
  CHECK(right.receive(true)->text == "one");
  CHECK(right.receive(true)->text == std::string(100000, 'x'));
}

TEST_CASE("a greeting comes with the process that sent it, and with no descriptor") {
  auto [ours, theirs] = Channel::create();
  ours.ask_who_sends();
  const int before = open_descriptors();
  const Descriptor memory = create_memory("test", 4096);
  REQUIRE(theirs.send("here", {memory.get()}));
  const auto greeting = ours.receive_greeting();
  REQUIRE(greeting);
  CHECK(greeting->text == "here");
  CHECK(greeting->sender == getpid());
  CHECK(open_descriptors() == before + 1);  // `memory` alone
  theirs.close();
  CHECK_FALSE(ours.receive_greeting());
}

TEST_CASE("a listener is reached by its name, and knows who came") {
  const int before = open_descriptors();
  {
    ChannelListener listener, other;
    CHECK(listener.name() != other.name());
    CHECK_FALSE(listener.accept());
    Channel theirs = connect_to_listener(listener.name());
    auto guest = listener.accept();
    REQUIRE(guest);
    CHECK(guest->pid == getpid());
    REQUIRE(theirs.send("hello"));
    CHECK(guest->channel.receive(false)->text == "hello");
    guest->channel.close();
    CHECK_FALSE(theirs.receive(true));
    CHECK_FALSE(other.accept());
  }
  CHECK(open_descriptors() == before);
  CHECK_THROWS_AS(connect_to_listener("there is nobody of this name"), std::system_error);
}

TEST_CASE("a channel carries descriptors, which share their memory") {
  auto [left, right] = Channel::create();
  const Descriptor memory = create_memory("test", 4096);
  REQUIRE(left.send("with memory", {memory.get()}));
  const auto message = right.receive(true);
  REQUIRE(message->descriptors.size() == 1);
  const Mapping ours = Mapping::map(memory.get(), 0, 4096, Mapping::Mode::shared);
  const Mapping theirs = Mapping::map(message->descriptors[0].get(), 0, 4096, Mapping::Mode::shared_read);
  ours.data()[17] = std::byte{42};
  CHECK(theirs.data()[17] == std::byte{42});
}

TEST_CASE("a channel drops descriptors that nobody asked for") {
  auto [left, right] = Channel::create();
  const Descriptor memory = create_memory("test", 4096);
  const int before = open_descriptors();
  REQUIRE(left.send("unasked", {memory.get(), memory.get()}));
  const auto message = right.receive(false);
  CHECK(message->text == "unasked");
  CHECK(message->descriptors.empty());
  CHECK(open_descriptors() == before);
}

TEST_CASE("a channel tells when the other end is gone") {
  auto [left, right] = Channel::create();
  right.close();
  CHECK_FALSE(left.send("anyone?"));
  CHECK_FALSE(left.receive(true));
}

TEST_CASE("a channel refuses messages that are empty or too long") {
  auto [left, right] = Channel::create();
  CHECK_FALSE(left.send(""));
  CHECK_FALSE(left.send(std::string(kMaxMessageBytes + 1, 'x')));
}

TEST_CASE("a channel does not outlive an exec") {
  auto [left, right] = Channel::create();
  CHECK((fcntl(left.fd(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((fcntl(right.fd(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("channels and shared memory leave no descriptor open") {
  const int before = open_descriptors();
  {
    auto [left, right] = Channel::create();
    const Descriptor memory = create_memory("test", 8192);
    left.send("with memory", {memory.get()});
    const auto message = right.receive(true);
    CHECK(open_descriptors() == before + 4);
  }
  CHECK(open_descriptors() == before);
}

TEST_CASE("sealed inputs can be neither written nor resized") {
  const Descriptor memory = create_memory("test", 8192);
  seal_contents(memory.get());
  CHECK(write(memory.get(), "x", 1) == -1);
  CHECK(ftruncate(memory.get(), 0) == -1);
  CHECK_THROWS(Mapping::map(memory.get(), 0, 4096, Mapping::Mode::shared));
  const Mapping copy = Mapping::map(memory.get(), 0, 4096, Mapping::Mode::private_copy);
  copy.data()[0] = std::byte{1};
  CHECK(Mapping::map(memory.get(), 0, 4096, Mapping::Mode::shared_read).data()[0] == std::byte{0});
}

TEST_CASE("inputs can be sealed while a process that was just started still maps them") {
  const Descriptor memory = create_memory("test", 4096);
  pid_t starting = -1;
  {
    const Mapping ours = Mapping::map(memory.get(), 0, 4096, Mapping::Mode::shared);
    starting = fork();
    if (starting == 0) {
      for (;;) pause();  // where exec would follow
    }
    REQUIRE(starting > 0);
  }
  CHECK_NOTHROW(seal_contents(memory.get()));
  CHECK_THROWS(Mapping::map(memory.get(), 0, 4096, Mapping::Mode::shared));
  CHECK(write(memory.get(), "x", 1) == -1);
  kill(starting, SIGKILL);
  CHECK(waitpid(starting, nullptr, 0) == starting);
}

TEST_CASE("outputs of a fixed size can be written, but not cut off under their reader") {
  const Descriptor memory = create_memory("test", 8192);
  seal_size(memory.get());
  CHECK(ftruncate(memory.get(), 0) == -1);
  CHECK(ftruncate(memory.get(), 16384) == -1);
  CHECK(write(memory.get(), "x", 1) == 1);
}
