// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/atomic_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <system_error>
#include <utility>

#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

namespace fs = std::filesystem;

/// Small writes are buffered; a large write goes straight through.
constexpr std::size_t buffer_bytes = std::size_t{1} << 16;

fs::path folder_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

/// Best effort: some file systems cannot flush a folder, and the file itself is safe by then.
void flush_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  static_cast<void>(::fsync(descriptor));
  ::close(descriptor);
}

constexpr std::string_view temporary_suffix = ".tmp";
constexpr std::size_t random_digits = 16;

std::string random_temporary(const fs::path& target) {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) throw io_error("the system gives no random numbers");
  char digits[random_digits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  // Names may have up to 255 bytes.
  std::string name = "." + target.filename().string().substr(0, 200) + ".";
  return (folder_of(target) / name.append(digits).append(temporary_suffix)).string();
}

/// The temporary files that have names.
std::mutex names_mutex;
temporary_name* first_name = nullptr;
bool ending = false;
std::atomic<bool> any_written{false};

/// Held while a temporary file gets or loses its name.
std::unique_lock<std::mutex> lock_names() {
  std::unique_lock lock(names_mutex);
  if (!ending) return lock;
  lock.unlock();
  for (;;) ::pause();
}

/// Gives a file a new name. `create` makes a file of that name and returns 0 or an error number, which is passed on.
template <typename Create>
int create_named(temporary_name& name, const fs::path& target, Create&& create) {
  const auto lock = lock_names();
  for (;;) {
    std::string path = random_temporary(target);
    const int code = create(path.c_str());
    if (code == EEXIST) continue;
    if (code != 0) return code;
    name.path = std::move(path);
    name.next = std::exchange(first_name, &name);
    return 0;
  }
}

/// Removes the entry from the list. The caller holds the lock.
void forget(temporary_name& name) {
  temporary_name** link = &first_name;
  while (*link != &name) link = &(*link)->next;
  *link = name.next;
  name.path.clear();
}

/// A path to an open file.
struct descriptor_path {
  explicit descriptor_path(int descriptor) { std::snprintf(text, sizeof text, "/proc/self/fd/%d", descriptor); }
  char text[32];
};

/// Follows links to the end; sets `descriptor` when they lead to an open file of this process.
fs::path without_links(fs::path path, std::optional<int>& descriptor) {
  constexpr int most = 40;  // as many as Linux follows
  for (int i = 0; i < most; ++i) {
    std::error_code code;
    if (fs::equivalent(folder_of(path), "/proc/self/fd", code)) {
      const std::string name = path.filename().string();
      int number = -1;
      std::from_chars(name.data(), name.data() + name.size(), number);
      descriptor = number;
      return path;
    }
    const fs::path next = fs::read_symlink(path, code);
    if (code) return path;
    path = folder_of(path) / next;
  }
  return path;
}

}  // namespace

atomic_file::atomic_file(fs::path target, temporary kind) : target_(std::move(target)) {
  struct stat found;
  // The system follows the links first: it refuses loops, and links that other users put into a folder like /tmp.
  const bool exists = ::stat(target_.c_str(), &found) == 0;
  if (!exists && errno != ENOENT && errno != ENOTDIR) fail("write", errno);
  if (target_.filename().empty() || (exists && S_ISDIR(found.st_mode))) fail("write", EISDIR);
  buffer_.reserve(buffer_bytes);
  std::optional<int> own_descriptor;
  destination_ = without_links(target_, own_descriptor);
  if (own_descriptor) {
    open_stream(::fcntl(*own_descriptor, F_DUPFD_CLOEXEC, 0));
  } else if (exists && !S_ISREG(found.st_mode)) {
    open_stream(::open(target_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  } else {
    if (exists) replaced_ = {found.st_uid, found.st_gid, found.st_mode & 0777u};
    open_temporary(kind);
  }
}

atomic_file::~atomic_file() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (temporary_.path.empty()) return;
  const auto lock = lock_names();
  ::unlink(temporary_.path.c_str());
  forget(temporary_);
}

void atomic_file::open_stream(int descriptor) {
  if (descriptor < 0) fail("write", errno);
  descriptor_ = descriptor;
  streamed_ = true;
  any_written = true;
}

void atomic_file::open_temporary(temporary kind) {
  if (replaced_ && ::faccessat(AT_FDCWD, destination_.c_str(), W_OK, AT_EACCESS) != 0) fail("write", errno);
  const fs::path folder = folder_of(destination_);
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) throw io_error(message("cannot create the folder ", folder.string(), ": ", code.message()));
  // What will replace a private file must not be readable by others.
  const ::mode_t mode = replaced_ ? 0600 : 0666;
  if (kind == temporary::unnamed) descriptor_ = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
  if (descriptor_ >= 0) {
    // Without /proc it could not be given a name.
    if (::access(descriptor_path(descriptor_).text, F_OK) == 0) return;
    ::close(std::exchange(descriptor_, -1));
  }
  const int reason = create_named(temporary_, destination_, [&](const char* name) {
    descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    return descriptor_ < 0 ? errno : 0;
  });
  if (reason != 0) fail("create", reason);
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
  if (streamed_) {
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("write", errno);
    return;
  }
  take_ownership();
  // fsync also reports what the file system noticed only after write() had returned (delayed allocation, network).
  if (::fsync(descriptor_) != 0) fail("write", errno);
  publish();
  flush_folder(folder_of(destination_));
}

/// Best effort: only root can give files away, and a file whose permissions cannot be changed stays private.
void atomic_file::take_ownership() const {
  if (!replaced_) return;
  static_cast<void>(::fchown(descriptor_, replaced_->user, replaced_->group) == 0 ||
                    ::fchown(descriptor_, static_cast<::uid_t>(-1), replaced_->group) == 0);
  static_cast<void>(::fchmod(descriptor_, replaced_->mode));
}

void atomic_file::publish() {
  any_written = true;
  const auto link_as = [&](const char* name) {
    const descriptor_path file(descriptor_);
    return ::linkat(AT_FDCWD, file.text, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
  };
  if (temporary_.path.empty()) {
    // A link cannot replace a file, but renaming can.
    int reason = link_as(destination_.c_str());
    if (reason == 0) return;
    if (reason == EEXIST) reason = create_named(temporary_, destination_, link_as);
    if (reason != 0) fail("write", reason);
  }
  const auto lock = lock_names();
  if (std::rename(temporary_.path.c_str(), destination_.c_str()) != 0) fail("write", errno);
  forget(temporary_);
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

void write_text_file(const fs::path& target, std::string_view text) {
  atomic_file file(target);
  file.write(text);
  file.commit();
}  // NOLINT(clang-analyzer-core.StackAddressEscape): the destructor takes the name off the list

bool has_written() noexcept { return any_written; }

void remove_temporary_files() noexcept {
  const std::lock_guard lock(names_mutex);
  ending = true;
  for (const temporary_name* name = first_name; name != nullptr; name = name->next) {
    ::unlink(name->path.c_str());
  }
}

std::string_view target_of_temporary(std::string_view name) {
  constexpr std::size_t around = 2 + random_digits + temporary_suffix.size();
  if (name.size() <= around || !name.starts_with('.') || !name.ends_with(temporary_suffix)) return {};
  name.remove_suffix(temporary_suffix.size());
  const std::string_view digits = name.substr(name.size() - random_digits);
  name.remove_suffix(random_digits);
  if (!name.ends_with('.') || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return {};
  return name.substr(1, name.size() - 2);
}

}  // namespace quadrat::io
