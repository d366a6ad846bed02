// SPDX-License-Identifier: BSD-3-Clause
#include "program/particle_file.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "quadrat/core/error.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/frames.hpp"
#include "quadrat/io/npy.hpp"

namespace quadrat::program {
namespace {

particle_file particles_of_npy(const std::filesystem::path& file, int least_dimension) {
  const io::npy_array array = io::read_npy(file);
  particle_file result;
  const std::size_t rank = array.shape.size();
  const std::size_t dimension = rank == 2 ? array.shape[1] : rank;  // an array of shape (N,): points on a line
  if (rank < 1 || rank > 2 || dimension < static_cast<std::size_t>(least_dimension) || dimension > 3) {
    throw io_error(message(array.file, ": the array has shape ", array.shape_text(), "; points are ",
                           least_dimension == 1 ? "N, N x 1, N x 2 or N x 3" : "N x 2 or N x 3"));
  }
  result.dimension = static_cast<int>(dimension);
  if (array.type == io::npy_type::float32) {
    const auto values = array.as<float>();
    result.coordinates.assign(values.begin(), values.end());
    result.single_precision = true;
  } else if (array.type == io::npy_type::float64) {
    const auto values = array.as<double>();
    result.coordinates.assign(values.begin(), values.end());
  } else {
    throw io_error(message(array.file, ": the array holds ", name_of(array.type), "; points are float32 or float64"));
  }
  return result;
}

particle_file particles_of_csv(const std::filesystem::path& file, int least_dimension) {
  io::csv_columns wanted;
  wanted.numbers = {"x", "y", "z"};
  io::csv_table table = io::read_csv(file, wanted);
  particle_file result;
  std::vector<const std::vector<double>*> columns{&table.column("x")};
  if (least_dimension > 1 || table.has("y") || table.has("z")) columns.push_back(&table.column("y"));
  if (table.has("z")) columns.push_back(&table.column("z"));
  result.dimension = static_cast<int>(columns.size());
  result.coordinates.reserve(table.rows * columns.size());
  for (std::size_t i = 0; i < table.rows; ++i) {
    for (const auto* column : columns) result.coordinates.push_back((*column)[i]);
  }
  result.lines = std::move(table.lines);
  return result;
}

}  // namespace

nlohmann::ordered_json as_json(const particle_file& particles) {
  nlohmann::ordered_json result{
      {"file", particles.file}, {"count", particles.size()}, {"dimensions", particles.dimension}};
  if (particles.box) result["frames"] = particles.box->frames;
  return result;
}

void note_what_is_left_out(const particle_file& particles) {
  if (!particles.box || particles.box->frames < 2) return;
  std::fprintf(stderr, "quadrat: note: %s has %zu frames; the first is read\n", particles.file.c_str(),
               particles.box->frames);
}

particle_file read_particles(const std::filesystem::path& file, int least_dimension) {
  const std::string ending = file.extension().string();
  require(ending == ".npy" || ending == ".csv" || io::holds_frames(file),
          "points are read from .npy, .csv, .xyz, .extxyz and .gsd files; ", file.string(), " ends in none of these");
  particle_file result = ending == ".npy"   ? particles_of_npy(file, least_dimension)
                         : ending == ".csv" ? particles_of_csv(file, least_dimension)
                                            : particles_of(io::read_first_frame(file));
  result.file = file.string();
  return result;
}

particle_file particles_of(const io::file_frame& frame) {
  particle_file result;
  result.file = frame.file;
  result.coordinates.reserve(3 * frame.positions.size());
  for (const auto& position : frame.positions) {
    result.coordinates.insert(result.coordinates.end(), {position[0], position[1], position[2]});
  }
  if (frame.comment_line > 0) {
    result.lines.resize(frame.positions.size());
    std::iota(result.lines.begin(), result.lines.end(), frame.comment_line + 1);
  }
  result.box = file_box{frame.origin, frame.lattice, frame.periodic, frame.frames, frame.comment_line};
  return result;
}

}  // namespace quadrat::program
