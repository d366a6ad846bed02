// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "quadrat/distributed/communicator.hpp"
#include "quadrat/io/atomic_file.hpp"

namespace quadrat::io {

/// The text of rank 0 on all ranks. Collective.
[[nodiscard]] std::string text_of_rank_0(communicator& ranks, const std::string& text);

/// A file that all ranks write, each its own ranges, and that then replaces an older one. Rank 0 makes a temporary file
/// beside it, and renames it when all ranks have written and flushed. All calls but write_at are collective.
class ranks_file {
 public:
  /// Throws io_error on all ranks.
  ranks_file(communicator& ranks, const std::filesystem::path& target);

  /// To be called within `together`. Throws io_error.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void write_at(std::uint64_t offset, std::string_view text);
  /// Throws io_error on all ranks; the older file is then as it was.
  void commit();

 private:
  communicator& ranks_;
  std::filesystem::path target_;
  std::unique_ptr<atomic_file> replacing_;  ///< on rank 0; must outlive the shared file
  std::unique_ptr<shared_file> shared_;
};

}  // namespace quadrat::io
