// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quadrat/io/checkpoint.hpp"

/// Checkpoints as HDF5 files. Each array is a contiguous dataset of its name, of rows x components numbers. Step,
/// particles and bytes of a real number are attributes. HDF5 itself makes and reads only the metadata, in memory. All
/// ranks read and write the numbers at the offsets that HDF5 has assigned. So no HDF5 call is collective or writes to a
/// disk. This avoids two problems: parallel HDF5 leaves ranks waiting for one that is killed or whose disk is full, and
/// HDF5 ends a process in which a file could not be closed.
namespace quadrat::io {

/// An array of a checkpoint without its data, and the place of its data in the file.
struct array_place {
  checkpoint_array array;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< of the data; 0 if there are none
};

struct placed_bytes {
  std::uint64_t offset;
  std::string bytes;
};

/// The bytes of a file outside its shared arrays.
struct checkpoint_frame {
  std::vector<placed_bytes> pieces;
  std::uint64_t end = 0;  ///< length of the file without the checksum that follows
};

/// Whether this build has HDF5. Without it the functions below throw io_error.
[[nodiscard]] bool hdf5_is_there();

/// Makes the bytes of an HDF5 file outside its arrays, for arrays of these sizes, and sets the arrays' offsets. The
/// HDF5 file follows `front` bytes (a power of two from 512 on). `name`: the file in errors. Throws io_error, also if
/// the file may not grow so large.
[[nodiscard]] checkpoint_frame make_hdf5(const std::string& name, std::uint64_t front, const checkpoint& state,
                                         std::span<array_place> arrays);

/// The arrays of such a file, sorted by name. Reads the file at that path, or `bytes` if they are given. Throws
/// io_error.
[[nodiscard]] std::vector<array_place> arrays_in_hdf5(const std::string& file, std::span<const std::byte> bytes = {});

}  // namespace quadrat::io
