#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace plimsoll::demonstrations {

// A figure of a table; monostate where there is none.
using Cell = std::variant<std::monostate, std::string, int, absl::Duration>;

// What a demonstration has measured, and whether it shows what it claims to. Thread-compatible.
class Report {
 public:
  // `columns` are names of lower case; a row of JSON has them as keys, with '_' for ' '.
  Report(std::string title, std::vector<std::string> columns)
      : title_(std::move(title)), columns_(std::move(columns)) {}

  // A cell for each column.
  void AddRow(std::vector<Cell> cells);
  // `sentence` says what must be so for the demonstration to have succeeded, with its figures.
  void Claim(std::string sentence, bool holds);

  // True if every claim holds, and there is one.
  bool holds() const;

  // For people: the title, the table, the claims; lines that end with a line feed.
  std::string Text() const;
  // For programs: one object {"holds", "rows": [{column: figure}], "claims": [{"claim", "holds"}]}
  // on one line. Durations are numbers in ms, their keys end in "_ms".
  std::string Json() const;

 private:
  std::string title_;
  std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::vector<std::pair<std::string, bool>> claims_;
};

// The body of a demonstration's main(): runs it, prints its report to `out` as text, or as JSON if
// the only argument is "--json", and returns the exit status: 0 if all claims hold, 1 if one does
// not or `run` failed, 2 for other arguments. Errors go to `errors`.
int RunDemonstration(const std::vector<std::string>& arguments,
                     const std::function<absl::StatusOr<Report>()>& run, std::ostream& out,
                     std::ostream& errors);
// The same with what main() has, and the standard streams.
int RunDemonstration(int argc, char** argv, const std::function<absl::StatusOr<Report>()>& run);

}  // namespace plimsoll::demonstrations
