// SPDX-License-Identifier: BSD-3-Clause
#include "choice/loads.hpp"

#include <string>

namespace quadrat::bench {

namespace {

/// Visits every number of a request with its name. `field` either writes or reads.
template <typename Sample, typename Field>
void each_of_points(Sample& sample, Field&& field) {
  field("sample_seen", sample.seen);
  field("sample_cells", sample.cells);
  field("sample_same", sample.same);
  field("sample_distance", sample.distance);
  field("sample_occupancy", sample.occupancy);
  field("sample_fullest", sample.fullest);
  field("sample_occupied", sample.occupied);
}
template <typename Request, typename Field>
void each_of_spread(Request& request, Field&& field) {
  field("cuda", request.cuda);
  field("level", request.level);
  field("points", request.points);
  field("nodes", request.nodes);
  field("bytes", request.bytes);
  field("work", request.work);
  field("uses", request.uses);
  field("width", request.width);
  field("threads", request.threads);
  field("dimension", request.dimension);
  field("row", request.row);
  field("footprint", request.footprint);
  field("reached", request.reached);
  each_of_points(request.sample, field);
}
template <typename Request, typename Field>
void each_of_keys(Request& request, Field&& field) {
  field("cuda", request.cuda);
  field("threads", request.threads);
  field("level", request.level);
  field("compensated", request.compensated);
  field("elements", request.elements);
  field("keys", request.keys);
  field("row_bytes", request.row_bytes);
  field("values", request.values);
  field("uses", request.uses);
  field("seen", request.sample.seen);
  field("same", request.sample.same);
  field("descending", request.sample.descending);
  field("warp_keys", request.sample.warp_keys);
  field("warp_sectors", request.sample.warp_sectors);
  field("block_keys", request.sample.block_keys);
  field("block_span", request.sample.block_span);
  field("span", request.sample.span);
  field("commonest", request.sample.commonest);
}
template <typename Request, typename Field>
void each_of_neighbors(Request& request, Field&& field) {
  field("cuda", request.cuda);
  field("points", request.points);
  field("one_cutoff", request.one_cutoff);
  field("radii", request.radii);
  field("excluded", request.excluded);
  field("threads", request.threads);
  field("dimension", request.dimension);
  field("number_bytes", request.number_bytes);
  field("box_cells", request.box_cells);
  field("half", request.half);
  each_of_points(request.sample, field);
}
template <typename Request, typename Field>
void each_of_bodies(Request& request, Field&& field) {
  field("cuda", request.cuda);
  field("bodies", request.bodies);
  field("boxes", request.boxes);
  field("threads", request.threads);
  field("number_bytes", request.number_bytes);
  field("spheres", request.spheres);
  field("known_domain", request.known_domain);
}

template <typename Work, typename Field>
void each_of_ewald(Work& work, Field&& field) {
  field("cuda", work.cuda);
  field("single", work.single_precision);
  field("threads", work.threads);
  field("points", work.points);
  field("pairs", work.pairs);
  field("mesh_points", work.mesh_points);
  field("order", work.order);
  field("modes", work.modes);
}
template <typename Load, typename Field>
void each_of_transform(Load& load, Field&& field) {
  field("cuda", load.cuda);
  field("single", load.single);
  field("components", load.components);
  field("dimension", load.dimension);
  field("points", load.points);
  field("nodes", load.nodes);
  field("width", load.width);
  field("threads", load.threads);
}

struct write_field {
  row& out;
  template <typename Value>
  void operator()(const char* name, const Value& value) const {
    if constexpr (std::is_enum_v<Value>) {
      out[name] = static_cast<int>(value);
    } else {
      out[name] = value;
    }
  }
};

struct read_field {
  const row& in;
  template <typename Value>
  void operator()(const char* name, Value& value) const {
    if constexpr (std::is_enum_v<Value>) {
      value = static_cast<Value>(in.at(name).get<int>());
    } else {
      value = in.at(name).get<Value>();
    }
  }
};

}  // namespace

row to_row(const detail::point_sample& sample) {
  row out = row::object();
  each_of_points(sample, write_field{out});
  return out;
}
row to_row(const detail::spread_request& request) {
  row out = row::object();
  each_of_spread(request, write_field{out});
  return out;
}
row to_row(const detail::key_request& request) {
  row out = row::object();
  each_of_keys(request, write_field{out});
  return out;
}
row to_row(const detail::neighbor_request& request) {
  row out = row::object();
  each_of_neighbors(request, write_field{out});
  return out;
}
row to_row(const detail::pair_request& request) {
  row out = row::object();
  each_of_bodies(request, write_field{out});
  return out;
}
row to_row(const detail::ewald_work& work) {
  row out = row::object();
  each_of_ewald(work, write_field{out});
  out["images"] = work.images;
  return out;
}
row to_row(const detail::transform_load& load) {
  row out = row::object();
  each_of_transform(load, write_field{out});
  out["tiled"] = load.tiled;
  return out;
}

detail::spread_request spread_request_of(const row& load) {
  detail::spread_request request{};
  each_of_spread(request, read_field{load});
  request.free_bytes = 1e300;
  return request;
}
detail::key_request key_request_of(const row& load) {
  detail::key_request request{};
  each_of_keys(request, read_field{load});
  request.free_bytes = ~std::size_t{0};
  return request;
}
detail::neighbor_request neighbor_request_of(const row& load) {
  detail::neighbor_request request{};
  each_of_neighbors(request, read_field{load});
  return request;
}
detail::pair_request pair_request_of(const row& load) {
  detail::pair_request request{};
  each_of_bodies(request, read_field{load});
  return request;
}
detail::ewald_work ewald_work_of(const row& load) {
  detail::ewald_work work;
  each_of_ewald(work, read_field{load});
  work.images = load.value("images", 1.0);  // older rows have no images
  return work;
}
detail::transform_load transform_load_of(const row& load) {
  detail::transform_load result;
  each_of_transform(result, read_field{load});
  // Older rows lack this field.
  result.tiled = load.contains("tiled") ? load.at("tiled").get<bool>()
                                        : detail::sorts_points(result, shipped_profile(result.cuda));
  return result;
}

}  // namespace quadrat::bench
