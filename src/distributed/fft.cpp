// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/fft.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "distributed/slabs.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/parallel/for_each.hpp"
#include "spectral/fft/groups.hpp"
#include "spectral/transform.hpp"

namespace quadrat {

namespace {

/// A complex number as it is moved: nvcc has no std::complex on devices.
template <typename T>
struct alignas(2 * sizeof(T)) moved_number {
  T real, imaginary;
};

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
    x0 = detail::slab_begin(mesh[0], rank, size);
    x1 = detail::slab_begin(mesh[0], rank + 1, size);
    y0 = detail::slab_begin(mesh[1], rank, size);
    y1 = detail::slab_begin(mesh[1], rank + 1, size);
    detail::require_fft_library<T>(options.library, context);
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
  [[nodiscard]] std::size_t room() const { return std::max(slab(), transposed_slab()); }
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
      if (leaving > 0) sends.push_back({rank, from, leaving * sizeof(number)});
      if (coming > 0) receives.push_back({rank, to, coming * sizeof(number)});
      from += leaving;
      to += coming;
    }
    ranks.exchange(context, sends, receives);
  }

  /// From [x - x0][y][z] to [y - y0][z][x].
  void transpose(number* data) {
    const int width = detail::slab_begin(mesh[1], 1, ranks.size());
    for_each(context, "fft.part", slab(), part_by_second_axis<T>{data, x1 - x0, mesh[1], mesh[2], width, out.data()});
    exchange(parts(x1 - x0, mesh[1]), parts(y1 - y0, mesh[0]));
    const int width_x = detail::slab_begin(mesh[0], 1, ranks.size());
    for_each(context, "fft.join", transposed_slab(),
             join_first_axis<T>{data, in.data(), y1 - y0, mesh[0], mesh[2], width_x, false});
  }
  void transpose_back(number* data) {
    const int width_x = detail::slab_begin(mesh[0], 1, ranks.size());
    for_each(context, "fft.unjoin", transposed_slab(),
             join_first_axis<T>{data, out.data(), y1 - y0, mesh[0], mesh[2], width_x, true});
    exchange(parts(y1 - y0, mesh[0]), parts(x1 - x0, mesh[1]));
    const int width = detail::slab_begin(mesh[1], 1, ranks.size());
    const part_by_second_axis<T> order{nullptr, x1 - x0, mesh[1], mesh[2], width, in.data()};
    for_each(context, "fft.unpart", slab(), unpart_second_axis<T>{order, data});
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
  self.transform_with(self.planes, data, -1);
  self.transpose(data);
  self.transform_with(self.lines, data, -1);
  if (!self.transposed) self.transpose_back(data);
}

template <typename Context, typename T>
void distributed_fft<Context, T>::inverse(std::complex<T>* mesh) {
  implementation& self = *implementation_;
  auto* const data = reinterpret_cast<moved_number<T>*>(mesh);
  if (!self.transposed) self.transpose(data);
  self.transform_with(self.lines, data, 1);
  self.transpose_back(data);
  self.transform_with(self.planes, data, 1);
}

template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::mesh_size() const {
  return implementation_->slab();
}
template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::room() const {
  return implementation_->room();
}
template <typename Context, typename T>
index_range distributed_fft<Context, T>::layers() const {
  return {implementation_->x0, implementation_->x1 - 1};
}
template <typename Context, typename T>
index_range distributed_fft<Context, T>::transposed_layers() const {
  return {implementation_->y0, implementation_->y1 - 1};
}
template <typename Context, typename T>
std::size_t distributed_fft<Context, T>::bytes() const {
  const implementation& self = *implementation_;
  return self.out.bytes() + self.in.bytes() + (self.planes == nullptr ? 0 : self.planes->bytes()) +
         (self.lines == nullptr ? 0 : self.lines->bytes());
}

template class distributed_fft<backend_context, float>;
template class distributed_fft<backend_context, double>;

}  // namespace quadrat
