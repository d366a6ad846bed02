// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/levels/cuda/warp_search.hpp"
#include "contacts/levels/engine.hpp"
#include "quadrat/cells/counting.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/array.hpp"
#include "quadrat/parallel/workspace.hpp"

namespace quadrat::detail {

/// Spheres only, or ellipsoids only, are searched as the caller gave them, not as boxes: bodies in the order of cells,
/// one warp per 32 bodies (search.hpp). If their order may vary, contacts are appended in one pass.
template <typename T>
class warp_levels_engine final : public levels_engine<cuda_context, T> {
 public:
  using levels_engine<cuda_context, T>::levels_engine;

  [[nodiscard]] planned_bins<T> plan(const placed_bodies<cuda_context, T>& bodies,
                                     const bin_options<T>& options) override;
  void find_contacts(contact_task<cuda_context, T>& task) override;
  [[nodiscard]] std::size_t bytes() const override;

 private:
  void put_in_cells(contact_task<cuda_context, T>& task);
  [[nodiscard]] warp_search<T> search_of(contact_task<cuda_context, T>& task) const;
  void append(contact_task<cuda_context, T>& task);
  void fill(contact_task<cuda_context, T>& task);

  bool by_warps_ = false;  ///< for the bodies of the last plan
  counting_buckets<cuda_context> cells_;
  array<warp_body<T>, cuda_context> records_;
  array<warp_ellipsoid<T>, cuda_context> ellipsoids_;
  array<vec<T, 3>, cuda_context> half_extents_;
  array<std::uint32_t, cuda_context> groups_;
  array<std::uint64_t, cuda_context> sizes_;
  array<std::uint32_t, cuda_context> counts_;  // by chunk
  array<std::uint64_t, cuda_context> begins_;
  workspace<cuda_context> scratch_;
};

}  // namespace quadrat::detail
