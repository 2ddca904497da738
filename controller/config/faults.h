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
  // The file has something at this pointer.
  bool Written(const std::string& pointer) const { return places_.contains(pointer); }

  // The same fault is kept once. Without a mark it stands where the pointer does or, if the file
  // has nothing there, where its closest parent does.
  void Add(const std::string& pointer, const std::string& message);
  void Add(const Mark& mark, const std::string& pointer, const std::string& message);

  bool empty() const { return faults_.empty(); }
  // One line each, as "FILE:LINE:COLUMN: POINTER: MESSAGE", in the order of the file.
  std::vector<std::string> ToLines(const std::string& file) const;

 private:
  struct Fault {
    Mark mark;
    std::string pointer;
    std::string message;

    friend auto operator<=>(const Fault&, const Fault&) = default;
  };

  Places places_;
  std::vector<Fault> faults_;
};

// `pointer` extended by one key or index, escaped as RFC 6901 wants it.
std::string Below(const std::string& pointer, const std::string& key);

// `text` for a message: in quotes, on one line, cut after 40 bytes.
std::string Quoted(const std::string& text);

// " (did you mean "x"?)" with the candidate that is closest to `word`; empty if none is close.
std::string Suggestion(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace plimsoll
