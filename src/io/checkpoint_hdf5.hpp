// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quadrat/io/checkpoint.hpp"

/// Checkpoints that are HDF5 files: each array is a dataset of its name, of rows x components numbers, in one piece;
/// step, particles and bytes of a real number are attributes. HDF5's own functions make what describes the arrays, in
/// memory, and find it again; the numbers are written and read by all ranks at the places that HDF5 has given them. So
/// no call of HDF5 is collective, nor writes to a disk: parallel HDF5 leaves ranks waiting for one that is killed or
/// whose disk is full, and HDF5 ends a process in which a file could not be closed.
namespace quadrat::io {

/// An array of a checkpoint, without its bytes, and where these are in the file.
struct array_place {
  checkpoint_array array;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;  ///< 0 if there are none
};

struct placed_bytes {
  std::uint64_t offset;
  std::string bytes;
};

/// All of a file but some of its arrays.
struct checkpoint_frame {
  std::vector<placed_bytes> pieces;
  std::uint64_t end = 0;  ///< of the file, but for the checksum that follows
};

/// Whether this build has HDF5. Without it the functions below throw io_error.
[[nodiscard]] bool hdf5_is_there();

/// What an HDF5 file with room for those arrays has besides them, behind `front` bytes (a power of two from 512 on);
/// sets their offsets. `name`: of the file in errors. Throws io_error, also where a file may not grow so large.
[[nodiscard]] checkpoint_frame make_hdf5(const std::string& name, std::uint64_t front, const checkpoint& state,
                                         std::span<array_place> arrays);

/// The arrays of such a file, in order of name: of the file of that path, or of its bytes where they are given. Throws
/// io_error.
[[nodiscard]] std::vector<array_place> arrays_in_hdf5(const std::string& file, std::span<const std::byte> bytes = {});

}  // namespace quadrat::io
