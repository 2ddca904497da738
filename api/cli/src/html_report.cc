#include "api/cli/src/html_report.h"

#include "absl/strings/str_cat.h"
#include "api/cli/src/describe.h"
#include "api/cli/src/figure.h"
#include "api/cli/src/run_figure.h"
#include "api/cli/src/run_table.h"
#include "api/cli/src/suite_table.h"
#include "api/cli/src/xml_text.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kPageMarks = 300;
constexpr std::size_t kPictureMarks = 40;
constexpr std::size_t kPagePoints = 16'000;
constexpr std::size_t kSuitePoints = 3'000;
constexpr std::size_t kPicturePoints = 3'400;

constexpr char kPageStyles[] =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:1080px;margin:2rem auto;padding:0 1rem;"
    "color:#24292f;background:#fff}h1,h2,h3{line-height:1.25}table{border-collapse:collapse;"
    "font-size:13px;font-variant-numeric:tabular-nums}th,td{padding:.25rem .6rem;text-align:right;"
    "border-bottom:1px solid #d0d7de;white-space:nowrap}th:first-child,td:first-child,td.w{"
    "text-align:left}td.w{white-space:normal}.wide{overflow-x:auto}svg{max-width:100%;height:auto}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}"
    "th,td{border-color:#30363d}a{color:#58b0ea}}";

std::string Element(const std::string& tag, const std::string& text) {
  return absl::StrCat("<", tag, ">", Escaped(text), "</", tag, ">\n");
}

std::string Page(const std::string& title, const std::string& body) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n",
      Element("title", title), "<style>", kPageStyles, FigureStyles(),
      "</style>\n</head>\n<body>\n", Element("h1", title), body, "</body>\n</html>\n");
}

std::string TableHtml(const Table& table, const std::string& caption) {
  std::string html = "<div class=\"wide\">\n<table>\n";
  if (!caption.empty()) html += Element("caption", caption);
  absl::StrAppend(&html, "<thead><tr>");
  for (const std::string& name : table.header) {
    absl::StrAppend(&html, "<th scope=\"col\">", Escaped(name), "</th>");
  }
  absl::StrAppend(&html, "</tr></thead>\n<tbody>\n");
  for (const auto& row : table.rows) {
    absl::StrAppend(&html, "<tr>");
    for (const std::string& cell : row) absl::StrAppend(&html, "<td>", Escaped(cell), "</td>");
    absl::StrAppend(&html, "</tr>\n");
  }
  return absl::StrCat(html, "</tbody>\n</table>\n</div>\n");
}

std::string Decisions(const LawOutcome& law) {
  const std::vector<LogEvent>& all = law.first.decisions;
  if (all.empty()) return "";
  const std::vector<LogEvent> shown = NotableDecisions(all, kDecisionRowsMax);
  const auto left_out = static_cast<std::int64_t>(all.size() - shown.size());
  std::string html = absl::StrCat(Element("h3", absl::StrCat("Decisions of ", law.law)));
  if (left_out > 0) {
    html += Element("p", absl::StrCat("The ", shown.size(), " largest steps; ", left_out,
                                      " smaller ones are left out."));
  }
  absl::StrAppend(
      &html,
      "<div class=\"wide\">\n<table>\n<thead><tr><th scope=\"col\">at</th>"
      "<th scope=\"col\">whose</th><th scope=\"col\">from</th><th scope=\"col\">to</th>"
      "<th scope=\"col\">reason</th><th scope=\"col\">in words</th></tr></thead>\n<tbody>\n");
  for (const LogEvent& event : shown) {
    absl::StrAppend(&html, "<tr><td>", TimeText(event), "</td><td>", Escaped(Whose(event)),
                    "</td><td>", event.from, "</td><td>", event.to, "</td><td>",
                    std::string(ToString(event.reason)), "</td><td class=\"w\">",
                    Escaped(event.message), "</td></tr>\n");
  }
  return absl::StrCat(html, "</tbody>\n</table>\n</div>\n");
}

std::string Words(const LoadScenario& scenario) {
  std::string html = "<ul>\n";
  for (const std::string& line : DescribeScenario(scenario)) html += Element("li", line);
  return absl::StrCat(html, "</ul>\n");
}

bool HasOverload(const Outcome& outcome) {
  for (const bool overload : outcome.overload) {
    if (overload) return true;
  }
  return false;
}

std::string SuiteScenario(const Outcome& outcome) {
  return absl::StrCat("<details>\n<summary>Scenario ", Escaped(outcome.scenario.name), ": ",
                      Escaped(outcome.scenario.description), "</summary>\n",
                      Words(outcome.scenario), ToSvg(RunFigure(outcome, 0), {false, kSuitePoints}),
                      "</details>\n");
}

}  // namespace

std::string OutcomeHtml(const Outcome& outcome) {
  std::string body = Words(outcome.scenario);
  absl::StrAppend(&body, Element("h2", "Scores"));
  for (const LawOutcome& law : outcome.laws) {
    absl::StrAppend(&body, Element("h3", law.law), TableHtml(PhaseTable(outcome, law), ""),
                    Element("p", LawSummary(outcome, law)));
  }
  if (HasOverload(outcome)) {
    body += Element("p", "A star marks phases that offer more than the dependency can do.");
  }
  absl::StrAppend(&body, Element("h2", "Over time"),
                  Element("p", absl::StrCat("The run with seed ", outcome.seed, ".")),
                  ToSvg(RunFigure(outcome, kPageMarks), {false, kPagePoints}));
  for (const LawOutcome& law : outcome.laws) body += Decisions(law);
  return Page(absl::StrCat("Plimsoll: scenario ", outcome.scenario.name), body);
}

std::string SuiteHtml(const std::vector<SuitePart>& parts) {
  std::string body;
  for (const SuitePart& part : parts) {
    absl::StrAppend(&body, Element("h2", PartTitle(part)), TableHtml(TotalsTable(part), "Per law"),
                    TableHtml(GoodputTable(part), "Good calls ÷ optimum, per overload phase"));
    for (const Outcome& outcome : part.outcomes) body += SuiteScenario(outcome);
  }
  return Page("Plimsoll: how the laws compare", body);
}

std::string OutcomeSvg(const Outcome& outcome) {
  return ToSvg(RunFigure(outcome, kPictureMarks), {true, kPicturePoints});
}

}  // namespace plimsoll::cli
