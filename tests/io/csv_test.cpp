// SPDX-License-Identifier: BSD-3-Clause
#include "quadrat/io/csv.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "io/temporary_folder.hpp"
#include "quadrat/core/error.hpp"

namespace quadrat::io {
namespace {

class csv_test : public testing::Test {
 protected:
  csv_table read(const std::string& text) {
    put(file_, text);
    return read_csv(file_, {.numbers = {"x", "y", "z"}, .optional = {}, .text = {}});
  }
  std::string failure(const std::string& text) {
    try {
      (void)read(text);
      return "no error";
    } catch (const io_error& problem) {
      const std::string what = problem.what();
      EXPECT_TRUE(what.starts_with(file_.string() + ":")) << what;
      return what.substr(std::min(what.size(), file_.string().size() + 1));
    }
  }

  const temporary_folder folder_;
  const std::filesystem::path file_ = folder_ / "a.csv";
};

TEST_F(csv_test, columns_by_name) {
  const csv_table table = read("x,y,z\n1,2.5,-3\n4e2,+5,.5\n");
  EXPECT_EQ(table.rows, 2u);
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(table.column("x"), (std::vector<double>{1, 400}));
  EXPECT_EQ(table.column("y"), (std::vector<double>{2.5, 5}));
  EXPECT_EQ(table.column("z"), (std::vector<double>{-3, 0.5}));
  EXPECT_TRUE(table.has("z"));
  EXPECT_FALSE(table.has("r"));
  try {
    (void)table.column("r");
    FAIL();
  } catch (const io_error& problem) {
    EXPECT_EQ(problem.what(), file_.string() + ": there is no column \"r\"; there are \"x\", \"y\", \"z\"");
  }
}

TEST_F(csv_test, names_in_the_comment_of_savetxt) {
  for (const char* text :
       {"# x y z\n1.5e+00 2.0e+00 -3.0e+00\n4 5 6\n", "# x,y,z\n1.5,2,-3\n4,5,6\n", "# x y z\n1.5,2,-3\n4,5,6\n",
        "# x,y,z\n1.5 2 -3\n4 5 6\n", "# 2 points\n#x\ty\tz\r\n1.5\t2\t-3\r\n4\t5\t6", "x y z\n1.5 2 -3\n4 5 6\n",
        "  x   y z  \n  1.5  2  -3 \n# more\n\n 4 \t5 6", "# x y z\n1.5;2;-3\n4;5;6"}) {
    const csv_table table = read(text);
    EXPECT_EQ(table.rows, 2u) << text;
    EXPECT_EQ(table.column("x"), (std::vector<double>{1.5, 4})) << text;
    EXPECT_EQ(table.column("y"), (std::vector<double>{2, 5})) << text;
    EXPECT_EQ(table.column("z"), (std::vector<double>{-3, 6})) << text;
    EXPECT_EQ(table.lines.back() - table.lines.front(), text[0] == ' ' ? 3u : 1u) << text;
  }
  EXPECT_EQ(read("# x\n1\n2\n").column("x"), (std::vector<double>{1, 2}));
  EXPECT_EQ(read("# x y z\n").rows, 0u);
  EXPECT_TRUE(read("# x y z\n").has("z"));
}

TEST_F(csv_test, comments_that_are_no_names) {
  EXPECT_NE(failure("# 0.1 nm\n1,2\n").find("has the number 1"), std::string::npos);
  EXPECT_NE(failure("# x y z\n# in nm\n1 2 3\n").find("has the number 1"), std::string::npos);
  EXPECT_EQ(read("# x,y are in nm\nx,y\n1,2\n").column("y"), (std::vector<double>{2}));
  EXPECT_EQ(read("# x,y,z\na,b\n1,2\n").names, (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(failure("# x y z\n1 2\n").find("there are 2 fields for 3 columns"), std::string::npos);
  EXPECT_NE(failure("# x x\n1 2\n").find("two columns"), std::string::npos);
  EXPECT_EQ(read("a column\n1\n").names, (std::vector<std::string>{"a column"}));
}

TEST_F(csv_test, what_does_not_count) {
  const csv_table table = read("\xEF\xBB\xBF# made by hand\r\n\r\n \"x\" ,\ty\r\n 1 , 2\r\n\r\n# more\r\n3,4");
  EXPECT_EQ(table.column("x"), (std::vector<double>{1, 3}));
  EXPECT_EQ(table.column("y"), (std::vector<double>{2, 4}));
  EXPECT_EQ(read("x,y\n").rows, 0u);
}

TEST_F(csv_test, values_that_are_no_ordinary_numbers) {
  const csv_table table = read("x\nnan\ninf\n-inf\n1e-400\n");
  EXPECT_TRUE(std::isnan(table.column("x")[0]));
  EXPECT_EQ(table.column("x")[1], std::numeric_limits<double>::infinity());
  EXPECT_EQ(table.column("x")[2], -std::numeric_limits<double>::infinity());
  EXPECT_EQ(table.column("x")[3], 0.0);
}

TEST_F(csv_test, errors_name_line_and_column) {
  EXPECT_EQ(failure(""), " there is no line with the names of the columns");
  EXPECT_EQ(failure("\n# nothing\n"), " there is no line with the names of the columns");
  EXPECT_EQ(failure("x,y\n1,2\n\n3,four\n"), "4: column 2 (y) is \"four\", which is not a representable number");
  EXPECT_EQ(failure("x,y\n1,\n"), "2: column 2 (y) is empty");
  EXPECT_EQ(failure("x,y\n1\n"), "2: there is 1 field for 2 columns");
  EXPECT_EQ(failure("x,y\n1,2,3\n"), "2: there are 3 fields for 2 columns");
  EXPECT_EQ(failure("x,y\n1,2\n3,1e999\n"), "3: column 2 (y) is \"1e999\", which is not a representable number");
  EXPECT_EQ(failure("x,y\n1,0x10\n"), "2: column 2 (y) is \"0x10\", which is not a representable number");
  EXPECT_EQ(failure("0.5,1,2\n"),
            "1: the first line must name the columns (x,y,z for example), but has the number 0.5");
  EXPECT_EQ(failure("x,x\n"), "1: two columns are named \"x\"");
  EXPECT_EQ(failure(std::string("x,y\n1,\0\1\n", 9)), "2: column 2 (y) is \"??\", which is not a representable number");
}

TEST_F(csv_test, columns_of_words) {
  const csv_columns columns{.numbers = {"x"}, .optional = {}, .text = {"kind", "none"}};
  const csv_table table = parse_csv("x,kind\n\n1,\"box\"\n# two\n2, long word \n3,\n", "a.csv", columns);
  EXPECT_EQ(table.text("kind"), (std::vector<std::string>{"box", "long word", ""}));
  EXPECT_EQ(table.column("x"), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{3, 5, 6}));
  EXPECT_THROW((void)table.text("none"), io_error);
}

TEST_F(csv_test, columns_that_are_not_asked_for_may_hold_anything) {
  const csv_table table = read(",species,x,note,note,y\n0,H,1,\"a, b\",,2\n1,nan,3,,#,4\n");
  EXPECT_EQ(table.column("x"), (std::vector<double>{1, 3}));
  EXPECT_EQ(table.column("y"), (std::vector<double>{2, 4}));
  EXPECT_EQ(table.names, (std::vector<std::string>{"", "species", "x", "note", "note", "y"}));
  EXPECT_TRUE(table.columns[1].empty());
  EXPECT_EQ(failure("species,x\nH\n"), "2: there is 1 field for 2 columns");
}

TEST_F(csv_test, fields_in_quotes) {
  const csv_columns columns{.numbers = {"x", "a \"b\", c"}, .optional = {}, .text = {"words"}};
  const csv_table table = parse_csv(
      "\"x\",\"a \"\"b\"\", c\",words\r\n \"1.5\" ,\"2\",\"two\r\nlines, \"\"quoted\"\"\"\r\n3,4,\"\"\r\n5,6,  a \"b\" "
      "\n",
      "a.csv", columns);
  EXPECT_EQ(table.column("x"), (std::vector<double>{1.5, 3, 5}));
  EXPECT_EQ(table.column("a \"b\", c"), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(table.text("words"), (std::vector<std::string>{"two\r\nlines, \"quoted\"", "", "a \"b\""}));
  EXPECT_EQ(table.lines, (std::vector<std::size_t>{2, 4, 5})) << "a row is where it begins";
  EXPECT_EQ(failure("x,y\n1,\"2\n3,4\n"), "2: a quote has no end");
  EXPECT_EQ(failure("x,y\n1,\"2\"3\n"),
            "2: a field goes on after its quotes; inside of quotes, a quote is written as two");
  EXPECT_EQ(failure("x,y\n1,\"\"\n"), "2: column 2 (y) is empty");
}

TEST_F(csv_test, semicolons_and_tabs_separate_where_the_names_have_no_comma) {
  EXPECT_EQ(read("x;y\n1;2\n").column("y"), (std::vector<double>{2}));
  EXPECT_EQ(read("x\t\"a,b\"\ty\n1\t\t2\n").column("y"), (std::vector<double>{2}));
  EXPECT_EQ(failure("x;y\n1;2,5\n"), "2: column 2 (y) is \"2,5\", which is not a representable number");
  EXPECT_EQ(read("x,a;b\n1,2;3\n").column("x"), (std::vector<double>{1}));
}

TEST_F(csv_test, every_end_of_a_line_counts) {
  for (const char* text : {"x\n1\n2\n", "x\r\n1\r\n2", "x\r1\r2\r"}) {
    EXPECT_EQ(read(text).column("x"), (std::vector<double>{1, 2}));
    EXPECT_EQ(read(text).lines, (std::vector<std::size_t>{2, 3}));
  }
}

TEST_F(csv_test, fields_that_may_be_empty) {
  const csv_columns columns{.numbers = {"x"}, .optional = {"y"}, .text = {}};
  const csv_table table = parse_csv("x,y\n1, \n2,3\n", "a.csv", columns);
  EXPECT_TRUE(std::isnan(table.column("y")[0]));
  EXPECT_EQ(table.column("y")[1], 3);
  EXPECT_THROW((void)parse_csv("x,y\n,2\n", "a.csv", columns), io_error);
  EXPECT_THROW((void)parse_csv("x,y\n1,two\n", "a.csv", columns), io_error);
}

TEST_F(csv_test, what_is_written_reads_back) {
  const std::array<std::string_view, 2> names{"i", "d"};
  csv_writer out(file_, names);
  const std::vector<double> values{0.1, 1.0 / 3, -1e300, 5e-324, 7};
  for (std::size_t i = 0; i < values.size(); ++i) {
    out.add(static_cast<std::int64_t>(i));
    out.add(values[i]);
    out.end_row();
  }
  EXPECT_FALSE(std::filesystem::exists(file_));
  out.commit();
  EXPECT_EQ(contents(file_), "i,d\n0,0.1\n1,0.3333333333333333\n2,-1e+300\n3,5e-324\n4,7\n");
  // Only values that from_chars cannot represent come back as the nearest one.
  EXPECT_EQ(read_csv(file_, {.numbers = {"d"}, .optional = {}, .text = {}}).column("d"), values);
}

TEST_F(csv_test, a_row_must_be_full) {
  const std::array<std::string_view, 2> names{"i", "d"};
  csv_writer out(file_, names);
  out.add(1);
  EXPECT_THROW(out.end_row(), argument_error);
  EXPECT_THROW(out.commit(), argument_error);
}

}  // namespace
}  // namespace quadrat::io
