// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "quadrat/contacts/contact_detector.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/grid.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/distributed/communicator.hpp"
#include "quadrat/distributed/decomposition.hpp"

namespace quadrat {

/// Contacts of bodies over all ranks. Each contact is found once, on the rank that owns the body with the smaller id.
/// Each rank gives the bodies that it owns, and receives copies (ghosts) of others that can touch them; a rank with
/// small bodies does not pay for a large body elsewhere. Records are those of contact_detector on one rank, with the
/// same bits. Move-only. All calls are collective. Source: parallel-binning-collision, last pages.
template <typename Context, typename T>
class distributed_contacts {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// `space`: the grid of the decomposition; its box is the domain of the bodies, and options.domain must not be set.
  /// The communicator must outlive this. Throws what contact_detector throws, on all ranks.
  distributed_contacts(const Context& context, communicator& ranks, const grid<T, 3>& space,
                       contact_options<T> options = {});

  /// `bodies`: the bodies of this rank, each in a block of this rank; ids are unique over all ranks. Ranks that have
  /// bodies give the same kinds of arrays, and all ranks the same planes. Counts exactly, then fills. Waits. May
  /// allocate. Throws what contact_detector::build throws, on all ranks; a data_error has the id of the body. Equal ids
  /// are found only if both bodies come to one rank.
  void build(const decomposition_view<3>& shares, const bodies_view<T>& bodies);

  /// The contacts of the last build: a and b are ids; planes are numbered from first_plane. Sorted by (a, b, feature)
  /// if the options ask for it. Throws argument_error if there was no build, or the last one failed.
  [[nodiscard]] contacts_view<T> view() const;
  [[nodiscard]] std::uint64_t size() const;
  /// The number of ghosts in the last build.
  [[nodiscard]] std::size_t ghosts() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
