// SPDX-License-Identifier: BSD-3-Clause
#include "distributed/fft/slab_transform.hpp"

#include <algorithm>
#include <type_traits>

#include "core/backend.hpp"
#include "distributed/fft/fft_moves.hpp"
#include "distributed/fft/slabs.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat::detail {

namespace {

/// Joins parts [y][z][x - x0] of all ranks to [y][z][x], or splits them.
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

}  // namespace

template <typename Context, typename T>
slab_transform<Context, T>::slab_transform(const Context& context, communicator& ranks, const transposed_mesh& mesh,
                                           const std::string& library)
    : context_(context),
      ranks_(ranks),
      modes_(mesh.modes()),
      x0_(slab_begin(modes_[0], ranks.rank(), ranks.size())),
      x1_(slab_begin(modes_[0], ranks.rank() + 1, ranks.size())),
      y0_(slab_begin(modes_[1], ranks.rank(), ranks.size())),
      y1_(slab_begin(modes_[1], ranks.rank() + 1, ranks.size())) {
  if (x1_ > x0_) {
    planes_ =
        make_whole_transform<Context, T>(context, {1, mesh.points[1], mesh.points[2]}, x1_ - x0_, mesh.real, library);
  }
  const int line_count = (y1_ - y0_) * modes_[2];
  if (line_count > 0) {
    lines_ = make_whole_transform<Context, T>(context, {1, 1, modes_[0]}, line_count, false, library);
  }
  in_ = array<number, Context>(context, room());
}

template <typename Context, typename T>
std::size_t slab_transform<Context, T>::layer_numbers(int layers, int extent) const {
  return static_cast<std::size_t>(layers) * static_cast<std::size_t>(extent) * static_cast<std::size_t>(modes_[2]);
}

template <typename Context, typename T>
std::size_t slab_transform<Context, T>::room() const {
  return std::max(layer_numbers(x1_ - x0_, modes_[1]), layer_numbers(y1_ - y0_, modes_[0]));
}

template <typename Context, typename T>
std::size_t slab_transform<Context, T>::bytes() const {
  return out_.bytes() + in_.bytes() + (planes_ == nullptr ? 0 : planes_->bytes()) +
         (lines_ == nullptr ? 0 : lines_->bytes());
}

/// The amount of data in (own layers) x (each rank's layers across the other axis) x nz.
template <typename Context, typename T>
std::vector<std::size_t> slab_transform<Context, T>::parts(int own, int extent) const {
  std::vector<std::size_t> result;
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const int layers = slab_begin(extent, rank + 1, ranks_.size()) - slab_begin(extent, rank, ranks_.size());
    result.push_back(layer_numbers(own, layers));
  }
  return result;
}

template <typename Context, typename T>
void slab_transform<Context, T>::exchange(const std::vector<std::size_t>& sent,
                                          const std::vector<std::size_t>& received) {
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  number* from = out_.data();
  number* to = in_.data();
  for (int rank = 0; rank < ranks_.size(); ++rank) {
    const std::size_t leaving = sent[static_cast<std::size_t>(rank)], coming = received[static_cast<std::size_t>(rank)];
    if (std::is_same_v<Context, cpu_context> && rank == ranks_.rank()) {
      // Copied directly, not through the staging memory of a message.
      copy_bytes(context_, from, to, leaving * sizeof(number));
    } else {
      if (leaving > 0) sends.push_back({rank, from, leaving * sizeof(number)});
      if (coming > 0) receives.push_back({rank, to, coming * sizeof(number)});
    }
    from += leaving;
    to += coming;
  }
  ranks_.exchange(context_, sends, receives);
}

/// Splits the slab into parts for the other ranks, or joins them. A part is [y - y0][z][x] for the x of this rank; all
/// parts together are the slab transposed.
template <typename Context, typename T>
void slab_transform<Context, T>::part(number* data, number* pieces, bool into) {
  const auto own = static_cast<std::size_t>(x1_ - x0_), ny = static_cast<std::size_t>(modes_[1]),
             nz = static_cast<std::size_t>(modes_[2]);
  if constexpr (std::is_same_v<Context, cpu_context>) {
    // One plane per y, with rows along z: all numbers of smaller y come before it.
    const auto place = [=](std::size_t y, std::size_t z) { return (y * nz + z) * own; };
    tile_moves<number, decltype(place)>{data, pieces, ny, own, nz, nz, ny * nz, place, into}.run(context_, "fft.part");
  } else if (into) {
    transpose(context_, "fft.part", transposition<T>{data, own, ny * nz, ny * nz, own, 0, {pieces}});
  } else {
    transpose(context_, "fft.unpart",
              transposition<T>{pieces, ny * nz, own, std::max(own, std::size_t{1}), ny * nz, 0, {data}});
  }
}

/// Joins parts of all ranks to lines along x, or splits them.
template <typename Context, typename T>
void slab_transform<Context, T>::join(number* data, number* pieces, bool back) {
  const int width = slab_begin(modes_[0], 1, ranks_.size());
  if constexpr (std::is_same_v<Context, cpu_context>) {
    const auto lines_here = static_cast<std::size_t>(y1_ - y0_) * static_cast<std::size_t>(modes_[2]);
    const auto length = static_cast<std::size_t>(modes_[0]);
    line_moves<number>{data, pieces, lines_here, length, static_cast<std::size_t>(width), back}.run(context_,
                                                                                                    "fft.join");
  } else {
    for_each(context_, back ? "fft.unjoin" : "fft.join", layer_numbers(y1_ - y0_, modes_[0]),
             join_first_axis<T>{data, pieces, y1_ - y0_, modes_[0], modes_[2], width, back});
  }
}

/// Whether ranks write into each other's in_. The first call is collective.
template <typename Context, typename T>
bool slab_transform<Context, T>::writes_directly() {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (looked_) return direct_;
    looked_ = true;
    if (ranks_.size() > transposition<T>::most) return false;
    if (ranks_.size() > 1) others_ = find_direct_ranks(ranks_, context_);
    direct_ = ranks_.size() == 1 || others_ != nullptr;
    arrivals_ = all_values(ranks_, in_.data());
  }
  return direct_;
}

/// Writes into in_ of all ranks. Begins when all ranks have read the previous contents, and ends when all have written.
template <typename Context, typename T>
void slab_transform<Context, T>::between_marks(const transposition<T>& what, const char* name) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    transposition<T> to_all = what;
    std::copy(arrivals_.begin(), arrivals_.end(), to_all.data);
    const auto meet = [&] {
      if (others_ == nullptr) return;
      others_->mark(context_);
      others_->pass_marks(context_, nullptr, nullptr, 0);
    };
    meet();
    transpose(context_, name, to_all);
    meet();
    if (others_ == nullptr) return;
    const std::size_t staying = layer_numbers(x1_ - x0_, y1_ - y0_);
    others_->count_written((what.rows * what.columns - staying) * sizeof(number));
  }
}

/// Writes [x - x0][y][z] of this rank into the parts [y - y0][z][x] of all ranks.
template <typename Context, typename T>
void slab_transform<Context, T>::write_transposed(const number* data) {
  const auto ny = static_cast<std::size_t>(modes_[1]), nz = static_cast<std::size_t>(modes_[2]);
  const auto width = static_cast<std::size_t>(slab_begin(modes_[1], 1, ranks_.size())) * nz;
  between_marks({data,
                 static_cast<std::size_t>(x1_ - x0_),
                 ny * nz,
                 width,
                 static_cast<std::size_t>(modes_[0]),
                 static_cast<std::size_t>(x0_),
                 {}},
                "fft.transpose");
}

/// The reverse of write_transposed.
template <typename Context, typename T>
void slab_transform<Context, T>::write_natural(const number* data) {
  const auto ny = static_cast<std::size_t>(modes_[1]), nz = static_cast<std::size_t>(modes_[2]);
  const auto width = static_cast<std::size_t>(slab_begin(modes_[0], 1, ranks_.size()));
  between_marks({data,
                 static_cast<std::size_t>(y1_ - y0_) * nz,
                 static_cast<std::size_t>(modes_[0]),
                 width,
                 ny * nz,
                 static_cast<std::size_t>(y0_) * nz,
                 {}},
                "fft.transpose back");
}

/// From [x - x0][y][z] to [y - y0][z][x].
template <typename Context, typename T>
void slab_transform<Context, T>::to_transposed(number* data) {
  if (writes_directly()) {
    write_transposed(data);
    copy_bytes(context_, in_.data(), data, layer_numbers(y1_ - y0_, modes_[0]) * sizeof(number));
    return;
  }
  out_.resize_discarding(context_, room());
  part(data, out_.data(), true);
  exchange(parts(x1_ - x0_, modes_[1]), parts(y1_ - y0_, modes_[0]));
  join(data, in_.data(), false);
}

template <typename Context, typename T>
void slab_transform<Context, T>::to_natural(number* data) {
  if (writes_directly()) {
    write_natural(data);
    copy_bytes(context_, in_.data(), data, layer_numbers(x1_ - x0_, modes_[1]) * sizeof(number));
    return;
  }
  out_.resize_discarding(context_, room());
  join(data, out_.data(), true);
  exchange(parts(y1_ - y0_, modes_[0]), parts(x1_ - x0_, modes_[1]));
  part(data, in_.data(), false);
}

template <typename Context, typename T>
void slab_transform<Context, T>::forward(T* real, number* data) {
  transform_into(planes_, real, data);
  if (writes_directly()) {
    write_transposed(data);
    transform_from(lines_, in_.data(), data, -1);
    return;
  }
  to_transposed(data);
  transform_into<T>(lines_, nullptr, data);
}

template <typename Context, typename T>
void slab_transform<Context, T>::inverse(number* data, T* real) {
  transform_back<T>(lines_, data, nullptr);
  if (writes_directly()) {
    write_natural(data);
    if (real != nullptr) {
      transform_back(planes_, in_.data(), real);
    } else {
      transform_from(planes_, in_.data(), data, 1);
    }
    return;
  }
  to_natural(data);
  transform_back(planes_, data, real);
}

template class slab_transform<backend_context, float>;
template class slab_transform<backend_context, double>;

}  // namespace quadrat::detail
