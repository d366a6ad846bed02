// SPDX-License-Identifier: BSD-3-Clause
#include "program/neighbors/radii.hpp"

#include <cmath>
#include <cstddef>

#include "program/data_place.hpp"
#include "quadrat/core/error.hpp"
#include "quadrat/io/csv.hpp"
#include "quadrat/io/npy.hpp"

namespace quadrat::program {
namespace {

std::vector<double> radii_of_npy(const std::string& file, std::size_t points) {
  const io::npy_array array = io::read_npy(file);
  if (array.type != io::npy_type::float32 && array.type != io::npy_type::float64) {
    throw io_error(message(file, ": the array holds ", io::name_of(array.type), "; radii are float32 or float64"));
  }
  if (array.shape.size() != 1 || array.size() != points) {
    throw io_error(message(file, ": the array has shape ", array.shape_text(), "; the radii of ", points,
                           " points are an array of ", points, " numbers"));
  }
  if (array.type == io::npy_type::float64) {
    const auto values = array.as<double>();
    return {values.begin(), values.end()};
  }
  const auto values = array.as<float>();
  return {values.begin(), values.end()};
}

std::vector<double> radii_of_column(const std::string& name, const particle_file& particles) {
  require(particles.file.ends_with(".csv"), "--radii ", name, " is a column of a .csv file or an .npy file; ",
          particles.file, " has no columns with names");
  io::csv_columns wanted;
  wanted.numbers = {name};
  return io::read_csv(particles.file, wanted).column(name);
}

}  // namespace

std::vector<double> read_radii(const std::string& source, const particle_file& particles) {
  const bool array = source.ends_with(".npy");
  std::vector<double> radii = array ? radii_of_npy(source, particles.size()) : radii_of_column(source, particles);
  naming_places(array ? source : particles.file, array ? std::vector<std::size_t>{} : particles.lines, [&] {
    for (std::size_t i = 0; i < radii.size(); ++i) {
      if (std::isfinite(radii[i]) && radii[i] >= 0) continue;
      throw data_error(message("point ", i, " has radius ", radii[i], "; it must be finite and not negative"), i);
    }
  });
  return radii;
}

}  // namespace quadrat::program
