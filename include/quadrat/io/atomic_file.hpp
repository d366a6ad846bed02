// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/core/macros.hpp"

namespace quadrat::io {

/// An entry in the list of temporary files that have names; used only by `atomic_file`.
struct temporary_name {
  std::string path;  ///< empty: no file
  temporary_name* next = nullptr;
};

/// Writes a file that others see either whole or not at all. The bytes go to an unnamed file in the target's folder.
/// `commit` flushes them to disk and atomically replaces the target. If the process is killed or the disk is full
/// before that, the old file stays as it was.
///
/// - The file has a name, `.NAME.<16 random hexadecimal digits>.tmp`, only in two cases: for the instant before it
/// replaces an older file, and on file systems without unnamed files.
/// - Several writers of one target do not disturb each other: the last one to commit wins.
/// - A symbolic link stays; the file that it points to is replaced, or created.
/// - The new file takes over the old one's permissions and, as far as the system allows, its owner and group. A file
///   without write permission is not replaced. New files follow the umask.
/// - Pipes, devices and open file descriptors of this process (/dev/stdout, /dev/fd/3) get the bytes directly.
class atomic_file {
 public:
  /// Whether the temporary file is named from the start, so that other processes can write into it.
  enum class temporary { unnamed, named };

  /// Opens the file; creates the folder if it is missing. Waits for the reader of a named pipe. Throws io_error.
  explicit atomic_file(std::filesystem::path target, temporary kind = temporary::unnamed);

  /// Leaves nothing behind unless the file was committed.
  ~atomic_file();

  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  /// Appends. Throws io_error (disk full, for example); the target stays as it was.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  /// Makes the file visible under its name: flush, rename, flush the folder. Throws io_error; call it once.
  void commit();

  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }
  /// The temporary file, if it has a name.
  [[nodiscard]] std::filesystem::path temporary_path() const { return temporary_.path; }

 private:
  /// The properties of the replaced file that the new one takes over.
  struct ownership {
    ::uid_t user;
    ::gid_t group;
    ::mode_t mode;
  };

  void open_stream(int descriptor);
  void open_temporary(temporary kind);
  void flush();
  void write_through(const std::byte* bytes, std::size_t count);
  void take_ownership() const;
  void publish();
  [[noreturn]] void fail(std::string_view action, int code) const;

  std::filesystem::path target_;       // as the caller named it
  std::filesystem::path destination_;  // after following its links
  std::optional<ownership> replaced_;
  temporary_name temporary_;
  std::vector<std::byte> buffer_;
  int descriptor_ = -1;
  bool streamed_ = false;
};

/// Writes a whole text through an atomic_file.
void write_text_file(const std::filesystem::path& target, std::string_view text);

/// Removes the named temporary files. For a process that is about to end. Any thread may call it at any time.
/// Afterwards, writers that would name a file block until the process ends.
void remove_temporary_files() noexcept;

/// Whether this process may have published a file under its name, or written to a pipe. Any thread may call it at any
/// time.
[[nodiscard]] bool has_written() noexcept;

/// The target's name if `name` is that of a temporary file, otherwise empty. Both are without folder. Only the first
/// 200 bytes of long names are kept.
[[nodiscard]] std::string_view target_of_temporary(std::string_view name);

}  // namespace quadrat::io
