// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "quadrat/core/array.hpp"
#include "quadrat/core/macros.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"
#include "quadrat/parallel/for_each.hpp"

/// The collision cells of one rank, and how ranks bring the sums of a cell together.
namespace quadrat::detail {

/// The cells that the particles of a rank may be in: its block, and some layers around it. Numbered x fastest. Along a
/// periodic axis that it would cover as a whole, the window is that axis: it has each cell of the grid once.
template <int D>
struct cell_window {
  vec<int, D> first;   ///< along periodic axes before it is wrapped: at least -cells
  vec<int, D> extent;  ///< 0: no cells
  vec<int, D> cells;   ///< of the grid

  /// The number of a cell, or -1 if it is not in the window.
  [[nodiscard]] QUADRAT_HD int index(const vec<int, D>& cell) const {
    int number = 0;
    for (int axis = D - 1; axis >= 0; --axis) {
      int along = cell[axis] - first[axis];
      // Along an open axis this stays outside.
      if (along < 0) along += cells[axis];
      if (along >= cells[axis]) along -= cells[axis];
      if (along < 0 || along >= extent[axis]) return -1;
      number = number * extent[axis] + along;
    }
    return number;
  }
  /// The cell of a number.
  [[nodiscard]] QUADRAT_HD vec<int, D> cell(int index) const {
    vec<int, D> result{};
    for (int axis = 0; axis < D; ++axis) {
      int along = first[axis] + index % extent[axis];
      index /= extent[axis];
      if (along < 0) along += cells[axis];
      result[axis] = along < cells[axis] ? along : along - cells[axis];
    }
    return result;
  }
  [[nodiscard]] std::size_t size() const {
    std::size_t product = 1;
    for (int axis = 0; axis < D; ++axis) product *= static_cast<std::size_t>(extent[axis]);
    return product;
  }
};

/// The window of a block with `below` layers below it and `above` above.
template <int D>
[[nodiscard]] cell_window<D> window_of(const decomposition<D>& shares, int rank, int below, int above) {
  const cell_block<D>& block = shares.blocks[static_cast<std::size_t>(rank)];
  cell_window<D> window{vec<int, D>{}, vec<int, D>{}, shares.cells};
  if (block.empty()) return window;
  for (int axis = 0; axis < D; ++axis) {
    const int n = shares.cells[axis];
    int first = block.first[axis] - below, end = block.end[axis] + above;
    if (!shares.periodic[axis] || end - first >= n) {
      first = shares.periodic[axis] ? 0 : std::max(first, 0);
      end = shares.periodic[axis] ? n : std::min(end, n);
    }
    window.first[axis] = first;
    window.extent[axis] = end - first;
  }
  return window;
}

/// The cells of a block that a window has, x fastest.
template <int D>
[[nodiscard]] std::vector<vec<int, D>> common_cells(const cell_window<D>& window, const cell_block<D>& block) {
  std::vector<vec<int, D>> cells;
  if (block.empty()) return cells;
  std::vector<int> along[D];
  for (int axis = 0; axis < D; ++axis) {
    const int n = window.cells[axis];
    for (int i = 0; i < window.extent[axis]; ++i) {
      const int cell = (window.first[axis] + i + n) % n;
      if (cell >= block.first[axis] && cell < block.end[axis]) along[axis].push_back(cell);
    }
  }
  std::size_t count = 1;
  for (const auto& one : along) count *= one.size();
  cells.reserve(count);
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t rest = k;
    vec<int, D> cell{};
    for (int axis = 0; axis < D; ++axis) {
      cell[axis] = along[axis][rest % along[axis].size()];
      rest /= along[axis].size();
    }
    cells.push_back(cell);
  }
  return cells;
}

/// out[k] = the values of cell indices[k], which are set to 0 if Take.
template <typename V, bool Take>
struct pack_cells {
  V* values;
  const std::uint32_t* indices;
  std::size_t width;
  V* out;

  QUADRAT_HD void operator()(std::size_t k) const {
    V* const cell = values + indices[k] * width;
    for (std::size_t c = 0; c < width; ++c) {
      out[k * width + c] = cell[c];
      if (Take) cell[c] = V(0);
    }
  }
};

template <typename V, bool Add>
struct unpack_cells {
  const V* in;
  const std::uint32_t* indices;
  std::size_t width;
  V* values;

  QUADRAT_HD void operator()(std::size_t k) const {
    V* const cell = values + indices[k] * width;
    for (std::size_t c = 0; c < width; ++c) cell[c] = Add ? cell[c] + in[k * width + c] : in[k * width + c];
  }
};

/// A plan between the windows of all ranks. The values of a window are an array [cell][component]; those of the rank's
/// own block lie in the window, too, and do not move. Counts follow from the blocks, which all ranks know. Collective.
template <typename Context, int D>
class cell_borders {
 public:
  cell_borders(const Context& context, communicator& ranks) : context_(context), ranks_(ranks) {}

  /// `windows`: of all ranks. Synchronizes.
  void plan(const decomposition<D>& shares, const std::vector<cell_window<D>>& windows) {
    const auto self = static_cast<std::size_t>(ranks_.rank());
    std::vector<std::uint32_t> foreign, own;
    foreign_.by_rank.assign(windows.size(), 0);
    own_.by_rank.assign(windows.size(), 0);
    for (std::size_t rank = 0; rank < windows.size(); ++rank) {
      if (rank == self) continue;
      const auto add = [&](std::vector<std::uint32_t>& list, const std::vector<vec<int, D>>& cells) {
        for (const auto& cell : cells) list.push_back(static_cast<std::uint32_t>(windows[self].index(cell)));
        return cells.size();
      };
      foreign_.by_rank[rank] = add(foreign, common_cells(windows[self], shares.blocks[rank]));
      own_.by_rank[rank] = add(own, common_cells(windows[rank], shares.blocks[self]));
    }
    foreign_.indices = to_device(context_, foreign);
    own_.indices = to_device(context_, own);
    std::vector<std::uint8_t> marks(windows[self].size());
    for (const std::uint32_t cell : own) marks[cell] = 1;
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
    shared_ = to_device(context_, own);
    marks_ = to_device(context_, marks);
  }

  /// Adds what is in cells of others to their owners' values, in order of rank, and leaves 0. In two parts, between
  /// which other cells than `shared` and those of others may be used.
  template <typename V>
  void start_add(V* values, std::size_t width) {
    V* const out = room<V>(out_, foreign_.indices.size() * width);
    room<V>(in_, own_.indices.size() * width);
    for_each(context_, "cells.pack", foreign_.indices.size(),
             pack_cells<V, true>{values, foreign_.indices.data(), width, out});
    start<V>(foreign_, own_, width);
  }
  template <typename V>
  void finish_add(V* values, std::size_t width) {
    ranks_.finish(context_);
    const V* in = reinterpret_cast<const V*>(in_.data());
    const std::uint32_t* indices = own_.indices.data();
    for (const std::size_t count : own_.by_rank) {
      for_each(context_, "cells.add", count, unpack_cells<V, true>{in, indices, width, values});
      in += count * width;
      indices += count;
    }
  }
  /// Gives cells of others their owners' values.
  template <typename V>
  void fetch(V* values, std::size_t width) {
    V* const out = room<V>(out_, own_.indices.size() * width);
    const V* const in = room<V>(in_, foreign_.indices.size() * width);
    for_each(context_, "cells.pack", own_.indices.size(),
             pack_cells<V, false>{values, own_.indices.data(), width, out});
    start<V>(own_, foreign_, width);
    ranks_.finish(context_);
    for_each(context_, "cells.unpack", foreign_.indices.size(),
             unpack_cells<V, false>{in, foreign_.indices.data(), width, values});
  }

  /// The rank's own cells that are in windows of others, each once; by cell of the window, whether it is one.
  [[nodiscard]] std::span<const std::uint32_t> shared() const { return {shared_.data(), shared_.size()}; }
  [[nodiscard]] const std::uint8_t* marks() const { return marks_.data(); }
  /// Cells of others in this rank's window.
  [[nodiscard]] std::size_t foreign() const { return foreign_.indices.size(); }
  [[nodiscard]] std::size_t bytes() const {
    return foreign_.indices.bytes() + own_.indices.bytes() + out_.bytes() + in_.bytes() + shared_.bytes() +
           marks_.bytes();
  }

 private:
  /// Cells that travel between this rank and the others, in order of rank.
  struct route {
    array<std::uint32_t, Context> indices;
    std::vector<std::size_t> by_rank;
  };

  template <typename V>
  V* room(array<std::byte, Context>& memory, std::size_t values) {
    memory.resize_discarding(context_, values * sizeof(V));
    return reinterpret_cast<V*>(memory.data());
  }
  template <typename V>
  void start(const route& leaving, const route& coming, std::size_t width) {
    sends_.clear();
    receives_.clear();
    std::size_t from = 0, to = 0;
    for (std::size_t rank = 0; rank < leaving.by_rank.size(); ++rank) {
      const std::size_t sent = leaving.by_rank[rank] * width * sizeof(V);
      const std::size_t received = coming.by_rank[rank] * width * sizeof(V);
      if (sent > 0) sends_.push_back({static_cast<int>(rank), out_.data() + from, sent});
      if (received > 0) receives_.push_back({static_cast<int>(rank), in_.data() + to, received});
      from += sent;
      to += received;
    }
    ranks_.start(context_, sends_, receives_);
  }

  Context context_;
  communicator& ranks_;
  route foreign_, own_;
  array<std::byte, Context> out_, in_;
  array<std::uint32_t, Context> shared_;
  array<std::uint8_t, Context> marks_;
  std::vector<outgoing_message> sends_;
  std::vector<incoming_message> receives_;
};

}  // namespace quadrat::detail
