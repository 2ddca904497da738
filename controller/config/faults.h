#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace plimsoll {

// A place in a text file. Lines and columns count from 1.
struct Mark {
  int line = 1;
  int column = 1;

  friend auto operator<=>(const Mark&, const Mark&) = default;
};

// What kind of fault it is: one closed list, shared with the API.
enum class FaultCode {
  kRequired,      // something is missing
  kUnknownKey,    // or one that is not supported yet
  kDuplicateKey,  // in one map
  kWrongType,     // a list where a number belongs
  kOutOfRange,    // a number or a combination that is not allowed
  kBadFormat,     // a text that is not what it should be, such as a duration without unit
  kBadEnum,       // no word of its list
  kConflict,      // with something else that is there
};
// "REQUIRED", "UNKNOWN_KEY" and so on; of static storage.
std::string_view ToString(FaultCode code);

struct Fault {
  Mark mark;
  std::string pointer;
  std::string message;
  FaultCode code = FaultCode::kBadFormat;

  friend auto operator<=>(const Fault&, const Fault&) = default;
};

// Everything that is wrong with one configuration file. Thread-compatible.
class Faults {
 public:
  // Where the value of each JSON pointer (RFC 6901) stands.
  using Places = std::map<std::string, Mark>;
  void set_places(Places places) { places_ = std::move(places); }
  const Places& places() const { return places_; }
  // The file has something at this pointer.
  bool Written(const std::string& pointer) const { return places_.contains(pointer); }

  // Where what is not from the file comes from.
  struct Origin {
    std::string name;     // "conf.d/orders.yaml", "flag --log.level"
    std::string pointer;  // under which it is told there
    bool has_lines = false;
  };
  // What stands at or below `pointer` comes from there, and `mark` is its place there.
  void SetOrigin(const std::string& pointer, const Mark& mark, Origin origin);
  // Of the closest parent that has one; null: the file itself.
  const Origin* FindOrigin(const std::string& pointer) const;

  // The same fault is kept once. Without a mark it stands where the pointer does or, if the file
  // has nothing there, where its closest parent does.
  void Add(const std::string& pointer, const std::string& message,
           FaultCode code = FaultCode::kBadFormat);
  void Add(const Mark& mark, const std::string& pointer, const std::string& message,
           FaultCode code = FaultCode::kBadFormat);

  bool empty() const { return faults_.empty(); }
  // In the order of the file.
  std::vector<Fault> Sorted() const;
  // Where somebody will look for a fault: in `file`, or where it comes from, under the pointer that
  // it has there.
  struct Place {
    std::string name;
    std::string pointer;
    bool has_lines = true;
  };
  Place PlaceOf(const Fault& fault, const std::string& file) const;
  // One line each, as "FILE:LINE:COLUMN: POINTER: MESSAGE", in the order of the file; "ORIGIN:
  // POINTER: MESSAGE" for what is not from a file, which comes first.
  std::vector<std::string> ToLines(const std::string& file) const;

 private:
  Places places_;
  std::map<std::string, Origin> origins_;
  std::vector<Fault> faults_;
};

// `pointer` extended by one key or index, escaped as RFC 6901 wants it.
std::string Below(const std::string& pointer, const std::string& key);

// `text` for a message: in quotes, on one line, cut after 40 bytes.
std::string Quoted(const std::string& text);

// " (did you mean "x"?)" with the candidate that is closest to `word`; empty if none is close.
std::string Suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace plimsoll
