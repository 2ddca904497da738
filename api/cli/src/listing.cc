#include "api/cli/src/listing.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/cli/src/humane.h"
#include "controller/config/faults.h"

namespace plimsoll::cli {
namespace {

bool IsText(Cell cell) { return cell == Cell::kText || cell == Cell::kWord || cell == Cell::kList; }

std::string Shown(const Column& column, const Json& value, const ListingOptions& options) {
  if (value.is_null()) return "-";
  switch (column.cell) {
    case Cell::kNumber:
      return value.is_number() ? HumaneNumber(value.get<double>()) : ToLine(value);
    case Cell::kSeconds:
      return value.is_number() ? HumaneSeconds(value.get<double>()) : ToLine(value);
    case Cell::kPercent:
      return value.is_number() ? HumaneNumber(value.get<double>() * 100) + " %" : ToLine(value);
    case Cell::kTime:
      return value.is_string() ? HumaneTime(value.get<std::string>(), options.now) : ToLine(value);
    case Cell::kList: {
      std::vector<std::string> names;
      for (const Json& item : value) {
        names.push_back(item.is_string() ? item.get<std::string>() : ToLine(item));
      }
      return Tame(absl::StrJoin(names, ","));
    }
    case Cell::kText:
    case Cell::kWord:
      break;
  }
  const std::string text = Tame(value.is_string() ? value.get<std::string>() : ToLine(value));
  if (text.empty()) return "-";
  return column.cell == Cell::kWord && options.colour ? Coloured(text, ColourOf(text)) : text;
}

// The value itself, quoted as RFC 4180 wants it.
std::string Csv(const Json& value) {
  if (value.is_null()) return "";
  const std::string text = value.is_string() ? value.get<std::string>() : ToLine(value);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

std::string LastPart(const std::string& pointer) { return pointer.substr(pointer.rfind('/') + 1); }

bool IsCalled(const Column& column, const std::string& name) {
  const std::string title = absl::AsciiStrToLower(column.title);
  return name == title || name == LastPart(column.pointer) ||
         absl::StrReplaceAll(name, {{"-", " "}, {"_", " "}}) == title;
}

// Missing values come last, whichever way it is turned.
bool IsBefore(const Json& a, const Json& b, bool turned) {
  if (a.is_null() || b.is_null()) return !a.is_null() && b.is_null();
  return turned ? b < a : a < b;
}

absl::Status Sort(const Kind& kind, const std::string& sort_by, std::vector<Json>& items) {
  if (sort_by.empty()) return absl::OkStatus();
  const bool turned = sort_by[0] == '-';
  const std::string name = absl::AsciiStrToLower(sort_by.substr(turned ? 1 : 0));
  const auto column = std::find_if(kind.columns.begin(), kind.columns.end(),
                                   [&name](const Column& one) { return IsCalled(one, name); });
  if (column == kind.columns.end()) {
    std::vector<std::string> names;
    for (const Column& one : kind.columns) names.push_back(LastPart(one.pointer));
    return absl::InvalidArgumentError(absl::StrCat("--sort-by must be one of ",
                                                   absl::StrJoin(names, ", "), ", not ",
                                                   Quoted(sort_by), Suggestion(name, names)));
  }
  std::stable_sort(items.begin(), items.end(), [&](const Json& a, const Json& b) {
    return IsBefore(At(a, column->pointer), At(b, column->pointer), turned);
  });
  return absl::OkStatus();
}

std::string CsvText(const Kind& kind, const std::vector<Json>& items, bool headers) {
  std::string text;
  const auto line = [&](auto cell) {
    std::vector<std::string> cells;
    for (const Column& column : kind.columns) cells.push_back(cell(column));
    absl::StrAppend(&text, absl::StrJoin(cells, ","), "\n");
  };
  if (headers) {
    line([](const Column& column) {
      return absl::StrReplaceAll(column.pointer.substr(1), {{"/", "."}});
    });
  }
  for (const Json& item : items) {
    line([&item](const Column& column) { return Csv(At(item, column.pointer)); });
  }
  return text;
}

// Where nothing is enforced, there is no sum of what is.
const Json& ValueAt(const Json& item, const Column& column) {
  static const Json& none = *new Json(nullptr);
  const std::string mode = TextAt(item, "/mode");
  const bool observed = column.pointer == "/status/enforced" && !mode.empty() && mode != "ENFORCE";
  return observed ? none : At(item, column.pointer);
}

}  // namespace

Table MakeTable(const Kind& kind, const std::vector<Json>& items, const ListingOptions& options) {
  Table table;
  table.rows.resize(items.size());
  table.width = options.format == "wide" ? 0 : options.width;
  for (const Column& column : kind.columns) {
    if (column.wide && options.format != "wide") continue;
    if (options.headers) table.header.push_back(column.title);
    table.left.push_back(IsText(column.cell));
    for (std::size_t i = 0; i < items.size(); ++i) {
      table.rows[i].push_back(Shown(column, ValueAt(items[i], column), options));
    }
  }
  return table;
}

absl::StatusOr<std::string> FormatList(const Kind& kind, const Json& answer,
                                       const ListingOptions& options) {
  if (options.format == "json") return ToLine(answer) + "\n";
  if (options.format == "yaml") return ToYaml(answer);
  const Json& list = At(answer, "/items");
  std::vector<Json> items(list.begin(), list.end());
  const absl::Status sorted = Sort(kind, options.sort_by, items);
  if (!sorted.ok()) return sorted;
  std::string text;
  if (options.format == "jsonl") {
    for (const Json& item : items) absl::StrAppend(&text, ToLine(item), "\n");
    return text;
  }
  if (options.format == "name") {
    for (const Json& item : items) absl::StrAppend(&text, TextAt(item, kind.key.back()), "\n");
    return text;
  }
  if (options.format == "csv") return CsvText(kind, items, options.headers);
  return ToText(MakeTable(kind, items, options));
}

}  // namespace plimsoll::cli
