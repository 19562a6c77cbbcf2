#pragma once

#include <optional>
#include <string>

#include "grading/base/descriptor.hpp"
#include "grading/calls/channel.hpp"

namespace course::grading {

/// Argument before the name of a ChannelListener, at which a worker is to connect.
inline constexpr const char* kChannelOption = "--channel";

/// @brief A place where a worker can find the grader by name, for one that is started by a program which need
/// not pass descriptors on. The name lives in memory, and goes with this object.
class ChannelListener {
 public:
  /// @throws std::system_error
  ChannelListener();

  const std::string& name() const { return name_; }
  /// Readable once somebody has connected.
  int fd() const { return socket_.get(); }

  struct Guest {
    Channel channel;
    int pid = -1;  ///< of the process that connected; the system vouches
  };
  /// @brief Who has connected, without waiting. Processes of other users are turned away.
  std::optional<Guest> accept();

 private:
  Descriptor socket_;
  std::string name_;
};

/// @brief Connects to the listener of that name.
/// @throws std::system_error
Channel connect_to_listener(const std::string& name);

}  // namespace course::grading
