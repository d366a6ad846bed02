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

/// Files that ranks write and read together; no rank holds all particles. All calls are collective. An error on one
/// rank is thrown on all. All ranks must see the same file system. Each file appears complete or not at all, even if
/// the disk is full for one rank only or ranks are killed.
namespace quadrat::io {

/// Writes a frame as VTK pieces. Ids are consecutive in order of rank. Each rank that has particles writes a piece
/// FILE_0.vtp, FILE_1.vtp, ...; rank 0 always does. FILE.pvtp, in the same folder, joins them and is written last.
/// `file` ends in .pvtp or .pvtu. The arrays are those of write_vtp.
void write_pieces(communicator& ranks, const std::filesystem::path& file, const particle_frame& mine);

/// The file that joins the piece `name` of `write_pieces`; empty if `name` is no such piece. Both are names without
/// folder.
[[nodiscard]] std::string file_of_piece(std::string_view name);

/// Writes the same frame as one extended XYZ file, with the bytes that write_xyz gives on one rank.
void write_xyz(communicator& ranks, const std::filesystem::path& file, const particle_frame& mine);

/// The file format of a checkpoint. read_checkpoint reads all of them, on any number of ranks.
enum class checkpoint_format {
  automatic,  ///< hdf5 if this build has it and ranks are several processes, otherwise own
  own,        ///< the bytes that write_checkpoint gives on one rank
  hdf5        ///< an HDF5 file behind the header, for h5dump and h5py: a dataset for each array, by particle id
};

/// Writes a checkpoint. `rows`: arrays of this rank's particles, the same arrays on all ranks; ids are consecutive in
/// order of rank. `rest`: everything else, on rank 0; its arrays follow those of `rows`. Also throws io_error for hdf5
/// in a build without HDF5.
void write_checkpoint(communicator& ranks, const std::filesystem::path& file, const checkpoint& rows,
                      const checkpoint& rest, checkpoint_format format = checkpoint_format::automatic);

/// The part of a checkpoint that one rank reads.
struct checkpoint_share {
  checkpoint rows;  ///< arrays of this rank's particles: those of keys_of_rank(particles, rank, ranks)
  checkpoint rest;  ///< everything else; its arrays on rank 0 only
};

/// Reads a checkpoint of any number of ranks. Each rank verifies a part of the file. `by_row` names the arrays with one
/// row per particle; each rank reads its own rows of them.
[[nodiscard]] checkpoint_share read_checkpoint(communicator& ranks, const std::filesystem::path& file,
                                               std::span<const std::string_view> by_row);

}  // namespace quadrat::io
