// SPDX-License-Identifier: BSD-3-Clause
#include <quadrat/io/png.hpp>
#include <quadrat/spectral/normal_operator.hpp>
#include <quadrat/spectral/nufft_plan.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <numbers>
#include <string>
#include <vector>

// An image from samples of its Fourier transform along spokes through the center, as a magnetic resonance scanner takes
// them: by gridding (type 1 of the weighted samples), and by conjugate gradients. Pixels are modes, samples are points.
// Writes radial_image.png, or the file named on the command line: the phantom, type 1 without weights, with weights,
// conjugate gradients; below each its error, five times as bright.

using context = quadrat::cpu_context;
using numbers = std::vector<std::complex<double>>;

constexpr int size = 256, spokes = 200, samples = 512;
constexpr int steps = 15;

/// The phantom of Shepp and Logan, with the contrast of Toft: value, half-axes, center, angle in degrees.
constexpr double ellipses[10][6] = {{1.0, 0.69, 0.92, 0, 0, 0},        {-0.8, 0.6624, 0.874, 0, -0.0184, 0},
                                    {-0.2, 0.11, 0.31, 0.22, 0, -18},  {-0.2, 0.16, 0.41, -0.22, 0, 18},
                                    {0.1, 0.21, 0.25, 0, 0.35, 0},     {0.1, 0.046, 0.046, 0, 0.1, 0},
                                    {0.1, 0.046, 0.046, 0, -0.1, 0},   {0.1, 0.046, 0.023, -0.08, -0.605, 0},
                                    {0.1, 0.023, 0.023, 0, -0.606, 0}, {0.1, 0.023, 0.046, 0.06, -0.605, 0}};

numbers make_phantom() {
  numbers image(size * size);
  for (int i = 0; i < size * size; ++i) {
    const double x = 2.0 * (i % size) / size - 1, y = 1 - 2.0 * (i / size) / size;
    for (const auto& [value, a, b, x0, y0, degrees] : ellipses) {
      const double turn = degrees * std::numbers::pi / 180, c = std::cos(turn), s = std::sin(turn);
      const double u = ((x - x0) * c + (y - y0) * s) / a, v = ((y - y0) * c - (x - x0) * s) / b;
      if (u * u + v * v <= 1) image[static_cast<std::size_t>(i)] += value;
    }
  }
  return image;
}

/// Radians per pixel: twice as many samples along a spoke as pixels.
std::vector<quadrat::vec<double, 2>> make_points() {
  std::vector<quadrat::vec<double, 2>> points;
  for (int spoke = 0; spoke < spokes; ++spoke) {
    const double angle = std::numbers::pi * spoke / spokes;
    for (int i = 0; i < samples; ++i) {
      const double r = 2 * std::numbers::pi * (i - samples / 2) / samples;
      points.push_back({r * std::cos(angle), r * std::sin(angle)});
    }
  }
  return points;
}

/// Real part of the inner product.
double dot(const numbers& a, const numbers& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (std::conj(a[i]) * b[i]).real();
  return sum;
}
double error_of(const numbers& image, const numbers& wanted) {
  numbers difference = image;
  for (std::size_t i = 0; i < image.size(); ++i) difference[i] -= wanted[i];
  return std::sqrt(dot(difference, difference) / dot(wanted, wanted));
}

/// Solves gram x = right by conjugate gradients from x = 0.
numbers solve(quadrat::normal_operator<context, double, 2>& gram, const numbers& right, const numbers& phantom) {
  numbers x(right.size()), rest = right, direction = right, image(right.size());
  double length = dot(rest, rest);
  for (int step = 1; step <= steps; ++step) {
    gram.apply(direction.data(), image.data());
    const double along = length / dot(direction, image);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += along * direction[i], rest[i] -= along * image[i];
    const double before = length;
    length = dot(rest, rest);
    for (std::size_t i = 0; i < x.size(); ++i) direction[i] = rest[i] + length / before * direction[i];
    if (step % 5 == 0) std::printf("conjugate gradients, step %2d: relative error %.4f\n", step, error_of(x, phantom));
  }
  return x;
}

/// Puts values from 0 to 1 into a picture, column by column of pictures.
void put(quadrat::io::image& picture, int column, int row, const std::vector<double>& values) {
  for (std::size_t i = 0; i < size * size; ++i) {
    const std::size_t x = static_cast<std::size_t>(column) * size + i % size;
    const std::size_t y = static_cast<std::size_t>(row) * size + i / size;
    const auto gray = static_cast<std::uint8_t>(255 * std::clamp(values[i], 0.0, 1.0) + 0.5);
    for (std::size_t c = 0; c < 3; ++c) picture.rgb[3 * (y * picture.width + x) + c] = gray;
  }
}

void write(const std::string& file, const std::vector<numbers>& images) {
  quadrat::io::image picture{images.size() * size, 2 * size, {}};
  picture.rgb.resize(3 * picture.width * picture.height);
  for (std::size_t n = 0; n < images.size(); ++n) {
    std::vector<double> shown, missing;
    for (std::size_t i = 0; i < images[n].size(); ++i) {
      shown.push_back(2 * images[n][i].real());  // the skull, of value 1, is white
      missing.push_back(10 * std::abs(images[n][i] - images[0][i]));
    }
    put(picture, static_cast<int>(n), 0, shown);
    put(picture, static_cast<int>(n), 1, missing);
  }
  quadrat::io::write_png(file, picture);
}

int run(const std::string& file) {
  const context cpu;
  const auto points = make_points();
  const numbers phantom = make_phantom();
  quadrat::nufft_plan<context, double, 2> plan(cpu, {size, size}, 1e-6);
  plan.set_points(quadrat::points_of(points));
  numbers measured(points.size()), plain(phantom.size()), gridded(phantom.size());
  plan.type_2(phantom.data(), measured.data());

  plan.type_1(measured.data(), plain.data());
  const double scale = dot(plain, phantom) / dot(plain, plain);  // the best one
  for (auto& pixel : plain) pixel *= scale;
  std::printf("type 1 without weights: relative error %.4f\n", error_of(plain, phantom));

  std::vector<double> weights(points.size());
  const auto density = plan.density_weights(weights.data());
  for (std::size_t j = 0; j < points.size(); ++j) measured[j] *= weights[j];
  plan.type_1(measured.data(), gridded.data());
  const double gridding = error_of(gridded, phantom);
  std::printf("type 1 with weights (%d iterations): relative error %.4f\n", density.iterations, gridding);

  quadrat::normal_operator<context, double, 2> gram(cpu, {size, size}, 1e-6);
  gram.set_points(quadrat::points_of(points), weights.data());
  const numbers solved = solve(gram, gridded, phantom);
  write(file, {phantom, plain, gridded, solved});
  // Details beyond 256 x 256 pixels make up about 11 %.
  return error_of(solved, phantom) < std::min(0.12, gridding) ? 0 : 1;
}

int main(int count, char** arguments) {
  try {
    return run(count > 1 ? arguments[1] : "radial_image.png");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "radial_image: %s\n", error.what());
    return 1;
  }
}
