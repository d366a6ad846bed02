// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>
#include <utility>

#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

/// Small writes are gathered; one large write goes straight through.
constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

/// Best effort: some file systems cannot flush a folder, and the file itself is safe by then.
void flush_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

}  // namespace

atomic_file::atomic_file(std::filesystem::path target) : target_(std::move(target)) {
  const std::filesystem::path folder = folder_of(target_);
  temporary_ = folder / ("." + target_.filename().string() + ".tmp");
  std::error_code code;
  std::filesystem::create_directories(folder, code);
  if (code) throw io_error(message("cannot create the folder ", folder.string(), ": ", code.message()));
  buffer_.reserve(buffer_bytes);
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail("create", errno);
}

atomic_file::~atomic_file() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void atomic_file::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() > buffer_bytes) {
    write_through(bytes.data(), bytes.size());
  } else {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  }
}

void atomic_file::write(std::string_view text) { write(std::as_bytes(std::span(text.data(), text.size()))); }

void atomic_file::commit() {
  flush();
  // fsync also reports what the file system noticed only after write() had returned (delayed allocation, network).
  if (::fsync(descriptor_) != 0) fail("write", errno);
  const int closed = ::close(std::exchange(descriptor_, -1));
  const int code = closed != 0 ? errno : 0;
  if (closed != 0 || std::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int reason = code != 0 ? code : errno;
    ::unlink(temporary_.c_str());
    fail("write", reason);
  }
  flush_folder(folder_of(target_));
}

void atomic_file::flush() {
  write_through(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void atomic_file::write_through(const std::byte* bytes, std::size_t count) {
  while (count > 0) {
    const ::ssize_t written = ::write(descriptor_, bytes, count);
    if (written < 0) {
      if (errno == EINTR) continue;
      fail("write", errno);
    }
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

void atomic_file::fail(std::string_view action, int code) const {
  throw io_error(message("cannot ", action, " ", target_.string(), ": ", std::strerror(code)));
}

void write_text_file(const std::filesystem::path& target, std::string_view text) {
  atomic_file file(target);
  file.write(text);
  file.commit();
}

}  // namespace quadrat::io
