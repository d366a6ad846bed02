// SPDX-License-Identifier: BSD-3-Clause
#include "io/ranks_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "quadrat/core/error.hpp"

namespace quadrat::io {

std::string text_of_rank_0(communicator& ranks, const std::string& text) {
  const std::size_t length = all_values(ranks, text.size())[0];
  std::string mine = text, all(length * static_cast<std::size_t>(ranks.size()), '\0');
  mine.resize(length);
  ranks.all_gather(mine.data(), all.data(), length);
  all.resize(length);
  return all;
}

ranks_file::ranks_file(communicator& ranks, const std::filesystem::path& target) : ranks_(ranks), target_(target) {
  std::string temporary;
  together(ranks_, [&] {
    if (ranks_.rank() != 0) return;
    replacing_ = std::make_unique<atomic_file>(target, atomic_file::temporary::named);
    temporary = replacing_->temporary_path().string();
    if (temporary.empty()) {
      throw io_error(message("cannot write ", target.string(), " from several ranks: it is not a file on a disk"));
    }
  });
  temporary = text_of_rank_0(ranks_, temporary);
  // Opened before MPI opens it: if only some ranks can, those would wait for the others inside MPI.
  together(ranks_, [&] {
    if (::access(temporary.c_str(), W_OK) == 0) return;
    throw io_error(message("cannot write ", target_.string(), ": ", std::strerror(errno),
                           " (all ranks need the same file system)"));
  });
  together(ranks_, [&] { shared_ = ranks_.open_shared(temporary, target_.string()); });
}

void ranks_file::write_at(std::uint64_t offset, std::span<const std::byte> bytes) { shared_->write_at(offset, bytes); }
void ranks_file::write_at(std::uint64_t offset, std::string_view text) {
  write_at(offset, std::as_bytes(std::span(text.data(), text.size())));
}

void ranks_file::commit() {
  together(ranks_, [&] { shared_->flush(); });
  shared_.reset();
  together(ranks_, [&] {
    if (replacing_ != nullptr) replacing_->commit();
  });
}

}  // namespace quadrat::io
