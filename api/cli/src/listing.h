#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "api/cli/src/json.h"
#include "api/cli/src/text_table.h"

namespace plimsoll::cli {

// What a column shows, and how.
enum class Cell { kText, kWord, kNumber, kSeconds, kTime, kPercent, kList };

struct Column {
  std::string title;    // "IN FLIGHT"
  std::string pointer;  // into the item
  Cell cell = Cell::kText;
  bool wide = false;  // only in wide tables
};

// One kind of thing that can be listed.
struct Kind {
  std::string name;              // "limits"
  std::string path;              // of the list
  std::string topic;             // of the event stream
  std::vector<std::string> key;  // pointers that tell items apart; the last one is its name
  std::vector<Column> columns;
};

// "dependencies", "limits", "instances", "quotas", "events" or "sizing". Requires one of them.
const Kind& KindOf(const std::string& name);

struct ListingOptions {
  std::string format = "table";
  std::string sort_by;  // a title or the last part of a pointer, in either case; "-": turned round
  bool headers = true;
  bool colour = false;
  absl::Time now;
  int width = 0;  // of the terminal: lines of a table end there, those of a wide one do not; 0: any
};

// An answer {"items": […]} in one of the formats: json is the answer as it came; yaml is the same;
// the others sort. Returns kInvalidArgument for a column that is none. Pure.
absl::StatusOr<std::string> FormatList(const Kind& kind, const Json& answer,
                                       const ListingOptions& options);

// Likewise, as a table of `items`, in the order that they have.
Table MakeTable(const Kind& kind, const std::vector<Json>& items, const ListingOptions& options);

}  // namespace plimsoll::cli
