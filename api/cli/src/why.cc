#include "api/cli/src/why.h"

#include <algorithm>
#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "api/cli/src/humane.h"
#include "api/cli/src/text_table.h"
#include "api/cli/src/why_advice.h"

namespace plimsoll::cli {
namespace {

constexpr std::size_t kSharesMax = 10;
// Titles of what Brief() ends before.
constexpr char kSteps[] = "Step by step";
constexpr char kAdvice[] = "What to do";

// As the API has it, or "none": a number that is not there is none.
std::string NumeralAt(const Json& value, const std::string& pointer) {
  const Json& found = At(value, pointer);
  return found.is_number() ? HumaneNumber(found.get<double>()) : "none";
}

std::string SpanAt(const Json& value, const std::string& pointer) {
  return HumaneSeconds(NumberAt(value, pointer));
}

// "17:20:11 UTC (12 s ago)", with the date if it is another day.
std::string When(const std::string& text, absl::Time now) {
  const std::optional<absl::Time> time = ParseTime(text);
  if (!time.has_value()) return text.empty() ? "an unknown time" : text;
  const auto utc = absl::UTCTimeZone();
  const bool today = absl::ToCivilDay(*time, utc) == absl::ToCivilDay(now, utc);
  return absl::StrCat(
      absl::FormatTime(today ? "%H:%M:%S UTC" : "%Y-%m-%d %H:%M:%S UTC", *time, utc), " (",
      HumaneTime(text, now), ")");
}

std::string Lower(const std::string& word) {
  return absl::AsciiStrToLower(absl::StrJoin(absl::StrSplit(word, '_'), " "));
}

double LoadOf(const Json& row) {
  const double limit = NumberAt(row, "/enforced");
  if (At(row, "/fenced") == Json(true)) return -1;
  const double used = std::max(NumberAt(row, "/in_flight"), NumberAt(row, "/in_flight_max"));
  return limit > 0 ? used / limit : (used > 0 ? 1e9 : 0);
}

std::string Constraints(const std::vector<Json>& limits) {
  std::map<std::string, int> counts;
  for (const Json& row : limits) ++counts[Lower(TextAt(row, "/binding_constraint"))];
  std::vector<std::string> parts;
  for (const auto& [word, count] : counts) {
    parts.push_back(absl::StrCat("the ", word, " decides for ", count));
  }
  return absl::StrCat("Of its ", limits.size(), limits.size() == 1 ? " instance, " : " instances, ",
                      absl::StrJoin(parts, ", "), ".");
}

std::string Verdict(const WhyFacts& facts) {
  const Json& dependency = facts.dependency;
  const std::string name = TextAt(dependency, "/name");
  const double refused = NumberAt(dependency, "/status/rejected_per_second");
  const std::string rate = absl::StrCat(HumaneNumber(refused), " calls/s");
  const std::string breaker = TextAt(dependency, "/status/breaker/state");
  if (!breaker.empty() && breaker != "CLOSED") {
    return absl::StrCat("The breaker of ", name, " is ", Lower(breaker),
                        ": calls are refused without being tried. The next probe is due in ",
                        SpanAt(dependency, "/status/breaker/next_probe_seconds"), ".");
  }
  const std::string mode = TextAt(dependency, "/mode");
  if (!mode.empty() && mode != "ENFORCE") {
    return absl::StrCat(name, " is in mode ", Lower(mode), ": nothing is refused",
                        mode == "OBSERVE" ? absl::StrCat("; ", rate, " would be.") : ".");
  }
  if (facts.limits.empty()) return absl::StrCat("No instance uses ", name, ": nothing is refused.");
  if (refused <= 0) return absl::StrCat("No call to ", name, " is refused now.");
  return absl::StrCat(rate, " to ", name, " are refused. ", Constraints(facts.limits));
}

std::string Fill(const Json& row) {
  const Json& limit = At(row, "/enforced");
  if (!limit.is_number()) {
    const std::string calls = NumeralAt(row, "/in_flight");
    return absl::StrCat("It has ", calls, calls == "1" ? " call" : " calls",
                        " in flight, and no limit is enforced.");
  }
  const double now = NumberAt(row, "/in_flight");
  const double lately = std::max(now, NumberAt(row, "/in_flight_max"));
  const std::string has =
      absl::StrCat("It may have ", NumeralAt(row, "/enforced"), " calls in flight; it has ",
                   HumaneNumber(now), " now, and had at most ", HumaneNumber(lately), " lately. ");
  if (now >= limit.get<double>()) {
    return absl::StrCat(has,
                        "The limit is used up: one more call is refused, or waits if its "
                        "bulkhead has a queue.");
  }
  if (lately >= limit.get<double>()) {
    return absl::StrCat(has,
                        "The limit was used up lately: calls above it were refused, or waited.");
  }
  return absl::StrCat(has, "There is room for ", HumaneNumber(limit.get<double>() - now), " more.");
}

std::string OverrideText(const WhyFacts& facts) {
  const Json& pin = At(facts.dependency, "/override");
  if (!pin.is_object()) return "An override decides.";
  return absl::StrCat("An override decides: ", TextAt(pin, "/set_by"), " pinned the limit to ",
                      NumeralAt(pin, "/limit"), " until ",
                      When(TextAt(pin, "/expire_time"), facts.now),
                      ", because: ", TextAt(pin, "/reason"), ".");
}

// Shares move by being lowered first, so a limit may be on its way.
std::string OnItsWay(const Json& row) {
  const double limit = NumberAt(row, "/enforced");
  const double share = NumberAt(row, "/quota_share");
  const std::string bound =
      absl::StrCat(NumeralAt(row, "/enforced"), " to ", NumeralAt(row, "/quota_share"));
  if (limit < share) {
    return absl::StrCat(" Its limit is on the way from ", bound,
                        ": others have to give up theirs first.");
  }
  return limit > share ? absl::StrCat(" Its limit is on the way down from ", bound, ".") : "";
}

std::string Decides(const WhyFacts& facts, const Json& row) {
  const std::string binding = TextAt(row, "/binding_constraint");
  if (binding == "QUOTA") {
    // What it could use follows its calls, and may have fallen since the share was made.
    const bool short_of = NumberAt(row, "/wanted") > NumberAt(row, "/quota_share");
    return absl::StrCat("The quota decides: its share is ", NumeralAt(row, "/quota_share"), " of ",
                        NumeralAt(facts.dependency, "/quota/capacity"),
                        short_of ? ", and it could use " + NumeralAt(row, "/wanted") : "", ".",
                        At(row, "/enforced").is_number() ? OnItsWay(row) : "");
  }
  if (binding == "OVERRIDE") return OverrideText(facts);
  if (binding == "CEILING") {
    return absl::StrCat("The ceiling of ", NumeralAt(row, "/ceiling"),
                        " decides: the algorithm would allow ", NumeralAt(row, "/algorithm_limit"),
                        ".");
  }
  if (binding == "FLOOR") {
    return absl::StrCat("The floor of ", NumeralAt(row, "/floor"),
                        " decides: the algorithm would allow only ",
                        NumeralAt(row, "/algorithm_limit"), ".");
  }
  if (binding == "FALLBACK") {
    return absl::StrCat("Its lease has ended (stage ", Lower(TextAt(row, "/lease_stage")),
                        "): the controller heard of it ", SpanAt(row, "/age_seconds"),
                        " ago, and it uses what was granted for that case.");
  }
  return absl::StrCat("The algorithm ", Lower(TextAt(facts.dependency, "/algorithm")),
                      " decides: it allows ", NumeralAt(row, "/algorithm_limit"),
                      ", between floor ", NumeralAt(row, "/floor"), " and ceiling ",
                      NumeralAt(row, "/ceiling"), ".");
}

const Json* FindEvent(const WhyFacts& facts, const std::string& id) {
  for (const Json& event : facts.events) {
    if (!id.empty() && TextAt(event, "/id") == id) return &event;
  }
  return nullptr;
}

std::string Because(const std::string& reason) {
  const std::string meaning = MeaningOf(reason);
  return meaning.empty() ? reason : absl::StrCat(meaning, " (", reason, ")");
}

WhySection Since(const WhyFacts& facts, const Json& row) {
  const std::string id = TextAt(row, "/last_change/event_id");
  const Json* event = FindEvent(facts, id);
  std::string step;
  if (event != nullptr && At(*event, "/to").is_number()) {
    step = absl::StrCat(NumeralAt(*event, "/from"), " → ", NumeralAt(*event, "/to"), ", ");
  }
  WhySection section{"Since when", {}};
  section.lines.push_back(absl::StrCat("Since ", When(TextAt(row, "/last_change/time"), facts.now),
                                       ": ", step, "because ",
                                       Because(TextAt(row, "/last_change/reason")), ".",
                                       id.empty() ? "" : absl::StrCat(" Event ", id, ".")));
  if (event != nullptr && !TextAt(*event, "/message").empty()) {
    section.lines.push_back(TextAt(*event, "/message"));
  }
  return section;
}

// How often, and why, in the time that is looked at.
std::string Changes(const WhyFacts& facts, const Json& row) {
  std::map<std::string, int> reasons;
  int count = 0;
  double least = 0;
  double most = 0;
  for (const Json& event : facts.events) {
    if (TextAt(event, "/type") != "LIMIT_CHANGED") continue;
    if (TextAt(event, "/instance_id") != TextAt(row, "/instance_id")) continue;
    const double to = NumberAt(event, "/to");
    const double from = NumberAt(event, "/from");
    least = count == 0 ? std::min(from, to) : std::min({least, from, to});
    most = count == 0 ? std::max(from, to) : std::max({most, from, to});
    ++count;
    ++reasons[TextAt(event, "/reason")];
  }
  if (count == 0) return "";
  std::vector<std::string> parts;
  for (const auto& [reason, times] : reasons) parts.push_back(absl::StrCat(times, " × ", reason));
  return absl::StrCat("In the last ", HumaneSeconds(absl::ToDoubleSeconds(facts.since)),
                      " it changed ", count, count == 1 ? " time" : " times", ", between ",
                      HumaneNumber(least), " and ", HumaneNumber(most), ": ",
                      absl::StrJoin(parts, ", "), ".");
}

std::string Inputs(const Json& inputs) {
  std::vector<std::string> parts;
  const auto add = [&](const char* pointer, const std::string& text) {
    if (At(inputs, pointer).is_number()) parts.push_back(text);
  };
  add("/window_latency_seconds",
      absl::StrCat("latency ", SpanAt(inputs, "/window_latency_seconds")));
  add("/baseline_latency_seconds",
      absl::StrCat("a baseline of ", SpanAt(inputs, "/baseline_latency_seconds")));
  add("/samples", absl::StrCat(NumeralAt(inputs, "/samples"), " calls"));
  add("/failed", absl::StrCat(NumeralAt(inputs, "/failed"), " failed"));
  add("/rejected", absl::StrCat(NumeralAt(inputs, "/rejected"), " refused"));
  add("/in_flight_max",
      absl::StrCat("at most ", NumeralAt(inputs, "/in_flight_max"), " in flight"));
  return parts.empty() ? "" : absl::StrCat("It saw ", absl::StrJoin(parts, ", "), ".");
}

WhySection LawSaw(const WhyFacts& facts, const Json& row) {
  WhySection section{"What the algorithm saw", {}};
  const Json& own = At(row, "/last_decision");
  const Json& last = own.is_object() ? own : At(facts.dependency, "/status/last_decision");
  if (!last.is_object()) {
    section.lines.push_back("It has not decided anything yet.");
    return section;
  }
  section.lines.push_back(
      absl::StrCat(When(TextAt(last, "/time"), facts.now), ": ", TextAt(last, "/message")));
  const Json* event = FindEvent(facts, TextAt(last, "/event_id"));
  const std::string inputs = event == nullptr ? "" : Inputs(At(*event, "/inputs"));
  if (!inputs.empty()) section.lines.push_back(inputs);
  return section;
}

// Without an answer of :explain, the rule that the controller follows, applied to the row.
Json Steps(const WhyFacts& facts, const Json& row) {
  const Json& told = At(facts.explanation, "/steps");
  if (told.is_array() && !told.empty()) return told;
  const double law = NumberAt(row, "/algorithm_limit");
  const double floor = NumberAt(row, "/floor");
  const double bounded = std::max(floor, std::min(NumberAt(row, "/ceiling", law), law));
  Json steps = Json::array();
  steps.push_back(
      {{"name", "algorithm"}, {"value", law}, {"text", "What the algorithm proposes."}});
  steps.push_back({{"name", "bounds"},
                   {"value", bounded},
                   {"text", absl::StrCat("Between floor ", NumeralAt(row, "/floor"),
                                         " and ceiling ", NumeralAt(row, "/ceiling"), ".")}});
  if (At(row, "/quota_share").is_number()) {
    steps.push_back({{"name", "quota"},
                     {"value", std::min(bounded, NumberAt(row, "/quota_share"))},
                     {"text", absl::StrCat("Its share is ", NumeralAt(row, "/quota_share"), " of ",
                                           NumeralAt(facts.dependency, "/quota/capacity"), ".")}});
  }
  return steps;
}

// The lines of a table as lines of a section.
std::vector<std::string> Lines(const Table& table) {
  std::vector<std::string> lines = absl::StrSplit(ToText(table), '\n');
  lines.pop_back();
  return lines;
}

WhySection StepSection(const WhyFacts& facts, const Json& row) {
  Table table;
  table.left = {true, false, true};
  for (const Json& step : Steps(facts, row)) {
    table.rows.push_back({TextAt(step, "/name"), NumeralAt(step, "/value"), TextAt(step, "/text")});
  }
  table.rows.push_back({"enforced", NumeralAt(row, "/enforced"), ""});
  return {kSteps, Lines(table)};
}

WhySection Holders(const WhyFacts& facts, const Json& row) {
  WhySection section{"Who holds the quota", {}};
  const Json& quota = facts.quota;
  section.lines.push_back(absl::StrCat(
      NumeralAt(quota, "/capacity"), " in all: ", NumeralAt(quota, "/granted"), " granted, ",
      NumeralAt(quota, "/reserved"), " reserved, ", NumeralAt(quota, "/unallocated"), " free; ",
      NumeralAt(quota, "/wanted"), " wanted."));
  std::vector<Json> shares(At(quota, "/shares").begin(), At(quota, "/shares").end());
  std::stable_sort(shares.begin(), shares.end(), [](const Json& a, const Json& b) {
    return NumberAt(a, "/granted") > NumberAt(b, "/granted");
  });
  Table table{
      {"INSTANCE", "SERVICE", "GRANTED", "RESERVED", "WANTED", "IN FLIGHT"}, {}, {true, true}};
  for (std::size_t i = 0; i < std::min(shares.size(), kSharesMax); ++i) {
    const Json& share = shares[i];
    const std::string instance = TextAt(share, "/instance_id");
    const bool self = instance == TextAt(row, "/instance_id") &&
                      TextAt(share, "/service") == TextAt(row, "/service");
    table.rows.push_back({absl::StrCat(instance, self ? " *" : ""), TextAt(share, "/service"),
                          NumeralAt(share, "/granted"), NumeralAt(share, "/reserved"),
                          NumeralAt(share, "/wanted"), NumeralAt(share, "/in_flight")});
  }
  for (std::string& line : Lines(table)) section.lines.push_back(std::move(line));
  if (shares.size() > kSharesMax) {
    section.lines.push_back(absl::StrCat("and ", shares.size() - kSharesMax,
                                         " more: plimsoll get "
                                         "limits -d ",
                                         TextAt(facts.dependency, "/name"), " -o wide"));
  }
  return section;
}

WhySection AboutRow(const WhyFacts& facts, const Json& row) {
  const std::string service = TextAt(row, "/service");
  WhySection section{
      absl::StrCat(TextAt(row, "/instance_id"), service.empty() ? "" : " of ", service),
      {Fill(row), Decides(facts, row)}};
  if (!At(row, "/enforced").is_number()) {
    section.lines.back() =
        absl::StrReplaceAll(section.lines.back(), {{" decides", " would decide"}});
  }
  if (At(row, "/fenced") == Json(true)) {
    section.lines.push_back(
        "A newer session of this instance has taken its place: it gets nothing.");
  }
  return section;
}

}  // namespace

const Json* ChooseRow(const std::vector<Json>& limits, const std::string& instance) {
  const Json* chosen = nullptr;
  for (const Json& row : limits) {
    if (!instance.empty() && TextAt(row, "/instance_id") != instance) continue;
    if (chosen == nullptr || LoadOf(row) > LoadOf(*chosen)) chosen = &row;
  }
  return chosen;
}

WhyStory TellWhy(const WhyFacts& facts, const Json* row) {
  WhyStory story{Verdict(facts), {}};
  const std::string breaker = TextAt(facts.dependency, "/status/breaker/last_change/message");
  if (!breaker.empty()) {
    story.sections.push_back(
        {"The breaker",
         {absl::StrCat(
             When(TextAt(facts.dependency, "/status/breaker/last_change/time"), facts.now), ": ",
             breaker)}});
  }
  if (row != nullptr) {
    story.sections.push_back(AboutRow(facts, *row));
    story.sections.push_back(StepSection(facts, *row));
    WhySection since = Since(facts, *row);
    const std::string changes = Changes(facts, *row);
    if (!changes.empty()) since.lines.push_back(changes);
    story.sections.push_back(std::move(since));
    story.sections.push_back(LawSaw(facts, *row));
    if (At(facts.quota, "/capacity").is_number()) story.sections.push_back(Holders(facts, *row));
  }
  story.sections.push_back({kAdvice, AdviceFor(facts, row)});
  return story;
}

WhyStory Brief(WhyStory story) {
  const auto end = std::find_if(
      story.sections.begin(), story.sections.end(),
      [](const WhySection& one) { return one.title == kSteps || one.title == kAdvice; });
  story.sections.erase(end, story.sections.end());
  return story;
}

std::string ToText(const WhyStory& story) {
  std::string text = absl::StrCat(story.verdict, "\n");
  for (const WhySection& section : story.sections) {
    absl::StrAppend(&text, "\n", section.title, "\n");
    for (const std::string& line : section.lines) absl::StrAppend(&text, "  ", Tame(line), "\n");
  }
  return text;
}

Json ToJson(const WhyStory& story, const WhyFacts& facts, const Json* row) {
  Json sections = Json::array();
  for (const WhySection& section : story.sections) {
    sections.push_back({{"title", section.title}, {"lines", section.lines}});
  }
  return {{"dependency", At(facts.dependency, "/name")},
          {"instance_id", row == nullptr ? Json(nullptr) : At(*row, "/instance_id")},
          {"verdict", story.verdict},
          {"sections", sections},
          {"limit", row == nullptr ? Json(nullptr) : *row}};
}

}  // namespace plimsoll::cli
