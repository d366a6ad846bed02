// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/fft.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "distributed/fft_moves.hpp"
#include "distributed/pencils.hpp"
#include "distributed/slabs.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/fft/groups.hpp"
#include "spectral/transform.hpp"

namespace quadrat {

namespace {

using detail::moved_number;

/// [x][y][z] into parts, one for each rank that gets the layers [y0, y1): [y - y0][z][x] for the own x.
template <typename T>
struct part_by_second_axis {
  const moved_number<T>* mesh;
  int own_x, ny, nz, width;  ///< width: layers of all slabs but the last ones
  moved_number<T>* parts;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = static_cast<std::size_t>(nz), plane = row * static_cast<std::size_t>(ny);
    const std::size_t x = i / plane, y = i % plane / row, z = i % row;
    const std::size_t first = y / static_cast<std::size_t>(width) * static_cast<std::size_t>(width);
    // The parts before hold all y below `first`.
    const std::size_t part = first * row * static_cast<std::size_t>(own_x);
    parts[part + ((y - first) * row + z) * static_cast<std::size_t>(own_x) + x] = mesh[i];
  }
};

/// Parts [y][z][x - x0] of all ranks joined into [y][z][x], or back.
template <typename T>
struct join_first_axis {
  moved_number<T>* mesh;
  moved_number<T>* parts;
  int own_y, nx, nz, width;
  bool back;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t n = static_cast<std::size_t>(nx),
                      lines = static_cast<std::size_t>(own_y) * static_cast<std::size_t>(nz);
    const std::size_t line = i / n, x = i % n;
    const std::size_t first = x / static_cast<std::size_t>(width) * static_cast<std::size_t>(width);
    const std::size_t length =
        n - first < static_cast<std::size_t>(width) ? n - first : static_cast<std::size_t>(width);
    moved_number<T>& place = parts[first * lines + line * length + (x - first)];
    if (back) {
      place = mesh[i];
    } else {
      mesh[i] = place;
    }
  }
};

/// The inverse of part_by_second_axis.
template <typename T>
struct unpart_second_axis {
  part_by_second_axis<T> order;
  moved_number<T>* mesh;

  QUADRAT_HD void operator()(std::size_t i) const {
    const std::size_t row = static_cast<std::size_t>(order.nz), plane = row * static_cast<std::size_t>(order.ny);
    const std::size_t x = i / plane, y = i % plane / row, z = i % row;
    const std::size_t width = static_cast<std::size_t>(order.width), first = y / width * width;
    const std::size_t own = static_cast<std::size_t>(order.own_x);
    mesh[i] = order.parts[first * row * own + ((y - first) * row + z) * own + x];
  }
};

[[nodiscard]] bool only_small_factors(int n) {
  for (const int factor : {2, 3, 5}) {
    while (n > 1 && n % factor == 0) n /= factor;
  }
  return n == 1;
}

}  // namespace

template <typename Context, typename T>
struct distributed_fft<Context, T>::implementation {
  using number = moved_number<T>;

  implementation(const Context& chosen, communicator& group, const vec<int, 3>& extents,
                 const distributed_fft_options& options)
      : context(chosen), ranks(group), mesh(extents), transposed(options.transposed) {
    const int rank = group.rank(), size = group.size();
    for (int axis = 0; axis < 3; ++axis) {
      require(mesh[axis] >= 1 && only_small_factors(mesh[axis]), "the mesh has ", mesh[axis], " points along axis ",
              axis, "; a product of 2, 3 and 5 is needed");
    }
    detail::require_fft_library<T>(options.library, context);
    const bool few_layers = size > std::min(mesh[0], mesh[1]);
    if (options.layout == fft_layout::pencils || (options.layout == fft_layout::automatic && few_layers)) {
      pencils = std::make_unique<detail::pencil_transform<Context, T>>(
          context, group, mesh, detail::arranged_ranks(mesh, size), options.library);
      return;
    }
    x0 = detail::slab_begin(mesh[0], rank, size);
    x1 = detail::slab_begin(mesh[0], rank + 1, size);
    y0 = detail::slab_begin(mesh[1], rank, size);
    y1 = detail::slab_begin(mesh[1], rank + 1, size);
    const std::size_t plane = static_cast<std::size_t>(mesh[1]) * static_cast<std::size_t>(mesh[2]);
    if (x1 > x0) planes = transform({1, mesh[1], mesh[2]}, x1 - x0, plane, options.library);
    const int line_count = (y1 - y0) * mesh[2];
    if (line_count > 0)
      lines = transform({1, 1, mesh[0]}, line_count, static_cast<std::size_t>(mesh[0]), options.library);
    out = array<number, Context>(context, room());
    in = array<number, Context>(context, room());
  }

  [[nodiscard]] std::unique_ptr<detail::mode_transform<T>> transform(const vec<int, 3>& extent, int count,
                                                                     std::size_t apart,
                                                                     const std::string& library) const {
    detail::transform_shape shape{};
    for (int axis = 0; axis < 3; ++axis) {
      shape.extent[axis] = extent[axis];
      shape.band[axis] = detail::all_of(extent[axis]);
    }
    shape.real = false;
    shape.count = count;
    shape.apart = count > 1 ? apart : 0;
    return detail::make_mode_transform<T>(context, shape, library);
  }

  [[nodiscard]] std::size_t slab() const { return layer_numbers(x1 - x0, mesh[1]); }
  [[nodiscard]] std::size_t transposed_slab() const { return layer_numbers(y1 - y0, mesh[0]); }
  [[nodiscard]] std::size_t room() const {
    return pencils != nullptr ? pencils->room() : std::max(slab(), transposed_slab());
  }
  [[nodiscard]] cell_block<3> block() const {
    return pencils != nullptr ? pencils->first_block() : cell_block<3>{{x0, 0, 0}, {x1, mesh[1], mesh[2]}};
  }
  [[nodiscard]] cell_block<3> transposed_block() const {
    return pencils != nullptr ? pencils->last_block() : cell_block<3>{{0, y0, 0}, {mesh[0], y1, mesh[2]}};
  }
  [[nodiscard]] std::size_t layer_numbers(int layers, int extent) const {
    return static_cast<std::size_t>(layers) * static_cast<std::size_t>(extent) * static_cast<std::size_t>(mesh[2]);
  }

  /// Numbers of mesh points in (own layers) x (layers of each rank across the other axis) x nz.
  [[nodiscard]] std::vector<std::size_t> parts(int own, int extent) const {
    std::vector<std::size_t> result;
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const int layers =
          detail::slab_begin(extent, rank + 1, ranks.size()) - detail::slab_begin(extent, rank, ranks.size());
      result.push_back(layer_numbers(own, layers));
    }
    return result;
  }
  void exchange(const std::vector<std::size_t>& sent, const std::vector<std::size_t>& received) {
    std::vector<outgoing_message> sends;
    std::vector<incoming_message> receives;
    number* from = out.data();
    number* to = in.data();
    for (int rank = 0; rank < ranks.size(); ++rank) {
      const std::size_t leaving = sent[static_cast<std::size_t>(rank)],
                        coming = received[static_cast<std::size_t>(rank)];
      if (std::is_same_v<Context, cpu_context> && rank == ranks.rank()) {
        // Not through the staging memory of a message.
        copy_bytes(context, from, to, leaving * sizeof(number));
      } else {
        if (leaving > 0) sends.push_back({rank, from, leaving * sizeof(number)});
        if (coming > 0) receives.push_back({rank, to, coming * sizeof(number)});
      }
      from += leaving;
      to += coming;
    }
    ranks.exchange(context, sends, receives);
  }

  /// From [x - x0][y][z] to [y - y0][z][x].
  void transpose(number* data) {
    part(data, out.data(), true);
    exchange(parts(x1 - x0, mesh[1]), parts(y1 - y0, mesh[0]));
    join(data, in.data(), false);
  }
  void transpose_back(number* data) {
    join(data, out.data(), true);
    exchange(parts(y1 - y0, mesh[0]), parts(x1 - x0, mesh[1]));
    part(data, in.data(), false);
  }
  /// The slab into parts for the other ranks, or back.
  void part(number* data, number* pieces, bool into) {
    const int width = detail::slab_begin(mesh[1], 1, ranks.size());
    if constexpr (std::is_same_v<Context, cpu_context>) {
      const auto own = static_cast<std::size_t>(x1 - x0), ny = static_cast<std::size_t>(mesh[1]),
                 nz = static_cast<std::size_t>(mesh[2]);
      // A plane for each y, of rows along z: what is before the parts of a y has all numbers below it.
      const auto place = [=](std::size_t y, std::size_t z) { return (y * nz + z) * own; };
      detail::tile_moves<number, decltype(place)>{data, pieces, ny, own, nz, nz, ny * nz, place, into}.run(context,
                                                                                                           "fft.part");
    } else {
      const part_by_second_axis<T> order{data, x1 - x0, mesh[1], mesh[2], width, pieces};
      if (into) {
        for_each(context, "fft.part", slab(), order);
      } else {
        for_each(context, "fft.unpart", slab(), unpart_second_axis<T>{order, data});
      }
    }
  }
  /// Parts of all ranks into lines along x, or back.
  void join(number* data, number* pieces, bool back) {
    const int width = detail::slab_begin(mesh[0], 1, ranks.size());
    if constexpr (std::is_same_v<Context, cpu_context>) {
      const auto lines_here = static_cast<std::size_t>(y1 - y0) * static_cast<std::size_t>(mesh[2]);
      const auto length = static_cast<std::size_t>(mesh[0]);
      detail::line_moves<number>{data, pieces, lines_here, length, static_cast<std::size_t>(width), back}.run(
          context, "fft.join");
    } else {
      for_each(context, back ? "fft.unjoin" : "fft.join", transposed_slab(),
               join_first_axis<T>{data, pieces, y1 - y0, mesh[0], mesh[2], width, back});
    }
  }
  void transform_with(const std::unique_ptr<detail::mode_transform<T>>& one, number* data, int sign) const {
    if (one != nullptr) one->to_modes(&data->real, nullptr, sign);
  }

  Context context;
  communicator& ranks;
  vec<int, 3> mesh;
  bool transposed;
  int x0 = 0, x1 = 0, y0 = 0, y1 = 0;
  std::unique_ptr<detail::mode_transform<T>> planes;  ///< along y and z of each own layer
  std::unique_ptr<detail::mode_transform<T>> lines;   ///< along x, of the transposed mesh
  array<number, Context> out, in;
  std::unique_ptr<detail::pencil_transform<Context, T>> pencils;  ///< in place of all these
};

template <typename Context, typename T>
distributed_fft<Context, T>::distributed_fft(const Context& context, communicator& ranks, const vec<int, 3>& mesh,
                                             const distributed_fft_options& options) {
  together(ranks, [&] { implementation_ = std::make_unique<implementation>(context, ranks, mesh, options); });
}
template <typename Context, typename T>
distributed_fft<Context, T>::distributed_fft(distributed_fft&&) noexcept = default;
template <typename Context, typename T>
distributed_fft<Context, T>& distributed_fft<Context, T>::operator=(distributed_fft&&) noexcept = default;
template <typename Context, typename T>
distributed_fft<Context, T>::~distributed_fft() = default;

template <typename Context, typename T>
void distributed_fft<Context, T>::forward(std::complex<T>* mesh) {
  implementation& self = *implementation_;
  auto* const data = reinterpret_cast<moved_number<T>*>(mesh);
  if (self.pencils != nullptr) {
    self.pencils->forward(data);
    if (!self.transposed) self.pencils->to_natural(data);
    return;
  }
  self.transform_with(self.planes, data, -1);
  self.transpose(data);
  self.transform_with(self.lines, data, -1);
  if (!self.transposed) self.transpose_back(data);
}

template <typename Context, typename T>
void distributed_fft<Context, T>::inverse(std::complex<T>* mesh) {
  implementation& self = *implementation_;
  auto* const data = reinterpret_cast<moved_number<T>*>(mesh);
  if (self.pencils != nullptr) {
    if (!self.transposed) self.pencils->to_transposed(data);
    self.pencils->inverse(data);
    return;
  }
  if (!self.transposed) self.transpose(data);
  self.transform_with(self.lines, data, 1);
  self.transpose_back(data);
  self.transform_with(self.planes, data, 1);
}

template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::mesh_size() const {
  const cell_block<3> own = block();
  std::size_t points = 1;
  for (int axis = 0; axis < 3; ++axis) points *= static_cast<std::size_t>(own.end[axis] - own.first[axis]);
  return points;
}
template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::room() const {
  return implementation_->room();
}
template <typename Context, typename T>
bool distributed_fft<Context, T>::in_pencils() const {
  return implementation_->pencils != nullptr;
}
template <typename Context, typename T>
cell_block<3> distributed_fft<Context, T>::block() const {
  return implementation_->block();
}
template <typename Context, typename T>
cell_block<3> distributed_fft<Context, T>::transposed_block() const {
  return implementation_->transposed_block();
}
template <typename Context, typename T>
index_range distributed_fft<Context, T>::layers() const {
  return {block().first[0], block().end[0] - 1};
}
template <typename Context, typename T>
index_range distributed_fft<Context, T>::transposed_layers() const {
  return {transposed_block().first[1], transposed_block().end[1] - 1};
}
template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::bytes() const {
  const implementation& self = *implementation_;
  if (self.pencils != nullptr) return self.pencils->bytes();
  return self.out.bytes() + self.in.bytes() + (self.planes == nullptr ? 0 : self.planes->bytes()) +
         (self.lines == nullptr ? 0 : self.lines->bytes());
}

template class distributed_fft<backend_context, float>;
template class distributed_fft<backend_context, double>;

}  // namespace quadrat
