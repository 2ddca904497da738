#include "api/http/src/config_view.h"

#include <nlohmann/json.hpp>

namespace plimsoll::internal {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json ConfigView(const ConfigSettings& facts, const std::string& hash) {
  Json items = Json::array();
  for (const ConfigEntry& entry : facts.entries) {
    items.push_back({{"key", entry.key},
                     {"value", entry.value},
                     {"source", entry.source},
                     {"place", entry.place},
                     {"needs_restart", entry.needs_restart}});
  }
  return {{"items", items},
          {"next_page_token", ""},
          {"pending_restart", facts.pending_restart},
          {"hash", hash}};
}

}  // namespace plimsoll::internal
