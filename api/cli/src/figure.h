#pragma once

#include <string>
#include <vector>

namespace plimsoll::cli {

struct Point {
  double x = 0;  // seconds
  double y = 0;  // what is no finite number interrupts the line
};

// How a line looks: a colour and a pattern of its own, so that neither is needed alone.
struct LineStyle {
  int number = 0;          // 0 to 7
  bool reference = false;  // grey and dashed: what others are held against
};

struct Line {
  std::string name;
  LineStyle style;
  std::vector<Point> points;  // by x
  bool step = false;          // holds its value until the next point
};

// A level across a panel, with its name on it.
struct Level {
  std::string name;
  double y = 0;
};

struct Panel {
  std::string title;  // with the unit
  std::vector<Line> lines;
  std::vector<Level> levels;
  bool logarithmic = false;
  bool legend = true;
};

// Something that happened, with a sentence that a pointer or a screen reader finds.
struct Mark {
  double x = 0;
  bool up = true;
  std::string sentence;
};

struct Boundary {
  double x = 0;
  std::string name;
};

// Panels over one axis of time.
struct Figure {
  std::string title;
  std::string description;
  double length = 0;  // seconds
  std::vector<Boundary> boundaries;
  std::vector<Panel> panels;
  std::vector<Mark> marks;   // shown in the first panel
  std::vector<Line> legend;  // above all panels; their points are not used
};

struct SvgOptions {
  bool standalone = true;         // a file of its own: brings its styles and its ground
  std::size_t points_max = 4000;  // all lines together; what is more is thinned out, peaks kept
};

// The figure as an <svg> element, 860 units wide, for light and dark surroundings.
std::string ToSvg(const Figure& figure, const SvgOptions& options);

// The styles of all figures of a page, for those that are not standalone.
std::string FigureStyles();

// At most about `count` points with the same extremes; at least 8 are kept.
std::vector<Point> Thinned(const std::vector<Point>& points, std::size_t count);

}  // namespace plimsoll::cli
