// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/file.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "quadrat/core/error.hpp"

namespace quadrat::detail {

namespace {

/// Each rank writes a few long ranges, by calls that are not collective. Collective writing would copy the data through
/// other ranks; on a full disk, some ranks would wait for those that could not write. Opening and flushing are
/// collective.
class mpi_file final : public shared_file {
 public:
  mpi_file(MPI_Comm comm, const std::string& path, std::string name) : name_(std::move(name)) {
    check(MPI_File_open(comm, path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &file_));
  }
  ~mpi_file() override { MPI_File_close(&file_); }
  mpi_file(const mpi_file&) = delete;
  mpi_file& operator=(const mpi_file&) = delete;

  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) override {
    // MPI's counts are int.
    constexpr std::size_t longest = std::size_t{1} << 30;
    while (!bytes.empty()) {
      const std::size_t piece = std::min(bytes.size(), longest);
      MPI_Status status;
      check(MPI_File_write_at(file_, static_cast<MPI_Offset>(offset), bytes.data(), static_cast<int>(piece), MPI_BYTE,
                              &status));
      int written = 0;
      MPI_Get_count(&status, MPI_BYTE, &written);
      // Some implementations report a full disk only in this way.
      if (written <= 0) throw io_error(message("cannot write ", name_, ": nothing more was written (disk full?)"));
      offset += static_cast<std::uint64_t>(written);
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }
  void flush() override { check(MPI_File_sync(file_)); }

 private:
  void check(int code) const {
    if (code == MPI_SUCCESS) return;
    char words[MPI_MAX_ERROR_STRING] = {};
    int length = 0;
    MPI_Error_string(code, words, &length);
    throw io_error(message("cannot write ", name_, ": ", static_cast<const char*>(words)));
  }

  std::string name_;
  MPI_File file_ = MPI_FILE_NULL;
};

}  // namespace

std::unique_ptr<shared_file> open_mpi_file(MPI_Comm comm, const std::string& path, const std::string& name) {
  return std::make_unique<mpi_file>(comm, path, name);
}

}  // namespace quadrat::detail
