// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat {

/// Contacts of bodies over all ranks, each once: on the rank that owns the body with the smaller id. Each rank gives
/// the bodies that it owns; copies of others come as far as they can touch: a rank with small bodies does not pay for a
/// large one elsewhere. Records are those of contact_detector on one rank, with the same bits. Move-only. All calls are
/// collective. Source: parallel-binning-collision, last pages.
template <typename Context, typename T>
class distributed_contacts {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// `space`: the grid of the decomposition; its box is the domain of the bodies, and options.domain must not be set.
  /// The communicator must outlive this. Throws what contact_detector throws, on all ranks.
  distributed_contacts(const Context& context, communicator& ranks, const grid<T, 3>& space,
                       contact_options<T> options = {});
  distributed_contacts(distributed_contacts&&) noexcept;
  distributed_contacts& operator=(distributed_contacts&&) noexcept;
  ~distributed_contacts();

  /// `bodies`: the own ones, each in a block of this rank, with ids that differ over all ranks; ranks that have bodies
  /// give the same kinds of arrays, and all ranks the same planes. Counts exactly, then fills. Synchronizes. Throws
  /// what contact_detector::build throws, on all ranks; a data_error has the id of the body. Equal ids are found where
  /// both bodies come to one rank.
  void build(const decomposition_view<3>& shares, const bodies_view<T>& bodies);

  /// Of the last build: a and b are ids, of planes from first_plane. Sorted by (a, b, feature) where the options ask
  /// for it. Throws argument_error if nothing has been built, or the last build failed.
  [[nodiscard]] contacts_view<T> view() const;
  [[nodiscard]] std::uint64_t size() const;
  /// Copies of bodies of other ranks in the last build.
  [[nodiscard]] std::size_t ghosts() const;

 private:
  struct implementation;
  std::unique_ptr<implementation> implementation_;
};

}  // namespace quadrat
