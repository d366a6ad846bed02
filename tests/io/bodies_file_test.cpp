// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/bodies_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

/// The message after the name of the file.
std::string failure(const std::string& text) {
  try {
    (void)parse_bodies(text, "b.csv");
    return "no error";
  } catch (const io_error& problem) {
    const std::string what = problem.what();
    EXPECT_TRUE(what.starts_with("b.csv:")) << what;
    return what.substr(std::min<std::size_t>(what.size(), 6));
  }
}

using shapes = std::vector<body_shape>;
constexpr auto sphere = body_shape::sphere, ellipsoid = body_shape::ellipsoid, capsule = body_shape::capsule,
               box_shape = body_shape::box;

TEST(bodies_file_test, spheres) {
  const body_list bodies = parse_bodies("radius,x,y,z,name_of_no_interest\n0.5,1,2,3,7\n1e-3,-1,-2,-3,8\n", "b.csv");
  EXPECT_EQ(bodies.size(), 2u);
  EXPECT_EQ(bodies.shapes, (shapes{sphere, sphere}));
  EXPECT_EQ(bodies.centers[1], (vec<double, 3>{-1, -2, -3}));
  EXPECT_EQ(bodies.sizes[0], (vec<double, 3>{0.5, 0, 0}));
  EXPECT_TRUE(bodies.orientations.empty());
  EXPECT_TRUE(bodies.groups.empty());
}

TEST(bodies_file_test, ellipsoids_and_capsules_are_told_by_their_sizes) {
  const body_list turned = parse_bodies("x,y,z,a,b,c,qw,qx,qy,qz\n0,0,0,1,2,3,0,0,0,-2\n", "b.csv");
  EXPECT_EQ(turned.shapes, shapes{ellipsoid});
  EXPECT_EQ(turned.sizes[0], (vec<double, 3>{1, 2, 3}));
  EXPECT_EQ(turned.orientations[0].z, -1);
  EXPECT_TRUE(parse_bodies("x,y,z,a,b,c\n0,0,0,1,2,3\n", "b.csv").orientations.empty());
  const body_list capsules = parse_bodies("x,y,z,half_length,radius\n0,0,0,2,1\n0,0,0,0,1\n", "b.csv");
  EXPECT_EQ(capsules.shapes, (shapes{capsule, capsule}));
  EXPECT_EQ(capsules.sizes[0], (vec<double, 3>{1, 2, 0}));
  EXPECT_EQ(capsules.sizes[1], (vec<double, 3>{1, 0, 0}));
}

TEST(bodies_file_test, mixed_shapes_leave_empty_what_they_do_not_use) {
  const body_list bodies = parse_bodies(
      "shape,x,y,z,radius,half_length,a,b,c,group\n"
      "sphere,1,0,0,0.5,,,,,0\n"
      "\"ellipsoid\",2,0,0,,,1,2,3,1\n"
      "capsule,3,0,0,0.25,2,nan,-1,0,2\n"
      "box,4,0,0,,,4,5,6,31\n"
      "sphere,5,0,0,,,7,,,1\n",
      "b.csv");
  EXPECT_EQ(bodies.shapes, (shapes{sphere, ellipsoid, capsule, box_shape, sphere}));
  EXPECT_EQ(bodies.sizes[0], (vec<double, 3>{0.5, 0, 0}));
  EXPECT_EQ(bodies.sizes[1], (vec<double, 3>{1, 2, 3}));
  EXPECT_EQ(bodies.sizes[2], (vec<double, 3>{0.25, 2, 0}));
  EXPECT_EQ(bodies.sizes[3], (vec<double, 3>{4, 5, 6}));
  EXPECT_EQ(bodies.sizes[4], (vec<double, 3>{7, 0, 0})) << "a sphere without a radius takes a";
  EXPECT_EQ(bodies.groups, (std::vector<std::uint32_t>{0, 1, 2, 31, 1}));
}

TEST(bodies_file_test, no_bodies) {
  for (const char* names : {"x,y,z,radius\n", "x,y,z,a,b,c,qw,qx,qy,qz", "shape,x,y,z\n"}) {
    EXPECT_EQ(parse_bodies(names, "b.csv").size(), 0u) << names;
  }
}

TEST(bodies_file_test, orientations_of_any_length_become_one) {
  for (const char* length : {"1e-320", "1e-160", "1", "3", "1e200"}) {
    const std::string text = std::string("x,y,z,radius,qw,qx,qy,qz\n0,0,0,1,0,-") + length + ",0," + length + "\n";
    const auto q = parse_bodies(text, "b.csv").orientations.at(0);
    EXPECT_EQ(q.w, 0);
    EXPECT_NEAR(q.x, -std::sqrt(0.5), 1e-15) << length;
    EXPECT_NEAR(q.z, std::sqrt(0.5), 1e-15) << length;
  }
}

TEST(bodies_file_test, errors_of_the_columns) {
  EXPECT_EQ(failure(""), " there is no line with the names of the columns");
  EXPECT_EQ(failure("x,y,radius\n"), " there is no column \"z\"; there are \"x\", \"y\", \"radius\"");
  EXPECT_EQ(failure("x,y,z\n"),
            " there are no sizes; valid are radius (spheres), radius, half_length (capsules), a, b, c (ellipsoids), or "
            "these with a column \"shape\"");
  EXPECT_EQ(failure("x,y,z,radius,a,b,c\n"),
            " there are sizes of several shapes, but no column \"shape\" that tells them apart");
  EXPECT_EQ(failure("x,y,z,a,b\n"), " there is no column \"c\"; there are \"x\", \"y\", \"z\", \"a\", \"b\"");
  EXPECT_EQ(failure("x,y,z,a,b\n0,0,0,1,1\n"), "2: there is no column \"c\"; an ellipsoid needs a, b, c");
  EXPECT_EQ(failure("x,y,z,half_length\n0,0,0,1\n"),
            "2: there is no column \"radius\"; a capsule needs radius, half_length");
  EXPECT_EQ(failure("x,y,z,radius,qw,qx,qy\n"),
            " there is no column \"qz\"; there are \"x\", \"y\", \"z\", \"radius\", \"qw\", \"qx\", \"qy\"");
  EXPECT_EQ(failure("x,y,z,radius,x\n"), "1: two columns are named \"x\"");
  EXPECT_EQ(failure("1,2,3,4\n"), "1: the first line must name the columns (x,y,z for example), but has the number 1");
}

TEST(bodies_file_test, errors_of_values_name_line_and_column) {
  const std::string spheres = "x,y,z,radius\n\n0,0,0,1\n";
  for (const auto& [row, problem] : std::vector<std::pair<std::string, std::string>>{
           {"0,0,0,0", "column radius is 0; a sphere needs radius, positive and finite"},
           {"0,0,0,-1", "column radius is -1; a sphere needs radius, positive and finite"},
           {"0,0,0,inf", "column radius is inf; a sphere needs radius, positive and finite"},
           {"0,0,0,nan", "column radius is empty or nan; a sphere needs radius"},
           {"0,0,0,1e-76", "column radius is 1e-76; lengths are accepted from 1e-75 to 1e+75"},
           {"0,0,0,1e76", "column radius is 1e+76; lengths are accepted from 1e-75 to 1e+75"},
           {"0,0,0,", "column radius is empty or nan; a sphere needs radius"},
           {"0,nan,0,1", "column y is nan; centers must be finite"},
           {"0,0,-inf,1", "column z is -inf; centers must be finite"},
           {",0,0,1", "column 1 (x) is empty"},
           {"0,0,one,1", "column 3 (z) is \"one\", which is not a representable number"},
           {"0,0,0", "there are 3 fields for 4 columns"}}) {
    EXPECT_EQ(failure(spheres + row + "\n"), "4: " + problem);
    EXPECT_EQ(failure(spheres + row), "4: " + problem) << "without an end of the last line";
  }
}

TEST(bodies_file_test, errors_of_shapes) {
  const std::string names = "shape,x,y,z,radius,half_length,a,b,c\n";
  EXPECT_EQ(failure(names + "spere,0,0,0,1,,,,\n"),
            "2: column shape is \"spere\", which is not a shape; did you mean \"sphere\"?");
  EXPECT_EQ(
      failure(names + ",0,0,0,1,,,,\n"),
      "2: column shape is empty, which is not a shape; valid are \"sphere\", \"ellipsoid\", \"capsule\", \"box\"");
  EXPECT_EQ(failure(names + "ellipsoid,0,0,0,1,,,,\n"), "2: column a is empty or nan; an ellipsoid needs a, b, c");
  EXPECT_EQ(failure(names + "box,0,0,0,,,1,2,0\n"), "2: column c is 0; a box needs a, b, c, positive and finite");
  EXPECT_EQ(failure(names + "ellipsoid,0,0,0,,,1,2e-9,1\n"),
            "2: one half-axis of the ellipsoid is more than 1e+08 times another");
  EXPECT_EQ(failure(names + "capsule,0,0,0,1,,1,1,1\n"),
            "2: column half_length is empty or nan; a capsule needs radius, half_length");
  EXPECT_EQ(failure(names + "capsule,0,0,0,1,-1,,,\n"),
            "2: column half_length is -1; a capsule needs radius, half_length, not negative and finite");
  EXPECT_EQ(failure("shape,x,y,z,a,b,c\ncapsule,0,0,0,1,2,3\n"),
            "2: there is no column \"radius\"; a capsule needs radius, half_length");
}

TEST(bodies_file_test, errors_of_orientations_and_groups) {
  const std::string turned = "x,y,z,radius,qw,qx,qy,qz\n0,0,0,1,";
  EXPECT_EQ(failure(turned + "0,0,-0,0\n"), "2: the quaternion qw, qx, qy, qz is 0; any other length is accepted");
  EXPECT_EQ(failure(turned + "1,0,nan,0\n"), "2: column qy is nan; quaternions must be finite");
  EXPECT_EQ(failure(turned + "1,,0,0\n"), "2: column 6 (qx) is empty");
  for (const char* group : {"32", "-1", "1.5", "nan", "inf", "1e300"}) {
    EXPECT_EQ(failure(std::string("x,y,z,radius,group\n0,0,0,1,") + group + "\n"),
              message("2: column group is ", group == std::string("1e300") ? "1e+300" : group,
                      "; groups are whole numbers from 0 to 31"));
  }
}

TEST(bodies_file_test, from_a_file) {
  const temporary_folder folder;
  put(folder / "b.csv", "x,y,z,radius\n1,2,3,4\n");
  const body_list bodies = read_bodies(folder / "b.csv");
  EXPECT_EQ(bodies.size(), 1u);
  EXPECT_EQ(bodies.file, (folder / "b.csv").string());
  EXPECT_THROW((void)read_bodies(folder / "none.csv"), io_error);
}

}  // namespace
}  // namespace quadrat::io
