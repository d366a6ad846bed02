// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace quadrat::io {

/// Writes a file that others see either whole or not at all. The bytes go to `.NAME.tmp` in the target's own folder;
/// `commit` flushes them to the disk and renames, which replaces an older file of that name in one step. Whoever is
/// killed, or runs out of disk, in between leaves the older file as it was.
class atomic_file {
 public:
  /// Opens the temporary file; creates the folder if it is missing. Throws io_error.
  explicit atomic_file(std::filesystem::path target);

  /// Removes the temporary file unless it was committed.
  ~atomic_file();

  atomic_file(const atomic_file&) = delete;
  atomic_file& operator=(const atomic_file&) = delete;

  /// Appends. Throws io_error (disk full, for example); the target stays as it was.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  /// Makes the file visible under its name: flush, rename, flush the folder. Throws io_error; call it once.
  void commit();

  [[nodiscard]] const std::filesystem::path& target() const noexcept { return target_; }
  [[nodiscard]] const std::filesystem::path& temporary() const noexcept { return temporary_; }

 private:
  void flush();
  void write_through(const std::byte* bytes, std::size_t count);
  [[noreturn]] void fail(std::string_view action, int code) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::vector<std::byte> buffer_;
  int descriptor_ = -1;
};

/// Writes a whole text through an atomic_file.
void write_text_file(const std::filesystem::path& target, std::string_view text);

}  // namespace quadrat::io
