// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/core/macros.hpp"
#include "quadrat/core/types.hpp"
#include "quadrat/core/vec.hpp"
#include "quadrat/core/views.hpp"
#include "search/nearest/images.hpp"
#include "search/nearest/order.hpp"
#include "search/nearest/tree.hpp"

/// The search, row by row.
namespace quadrat::detail {

/// The nearest neighbors found so far, in order. Places below `Capacity - k` are placeholders that sort before
/// everything, so the last neighbor is always at the same place, in a register. Keys (ids, or ids and shifts) break
/// ties between distances.
template <typename T, typename Key, int Capacity>
struct nearest_best {
  T squared[Capacity];
  Key key[Capacity];

  QUADRAT_HD nearest_best(int k, T squared_cutoff) {
    QUADRAT_UNROLL
    for (int place = 0; place < Capacity; ++place) {
      squared[place] = place < Capacity - k ? T(-1) : squared_cutoff;
      key[place] = 0;  // nothing at this distance comes before
    }
  }

  /// Whether a candidate or box with this distance and this smallest key can be among the nearest.
  [[nodiscard]] QUADRAT_HD bool accepts(T distance, Key least) const { return before(distance, least, Capacity - 1); }
  QUADRAT_HD void add(T distance, Key candidate) {
    QUADRAT_UNROLL
    for (int place = Capacity - 1; place > 0; --place) {
      if (!before(distance, candidate, place - 1)) {
        squared[place] = distance;
        key[place] = candidate;
        return;
      }
      squared[place] = squared[place - 1];
      key[place] = key[place - 1];
    }
    squared[0] = distance;
    key[0] = candidate;
  }

 private:
  [[nodiscard]] QUADRAT_HD bool before(T distance, Key candidate, int place) const {
    return distance < squared[place] || (distance == squared[place] && candidate < key[place]);
  }
};

/// What keys hold: ids if there is one image of each point, otherwise ids with the image in the low bits: its number in
/// a word of 32 bits, where all ids leave room for it, or its shift in a wide word. Both have the same order.
enum class nearest_keys { ids, numbered, wide };
template <nearest_keys Keys>
struct nearest_key {
  using type = std::uint32_t;
  template <typename T, int D>
  [[nodiscard]] static QUADRAT_HD std::uint32_t image(const nearest_images<T, D>& images, const vec<int, D>& shift) {
    return Keys == nearest_keys::ids ? 0 : number_of_image(images, shift);
  }
  template <typename T, int D>
  [[nodiscard]] static QUADRAT_HD type make(const nearest_images<T, D>& images, particle_id id, std::uint32_t image) {
    return Keys == nearest_keys::ids ? id : id << images.bits | image;
  }
  template <typename T, int D>
  [[nodiscard]] static QUADRAT_HD particle_id id(const nearest_images<T, D>& images, type key) {
    return Keys == nearest_keys::ids ? key : key >> images.bits;
  }
  template <typename T, int D>
  [[nodiscard]] static QUADRAT_HD vec<int, D> shift(const nearest_images<T, D>& images, type key) {
    if (Keys == nearest_keys::ids) return {};
    return image_of_number(images, key & ((std::uint32_t{1} << images.bits) - 1));
  }
};
template <>
struct nearest_key<nearest_keys::wide> {
  using type = std::uint64_t;
  template <typename T, int D>
  [[nodiscard]] static QUADRAT_HD std::uint32_t image(const nearest_images<T, D>&, const vec<int, D>& shift) {
    return packed_shift(shift);
  }
  template <typename T, int D>
  [[nodiscard]] static QUADRAT_HD type make(const nearest_images<T, D>&, particle_id id, std::uint32_t image) {
    return static_cast<type>(id) << 32 | image;
  }
  template <typename T, int D>
  [[nodiscard]] static QUADRAT_HD particle_id id(const nearest_images<T, D>&, type key) {
    return static_cast<particle_id>(key >> 32);
  }
  template <typename T, int D>
  [[nodiscard]] static QUADRAT_HD vec<int, D> shift(const nearest_images<T, D>&, type key) {
    return unpacked_shift<D>(static_cast<std::uint32_t>(key));
  }
};
/// The keys of a CPU.
template <bool Images>
using nearest_key_of = nearest_key<Images ? nearest_keys::wide : nearest_keys::ids>;

/// The destination of rows.
template <typename T, int D>
struct nearest_sink {
  particle_id* neighbors;
  T* squared_distances;
  vec<int, D>* shifts;       ///< nullptr: not requested
  const vec<int, D>* boxes;  ///< of each point, from the wrapped to the caller's position; nullptr: not needed
  std::size_t k;

  QUADRAT_HD void store(std::size_t entry, particle_id j, T squared, const vec<int, D>& shift,
                        const vec<int, D>& boxes_of_row) const {
    neighbors[entry] = j;
    squared_distances[entry] = squared;
    if (shifts != nullptr) shifts[entry] = boxes == nullptr ? shift : (shift + boxes_of_row) - boxes[j];
  }
  QUADRAT_HD void store_nothing(std::size_t entry) const {
    neighbors[entry] = no_particle;
    squared_distances[entry] = nearest_infinity<T>;
    if (shifts != nullptr) shifts[entry] = vec<int, D>{};
  }
};

/// A search of one row for each point of the tree, or for each query.
template <typename T, int D>
struct nearest_search {
  nearest_tree<T, D> tree;
  nearest_images<T, D> images;
  nearest_sink<T, D> sink;
  T squared_cutoff;
  bool include_self;           ///< if rows are points
  points_view<T, D> queries;   ///< if rows are queries
  const std::uint32_t* order;  ///< of queries along the curve; nullptr if rows are points
  /// For tests: the number of nodes and leaves tested for each query, or for each leaf of rows; on a GPU by each warp.
  /// nullptr: not wanted.
  std::uint32_t* visits;
};

/// The narrowest keys that serve.
template <typename T, int D>
[[nodiscard]] nearest_keys keys_of(const nearest_search<T, D>& search) {
  if (!search.images.any()) return nearest_keys::ids;
  const int bits = search.images.bits;
  return bits < 32 && search.tree.points >> (32 - bits) == 0 ? nearest_keys::numbered : nearest_keys::wide;
}

/// Finds one row, from a wrapped position.
template <typename T, int D, int Capacity, bool Images>
class nearest_row {
  using key_type = nearest_key_of<Images>;

 public:
  QUADRAT_HD nearest_row(const nearest_search<T, D>& search, const vec<T, D>& from, particle_id self)
      : search_(search), from_(from), self_(self), best_(static_cast<int>(search.sink.k), search.squared_cutoff) {}

  QUADRAT_HD void find() {
    if (search_.tree.levels == 0) return;
    if constexpr (Images) {
      nearest_shells<T, D, nearest_row>(search_.images, from_, from_, *this).visit();
    } else {
      find_in_image(vec<int, D>{});
    }
  }

  QUADRAT_HD void write(std::size_t row, const vec<int, D>& boxes) const {
    const nearest_sink<T, D>& sink = search_.sink;
    const int k = static_cast<int>(sink.k);
    QUADRAT_UNROLL
    for (int place = 0; place < Capacity; ++place) {
      if (place < Capacity - k) continue;
      const std::size_t entry = row * sink.k + static_cast<std::size_t>(place - (Capacity - k));
      if (best_.key[place] == 0 && !(best_.squared[place] < search_.squared_cutoff)) {
        sink.store_nothing(entry);
        continue;
      }
      const auto key = best_.key[place];
      sink.store(entry, key_type::id(search_.images, key), best_.squared[place], key_type::shift(search_.images, key),
                 boxes);
    }
  }

  /// The number of nodes and leaves tested.
  [[nodiscard]] QUADRAT_HD std::uint32_t visits() const { return visits_; }

  // For nearest_shells and nearest_walk.
  [[nodiscard]] QUADRAT_HD bool in_reach(T squared) const { return best_.accepts(squared, 0); }
  QUADRAT_HD void find_in_image(const vec<int, D>& shift) {
    translation_ = image_translation(search_.images.shape, shift);
    image_ = key_type::image(search_.images, shift);
    nearest_walk<T, D, nearest_row>(search_.tree, from_, from_, translation_, *this).visit();
  }
  QUADRAT_HD void node() { ++visits_; }
  [[nodiscard]] QUADRAT_HD bool accepts(T squared, particle_id least) const {
    return best_.accepts(squared, key_type::make(search_.images, least, image_));
  }
  QUADRAT_HD void leaf(std::size_t index) {
    const nearest_leaf<T, D>& leaf = search_.tree.leaves[index];
    ++visits_;
    const bool home = image_ == key_type::image(search_.images, vec<int, D>{});
    T squared[nearest_width];
    QUADRAT_UNROLL
    for (std::size_t place = 0; place < nearest_width; ++place) {
      squared[place] = squared_separation(make_vec<T, D>(
          [&](int axis) { return image_offset(from_[axis], leaf.at[axis][place], translation_[axis]); }));
    }
    QUADRAT_UNROLL
    for (std::size_t place = 0; place < nearest_width; ++place) {
      const auto key = key_type::make(search_.images, leaf.id[place], image_);
      if (best_.accepts(squared[place], key) && !(home && leaf.id[place] == self_)) best_.add(squared[place], key);
    }
  }

 private:
  const nearest_search<T, D>& search_;
  vec<T, D> from_;
  particle_id self_;
  vec<T, D> translation_{};  // of the image that is being searched
  std::uint32_t image_ = 0;
  std::uint32_t visits_ = 0;
  nearest_best<T, typename key_type::type, Capacity> best_;
};

/// The start of the search of a row.
template <typename T, int D>
struct nearest_start {
  std::size_t row = 0;
  vec<T, D> from{};     ///< wrapped
  vec<int, D> boxes{};  ///< from there to the caller's position
  particle_id self = no_particle;
  bool possible = true;  ///< whether the position is valid

  /// The start for place i in the order of the tree, or of the queries.
  QUADRAT_HD nearest_start(const nearest_search<T, D>& search, std::size_t i) {
    if (search.order != nullptr) {
      row = search.order[i];
      const vec<T, D> query = search.queries[row];
      possible = nearest_fault(search.images.shape, query) == fault_kind::none;
      from = search.images.shape.wrap(query, boxes);
    } else {
      const nearest_leaf<T, D>& leaf = search.tree.leaves[i / nearest_width];
      row = leaf.id[i % nearest_width];
      from = leaf.position(i % nearest_width);
      if (!search.include_self) self = static_cast<particle_id>(row);
      if (search.sink.boxes != nullptr) boxes = search.sink.boxes[row];
    }
  }
};

template <typename T, int D, int Capacity, bool Images>
struct find_nearest_row {
  nearest_search<T, D> search;

  void operator()(std::size_t i) const {
    const nearest_start<T, D> start(search, i);
    nearest_row<T, D, Capacity, Images> result(search, start.from, start.self);
    if (start.possible) result.find();
    result.write(start.row, start.boxes);
    if (search.visits != nullptr) search.visits[i] = result.visits();
  }
};

/// Finds this many rows on a CPU: those of all points, or of all queries.
template <typename T, int D>
void find_nearest_rows(const cpu_context& context, const nearest_search<T, D>& search, std::size_t rows);

}  // namespace quadrat::detail
