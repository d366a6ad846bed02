// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>

#include "quadrat/core/context.hpp"
#include "quadrat/parallel/for_each.hpp"

/// Moves numbers for transposed transforms on the CPU. Works in tiles that fit the cache, without a division per
/// number.
namespace quadrat::detail {

/// Copies planes of a mesh into pieces, or back; numbers of a row are adjacent. Number (plane, row, column) of the mesh
/// is number `row` after place(plane, column) in the pieces.
template <typename Number, typename Place>
struct tile_moves {
  static constexpr std::size_t tile = 16;

  Number* mesh;
  Number* pieces;
  std::size_t planes, rows, columns, plane_stride, row_stride;
  Place place;
  bool into_pieces;

  [[nodiscard]] std::size_t tiles() const { return (columns + tile - 1) / tile; }

  void operator()(std::size_t i) const {
    const std::size_t plane = i / tiles(), first = i % tiles() * tile;
    const std::size_t number = std::min(tile, columns - first);
    Number* line[tile] = {};
    for (std::size_t c = 0; c < number; ++c) line[c] = pieces + place(plane, first + c);
    Number* const corner = mesh + plane * plane_stride + first;
    for (std::size_t begin = 0; begin < rows; begin += tile) {
      const std::size_t end = std::min(begin + tile, rows);
      for (std::size_t r = begin; r < end; ++r) {
        Number* const row = corner + r * row_stride;
        for (std::size_t c = 0; c < number; ++c) {
          into_pieces ? static_cast<void>(line[c][r] = row[c]) : static_cast<void>(row[c] = line[c][r]);
        }
      }
    }
  }

  void run(const cpu_context& context, const char* name) const {
    if (rows > 0 && columns > 0) for_each(context, name, planes * tiles(), *this);
  }
};

/// Joins lines from pieces of `width` numbers (the last may be shorter), each [line][along], or splits them.
template <typename Number>
struct line_moves {
  Number* mesh;
  Number* pieces;
  std::size_t lines, length, width;
  bool into_pieces;

  void operator()(std::size_t line) const {
    for (std::size_t first = 0; first < length; first += width) {
      const std::size_t number = std::min(width, length - first);
      Number* const whole = mesh + line * length + first;
      Number* const piece = pieces + first * lines + line * number;
      into_pieces ? static_cast<void>(std::copy_n(whole, number, piece))
                  : static_cast<void>(std::copy_n(piece, number, whole));
    }
  }

  void run(const cpu_context& context, const char* name) const { for_each(context, name, lines, *this); }
};

}  // namespace quadrat::detail
