// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "quadrat/distributed/communicator.hpp"
#include "quadrat/io/checkpoint.hpp"
#include "quadrat/io/particle_frame.hpp"

/// Files that ranks write and read together: no rank holds the particles of all. All calls are collective, throw on all
/// ranks what one would throw, and need a file system that is the same for all ranks. Each file appears whole or not at
/// all: also where a disk is full for one rank only, and when ranks are killed.
namespace quadrat::io {

/// A frame of particles of consecutive ids in order of rank, as VTK pieces: FILE.pvtp is written last, and joins
/// FILE_0.vtp, FILE_1.vtp, ... in the same folder, one of each rank that has particles (of rank 0 in any case). `file`
/// ends in .pvtp or .pvtu; the arrays are those of write_vtp.
void write_pieces(communicator& ranks, const std::filesystem::path& file, const particle_frame& mine);

/// The pieces in that folder that belong to a file of `write_pieces`: whether `name` is one, of which file. Names
/// without folder; empty if it is none.
[[nodiscard]] std::string file_of_piece(std::string_view name);

/// The same frame as extended XYZ: one file, with the bytes that write_xyz gives on one rank.
void write_xyz(communicator& ranks, const std::filesystem::path& file, const particle_frame& mine);

/// What a checkpoint is written as. All are read by read_checkpoint, on any number of ranks.
enum class checkpoint_format {
  automatic,  ///< hdf5 where this build has it and ranks are several processes, else own
  own,        ///< the bytes that write_checkpoint gives on one rank
  hdf5        ///< an HDF5 file behind the header, which h5dump and h5py read: a dataset for each array, by particle id
};

/// Writes a checkpoint. `rows`: arrays of this rank's particles, the same arrays on all ranks, ids consecutive in order
/// of rank. `rest`, on rank 0: all else; its arrays come after those. Throws also io_error for hdf5 without HDF5.
void write_checkpoint(communicator& ranks, const std::filesystem::path& file, const checkpoint& rows,
                      const checkpoint& rest, checkpoint_format format = checkpoint_format::automatic);

/// A checkpoint as one rank reads it.
struct checkpoint_share {
  checkpoint rows;  ///< arrays of this rank's particles: those of keys_of_rank(particles, rank, ranks)
  checkpoint rest;  ///< all else; the arrays on rank 0 only
};

/// Reads a checkpoint of any number of ranks. Each rank verifies a part of the file, and reads its rows of the arrays
/// in `by_row` that have one for each particle.
[[nodiscard]] checkpoint_share read_checkpoint(communicator& ranks, const std::filesystem::path& file,
                                               std::span<const std::string_view> by_row);

}  // namespace quadrat::io
