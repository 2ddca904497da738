#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

namespace plimsoll {

// A place in a text file. Lines and columns count from 1.
struct Mark {
  int line = 1;
  int column = 1;

  friend auto operator<=>(const Mark&, const Mark&) = default;
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
  void Add(const std::string& pointer, const std::string& message);
  void Add(const Mark& mark, const std::string& pointer, const std::string& message);

  bool empty() const { return faults_.empty(); }
  // One line each, as "FILE:LINE:COLUMN: POINTER: MESSAGE", in the order of the file; "ORIGIN:
  // POINTER: MESSAGE" for what is not from a file, which comes first.
  std::vector<std::string> ToLines(const std::string& file) const;

 private:
  struct Fault {
    Mark mark;
    std::string pointer;
    std::string message;

    friend auto operator<=>(const Fault&, const Fault&) = default;
  };

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
