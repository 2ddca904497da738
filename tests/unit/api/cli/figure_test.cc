#include "api/cli/src/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "api/cli/src/axis.h"
#include "tests/unit/api/cli/xml_checker.h"

namespace plimsoll::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Figure Sample() {
  Figure figure;
  figure.title = "a <b> & \"c\"";
  figure.description = "lines";
  figure.length = 100;
  figure.boundaries = {{0, "calm"}, {50, "bu<sy"}};
  Line line{"limit & more", {1, false}, {{0, 10}, {50, 20}, {100, 10}}, false};
  figure.panels = {{"limit", {line}, {{"quota 30", 30}}, false, true}};
  figure.marks = {{25, true, "up & <away>"}};
  return figure;
}

TEST(XmlCheckerTest, SeesWhatIsNotWellFormed) {
  EXPECT_EQ(XmlFault("<a x=\"1\"><b/>t &amp; u</a>"), "");
  EXPECT_NE(XmlFault("<a><b></a></b>"), "");
  EXPECT_NE(XmlFault("<a>x & y</a>"), "");
  EXPECT_NE(XmlFault("<a x=1></a>"), "");
  EXPECT_NE(XmlFault("<a>"), "");
  EXPECT_NE(XmlFault("<a>1 < 2</a>"), "");
}

TEST(FigureTest, IsWellFormedWhateverTheNames) {
  EXPECT_EQ(XmlFault(ToSvg(Sample(), {})), "");
  EXPECT_EQ(XmlFault(ToSvg(Sample(), {.standalone = false})), "");
}

TEST(FigureTest, TellsThoseWhoDoNotSeeItWhatItShows) {
  const std::string svg = ToSvg(Sample(), {});
  EXPECT_THAT(svg, HasSubstr("role=\"img\""));
  EXPECT_THAT(svg, HasSubstr("<title>a &lt;b&gt; &amp; &quot;c&quot;</title>\n<desc>lines</desc>"));
  EXPECT_THAT(svg, HasSubstr("<title>up &amp; &lt;away&gt;</title>"));
}

TEST(FigureTest, APictureOfItsOwnBringsItsStylesForBothThemes) {
  EXPECT_THAT(ToSvg(Sample(), {}), HasSubstr("prefers-color-scheme:dark"));
  EXPECT_THAT(ToSvg(Sample(), {.standalone = false}), Not(HasSubstr("<style>")));
}

TEST(FigureTest, PutsPointsWhereTheirValuesAre) {
  // From 52 to 846 across, and down from 56 over 118 units; the axis ends at 30.
  EXPECT_THAT(ToSvg(Sample(), {}), HasSubstr("d=\"M52 134.7L449 95.3L846 134.7\""));
}

TEST(FigureTest, AStepHoldsItsValueUntilTheNextPoint) {
  Figure figure = Sample();
  figure.panels[0].lines[0].step = true;
  EXPECT_THAT(ToSvg(figure, {}),
              HasSubstr("d=\"M52 134.7L449 134.7L449 95.3L846 95.3L846 134.7\""));
}

TEST(FigureTest, AnUnknownValueInterruptsTheLine) {
  Figure figure = Sample();
  figure.panels[0].lines[0].points = {{0, 10}, {25, 10}, {50, NAN}, {75, 10}, {100, 10}};
  EXPECT_THAT(ToSvg(figure, {}), HasSubstr("L250.5 134.7M647.5 134.7L"));
}

TEST(ThinnedTest, KeepsThePeaks) {
  std::vector<Point> points;
  for (int i = 0; i < 1000; ++i) points.push_back({double(i), i == 567 ? 99.0 : 1.0 + i % 2});
  const std::vector<Point> thinned = Thinned(points, 50);
  EXPECT_LE(thinned.size(), 50U);
  double largest = 0;
  for (std::size_t i = 0; i < thinned.size(); ++i) {
    largest = std::max(largest, thinned[i].y);
    EXPECT_TRUE(i == 0 || thinned[i].x > thinned[i - 1].x);
  }
  EXPECT_EQ(largest, 99);
}

TEST(ThinnedTest, LeavesAShortLineAlone) {
  EXPECT_EQ(Thinned({{0, 1}, {1, 2}, {2, 3}}, 8).size(), 3U);
}

TEST(AxisTest, EndsAtARoundNumberAboveTheLargest) {
  EXPECT_THAT(Axis::Linear(47).ticks(), ElementsAre(0, 10, 20, 30, 40, 50));
  EXPECT_THAT(Axis::Linear(0).ticks(), ElementsAre(0, 0.2, 0.4, 0.6000000000000001, 0.8, 1));
  EXPECT_DOUBLE_EQ(Axis::Linear(47).Place(25), 0.5);
  EXPECT_DOUBLE_EQ(Axis::Linear(47).Place(60), 1);
}

TEST(AxisTest, ALogarithmicOneGivesEachDecadeTheSameRoom) {
  const Axis axis = Axis::Logarithmic(1, 1000);
  EXPECT_THAT(axis.ticks(), ElementsAre(1, 10, 100, 1000));
  EXPECT_NEAR(axis.Place(10), 1.0 / 3, 1e-9);
  EXPECT_EQ(axis.Place(0.5), 0);
}

TEST(AxisTest, TimeIsLabelledInRoundSteps) {
  EXPECT_THAT(TimeTicks(60, 6), ElementsAre(0, 10, 20, 30, 40, 50, 60));
  EXPECT_THAT(TimeTicks(150, 10), ElementsAre(0, 15, 30, 45, 60, 75, 90, 105, 120, 135, 150));
}

}  // namespace
}  // namespace plimsoll::cli
