#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::cli {

// One event of text/event-stream.
struct StreamEvent {
  std::string id;    // the last one that was told
  std::string name;  // "message" if it has none
  std::string data;
};

// Reads text/event-stream as it comes, cut anywhere; lines may end in LF, CR LF or CR. Comments are
// left out. Thread-compatible.
class EventStreamReader {
 public:
  // The events that are complete with these bytes.
  std::vector<StreamEvent> Read(std::string_view bytes);
  // To resume from; empty: none was told.
  const std::string& last_id() const { return last_id_; }
  void Forget() { *this = EventStreamReader(); }

 private:
  void Line(const std::string& line, std::vector<StreamEvent>& events);

  std::string line_;
  std::string name_, data_, last_id_;
  bool has_data_ = false;
  bool after_cr_ = false;
};

}  // namespace plimsoll::cli
