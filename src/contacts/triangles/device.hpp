// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "contacts/triangles/search.hpp"
#include "contacts/triangles/tables.hpp"
#include "quadrat/core/array.hpp"

namespace quadrat::detail {

/// The tables of triangles, in the memory of a context.
template <typename Context, typename T>
class triangles_on_device {
 public:
  triangles_on_device(const Context& context, const triangle_tables<T>& tables, const box<T, 3>& domain)
      : vertices_(to_device(context, tables.vertices)),
        triangles_(to_device(context, tables.triangles)),
        normals_(to_device(context, tables.normals)),
        points_(to_device(context, tables.points)),
        offsets_(to_device(context, tables.offsets)),
        corners_(to_device(context, tables.corners)),
        leaves_(to_device(context, tables.leaves)),
        nodes_(to_device(context, tables.nodes)),
        height_(tables.height),
        reach_(tables.reach),
        period_(domain.length) {
    context.synchronize();  // the tables on the host may go
  }

  [[nodiscard]] triangle_store<T> store() const {
    return {vertices_.data(),
            triangles_.data(),
            normals_.data(),
            points_.data(),
            offsets_.data(),
            corners_.data(),
            leaves_.data(),
            nodes_.data(),
            static_cast<std::uint32_t>(leaves_.size()),
            height_,
            reach_,
            period_};
  }
  [[nodiscard]] std::size_t bytes() const {
    return vertices_.bytes() + triangles_.bytes() + normals_.bytes() + points_.bytes() + offsets_.bytes() +
           corners_.bytes() + leaves_.bytes() + nodes_.bytes();
  }

 private:
  array<vec<T, 3>, Context> vertices_;
  array<vec<std::uint32_t, 3>, Context> triangles_;
  array<vec<T, 3>, Context> normals_;
  array<std::uint32_t, Context> points_;
  array<std::uint32_t, Context> offsets_;
  array<std::uint32_t, Context> corners_;
  array<std::uint32_t, Context> leaves_;
  array<triangle_bounds<T>, Context> nodes_;
  int height_;
  T reach_;
  vec<T, 3> period_;
};

}  // namespace quadrat::detail
