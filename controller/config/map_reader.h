#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"

namespace plimsoll {

// Reads the keys of one map. Each reader leaves its target as it was if the key is missing or has a
// value that does not fit; the latter is reported. Finish() reports the keys nobody has asked for.
// Thread-compatible.
class MapReader {
 public:
  // `node` and `faults` must outlive the reader. A node that is not a map is reported, null aside,
  // and read as an empty one.
  MapReader(const YamlNode& node, std::string pointer, Faults& faults);

  void Whole(const std::string& key, std::int32_t& target);
  void Number(const std::string& key, double& target);
  void Duration(const std::string& key, absl::Duration& target);
  void Size(const std::string& key, std::uint64_t& target);
  void Text(const std::string& key, std::string& target);
  void Flag(const std::string& key, bool& target);

  // One word of a list of small letters, in either case of letters. `later` are words that are
  // planned, and refused with other words.
  template <typename Enum>
  void Word(const std::string& key, const std::vector<std::pair<std::string, Enum>>& words,
            const std::vector<std::string>& later, Enum& target) {
    std::vector<std::string> names;
    names.reserve(words.size());
    for (const auto& [name, value] : words) names.push_back(name);
    const int index = WordIndex(key, names, later);
    if (index >= 0) target = words[static_cast<std::size_t>(index)].second;
  }

  // The value of a key, to be read by other means. Null if it is missing.
  const YamlNode* Find(const std::string& key);
  // The items of a list; none if the key is missing. What is no list is reported.
  const std::vector<YamlNode>& List(const std::string& key);
  // A map of its own; an empty one if the key is missing.
  MapReader Map(const std::string& key);

  // Keys that are planned: reported as such, if the map has them.
  void Later(const std::vector<std::string>& keys);
  void Finish();
  // Keys that may stand there and mean nothing.
  void Ignore(const std::vector<std::string>& keys);

  const std::string& pointer() const { return pointer_; }
  std::string Pointer(const std::string& key) const { return Below(pointer_, key); }

 private:
  template <typename Value, typename Parse>
  void Read(const std::string& key, Parse parse, Value& target, bool text_is_right = false);
  int WordIndex(const std::string& key, const std::vector<std::string>& names,
                const std::vector<std::string>& later);

  const YamlNode& node_;
  const std::string pointer_;
  Faults& faults_;
  std::vector<std::string> known_;
  std::vector<std::string> planned_;
};

}  // namespace plimsoll
