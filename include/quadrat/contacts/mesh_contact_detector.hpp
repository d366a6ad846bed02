// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "quadrat/contacts/contact.hpp"
#include "quadrat/contacts/shapes.hpp"
#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/box.hpp"
#include "quadrat/core/context.hpp"
#include "quadrat/core/instance.hpp"
#include "quadrat/core/pimpl.hpp"

namespace quadrat {

template <typename T>
struct mesh_contact_options {
  /// Along periodic axes the triangles repeat, of any length; spheres must not be longer than half the axis, and may
  /// lie up to 2^30 boxes away (2^20 in float). Default: open.
  std::optional<box<T, 3>> domain{};
  pair_masks masks = all_groups_meet();
};

/// Finds the contacts of spheres with a mesh of triangles; rebuilt whenever spheres move. Move-only. Context:
/// cpu_context or cuda_context; T: float or double. A build of as many spheres as an earlier one, with no more
/// contacts, allocates nothing.
///
/// A contact is a point of the surface less than a radius away from the center, and closer than the surface around it,
/// at both sides of the surface. It is found once, although an edge or a corner belongs to several triangles: the first
/// triangle that has it reports it. A sphere on a flat part touches it once, wherever sides of triangles are: a contact
/// with the plane. In a concave corner it has a contact with each face. Points closer together than about 1e-5 of the
/// radius, on triangles with a corner in common, are one. Vertices at one place, or at images of it, are one; of
/// triangles with the same corners, the first counts. No vertex may lie inside the side of another triangle: contacts
/// there may be found twice.
///
/// Records are those of contact_detector. a is the sphere, and b is first_plane + the number of the triangle. The point
/// of b is the closest point; the normal is that of the triangle on faces, toward the side where the center is not
/// (from the front, if it lies in the triangle). `feature` is the part of the triangle (triangle_face, triangle_edge,
/// triangle_corner). The mesh touches at `shift`. Records are in order of a; those of one sphere are in an order that
/// follows from the mesh. The same in every run and with any number of threads.
///
/// A tree of the triangles' bounds is made once, on the host. A search takes time in proportion to the spheres, and to
/// the triangles whose bounds are near them; it takes that of a few nodes for a sphere that is far from all.
template <typename Context, typename T>
class mesh_contact_detector {
  static_assert(detail::instance<Context, T>::exists);

 public:
  /// Copies the triangles; in float they are rounded, their normals are those before. Throws argument_error for an
  /// invalid domain, masks that are not symmetric, a group that is not below 32, and more than 2^29 triangles;
  /// data_error naming the first triangle with a vertex that there is not, a corner beyond largest_length, or no area
  /// (triangle_is_sound).
  mesh_contact_detector(const Context& context, const triangles_view& mesh,
                        const mesh_contact_options<T>& options = {});

  /// Counts exactly, then fills. Waits. May allocate. Throws argument_error for bodies that are not spheres, planes
  /// among the bodies, and what contact_detector::build throws; data_error as that, naming the first sphere by index.
  /// Unusable after an exception until the next build.
  void build(const bodies_view<T>& spheres);

  /// As `build`, in the memory of the last build. Does not wait. Can be captured in a CUDA graph. Allocates nothing:
  /// throws argument_error if the last build failed or had another number of spheres. `check` throws what is wrong with
  /// the spheres, and overflow_error if there is too little room for the contacts, with the number that room is needed
  /// for. After a build or `reserve` that has made room a graph must be captured anew.
  void build_async(const bodies_view<T>& spheres);

  /// Waits after build_async. Allocates nothing. Throws its error, at every call until the next build.
  void check() const;

  /// Makes room for this many contacts. If there was less, those of the last build are lost. Does not wait. May
  /// allocate.
  void reserve(std::size_t contacts);

  /// Waits after build_async. Allocates nothing. Throws what `check` throws, and argument_error if nothing has been
  /// built, or the last build failed. Valid until the next build.
  [[nodiscard]] contacts_view<T> view() const;
  /// The same for kernels in the stream. Does not wait. Allocates nothing. Valid until the next build, and after
  /// build_async until the next build that makes room.
  [[nodiscard]] contacts_view_async<T> view_async() const;
  /// Number of contacts. Waits after build_async. Allocates nothing. Throws as `view`.
  [[nodiscard]] std::uint64_t size() const;
  /// Bytes of the context's memory held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct implementation;
  detail::pimpl<implementation> implementation_;
};

}  // namespace quadrat
