// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/frames.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

class xyz_test : public testing::Test {
 protected:
  file_frame read(const std::string& text) {
    put(file_, text);
    return read_first_frame(file_);
  }
  file_frame with_comment(const std::string& comment) { return read("1\n" + comment + "\nH 1 2 3\n"); }
  std::vector<file_frame> read_all(const std::string& text, const frame_columns& columns) {
    put(file_, text);
    std::vector<file_frame> frames;
    for_each_frame(file_, columns, [&](const file_frame& frame) { frames.push_back(frame); });
    return frames;
  }
  std::string failure(const std::string& text, bool charges = false) {
    try {
      if (charges) {
        (void)read_all(text, {.charges = true});
      } else {
        (void)read(text);
      }
      return "no error";
    } catch (const io_error& problem) {
      const std::string what = problem.what();
      EXPECT_TRUE(what.starts_with(file_.string() + ":")) << what;
      return what.substr(std::min(what.size(), file_.string().size() + 1));
    }
  }

  const temporary_folder folder_;
  const std::filesystem::path file_ = folder_ / "a.xyz";
};

TEST_F(xyz_test, extended) {
  const file_frame frame = read(
      "2\nLattice=\"1 2 3 4 5 6 7 8 10\" Properties=species:S:1:pos:R:3:forces:R:3 energy=-1.5 pbc=\"T F T\"\n"
      "H 1 2 3 0 0 0\nO 4.5 -5 6e1 0 0 0\n");
  EXPECT_EQ(frame.positions, (std::vector<vec<double, 3>>{{1, 2, 3}, {4.5, -5, 60}}));
  ASSERT_TRUE(frame.lattice.has_value());
  EXPECT_EQ((*frame.lattice)[0], (vec<double, 3>{1, 2, 3}));
  EXPECT_EQ((*frame.lattice)[1], (vec<double, 3>{4, 5, 6}));
  EXPECT_EQ((*frame.lattice)[2], (vec<double, 3>{7, 8, 10}));
  EXPECT_EQ(frame.periodic, (vec<bool, 3>{true, false, true}));
}

TEST_F(xyz_test, all_frames_with_species_and_lines) {
  const auto frames = read_all(
      "1\n\nH 1 2 3\n\n2\nProperties=pos:R:3:species:S:1 pbc=\"T T F\"\n4 5 6 He\n7 8 9 O\n1\nProperties=pos:R:3\n0 0 "
      "1\n",
      {.species = true});
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].species, (std::vector<std::string>{"H"}));
  EXPECT_EQ(frames[1].species, (std::vector<std::string>{"He", "O"}));
  EXPECT_TRUE(frames[2].species.empty());
  EXPECT_EQ(frames[1].positions, (std::vector<vec<double, 3>>{{4, 5, 6}, {7, 8, 9}}));
  EXPECT_EQ(frames[1].periodic, (vec<bool, 3>{true, true, false}));
  EXPECT_EQ(frames[2].periodic, (vec<bool, 3>{}));
  EXPECT_EQ(frames[0].comment_line, 2u);
  EXPECT_EQ(frames[1].comment_line, 6u);
  EXPECT_EQ(frames[2].comment_line, 10u);
  EXPECT_EQ(frames[2].frames, 3u);
}

TEST_F(xyz_test, charges_of_all_frames) {
  const std::string text =
      "2\nProperties=species:S:1:pos:R:3:charge:R:1\nNa 1 2 3 1\nCl 4 5 6 "
      "-1.5e0\n1\nProperties=charges:I:1:pos:R:3\n-2 7 8 "
      "9\n0\nProperties=pos:R:3:initial_charges:R:1\n1\nProperties=initial_charges:R:1:charges:R:1:charge:R:1:pos:R:"
      "3\n3 2 "
      "1 0 0 0\n1\nProperties=charges:R:1:initial_charges:R:1:pos:R:3\n2 3 0 0 0\n";
  const auto frames = read_all(text, {.charges = true});
  ASSERT_EQ(frames.size(), 5u);
  EXPECT_EQ(frames[0].charges, (std::vector<double>{1, -1.5}));
  EXPECT_EQ(frames[0].positions[1], (vec<double, 3>{4, 5, 6}));
  EXPECT_TRUE(frames[0].species.empty());
  EXPECT_EQ(frames[1].charges, (std::vector<double>{-2}));
  EXPECT_TRUE(frames[2].charges.empty());
  EXPECT_EQ(frames[3].charges, (std::vector<double>{1}));  // charge comes before charges,
  EXPECT_EQ(frames[4].charges, (std::vector<double>{2}));  // and that before initial_charges
  for (const file_frame& frame : read_all(text, {})) EXPECT_TRUE(frame.charges.empty());
}

TEST_F(xyz_test, charges_that_are_missing_or_no_finite_numbers_are_refused) {
  const std::string none = " there are no charges; Properties must have charge:R:1, charges:R:1 or initial_charges:R:1";
  const std::string first_lines = "1\nProperties=pos:R:3:charge:R:1\n";
  EXPECT_EQ(failure("1\n\nH 1 2 3\n", true), "2:" + none);
  EXPECT_EQ(failure("1\nProperties=pos:R:3:Charge:R:1\n1 2 3 1\n", true), "2:" + none);
  EXPECT_EQ(failure(first_lines + "1 2 3 1\n1\nProperties=species:S:1:pos:R:3\nH 1 2 3\n", true), "5:" + none);
  EXPECT_EQ(failure(first_lines + "1 2 3 nan\n", true), "3: column 4 (charge) is \"nan\"; charges must be finite");
  EXPECT_EQ(failure(first_lines + "1 2 3 -inf\n", true), "3: column 4 (charge) is \"-inf\"; charges must be finite");
  EXPECT_EQ(failure(first_lines + "1 2 3 +\n", true),
            "3: column 4 (charge) is \"+\", which is not a representable number");
  EXPECT_EQ(failure(first_lines + "1 2 3\n", true), "3: the line of an atom has 3 columns; expected 4 (Properties)");
  for (const std::string kind : {"R:2", "S:1", "R:3"}) {
    const std::string properties = "pos:R:3:charges:" + kind;
    EXPECT_EQ(failure("0\nProperties=" + properties + "\n", true),
              "2: Properties must give charges as charges:R:1, but has \"" + properties + "\"");
  }
}

TEST_F(xyz_test, plain) {
  const file_frame frame = read("2\r\nanything at all\r\nH 1 2 3\r\nO 4 5 6 0.25\r\n");
  EXPECT_EQ(frame.positions, (std::vector<vec<double, 3>>{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_FALSE(frame.lattice.has_value());
  EXPECT_EQ(frame.periodic, (vec<bool, 3>{}));
  EXPECT_TRUE(read("0\n\n").positions.empty());
}

TEST_F(xyz_test, frames_behind_the_first_are_counted) {
  const file_frame frame = read("1\n\nH 1 2 3\n2\n\nH 1 2 3\nH 4 5 6\n\n0\n\n \n\n");
  EXPECT_EQ(frame.positions.size(), 1u);
  EXPECT_EQ(frame.frames, 3u);
  EXPECT_EQ(read("1\n\nH 1 2 3").frames, 1u);
}

TEST_F(xyz_test, what_is_no_frame_is_refused_wherever_it_stands) {
  EXPECT_EQ(failure("1\n\nH 1 2 3\nH 4 5 6\n"),
            "4: \"H 4 5 6\" follows frame 1; expected the end, or the number of atoms of another frame");
  EXPECT_EQ(failure("1\n\nH 1 2 3\n1\n\nH 4 5 6\n\nmore\n"),
            "8: \"more\" follows frame 2; expected the end, or the number of atoms of another frame");
  EXPECT_EQ(failure("1\n\nH 1 2 3\n2\n\nH 1 2 3\n"), "6: the file ends after 1 of 2 atoms");
  EXPECT_EQ(failure("1\n\nH 1 2 3\n2\n"), "4: the file ends before the comment line");
}

TEST_F(xyz_test, positions_in_other_columns) {
  const file_frame frame = read("1\nProperties=id:I:1:species:S:1:velo:R:2:pos:R:3\n7 H 0 0 1 2 3\n");
  EXPECT_EQ(frame.positions[0], (vec<double, 3>{1, 2, 3}));
  EXPECT_EQ(read("1\nProperties=pos:R:3\n1 2 3\n").positions[0], (vec<double, 3>{1, 2, 3}));
}

TEST_F(xyz_test, spellings_of_the_comment) {
  EXPECT_EQ(with_comment("Lattice=\"1 0 0 0 1 0 0 0 1\"").periodic, (vec<bool, 3>{true, true, true}));
  EXPECT_EQ(with_comment("pbc=[True, False, True] x").periodic, (vec<bool, 3>{true, false, true}));
  EXPECT_EQ(with_comment("PBC='1 0 1'").periodic, (vec<bool, 3>{true, false, true}));
  EXPECT_EQ(with_comment("note=\"pbc=\" pbc={0 0 1}").periodic, (vec<bool, 3>{false, false, true}));
  const file_frame frame = with_comment("lattice=[[2, 0, 0], [0, 3, 0], [0, 0, 4]] Origin=\"1 -1 0.5\" tag");
  EXPECT_EQ((*frame.lattice)[1], (vec<double, 3>{0, 3, 0}));
  EXPECT_EQ(frame.origin, (vec<double, 3>{1, -1, 0.5}));
}

TEST_F(xyz_test, spaces_around_equals_mean_nothing) {
  const file_frame frame = read(
      "1\nLattice = \"2 0 0 0 3 0 0 0 4\" pbc =\"F T F\"  Properties= species:S:1:velo:R:3:pos:R:3\tOrigin\t=\t[1, 2, "
      "3]\nH 7 8 9 1 2 3\n");
  ASSERT_TRUE(frame.lattice.has_value());
  EXPECT_EQ((*frame.lattice)[2], (vec<double, 3>{0, 0, 4}));
  EXPECT_EQ(frame.periodic, (vec<bool, 3>{false, true, false}));
  EXPECT_EQ(frame.positions[0], (vec<double, 3>{1, 2, 3}));
  EXPECT_EQ(frame.origin, (vec<double, 3>{1, 2, 3}));
}

TEST_F(xyz_test, truth_is_spelled_as_in_the_grammar) {
  for (const char* const value : {"\"T F T\"", "\"True False True\"", "\"true false true\"", "\"TRUE FALSE TRUE\"",
                                  "[T, F, T]", "[TRUE,False,true]", "{T F T}", "{TRUE FALSE TRUE}"}) {
    for (const char* const equals : {"=", " = "}) {
      EXPECT_EQ(with_comment(std::string("pbc") + equals + value).periodic, (vec<bool, 3>{true, false, true})) << value;
    }
  }
  EXPECT_TRUE(failure("1\npbc=\"tRUE F F\"\nH 1 2 3\n").starts_with("2: pbc is \"tRUE F F\""));
}

TEST_F(xyz_test, numbers_may_have_the_exponents_of_fortran) {
  const file_frame frame = read(
      "1\nLattice=\"1.0D+01 0 0 0 2d1 0 0 0 .5E2\" Time=1.5d-1 Properties=species:S:1:pos:R:3\nH 1.D0 -2d-1 +3E0\n");
  EXPECT_EQ((*frame.lattice)[0], (vec<double, 3>{10, 0, 0}));
  EXPECT_EQ((*frame.lattice)[1], (vec<double, 3>{0, 20, 0}));
  EXPECT_EQ((*frame.lattice)[2], (vec<double, 3>{0, 0, 50}));
  EXPECT_EQ(frame.positions[0], (vec<double, 3>{1, -0.2, 3}));
  EXPECT_EQ(frame.time, 0.15);
  EXPECT_EQ(failure("1\n\nH 1 2dd1 3\n"), "3: column 3 (y) is \"2dd1\", which is not a representable number");
}

TEST_F(xyz_test, strings_and_arrays_of_other_keys_are_skipped_whole) {
  for (const char* const other :
       {R"(note="a \"pbc=F\" \\ b")", R"("key with \"quotes\" = 1"="v")", "stress=[[1, 2], [3, 4]]",
        R"(words=["a b", c, "]"])", "old={1 2 3}", R"(old={"a b" c})", "flag", R"(bare=a\ b\=c)", "empty=\"\"",
        R"(_JSON="_JSON {\"pbc\": [1, 2]}")", "config_type=md_300K-2.5/x:y(z)"}) {
    const std::string pbc = "pbc=\"T F F\"";
    for (const std::string& text : {other + (" " + pbc), pbc + " " + other}) {
      EXPECT_EQ(with_comment(text).periodic, (vec<bool, 3>{true, false, false})) << text;
    }
  }
  EXPECT_EQ((*with_comment("Lattice=\"2 3 4\"").lattice)[1], (vec<double, 3>{0, 3, 0}));
  EXPECT_EQ((*with_comment("\"Lattice\" = {1 0 0 0 2 0 0 0 3}").lattice)[1], (vec<double, 3>{0, 2, 0}));
}

TEST_F(xyz_test, what_the_grammar_does_not_have_is_refused_with_its_text) {
  const auto comment = [&](const std::string& text) { return failure("1\n" + text + "\nH 1 2 3\n"); };
  EXPECT_EQ(comment("pbc="), "2: \"pbc =\" has no value");
  EXPECT_EQ(comment("pbc = "), "2: \"pbc =\" has no value");
  EXPECT_EQ(comment("pbc=\"T T T\"x"),
            "2: there is \"x\" behind the value of pbc, where a blank should be; strings with "
            "=\",}{][\\ must be in quotes");
  EXPECT_TRUE(comment("a=b=c pbc=\"T T T\"").starts_with("2: there is \"=c pbc=\"T T T\"\" behind the value of a"));
  EXPECT_EQ(comment("pbc=(T, T, T)").substr(0, 45), "2: there is \", T, T)\" behind the value of pbc");
  EXPECT_EQ(comment("a=[] pbc=\"T T T\""), "2: the value of a has nothing before \"] pbc=\"T T T\"\"");
  EXPECT_EQ(comment("pbc=[T, T, T"), "2: the value of pbc has no end");
  EXPECT_EQ(comment("pbc=[T, , T]"), "2: there is \", T]\" where an element of pbc should be");
  EXPECT_EQ(comment("pbc=[T, T, T,]"), "2: the value of pbc has nothing before \"]\"");
  EXPECT_EQ(comment("Lattice=[[1, 0, 0], [0, 1], [0, 0, 1]]"), "2: the rows of Lattice differ in length");
  EXPECT_EQ(comment("Lattice=[[1, 0, 0], 2]"), "2: the rows of Lattice differ in length");
  EXPECT_EQ(comment("Lattice={{1 0 0}}"), "2: there is \"{1 0 0}}\" where an element of Lattice should be");
  EXPECT_EQ(comment(", pbc=\"T T T\""), "2: there is \", pbc=\"T T T\"\" where a key should be");
  EXPECT_EQ(comment("pbc=\"T T T\" PBC=\"F F F\""), "2: there are two values of pbc");
  EXPECT_EQ(comment("Properties=pos:R:3:pos:R:3"), "2: Properties has \"pos\" twice");
  EXPECT_EQ(comment("Properties=pos:R:3:a:X:1"), "2: Properties has \"X\" where one of S, I, R and L should be");
}

TEST_F(xyz_test, a_comment_without_keys_of_its_own_is_any_text) {
  for (const char* const text : {"a, b = c = [", "\"", "it's", "t=1,5", "{", "\\", "my_pbc=,", "with pbc"}) {
    EXPECT_FALSE(with_comment(text).lattice.has_value()) << text;
    EXPECT_EQ(with_comment(text).periodic, (vec<bool, 3>{})) << text;
  }
}

TEST_F(xyz_test, fields_are_all_columns) {
  const auto frames = read_all(
      "2\nProperties=species:S:1:velo:R:3:pos:R:3:id:I:1:fixed:L:2 Time=2\nH 7 8 9 1 2 3 9007199254740993 T FALSE\n"
      "He 4 5 6 0 0 0 -2 true F\n1\nanything\nO 1 2 3\n",
      {.fields = true});
  ASSERT_EQ(frames.size(), 2u);
  const auto& fields = frames[0].fields;
  ASSERT_EQ(fields.size(), 4u);
  EXPECT_EQ(fields[0].words, (std::vector<std::string>{"H", "He"}));
  EXPECT_EQ(fields[1].name, "velo");
  EXPECT_EQ(fields[1].width, 3u);
  EXPECT_EQ(fields[1].reals, (std::vector<double>{7, 8, 9, 4, 5, 6}));
  EXPECT_EQ(fields[2].integers, (std::vector<std::int64_t>{9007199254740993, -2}));
  EXPECT_EQ(fields[3].integers, (std::vector<std::int64_t>{1, 0, 1, 0}));
  EXPECT_EQ(frames[0].positions[0], (vec<double, 3>{1, 2, 3}));
  EXPECT_EQ(frames[0].time, 2.0);
  EXPECT_FALSE(frames[1].time.has_value());
  ASSERT_EQ(frames[1].fields.size(), 1u);
  EXPECT_EQ(frames[1].fields[0].words, (std::vector<std::string>{"O"}));
  const auto refusal = [&](const std::string& kind, const std::string& word) {
    put(file_, "1\nProperties=pos:R:3:a:" + kind + ":1\n1 2 3 " + word + "\n");
    try {
      for_each_frame(file_, {.fields = true}, [](const file_frame&) {});
    } catch (const io_error& problem) {
      return std::string(problem.what()).substr(file_.string().size() + 1);
    }
    return std::string("no error");
  };
  EXPECT_EQ(refusal("I", "1.5"), "3: column 4 (a) is \"1.5\", which is not an integer of 64 bits");
  EXPECT_EQ(refusal("L", "yes"), "3: column 4 (a) is \"yes\", which is not T or F");
  EXPECT_EQ(refusal("R", "yes"), "3: column 4 (a) is \"yes\", which is not a representable number");
}

TEST_F(xyz_test, errors_name_the_line) {
  EXPECT_EQ(failure(""), " the file is empty");
  EXPECT_EQ(failure("x,y,z\n"), "1: the first line must be the number of atoms, but is \"x,y,z\"");
  EXPECT_EQ(failure("-1\n\n"), "1: the first line must be the number of atoms, but is \"-1\"");
  EXPECT_EQ(failure("1"), "1: the file ends before the comment line");
  EXPECT_EQ(failure("2\n\nH 1 2 3\n"), "3: the file ends after 1 of 2 atoms");
  EXPECT_NE(failure("18446744073709551615\n\nH 1 2 3\n").find("the file is too short for 18446744073709551615 atoms"),
            std::string::npos);
  EXPECT_EQ(failure("1\n\nH 1 2\n"), "3: the line of an atom has 3 columns; expected at least 4 (a name, x, y and z)");
  EXPECT_EQ(failure("1\n\nH 1 two 3\n"), "3: column 3 (y) is \"two\", which is not a representable number");
  EXPECT_EQ(failure("1\nProperties=species:S:1:pos:R:3\nH 1 2 3 4\n"),
            "3: the line of an atom has 5 columns; expected 4 (Properties)");
  EXPECT_EQ(failure("1\nLattice=\"1 0 0 0 1 0 0 0\"\nH 1 2 3\n"),
            "2: Lattice has 8 numbers; expected 9, or the 3 lengths of a cell along the axes");
  EXPECT_EQ(failure("1\nLattice=\"1 0 0 0 1 0 0 0 x\"\nH 1 2 3\n"), "2: Lattice has \"x\" where a number should be");
  EXPECT_EQ(failure("1\nLattice=\"1 0 0\nH 1 2 3\n"), "2: the value of Lattice has no end");
  EXPECT_EQ(failure("1\npbc=\"T T\"\nH 1 2 3\n"), "2: pbc is \"T T\"; expected three of T and F");
  EXPECT_EQ(failure("1\npbc=\"T T maybe\"\nH 1 2 3\n"), "2: pbc is \"T T maybe\"; expected three of T and F");
  for (const char* properties : {"species:S:1", "pos:R:2", "pos:S:3", "pos:R", "pos:R:x", "species:S:0:pos:R:3"}) {
    EXPECT_TRUE(failure("1\nProperties=" + std::string(properties) + "\nH 1 2 3\n").starts_with("2: Properties "))
        << properties;
  }
}

}  // namespace
}  // namespace quadrat::io
