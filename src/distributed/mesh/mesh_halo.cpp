// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/distributed/mesh_halo.hpp"

#include <type_traits>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "distributed/mesh/mesh_pieces.hpp"
#include "distributed/ranks/direct_push.hpp"
#include "distributed/ranks/runs_of_ranks.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/parallel/for_each.hpp"

namespace quadrat {

namespace {

/// to[k] = from[indices[k]], or the reverse.
template <typename T>
struct gather_mesh {
  const T* from;
  const std::uint32_t* indices;
  std::size_t width;
  T* to;

  QUADRAT_HD void operator()(std::size_t k) const {
    for (std::size_t c = 0; c < width; ++c) to[k * width + c] = from[indices[k] * width + c];
  }
};

template <typename T>
struct scatter_mesh {
  const T* from;
  const std::uint32_t* indices;
  std::size_t width;
  T* to;

  QUADRAT_HD void operator()(std::size_t k) const {
    for (std::size_t c = 0; c < width; ++c) to[indices[k] * width + c] = from[k * width + c];
  }
};

/// Adds all contributions that have arrived for one mesh point.
template <typename T>
struct add_arrivals {
  const T* from;
  const std::uint32_t* points;
  const std::uint32_t* firsts;  ///< of each point: its first entry in `order`
  const std::uint32_t* order;
  std::size_t width;
  T* to;

  QUADRAT_HD void operator()(std::size_t k) const {
    for (std::size_t c = 0; c < width; ++c) {
      T sum = to[points[k] * width + c];
      for (std::uint32_t entry = firsts[k]; entry < firsts[k + 1]; ++entry) sum += from[order[entry] * width + c];
      to[points[k] * width + c] = sum;
    }
  }
};

/// The place of a block in the patch of the same rank, if the patch holds all of it.
template <int D>
struct block_in_patch {
  vec<int, D> first, extent, extent_of_patch;

  [[nodiscard]] QUADRAT_HD std::size_t operator()(std::uint32_t point) const {
    std::size_t place = 0, stride = 1;
    for (int axis = D - 1; axis >= 0; --axis) {
      const auto layers = static_cast<std::uint32_t>(extent[axis]);
      const std::uint32_t rest = point / layers;
      place += (point - rest * layers + static_cast<std::uint32_t>(first[axis])) * stride;
      stride *= static_cast<std::uint32_t>(extent_of_patch[axis]);
      point = rest;
    }
    return place;
  }
};

/// Copies the whole block from the patch or into it.
template <typename T, int D, bool IntoPatch>
struct copy_block {
  block_in_patch<D> place;
  const T* from;
  std::size_t width;
  T* to;

  QUADRAT_HD void operator()(std::size_t k) const {
    const std::size_t in_patch = place(static_cast<std::uint32_t>(k)), source = IntoPatch ? k : in_patch,
                      target = IntoPatch ? in_patch : k;
    for (std::size_t c = 0; c < width; ++c) to[target * width + c] = from[source * width + c];
  }
};

/// Copies or adds the points that this rank's patch and block have in common.
template <typename T, bool Add>
struct move_within_rank {
  const T* from;
  const std::uint32_t* from_indices;
  std::size_t width;
  const std::uint32_t* to_indices;
  T* to;

  QUADRAT_HD void operator()(std::size_t k) const {
    for (std::size_t c = 0; c < width; ++c) {
      const T value = from[from_indices[k] * width + c];
      T& place = to[to_indices[k] * width + c];
      place = Add ? place + value : value;
    }
  }
};

/// Whether the points of a block are contiguous in the patch, too.
template <int D>
[[nodiscard]] bool is_one_run(const block_in_patch<D>& place) {
  for (int axis = 1; axis < D; ++axis) {
    if (place.extent[axis] != place.extent_of_patch[axis]) return false;
  }
  return true;
}

/// The points that travel between this rank and others, in order of rank. Points that stay on this rank are not listed.
template <typename Context>
struct mesh_route {
  array<std::uint32_t, Context> indices;
  std::vector<std::size_t> by_rank;
};

/// The points of a block for which contributions arrive, in ascending order, and for each its entries in order of rank.
template <typename Context>
struct mesh_arrivals {
  array<std::uint32_t, Context> points, firsts, order;

  /// `entries`: the point of each entry.
  void list(const Context& context, std::size_t block_size, const std::vector<std::uint32_t>& entries) {
    if (entries.empty()) return;
    std::vector<std::uint32_t> places(block_size), which, begins, sorted(entries.size());
    for (const std::uint32_t point : entries) ++places[point];
    std::uint32_t begin = 0;
    for (std::size_t point = 0; point < block_size; ++point) {
      if (places[point] == 0) continue;
      which.push_back(static_cast<std::uint32_t>(point));
      begins.push_back(begin);
      begin += std::exchange(places[point], begin);
    }
    begins.push_back(begin);
    for (std::size_t k = 0; k < entries.size(); ++k) sorted[places[entries[k]]++] = static_cast<std::uint32_t>(k);
    points = to_device(context, which);
    firsts = to_device(context, begins);
    order = to_device(context, sorted);
  }
  [[nodiscard]] std::size_t bytes() const { return points.bytes() + firsts.bytes() + order.bytes(); }
};

}  // namespace

template <typename Context, typename T, int D>
struct mesh_halo<Context, T, D>::implementation {
  implementation(const Context& chosen, communicator& group) : context(chosen), ranks(group) {}

  void plan(const decomposition<D>& owners, const std::vector<mesh_patch<D>>& patches);
  void start(const T* from, const mesh_route<Context>& leaving, const mesh_route<Context>& coming, std::size_t width);
  void finish(const mesh_route<Context>& leaving, const mesh_route<Context>& coming);
  template <bool IntoPatch>
  void copy_own_block(const T* from, std::size_t width, T* to);

  Context context;
  communicator& ranks;
  std::size_t block_size = 0, patch_size = 0;
  mesh_route<Context> of_patch, of_block;
  bool has_block = false;   ///< the patch holds the whole block, at `own_block`
  bool has_owners = false;  ///< each point of the patch has an owner
  block_in_patch<D> own_block{};
  std::vector<std::size_t> own_pieces;  ///< sizes of the other common pieces, one per periodic image
  array<std::uint32_t, Context> own_in_patch, own_in_block;
  mesh_arrivals<Context> arrivals;
  array<T, Context> out, in;
  std::unique_ptr<detail::direct_channel> direct;  ///< set if this rank writes directly into `in` of others
};

/// Lists the pieces that patches and blocks have in common: this rank's patch with every block, and every patch with
/// this rank's block. Both sides list them in the same order.
template <typename Context, typename T, int D>
void mesh_halo<Context, T, D>::implementation::plan(const decomposition<D>& owners,
                                                    const std::vector<mesh_patch<D>>& patches) {
  const int self = ranks.rank();
  const mesh_patch<D>& patch = patches[static_cast<std::size_t>(self)];
  const cell_block<D>& block = owners.blocks[static_cast<std::size_t>(self)];
  const vec<int, D> extent = block.end - block.first;
  patch_size = patch.size();
  block_size = block.empty() ? 0 : mesh_patch<D>{block.first, extent}.size();
  std::vector<std::uint32_t> in_patch, in_block, stays_in_patch, stays_in_block;
  std::size_t owned = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    const bool stays = rank == self;
    const std::size_t patch_before = in_patch.size(), block_before = in_block.size();
    for (const auto& box : detail::common_boxes(owners, rank, patch)) {
      const std::size_t points = detail::points_of<D>(box);
      owned += points;
      if (stays && !has_block && points == block_size) {
        has_block = true;
        for (int axis = 0; axis < D; ++axis) own_block.first[axis] = box[static_cast<std::size_t>(axis)].in_patch;
        own_block.extent = extent;
        own_block.extent_of_patch = patch.extent;
        continue;
      }
      append_points<D>(box, patch.extent, &detail::mesh_run::in_patch, stays ? stays_in_patch : in_patch);
      if (stays) append_points<D>(box, extent, &detail::mesh_run::in_block, stays_in_block);
      if (stays) own_pieces.push_back(points);
    }
    if (!stays) {
      for (const auto& box : detail::common_boxes(owners, self, patches[static_cast<std::size_t>(rank)])) {
        append_points<D>(box, extent, &detail::mesh_run::in_block, in_block);
      }
    }
    of_patch.by_rank.push_back(in_patch.size() - patch_before);
    of_block.by_rank.push_back(in_block.size() - block_before);
  }
  of_patch.indices = to_device(context, in_patch);
  of_block.indices = to_device(context, in_block);
  own_in_patch = to_device(context, stays_in_patch);
  own_in_block = to_device(context, stays_in_block);
  arrivals.list(context, block_size, in_block);
  has_owners = owned == patch_size;
}

/// Starts to send contributions into `in` of other ranks.
template <typename Context, typename T, int D>
void mesh_halo<Context, T, D>::implementation::start(const T* from, const mesh_route<Context>& leaving,
                                                     const mesh_route<Context>& coming, std::size_t width) {
  const std::size_t bytes = width * sizeof(T);
  in.resize_discarding(context, coming.indices.size() * width);
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (direct != nullptr) {
      const detail::direct_exchange messages(*direct, leaving.by_rank, coming.by_rank);
      const detail::direct_array mesh{from, bytes, in.data()};
      return messages.start(context, "mesh.push", {&mesh, 1}, leaving.indices.data());
    }
  }
  out.resize_discarding(context, leaving.indices.size() * width);
  for_each(context, "mesh.pack", leaving.indices.size(),
           gather_mesh<T>{from, leaving.indices.data(), width, out.data()});
  std::vector<outgoing_message> sends;
  std::vector<incoming_message> receives;
  detail::add_messages(sends, leaving.by_rank, out.data(), bytes);
  detail::add_messages(receives, coming.by_rank, in.data(), bytes);
  ranks.start(context, sends, receives);
}

/// After it, `in` is complete.
template <typename Context, typename T, int D>
void mesh_halo<Context, T, D>::implementation::finish(const mesh_route<Context>& leaving,
                                                      const mesh_route<Context>& coming) {
  if constexpr (std::is_same_v<Context, cuda_context>) {
    if (direct != nullptr) {
      return detail::direct_exchange(*direct, leaving.by_rank, coming.by_rank).finish(context);
    }
  }
  ranks.finish(context);
}

template <typename Context, typename T, int D>
template <bool IntoPatch>
void mesh_halo<Context, T, D>::implementation::copy_own_block(const T* from, std::size_t width, T* to) {
  if (!is_one_run(own_block)) {
    const copy_block<T, D, IntoPatch> body{own_block, from, width, to};
    return for_each(context, "mesh.copy own", block_size, body);
  }
  const std::size_t first = own_block(0) * width;
  copy_bytes(context, IntoPatch ? from : from + first, IntoPatch ? to + first : to, block_size * width * sizeof(T));
}

template <typename Context, typename T, int D>
mesh_halo<Context, T, D>::mesh_halo(const Context& context, communicator& ranks, const decomposition<D>& owners,
                                    const mesh_patch<D>& patch) {
  const auto patches = all_values(ranks, patch);
  together(ranks, [&] {
    require(owners.ranks() == ranks.size(), "the decomposition is for ", owners.ranks(), " ranks; there are ",
            ranks.size());
    double points = 1;
    for (int axis = 0; axis < D; ++axis) {
      require(patch.extent[axis] >= 1, "the patch has ", patch.extent[axis], " points along axis ", axis,
              "; at least 1 is needed");
      points *= patch.extent[axis];
    }
    require(points <= static_cast<double>(max_count), "the patch has ", points, " points; at most ", max_count,
            " are possible");
    implementation_ = std::make_unique<implementation>(context, ranks);
    implementation_->plan(owners, patches);
  });
  implementation_->direct = detail::find_direct_channel(context, ranks);
}

template <typename Context, typename T, int D>
void mesh_halo<Context, T, D>::add(const T* patch, T* block, int components) {
  implementation& self = *implementation_;
  const auto width = static_cast<std::size_t>(components);
  self.start(patch, self.of_patch, self.of_block, width);
  if (self.has_block) {
    self.template copy_own_block<false>(patch, width, block);
  } else {
    fill_bytes(self.context, block, 0, self.block_size * width * sizeof(T));
  }
  // One piece after the other: each names a point at most once, so nothing is added concurrently.
  std::size_t first = 0;
  for (const std::size_t points : self.own_pieces) {
    for_each(self.context, "mesh.add own", points,
             move_within_rank<T, true>{patch, self.own_in_patch.data() + first, width, self.own_in_block.data() + first,
                                       block});
    first += points;
  }
  self.finish(self.of_patch, self.of_block);
  const mesh_arrivals<Context>& all = self.arrivals;
  for_each(self.context, "mesh.add", all.points.size(),
           add_arrivals<T>{self.in.data(), all.points.data(), all.firsts.data(), all.order.data(), width, block});
}

template <typename Context, typename T, int D>
void mesh_halo<Context, T, D>::fetch(const T* block, T* patch, int components) {
  implementation& self = *implementation_;
  const auto width = static_cast<std::size_t>(components);
  self.start(block, self.of_block, self.of_patch, width);
  if (!self.has_owners) fill_bytes(self.context, patch, 0, self.patch_size * width * sizeof(T));
  if (self.has_block) self.template copy_own_block<true>(block, width, patch);
  self.finish(self.of_block, self.of_patch);
  for_each(self.context, "mesh.place", self.of_patch.indices.size(),
           scatter_mesh<T>{self.in.data(), self.of_patch.indices.data(), width, patch});
  for_each(self.context, "mesh.place own", self.own_in_patch.size(),
           move_within_rank<T, false>{block, self.own_in_block.data(), width, self.own_in_patch.data(), patch});
}

template <typename Context, typename T, int D>
std::size_t mesh_halo<Context, T, D>::block_size() const {
  return implementation_->block_size;
}
template <typename Context, typename T, int D>
std::size_t mesh_halo<Context, T, D>::patch_size() const {
  return implementation_->patch_size;
}
template <typename Context, typename T, int D>
std::size_t mesh_halo<Context, T, D>::bytes() const {
  const implementation& self = *implementation_;
  return self.of_patch.indices.bytes() + self.of_block.indices.bytes() + self.own_in_patch.bytes() +
         self.own_in_block.bytes() + self.arrivals.bytes() + self.out.bytes() + self.in.bytes();
}

template class mesh_halo<backend_context, float, 2>;
template class mesh_halo<backend_context, float, 3>;
template class mesh_halo<backend_context, double, 2>;
template class mesh_halo<backend_context, double, 3>;

}  // namespace quadrat
