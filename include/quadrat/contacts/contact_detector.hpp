// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/methods.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"
#include "quadrat/tune/explanation.hpp"

namespace quadrat {

template <typename T>
struct contact_options {
  std::string method{};  ///< one of contact_methods(); empty or "auto": chosen
  /// If the method is chosen automatically: chooses by the measured times of the first builds, once contacts have been
  /// counted, instead of expected times. Not allowed if the context requires repeatable runs.
  bool autotune = false;
  /// The region of the bodies. Along open axes bodies may also lie outside; the domain then only says where most of
  /// them are. Along periodic axes, bodies meet as the images with the nearest centers; they must not be longer than
  /// half the axis, and may lie up to 2^30 boxes away (2^20 in float). Default: open, around all bodies, found at each
  /// build.
  std::optional<box<T, 3>> domain{};
  /// Instead: of each system. Bodies of different systems (bodies_view::system_of_body) do not meet, wherever they are.
  /// Without these, `domain` is that of all systems, and any number of them below 2^28 are served.
  std::vector<box<T, 3>> domains{};
  T bin_size = T(0);  ///< edge of a bin (of the finest, if there are several sizes). 0: auto
  pair_masks masks = all_groups_meet();
  /// Sorts contacts by the ids of a and b, then by feature: the same bytes with every method and, apart from indices,
  /// the same contacts however bodies with ids are stored. At most 2^31 - 1.
  bool sorted = false;
  /// For methods with contact_method::balances: stage 6 of `bins`, the sort of bins by their number of
  /// bodies.
  bool balance_bins = true;
};

/// Finds all contacts of bodies, each once; rebuilt whenever bodies move. Move-only. Context: cpu_context or
/// cuda_context; T: float or double. A build of the same size as an earlier one, with no more contacts, allocates
/// nothing. Exceptions are builds that tune, and the second build, which may choose again by the contacts of the first.
///
/// Bodies of many systems are one search, by a method that serves them (contact_method::systems). Systems come in any
/// order and may be empty.
///
/// The set of contacts is the same for every method. Their order is the same in every run and with any number of
/// threads if `sorted` is set or the context requires run_to_run or canonical (which implies `sorted`). Sources:
/// parallel-binning-collision (methods brute_force and bins), uniform-grid-atomics (section 1: loose_grid, tight_grid),
/// Baraff 1992 and I-COLLIDE 1995 (sweep_and_prune).
template <typename Context, typename T>
class contact_detector {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Throws argument_error for impossible options: an unknown method (naming the valid ones), a bin size that is
  /// negative or not finite, masks that are not symmetric, an invalid domain, both one domain and those of systems,
  /// autotune where runs must be repeatable.
  contact_detector(const Context& context, const contact_options<T>& options);

  /// Counts exactly, then fills. Waits. May allocate. Throws argument_error for impossible input that the host can see
  /// (sizes missing, a radius outside of smallest_length and largest_length, a plane without a unit normal or across a
  /// periodic axis, more than 2^31 - 1 bodies and planes), and for more bins, or pairs of boxes of bodies other than
  /// spheres, than 2^31 - 1; data_error naming the first body with a center that is not finite, sizes that are not
  /// sound (sizes_are_sound), an orientation that cannot be normalized, an impossible group, shape or system, or too
  /// long for a periodic axis or too far from it (with ids, the first by id), and ids that are not below first_plane,
  /// or equal. Ids that do not increase from body to body take a sort. Unusable after an exception until the next
  /// build.
  void build(const bodies_view<T>& bodies);

  /// As `build`, with the method, the bins and the memory of the last build. Does not wait. Can be captured in a CUDA
  /// graph, which then searches the bodies where they are whenever it is launched. The same set of contacts. Allocates
  /// nothing: throws argument_error if it would have to, because the last build failed or had another number of bodies,
  /// another shape, other arrays (shapes, radii, sizes, orientations, groups, ids, systems) or other planes. `check`
  /// throws what is wrong with the bodies: what `build` throws; data_error for ids that do not increase if they did
  /// then; overflow_error if there is too little room for the contacts, the pairs of overlapping boxes of bodies other
  /// than spheres, or bodies in bins, with the number that room is needed for. Bins stay as they were planned: build
  /// again from time to time where bodies wander off or grow. After a build or `reserve` that has made room a graph
  /// must be captured anew.
  void build_async(const bodies_view<T>& bodies);

  /// Waits after build_async. Allocates nothing. Throws its error, at every call until the next build.
  void check() const;

  /// Makes room for this many contacts, and where bodies are not spheres for as many pairs of overlapping boxes. If
  /// there was less room for contacts, those of the last build are lost. Does not wait. May allocate.
  void reserve(std::size_t contacts);

  /// Waits after build_async. Allocates nothing. Throws what `check` throws, and argument_error if nothing has been
  /// built, or the last build failed. Valid until the next build.
  [[nodiscard]] contacts_view<T> view() const;
  /// The same for kernels in the stream. Does not wait. Allocates nothing. Valid until the next build, and after
  /// build_async until the next build that makes room.
  [[nodiscard]] contacts_view_async<T> view_async() const;
  /// Number of contacts. Waits after build_async. Allocates nothing. Throws as `view`.
  [[nodiscard]] std::uint64_t size() const;
  /// The method of the last build, the edge of its (finest) bins or 0 without bins, and the reason for both choices.
  [[nodiscard]] std::string_view method() const;
  [[nodiscard]] T bin_size() const;
  [[nodiscard]] std::string_view reason() const;
  /// All methods with their expected times, and what the last choice went by (docs/concepts/choosing.md); without
  /// candidates if nothing was chosen automatically. Does not wait. Allocates nothing.
  [[nodiscard]] quadrat::explanation explanation() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;
  [[nodiscard]] const contact_options<T>& options() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
