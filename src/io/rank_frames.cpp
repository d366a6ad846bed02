// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "io/frames/particle_frame.hpp"
#include "io/ranks_file.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/rank_files.hpp"

namespace quadrat::io {
namespace {

/// The name of a rank's piece of a .pvtp or .pvtu, without folder.
std::string piece_name(const std::filesystem::path& file, std::size_t rank) {
  return message(file.stem().string(), '_', rank, '.', file.extension().string().substr(2));
}

}  // namespace

void write_pieces(communicator& ranks, const std::filesystem::path& file, const particle_frame& mine) {
  const bool grid = file.extension() == ".pvtu";
  together(ranks, [&] {
    require(grid || file.extension() == ".pvtp", "the file of a frame in pieces is ", file.string(),
            "; its name must end in .pvtp or .pvtu");
  });
  const auto counts = all_values(ranks, mine.positions.size());
  std::vector<std::string> pieces;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (rank == 0 || counts[rank] > 0) pieces.push_back(piece_name(file, rank));
  }
  const auto self = static_cast<std::size_t>(ranks.rank());
  together(ranks, [&] {
    if (self > 0 && counts[self] == 0) return;
    const auto own = file.parent_path() / piece_name(file, self);
    grid ? write_vtu(own, mine) : write_vtp(own, mine);
  });
  together(ranks, [&] {
    if (self != 0) return;
    for (const std::string& name : pieces) {
      const auto piece = file.parent_path() / name;
      if (std::filesystem::exists(piece)) continue;
      throw io_error(message("another rank has written ", piece.string(),
                             ", which is not here: all ranks need the same file system"));
    }
    grid ? write_pvtu(file, mine, pieces) : write_pvtp(file, mine, pieces);
  });
}

std::string file_of_piece(std::string_view name) {
  const std::size_t dot = name.rfind('.'), line = name.rfind('_', dot);
  if (dot == std::string_view::npos || line == std::string_view::npos) return {};
  const std::string_view rank = name.substr(line + 1, dot - line - 1), kind = name.substr(dot + 1);
  const bool number = !rank.empty() && rank.find_first_not_of("0123456789") == std::string_view::npos;
  if (!number || (rank.size() > 1 && rank[0] == '0') || (kind != "vtp" && kind != "vtu")) return {};
  return message(name.substr(0, line), ".p", kind);
}

void write_xyz(communicator& ranks, const std::filesystem::path& file, const particle_frame& mine) {
  const auto counts = all_values(ranks, mine.positions.size());
  std::size_t all = 0;
  for (const std::size_t count : counts) all += count;
  std::string text;
  together(ranks, [&] {
    require_complete(mine, "XYZ");
    if (ranks.rank() == 0) text = message(all, '\n') + xyz_comment(mine);
    append_xyz_lines(text, mine, 0, mine.positions.size());
  });
  ranks_file out(ranks, file);
  std::uint64_t place = 0;
  const auto lengths = all_values(ranks, text.size());
  for (int rank = 0; rank < ranks.rank(); ++rank) place += lengths[static_cast<std::size_t>(rank)];
  together(ranks, [&] { out.write_at(place, text); });
  out.commit();
}

}  // namespace quadrat::io
