#include "api/cli/src/figure.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "api/cli/src/axis.h"
#include "api/cli/src/xml_text.h"

namespace plimsoll::cli {
namespace {

constexpr double kWidth = 860;
constexpr double kLeft = 52;
constexpr double kRight = 846;
constexpr double kPlotHeight = 118;
constexpr double kPanelHeight = kPlotHeight + 44;  // title above, air below
constexpr double kLegendRow = 17;
constexpr double kCharacter = 6.1;  // width of one, on average, at 11 units
constexpr std::size_t kPointsMin = 8;

// Okabe and Ito's colours, lightened for dark grounds; patterns tell them apart without colour.
constexpr char kStyles[] =
    ".plim{font:11px system-ui,sans-serif;--g:#fff;--t:#24292f;--m:#57606a;--l:#d0d7de;"
    "--s0:#0072b2;--s1:#d55e00;--s2:#00795a;--s3:#b0497f;--s4:#a66f00;--s5:#2b8cc4;--s6:#5b5bd6;"
    "--s7:#24292f}"
    "@media(prefers-color-scheme:dark){.plim{--g:#0d1117;--t:#e6edf3;--m:#9da7b3;--l:#30363d;"
    "--s0:#58b0ea;--s1:#ff9351;--s2:#3fcf9f;--s3:#ee9cc8;--s4:#f0c04a;--s5:#9bd4f5;--s6:#aeaeff;"
    "--s7:#e6edf3}}"
    ".plim .g{fill:var(--g)}.plim text{fill:var(--t)}.plim .m{fill:var(--m)}"
    ".plim .e{text-anchor:end}.plim .c{text-anchor:middle}.plim .h{font-weight:600}"
    ".plim path,.plim line{fill:none;stroke-width:1.5;stroke-linejoin:round}"
    ".plim .l{stroke:var(--l);stroke-width:1}"
    ".plim .b{stroke:var(--m);stroke-width:1;stroke-dasharray:2 3}"
    ".plim .v{stroke:var(--t);stroke-width:1;stroke-dasharray:9 4}"
    ".plim .r{stroke:var(--m);stroke-width:2;stroke-dasharray:6 4}"
    ".plim .s0{stroke:var(--s0)}.plim .s1{stroke:var(--s1);stroke-dasharray:7 2}"
    ".plim .s2{stroke:var(--s2);stroke-dasharray:3 2}.plim .s3{stroke:var(--s3);stroke-dasharray:8 "
    "2 2 2}.plim .s4{stroke:var(--s4);stroke-width:2.4}.plim .s5{stroke:var(--s5);stroke-dasharray:"
    "12 3}.plim .s6{stroke:var(--s6);stroke-dasharray:1 2}.plim .s7{stroke:var(--s7);"
    "stroke-dasharray:5 2 1 2 1 2}"
    ".plim path.k{fill:var(--m);stroke:none}.plim path.k:hover{fill:var(--s1)}";

std::string Number(double value) {
  // A tenth of a unit is finer than any screen.
  const double tenths = std::round(value * 10);
  if (std::fmod(tenths, 10) == 0) return absl::StrFormat("%.0f", tenths / 10);
  return absl::StrFormat("%.1f", tenths / 10);
}

std::string Text(double x, double y, const std::string& classes, const std::string& text) {
  const std::string mark = classes.empty() ? "" : absl::StrCat(" class=\"", classes, "\"");
  return absl::StrCat("<text x=\"", Number(x), "\" y=\"", Number(y), "\"", mark, ">", Escaped(text),
                      "</text>\n");
}

std::string Straight(double x1, double y1, double x2, double y2, const std::string& classes) {
  return absl::StrCat("<line class=\"", classes, "\" x1=\"", Number(x1), "\" y1=\"", Number(y1),
                      "\" x2=\"", Number(x2), "\" y2=\"", Number(y2), "\"/>\n");
}

std::string ClassOf(const LineStyle& style) {
  return style.reference ? "r" : absl::StrCat("s", style.number);
}

double TextWidth(const std::string& text) { return kCharacter * static_cast<double>(text.size()); }

struct Place {
  double x = 0;
  double y = 0;
};

// Samples of lines with their names, from `at` to the right, wrapped at the margin.
std::string Legend(const std::vector<Line>& lines, Place& at, double indent) {
  std::string svg;
  for (const Line& line : lines) {
    if (line.name.empty()) continue;
    const double width = 26 + TextWidth(line.name) + 14;
    if (at.x + width > kRight && at.x > indent) at = {indent, at.y + kLegendRow};
    absl::StrAppend(&svg, Straight(at.x, at.y - 4, at.x + 22, at.y - 4, ClassOf(line.style)),
                    Text(at.x + 26, at.y, "", line.name));
    at.x += width;
  }
  return svg;
}

// Draws one figure. Confined to one call.
class Drawing {
 public:
  Drawing(const Figure& figure, const SvgOptions& options) : figure_(figure), options_(options) {
    std::size_t lines = 0;
    for (const Panel& panel : figure.panels) lines += panel.lines.size();
    points_per_line_ = options.points_max / std::max<std::size_t>(lines, 1);
  }

  std::string Draw();

 private:
  double X(double seconds) const {
    const double share = figure_.length > 0 ? seconds / figure_.length : 0;
    return kLeft + std::clamp(share, 0.0, 1.0) * (kRight - kLeft);
  }
  static double Y(const Axis& axis, double top, double value) {
    return top + kPlotHeight * (1 - axis.Place(value));
  }
  void DrawPanel(const Panel& panel, double top);
  void DrawGrid(const Axis& axis, double top);
  void DrawBoundaries(double top, bool names);
  void DrawLine(const Line& line, const Axis& axis, double top);
  void DrawLevels(const Panel& panel, const Axis& axis, double top);
  void DrawMarks(double top);
  void DrawTime(double top);

  const Figure& figure_;
  const SvgOptions& options_;
  std::size_t points_per_line_ = 0;
  std::string svg_;
};

Axis AxisOf(const Panel& panel) {
  double smallest = HUGE_VAL;
  double largest = 0;
  const auto see = [&](double y) {
    if (!std::isfinite(y)) return;
    largest = std::max(largest, y);
    if (y > 0) smallest = std::min(smallest, y);
  };
  for (const Line& line : panel.lines) {
    for (const Point& point : line.points) see(point.y);
  }
  for (const Level& level : panel.levels) see(level.y);
  return panel.logarithmic ? Axis::Logarithmic(smallest, largest) : Axis::Linear(largest);
}

void Drawing::DrawGrid(const Axis& axis, double top) {
  for (const double tick : axis.ticks()) {
    const double y = Y(axis, top, tick);
    absl::StrAppend(&svg_, Straight(kLeft, y, kRight, y, "l"),
                    Text(kLeft - 6, y + 4, "m e", TickText(tick)));
  }
}

void Drawing::DrawBoundaries(double top, bool names) {
  double free_from = 0;
  for (const Boundary& boundary : figure_.boundaries) {
    const double x = X(boundary.x);
    if (boundary.x > 0) absl::StrAppend(&svg_, Straight(x, top, x, top + kPlotHeight, "b"));
    // A name that would lie on another one is left to its rule and the table.
    if (!names || x + 3 < free_from) continue;
    absl::StrAppend(&svg_, Text(x + 3, top + 11, "m", boundary.name));
    free_from = x + 3 + TextWidth(boundary.name);
  }
}

void Drawing::DrawLine(const Line& line, const Axis& axis, double top) {
  std::string path;
  bool open = false;
  double last_y = 0;
  for (const Point& point : Thinned(line.points, points_per_line_)) {
    if (!std::isfinite(point.y)) {
      open = false;
      continue;
    }
    const std::string x = Number(X(point.x));
    const std::string y = Number(Y(axis, top, point.y));
    if (open && line.step) absl::StrAppend(&path, "L", x, " ", Number(last_y));
    absl::StrAppend(&path, open ? "L" : "M", x, " ", y);
    last_y = Y(axis, top, point.y);
    open = true;
  }
  if (path.empty()) return;
  absl::StrAppend(&svg_, "<path class=\"", ClassOf(line.style), "\" d=\"", path, "\"/>\n");
}

void Drawing::DrawLevels(const Panel& panel, const Axis& axis, double top) {
  for (const Level& level : panel.levels) {
    const double y = Y(axis, top, level.y);
    const double text_y = y - 4 < top + 10 ? y + 12 : y - 4;
    absl::StrAppend(&svg_, Straight(kLeft, y, kRight, y, "v"),
                    Text(kRight - 4, text_y, "e", level.name));
  }
}

void Drawing::DrawMarks(double top) {
  for (const Mark& mark : figure_.marks) {
    const double x = X(mark.x);
    const double y = top + kPlotHeight;
    const std::string shape =
        mark.up ? absl::StrCat("M", Number(x - 4), " ", Number(y + 10), "h8l-4 -7z")
                : absl::StrCat("M", Number(x - 4), " ", Number(y + 3), "h8l-4 7z");
    absl::StrAppend(&svg_, "<path class=\"k\" d=\"", shape, "\"><title>", Escaped(mark.sentence),
                    "</title></path>\n");
  }
}

void Drawing::DrawPanel(const Panel& panel, double top) {
  const Axis axis = AxisOf(panel);
  absl::StrAppend(&svg_, Text(kLeft, top - 8, "h", panel.title));
  if (panel.legend) {
    const double after = kLeft + TextWidth(panel.title) * 1.1 + 18;
    Place at{after, top - 8};
    svg_ += Legend(panel.lines, at, after);
  }
  DrawGrid(axis, top);
  DrawBoundaries(top, &panel == &figure_.panels.front());
  for (const Line& line : panel.lines) DrawLine(line, axis, top);
  DrawLevels(panel, axis, top);
}

void Drawing::DrawTime(double top) {
  for (const double tick : TimeTicks(figure_.length, 10)) {
    absl::StrAppend(&svg_, Text(X(tick), top, "m c", absl::StrCat(TickText(tick), " s")));
  }
}

std::string Drawing::Draw() {
  Place at{kLeft, 42};
  const std::string legend = Legend(figure_.legend, at, kLeft);
  const double first = figure_.legend.empty() ? 56 : at.y + 30;
  const double height = first + kPanelHeight * static_cast<double>(figure_.panels.size()) - 4;
  svg_ = absl::StrCat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plim\" role=\"img\" viewBox=\"0 0 ",
      Number(kWidth), " ", Number(height), "\"");
  if (options_.standalone) {
    absl::StrAppend(&svg_, " width=\"", Number(kWidth), "\" height=\"", Number(height), "\"");
  }
  absl::StrAppend(&svg_, ">\n<title>", Escaped(figure_.title), "</title>\n<desc>",
                  Escaped(figure_.description), "</desc>\n");
  if (options_.standalone) {
    absl::StrAppend(&svg_, "<style>", kStyles, "</style>\n<rect class=\"g\" width=\"",
                    Number(kWidth), "\" height=\"", Number(height), "\"/>\n",
                    Text(kLeft, 20, "h", figure_.title));
  }
  svg_ += legend;
  double top = first;
  for (const Panel& panel : figure_.panels) {
    DrawPanel(panel, top);
    top += kPanelHeight;
  }
  DrawMarks(first);
  DrawTime(top - kPanelHeight + kPlotHeight + 16);
  return absl::StrCat(svg_, "</svg>\n");
}

}  // namespace

std::vector<Point> Thinned(const std::vector<Point>& points, std::size_t count) {
  count = std::max(count, kPointsMin);
  if (points.size() <= count) return points;
  std::vector<Point> thinned;
  const std::size_t buckets = count / 2;
  for (std::size_t b = 0; b < buckets; ++b) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(points.size() * b / buckets);
    const auto end =
        points.begin() + static_cast<std::ptrdiff_t>(points.size() * (b + 1) / buckets);
    std::vector<Point> known;
    std::copy_if(begin, end, std::back_inserter(known),
                 [](const Point& point) { return std::isfinite(point.y); });
    if (known.empty()) {
      thinned.push_back(*begin);
      continue;
    }
    auto [low, high] = std::minmax_element(
        known.begin(), known.end(), [](const Point& a, const Point& c) { return a.y < c.y; });
    if (high < low) std::swap(low, high);
    thinned.push_back(*low);
    if (low != high) thinned.push_back(*high);
  }
  return thinned;
}

std::string ToSvg(const Figure& figure, const SvgOptions& options) {
  return Drawing(figure, options).Draw();
}

std::string FigureStyles() { return kStyles; }

}  // namespace plimsoll::cli
