// SPDX-License-Identifier: BSD-3-Clause
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "quadrat/core/error.hpp"
#include "quadrat/distributed/communicator.hpp"

namespace quadrat {

namespace {

/// A shared file by system calls, for ranks of one process.
class system_file final : public shared_file {
 public:
  system_file(const std::string& path, std::string name) : name_(std::move(name)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail();
  }
  ~system_file() override { ::close(descriptor_); }
  system_file(const system_file&) = delete;
  system_file& operator=(const system_file&) = delete;

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const ::ssize_t written = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<::off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail();
      offset += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void flush() override {
    if (::fsync(descriptor_) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const { throw io_error(message("cannot write ", name_, ": ", std::strerror(errno))); }

  std::string name_;
  int descriptor_ = -1;
};

}  // namespace

std::unique_ptr<shared_file> communicator::open_shared(const std::string& path, const std::string& name) {
  return std::make_unique<system_file>(path, name);
}

}  // namespace quadrat
