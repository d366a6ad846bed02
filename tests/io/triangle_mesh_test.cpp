// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/triangle_mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/contacts/triangles.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

using place = vec<double, 3>;
using triple = vec<std::uint32_t, 3>;

const std::vector<place> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 0, 0}, {1, 1, 0}, {0, 1, 0}};

/// A binary file of these corners.
std::string binary_stl(const std::vector<place>& corners, std::string file = "solid that is binary") {
  file.resize(80, ' ');
  const auto put = [&](const auto& value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    file.append(bytes, sizeof value);
  };
  put(static_cast<std::uint32_t>(corners.size() / 3));
  for (std::size_t k = 0; k < corners.size(); k += 3) {
    for (int axis = 0; axis < 3; ++axis) put(std::numeric_limits<float>::quiet_NaN());  // the normal is not used
    for (std::size_t j = k; j < k + 3; ++j) {
      for (int axis = 0; axis < 3; ++axis) put(static_cast<float>(corners[j][axis]));
    }
    put(std::uint16_t{7});
  }
  return file;
}

std::string ascii_stl(const std::vector<place>& corners) {
  std::string text = "solid a name\n";
  for (std::size_t k = 0; k < corners.size(); k += 3) {
    text += "facet normal 0 0 0\nouter loop\n";
    for (std::size_t j = k; j < k + 3; ++j) {
      text += message("vertex ", corners[j][0], " ", corners[j][1], " ", corners[j][2], "\n");
    }
    text += "endloop\nendfacet\n";
  }
  return text + "endsolid a name\n";
}

void expect_square(const triangle_mesh& mesh) {
  EXPECT_EQ(mesh.vertices, (std::vector<place>{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}));
  EXPECT_EQ(mesh.triangles, (std::vector<triple>{{0u, 1u, 2u}, {0u, 2u, 3u}}));
}

/// The message of the io_error, or a note that there was none.
std::string problem(const std::function<triangle_mesh()>& read) {
  try {
    static_cast<void>(read());
  } catch (const io_error& error) {
    return error.what();
  }
  return "no error";
}
void expect_stl_problem(const std::string& bytes, const std::string& part) {
  const std::string text = problem([&] { return parse_stl(bytes, "m.stl"); });
  EXPECT_TRUE(text.starts_with("m.stl:") && text.find(part) != std::string::npos) << text;
}
void expect_obj_problem(const std::string& text, const std::string& part) {
  const std::string found = problem([&] { return parse_obj(text, "m.obj"); });
  EXPECT_TRUE(found.starts_with("m.obj:") && found.find(part) != std::string::npos) << found;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(triangle_meshes, of_every_format_are_the_same) {
  expect_square(make_triangle_mesh(square));
  expect_square(parse_stl(binary_stl(square), "m.stl"));
  expect_square(parse_stl(ascii_stl(square), "m.stl"));
  expect_square(parse_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n", "m.obj"));
}

TEST(triangle_meshes, of_ascii_stl_may_have_upper_case_blank_lines_and_several_solids) {
  std::string text =
      ascii_stl({square.begin(), square.begin() + 3}) + "\n\r\n" + ascii_stl({square.begin() + 3, square.end()});
  expect_square(parse_stl(text, "m.stl"));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? char(c - 32) : c; });
  expect_square(parse_stl(text, "m.stl"));
}

TEST(triangle_meshes, of_obj_may_have_polygons_negative_indices_and_what_is_not_used) {
  expect_square(parse_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4", "m.obj"));
  expect_square(
      parse_obj("# square\no s\nv 9 9 9\nv 0 0 0 1\nv 1 0 0 .5 .5 .5\r\nv 1 1 0\nvt 0 0\nvn 0 0 1\n"
                "f -3/1 -2/1/1 \\\n -1//1 # here\nv 0 1 0\nv -0 0 0\nusemtl m\nf -1 4 5\n",
                "m.obj"));
}

TEST(triangle_meshes, keep_equal_triangles_and_sheets_with_a_common_side) {
  std::vector<place> corners;
  for (const double z : {0.0, 1.0, 2.0, 0.0}) corners.insert(corners.end(), {{0, 0, 0}, {1, 0, 0}, {0, 1, z}});
  const triangle_mesh mesh = make_triangle_mesh(corners);
  EXPECT_EQ(mesh.triangles.size(), 4u);
  EXPECT_EQ(mesh.vertices.size(), 5u);
  EXPECT_EQ(mesh.triangles[3], mesh.triangles[0]);
}

TEST(triangle_meshes, of_many_triangles_have_each_vertex_once) {
  const std::uint32_t n = 60;
  std::vector<place> corners;
  for (std::uint32_t x = 0; x < n; ++x) {
    for (std::uint32_t y = 0; y < n; ++y) {
      const place p{x / 7.0, y / 7.0, 0}, q{(x + 1) / 7.0, y / 7.0, 0}, r{(x + 1) / 7.0, (y + 1) / 7.0, 0},
          s{x / 7.0, (y + 1) / 7.0, 0};
      corners.insert(corners.end(), {p, q, r, p, r, s});
    }
  }
  const triangle_mesh mesh = make_triangle_mesh(corners);
  EXPECT_EQ(mesh.vertices.size(), (n + 1) * (n + 1));
}

TEST(triangle_meshes, broken_binary_stl_is_refused) {
  const std::string whole = binary_stl(square, "binary");
  expect_stl_problem(whole.substr(0, whole.size() - 1), "says that 2 triangles follow");
  expect_stl_problem(whole + " ", "185 bytes");
  expect_stl_problem(whole.substr(0, 83), "83 bytes");
  expect_stl_problem("", "0 bytes");
  expect_stl_problem(binary_stl(square).substr(0, 150), "says that 2 triangles follow");
  expect_stl_problem(binary_stl({}), "no triangles");
  std::vector<place> faulty = square;
  faulty[4][1] = std::numeric_limits<double>::quiet_NaN();
  expect_stl_problem(binary_stl(faulty), "triangle 2");
  faulty[4] = faulty[3];
  expect_stl_problem(binary_stl(faulty), "triangle 2: the triangle has no area");
}

TEST(triangle_meshes, broken_ascii_stl_is_refused) {
  const std::string whole = ascii_stl(square);
  for (const std::size_t length : {whole.size() - 30, std::size_t{60}, std::size_t{13}}) {
    expect_stl_problem(whole.substr(0, length), "");
  }
  expect_stl_problem(replaced(whole, "1 1 0", "1 x 0"), "m.stl:6: \"x\"");
  expect_stl_problem(replaced(whole, "1 1 0", "1 inf 0"), "m.stl:6: \"inf\"");
  expect_stl_problem(replaced(whole, "1 1 0", "1 1"), "m.stl:6: the line ends");
  expect_stl_problem(replaced(whole, "1 1 0", "1 1 0 0"), "m.stl:6: \"0\"");
  expect_stl_problem(replaced(whole, "1 1 0", "2 0 0"), "m.stl:2: the triangle has no area");
  expect_stl_problem(replaced(whole, "endloop", "vertex 1 2 3"), "\"endloop\" is expected");
  expect_stl_problem(replaced(whole, "outer loop", "loop"), "\"outer loop\" is expected");
  expect_stl_problem(whole + "more", "\"solid\" is expected");
  expect_stl_problem("solid\nendsolid\n", "no triangles");
}

TEST(triangle_meshes, broken_obj_is_refused) {
  const std::string three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
  expect_obj_problem(three, "no triangles");
  expect_obj_problem(three + "f 1 2\n", "m.obj:4: the face has 2 corners");
  for (const char* index : {"0", "4", "-4", "1.5", "x", "/1", "99999999999999999999"}) {
    expect_obj_problem(three + "f 1 2 " + index + "\n", "there are 3 vertices before it");
  }
  expect_obj_problem(three + "f 1 2 2\n", "m.obj:4: the triangle has no area");
  expect_obj_problem("v 0 nan 0\n", "m.obj:1: \"nan\"");
  expect_obj_problem("v 0 1e80 0\n", "m.obj:1: \"1e80\"");
  expect_obj_problem("v 0 0\n", "m.obj:1: the line ends");
  expect_obj_problem(three + "surf 0 1 0 1\n", "\"surf\" is not supported");
  expect_obj_problem("v 0 0 0\nv 2 0 0\nv .5 .5 0\nv 0 2 0\nf 1 2 3 4\n", "not convex");
  expect_obj_problem("v 0 0 0\nv 2 0 0\nv .5 .5 0\nv 0 2 0\nf 2 3 4 1\n", "not convex");
}

TEST(triangle_meshes, of_corners_are_checked) {
  EXPECT_THROW(static_cast<void>(make_triangle_mesh({{0, 0, 0}})), argument_error);
  EXPECT_THROW(static_cast<void>(make_triangle_mesh({{0, 0, 0}, {1, 1, 1}, {2, 2, 2}})), data_error);
  for (const double scale : {1e-70, 1e-20, 1.0, 1e74}) {
    const place a{0, 0, 0}, b{scale, 0, 0};
    EXPECT_TRUE(triangle_is_sound(a, b, {0, 1e-6 * scale, 0})) << scale;
    EXPECT_FALSE(triangle_is_sound(a, b, {scale / 2, 1e-14 * scale, 0})) << scale;
    EXPECT_FALSE(triangle_is_sound(a, b, b)) << scale;
  }
}

TEST(triangle_meshes, are_read_from_files_by_the_ending_of_the_name) {
  const temporary_folder folder;
  for (const char* name : {"m.stl", "m.STL", "m.ply"}) {
    std::ofstream(folder.path() / name, std::ios::binary) << binary_stl(square);
  }
  expect_square(read_triangle_mesh(folder.path() / "m.stl"));
  expect_square(read_triangle_mesh(folder.path() / "m.STL"));
  EXPECT_NE(problem([&] { return read_triangle_mesh(folder.path() / "m.ply"); }).find(".stl or .obj"),
            std::string::npos);
  EXPECT_NE(problem([&] { return read_triangle_mesh(folder.path() / "none.obj"); }).find("cannot read"),
            std::string::npos);
}

}  // namespace
}  // namespace quadrat::io
