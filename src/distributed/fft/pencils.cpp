// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/fft/pencils.hpp"

#include <algorithm>
#include <type_traits>

#include "core/backend.hpp"
#include "distributed/fft/fft_moves.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// The place of element (a, b, c) of an array [a][b][c] in pieces along c, each stored as [a][c][b] or [c][b][a].
struct place_in_pieces {
  std::size_t a_extent, b_extent, c_extent, width;
  bool outward;

  QUADRAT_HD std::size_t operator()(std::size_t i) const {
    const std::size_t a = i / (b_extent * c_extent), b = i / c_extent % b_extent, c = i % c_extent;
    const std::size_t first = c / width * width;
    const std::size_t length = c_extent - first < width ? c_extent - first : width;
    const std::size_t before = first * a_extent * b_extent;
    return outward ? before + ((c - first) * b_extent + b) * a_extent + a
                   : before + (a * length + (c - first)) * b_extent + b;
  }
};

/// The place of an element of lines [line][along] in pieces along the lines, each stored as [line][along].
struct place_in_joined {
  std::size_t lines, length, width;

  QUADRAT_HD std::size_t operator()(std::size_t i) const {
    const std::size_t line = i / length, along = i % length, first = along / width * width;
    const std::size_t piece = length - first < width ? length - first : width;
    return first * lines + line * piece + (along - first);
  }
};

template <typename T, typename Place>
struct into_pieces {
  const moved_number<T>* mesh;
  Place place;
  moved_number<T>* pieces;

  QUADRAT_HD void operator()(std::size_t i) const { pieces[place(i)] = mesh[i]; }
};

template <typename T, typename Place>
struct out_of_pieces {
  const moved_number<T>* pieces;
  Place place;
  moved_number<T>* mesh;

  QUADRAT_HD void operator()(std::size_t i) const { mesh[i] = pieces[place(i)]; }
};

[[nodiscard]] std::size_t product_of(const vec<int, 3>& extents) {
  return static_cast<std::size_t>(extents[0]) * static_cast<std::size_t>(extents[1]) *
         static_cast<std::size_t>(extents[2]);
}
[[nodiscard]] vec<int, 3> extents_of(const cell_block<3>& block) { return block.end - block.first; }

/// The number of layers of each rank.
[[nodiscard]] std::vector<int> layers_by_rank(int extent, int ranks) {
  std::vector<int> layers;
  for (int rank = 0; rank < ranks; ++rank) {
    layers.push_back(slab_begin(extent, rank + 1, ranks) - slab_begin(extent, rank, ranks));
  }
  return layers;
}

[[nodiscard]] std::vector<std::size_t> times(const std::vector<int>& layers, int a, int b) {
  std::vector<std::size_t> numbers;
  for (const int one : layers) numbers.push_back(product_of({one, a, b}));
  return numbers;
}

}  // namespace

template <typename Context, typename T>
pencil_transform<Context, T>::pencil_transform(const Context& context, communicator& ranks, const transposed_mesh& mesh,
                                               const pencil_ranks& arranged, const std::string& library)
    : context_(context),
      ranks_(ranks),
      mesh_(mesh.modes()),
      arranged_(arranged),
      x_(ranks.rank() / arranged.along_y),
      y_(ranks.rank() % arranged.along_y),
      idle_(x_ >= arranged.along_x) {
  const auto share = [&](cell_block<3>& block, int axis, int place, int parts) {
    block.first[axis] = idle_ ? 0 : slab_begin(mesh_[axis], place, parts);
    block.end[axis] = idle_ ? 0 : slab_begin(mesh_[axis], place + 1, parts);
  };
  first_.end = middle_.end = last_.end = idle_ ? vec<int, 3>{} : mesh_;
  share(first_, 0, x_, arranged.along_x);
  share(first_, 1, y_, arranged.along_y);
  share(middle_, 0, x_, arranged.along_x);
  share(middle_, 2, y_, arranged.along_y);
  share(last_, 1, x_, arranged.along_x);
  share(last_, 2, y_, arranged.along_y);
  inner_ = among_group();
  outer_ = across_groups();

  const auto count = [](const cell_block<3>& block, int axis) {
    vec<int, 3> extents = extents_of(block);
    extents[axis] = std::min(extents[axis], 1);
    return product_of(extents);
  };
  along_[0] = lines(mesh_[0], count(last_, 0), false, library);
  along_[1] = lines(mesh_[1], count(middle_, 1), false, library);
  along_[2] = lines(mesh.points[2], count(first_, 2), mesh.real, library);
  out_ = array<number, Context>(context_, room());
  in_ = array<number, Context>(context_, room());
}

template <typename Context, typename T>
std::size_t pencil_transform<Context, T>::room() const {
  return std::max({product_of(extents_of(first_)), product_of(extents_of(middle_)), product_of(extents_of(last_))});
}

template <typename Context, typename T>
std::size_t pencil_transform<Context, T>::bytes() const {
  std::size_t sum = out_.bytes() + in_.bytes();
  for (const transform_type& one : along_) sum += one == nullptr ? 0 : one->bytes();
  return sum;
}

template <typename Context, typename T>
typename pencil_transform<Context, T>::transform_type pencil_transform<Context, T>::lines(
    int length, std::size_t count, bool real, const std::string& library) const {
  if (count == 0) return nullptr;
  require(count <= max_count, "a rank has ", count, " lines of mesh points; at most ", max_count, " are possible");
  return make_whole_transform<Context, T>(context_, {1, 1, length}, static_cast<int>(count), real, library);
}

/// From [x][y][z] to [x][z][y].
template <typename Context, typename T>
typename pencil_transform<Context, T>::transposition pencil_transform<Context, T>::among_group() const {
  const int parts = arranged_.along_y;
  const vec<int, 3> before = extents_of(first_), after = extents_of(middle_);
  transposition plan{before,
                     {after[0], after[2], after[1]},
                     slab_begin(mesh_[2], 1, parts),
                     slab_begin(mesh_[1], 1, parts),
                     false,
                     {},
                     {},
                     {}};
  if (idle_) return plan;
  for (int k = 0; k < parts; ++k) plan.partners.push_back(x_ * parts + k);
  plan.sent = times(layers_by_rank(mesh_[2], parts), before[0], before[1]);
  plan.received = times(layers_by_rank(mesh_[1], parts), after[0], after[2]);
  return plan;
}

/// From [x][z][y] to [y][z][x].
template <typename Context, typename T>
typename pencil_transform<Context, T>::transposition pencil_transform<Context, T>::across_groups() const {
  const int parts = arranged_.along_x;
  const vec<int, 3> before = extents_of(middle_), after = extents_of(last_);
  transposition plan{{before[0], before[2], before[1]},
                     {after[1], after[2], after[0]},
                     slab_begin(mesh_[1], 1, parts),
                     slab_begin(mesh_[0], 1, parts),
                     true,
                     {},
                     {},
                     {}};
  if (idle_) return plan;
  for (int k = 0; k < parts; ++k) plan.partners.push_back(k * arranged_.along_y + y_);
  plan.sent = times(layers_by_rank(mesh_[1], parts), before[0], before[2]);
  plan.received = times(layers_by_rank(mesh_[0], parts), after[1], after[2]);
  return plan;
}

template <typename Context, typename T>
void pencil_transform<Context, T>::exchange(const std::vector<int>& partners, const std::vector<std::size_t>& sent,
                                            const std::vector<std::size_t>& received) {
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  number* from = out_.data();
  number* to = in_.data();
  for (std::size_t k = 0; k < partners.size(); ++k) {
    if (std::is_same_v<Context, cpu_context> && partners[k] == ranks_.rank()) {
      copy_bytes(context_, from, to, sent[k] * sizeof(number));
    } else {
      if (sent[k] > 0) sends.push_back({partners[k], from, sent[k] * sizeof(number)});
      if (received[k] > 0) receives.push_back({partners[k], to, received[k] * sizeof(number)});
    }
    from += sent[k];
    to += received[k];
  }
  ranks_.exchange(context_, sends, receives);
}

template <typename T>
[[nodiscard]] static place_in_pieces pieces_before(const T& plan) {
  const auto extent = [&](int k) { return static_cast<std::size_t>(plan.from[k]); };
  return {extent(0), extent(1), extent(2), static_cast<std::size_t>(plan.width), plan.outward};
}
template <typename T>
[[nodiscard]] static place_in_joined pieces_after(const T& plan) {
  const auto extent = [&](int k) { return static_cast<std::size_t>(plan.to[k]); };
  return {extent(0) * extent(1), extent(2), static_cast<std::size_t>(plan.width_joined)};
}

/// Splits [a][b][c] into its pieces, or joins them.
template <typename Context, typename T>
void pencil_transform<Context, T>::part(const transposition& plan, number* data, number* pieces, bool into) {
  const place_in_pieces order = pieces_before(plan);
  if constexpr (std::is_same_v<Context, cpu_context>) {
    const std::size_t a = order.a_extent, b = order.b_extent, c = order.c_extent;
    // Pieces have lines along b, or along a.
    const auto place = [=](std::size_t plane, std::size_t column) {
      return order(order.outward ? plane * c + column : plane * b * c + column);
    };
    if (order.outward) {
      tile_moves<number, decltype(place)>{data, pieces, b, a, c, c, b * c, place, into}.run(context_, "fft.pieces");
    } else {
      tile_moves<number, decltype(place)>{data, pieces, a, b, c, b * c, c, place, into}.run(context_, "fft.pieces");
    }
  } else if (into) {
    for_each(context_, "fft.pieces", product_of(plan.from), into_pieces<T, place_in_pieces>{data, order, pieces});
  } else {
    for_each(context_, "fft.mesh", product_of(plan.from), out_of_pieces<T, place_in_pieces>{pieces, order, data});
  }
}

/// Joins pieces to lines, or splits them.
template <typename Context, typename T>
void pencil_transform<Context, T>::join(const transposition& plan, number* data, number* pieces, bool back) {
  const place_in_joined order = pieces_after(plan);
  if constexpr (std::is_same_v<Context, cpu_context>) {
    line_moves<number>{data, pieces, order.lines, order.length, order.width, back}.run(context_, "fft.joined");
  } else if (back) {
    for_each(context_, "fft.unjoin", product_of(plan.to), into_pieces<T, place_in_joined>{data, order, pieces});
  } else {
    for_each(context_, "fft.joined", product_of(plan.to), out_of_pieces<T, place_in_joined>{pieces, order, data});
  }
}

template <typename Context, typename T>
void pencil_transform<Context, T>::transpose(const transposition& plan, number* data) {
  part(plan, data, out_.data(), true);
  exchange(plan.partners, plan.sent, plan.received);
  join(plan, data, in_.data(), false);
}

template <typename Context, typename T>
void pencil_transform<Context, T>::transpose_back(const transposition& plan, number* data) {
  join(plan, data, out_.data(), true);
  exchange(plan.partners, plan.received, plan.sent);
  part(plan, data, in_.data(), false);
}

template <typename Context, typename T>
void pencil_transform<Context, T>::forward(T* real, number* data) {
  transform_into(along_[2], real, data);
  transpose(inner_, data);
  transform_into<T>(along_[1], nullptr, data);
  transpose(outer_, data);
  transform_into<T>(along_[0], nullptr, data);
}

template <typename Context, typename T>
void pencil_transform<Context, T>::inverse(number* data, T* real) {
  transform_back<T>(along_[0], data, nullptr);
  transpose_back(outer_, data);
  transform_back<T>(along_[1], data, nullptr);
  transpose_back(inner_, data);
  transform_back(along_[2], data, real);
}

template <typename Context, typename T>
void pencil_transform<Context, T>::to_natural(number* data) {
  transpose_back(outer_, data);
  transpose_back(inner_, data);
}

template <typename Context, typename T>
void pencil_transform<Context, T>::to_transposed(number* data) {
  transpose(inner_, data);
  transpose(outer_, data);
}

template class pencil_transform<backend_context, float>;
template class pencil_transform<backend_context, double>;

}  // namespace quadrat::detail
