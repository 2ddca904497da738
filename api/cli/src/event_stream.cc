#include "api/cli/src/event_stream.h"

#include <utility>

namespace plimsoll::cli {

std::vector<StreamEvent> EventStreamReader::Read(std::string_view bytes) {
  std::vector<StreamEvent> events;
  for (const char c : bytes) {
    const bool second = after_cr_ && c == '\n';
    after_cr_ = c == '\r';
    if (second) continue;
    if (c != '\r' && c != '\n') {
      line_ += c;
      continue;
    }
    Line(std::exchange(line_, ""), events);
  }
  return events;
}

void EventStreamReader::Line(const std::string& line, std::vector<StreamEvent>& events) {
  if (line.empty()) {
    if (has_data_) events.push_back({last_id_, name_.empty() ? "message" : name_, data_});
    name_.clear();
    data_.clear();
    has_data_ = false;
    return;
  }
  const std::size_t colon = line.find(':');
  const std::string field = line.substr(0, colon);
  std::string value = colon == std::string::npos ? "" : line.substr(colon + 1);
  if (!value.empty() && value[0] == ' ') value.erase(0, 1);
  if (field == "event") name_ = value;
  if (field == "id") last_id_ = value;
  if (field != "data") return;
  if (has_data_) data_ += '\n';
  data_ += value;
  has_data_ = true;
}

}  // namespace plimsoll::cli
