// SPDX-License-Identifier: BSD-3-Clause
#include "harness/turn.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "quadrat/core/error.hpp"

namespace quadrat::bench {

turn::turn(const std::filesystem::path& file) {
  if (file.empty()) return;
  file_ = ::open(file.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  int locked = file_ < 0 ? -1 : ::flock(file_, LOCK_EX);
  while (file_ >= 0 && locked != 0 && errno == EINTR) locked = ::flock(file_, LOCK_EX);
  if (locked == 0) return;
  const std::string reason = std::strerror(errno);
  if (file_ >= 0) ::close(file_);
  throw io_error(message(file.string(), " cannot be locked: ", reason));
}

turn::~turn() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace quadrat::bench
