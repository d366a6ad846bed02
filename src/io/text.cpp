// SPDX-License-Identifier: BSD-3-Clause
#include "io/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

/// Closes a file when it goes out of scope.
struct open_file {
  int descriptor;
  explicit open_file(const std::filesystem::path& file) : descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~open_file() {
    if (descriptor >= 0) ::close(descriptor);
  }
  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;
};

}  // namespace

std::string read_whole_file(const std::filesystem::path& file) {
  const auto fail = [&]() { throw io_error(message("cannot read ", file.string(), ": ", std::strerror(errno))); };
  const open_file in(file);
  struct ::stat about {};
  if (in.descriptor < 0 || ::fstat(in.descriptor, &about) != 0) fail();
  std::string bytes;
  if (S_ISREG(about.st_mode)) bytes.reserve(static_cast<std::size_t>(about.st_size) + 1);
  constexpr std::size_t block = std::size_t{1} << 20;
  for (std::size_t used = 0;;) {
    bytes.resize(std::max(bytes.capacity(), used + block));
    const ::ssize_t count = ::read(in.descriptor, bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    used += static_cast<std::size_t>(count);
    if (count > 0) continue;
    bytes.resize(used);
    return bytes;
  }
}

std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  std::string result = "\"";
  for (const char c : text.substr(0, most)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > most ? "...\"" : "\"");
}

}  // namespace quadrat::io
