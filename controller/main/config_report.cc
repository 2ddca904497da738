#include "controller/main/config_report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "controller/config/yaml_writer.h"
#include "controller/main/law_keys.h"

namespace plimsoll {
namespace {

constexpr std::size_t kWidth = 96;  // of a comment, without its margin

std::vector<std::string> PathOf(const std::string& name) { return absl::StrSplit(name, '.'); }

std::string Margin(std::size_t depth) { return std::string(2 * depth, ' '); }

// Lines of at most kWidth, each behind `prefix`.
std::string Wrap(const std::string& text, const std::string& prefix) {
  std::string result;
  std::string line;
  const std::vector<std::string> words = absl::StrSplit(text, ' ');
  for (const std::string& word : words) {
    if (!line.empty() && prefix.size() + line.size() + word.size() >= kWidth) {
      absl::StrAppend(&result, prefix, line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", word);
  }
  return absl::StrCat(result, prefix, line, "\n");
}

bool IsText(const ConfigKey& key) {
  return key.type == KeyType::kText || key.type == KeyType::kAddress || key.type == KeyType::kWord;
}

// As it must be written in a file. Lists are flow style already.
std::string AsYaml(const ConfigKey& key, const std::string& value) {
  return IsText(key) ? QuotedJson(value) : value;
}

// Prints nested keys: opens the sections that the key before was not in.
class SectionWriter {
 public:
  explicit SectionWriter(std::string& text) : text_(text) {}

  // Returns the depth at which the key itself stands.
  std::size_t Enter(const std::string& name) {
    const std::vector<std::string> path = PathOf(name);
    const std::size_t depth = path.size() - 1;
    std::size_t same = 0;
    while (same < depth && same < open_.size() && open_[same] == path[same]) ++same;
    open_.resize(same);
    for (; same < depth; ++same) {
      if (same == 0 && !text_.empty()) text_.push_back('\n');
      absl::StrAppend(&text_, Margin(same), path[same], ":\n");
      open_.push_back(path[same]);
    }
    return depth;
  }

 private:
  std::string& text_;
  std::vector<std::string> open_;
};

std::string Leaf(const std::string& name) { return PathOf(name).back(); }

// "500ms to 10m; a change needs a restart"
std::string Rules(const ConfigKey& key) {
  std::string rules = DescribeType(key);
  if (key.Is(ConfigKey::kRestart)) absl::StrAppend(&rules, "; a change needs a restart");
  return rules;
}

std::string OrNone(const std::string& value) { return value.empty() ? "(none)" : value; }

std::string DefaultsOf(const std::string& prefix, const ConfigKey& key, Profile profile) {
  const std::string value = DefaultText(key, profile);
  return absl::StrCat(prefix, key.name, " = ", OrNone(value), "\n", Wrap(Rules(key) + ".", "    "),
                      Wrap(key.meaning, "    "));
}

constexpr char kInitHead[] =
    "# yaml-language-server: $schema=./plimsoll-controller.schema.json\n"
    "# Configuration of plimsoll-controller: every setting with its default. What you leave out "
    "has\n"
    "# it, so keep what you change. Check a file with\n"
    "#   plimsoll-controller --check-config --config FILE\n"
    "# Durations need a unit (us, ms, s, m, h), sizes too (B, KiB, MiB, GiB).\n\n";

constexpr char kInitTail[] =
    "\n# What a dependency has that does not say otherwise. Every key of a dependency but its "
    "name\n"
    "# and description may stand here.\n"
    "defaults:\n"
    "  floor: 5\n"
    "  ceiling: 200\n"
    "  call_deadline: 30s\n"
    "\n"
    "# What is to be protected. An example: a provider that survives 50 calls at once, whoever "
    "makes\n"
    "# them. All keys are told by `plimsoll-controller config defaults`.\n"
    "dependencies:\n"
    "  - name: payments-api\n"
    "    description: The card provider, 50 concurrent calls by contract\n"
    "    quota: {capacity: 50}\n"
    "    floor: 1\n"
    "    ceiling: 50\n"
    "    call_deadline: 3s\n";

std::string SourceComment(const ConfigEntry& entry) {
  return absl::StrCat("  # ", entry.source, entry.place.empty() ? "" : " ", entry.place);
}

std::string PoliciesText(const std::vector<ConfigEntry>& entries, bool sources) {
  std::string text;
  std::string dependencies;
  for (const ConfigEntry& entry : entries) {
    const bool is_defaults = entry.key == "defaults";
    absl::StrAppend(is_defaults ? &text : &dependencies, is_defaults ? "defaults: " : "  - ",
                    entry.value, sources ? SourceComment(entry) : "", "\n");
  }
  return absl::StrCat(text, dependencies.empty() ? "dependencies: []\n" : "dependencies:\n",
                      dependencies);
}

std::string Cell(const std::string& text) { return absl::StrReplaceAll(text, {{"|", "\\|"}}); }

std::string Code(const std::string& text) { return text.empty() ? "–" : "`" + text + "`"; }

constexpr char kReferenceHead[] =
    "# Settings of plimsoll-controller\n\n"
    "Generated by `plimsoll-controller config reference`; do not edit. A test compares it with the "
    "program.\n\n"
    "What comes later wins: default, file, environment, flag. Every setting of the first table can "
    "be set by the variable\n"
    "that is named, and by a flag `--KEY VALUE`; lists are separated by commas there. **R**: a "
    "change waits for a restart.\n\n"
    "| Key | Default | Allowed | R | Environment | Meaning |\n|---|---|---|---|---|---|\n";

constexpr char kReferencePolicies[] =
    "\n## Of a dependency\n\n"
    "In `dependencies`, a list, or in `defaults` for all of them. Only the file can set these. A "
    "dependency has a `name` of 1 to\n"
    "63 letters, digits, `.`, `_` or `-`, and may have a `description`. A reload changes all of "
    "them.\n\n"
    "An entry with `match` instead of a `name` is a template: a dependency that has no entry of "
    "its "
    "own gets a policy from it when an\n"
    "instance asks for it, and loses it when nobody uses it any more. `*` stands for any text, `?` "
    "for one character, and that is all there\n"
    "is. Names win over patterns, then the longest pattern, then the first in the order of "
    "letters. "
    "Each dependency has a quota of its own.\n"
    "With `--dev` and without `dependencies` in the file, `match: \"*\"` with the defaults holds; "
    "otherwise nothing fits what is not listed.\n\n"
    "| Key | Default | Allowed | Meaning |\n|---|---|---|---|\n";

constexpr char kReferenceLaws[] =
    "\n## Of a law\n\n"
    "In a section of its name, beside `algorithm`. Meanings and ranges: "
    "[algorithms/README.md](../../algorithms/README.md).\n\n"
    "| Key | Default |\n|---|---|\n";

}  // namespace

std::string DefaultsText(Profile profile) {
  std::string text;
  for (const ConfigKey& key : ConfigKeys()) {
    if (!key.Is(ConfigKey::kLater)) absl::StrAppend(&text, DefaultsOf("", key, profile));
  }
  for (const ConfigKey& key : PolicyKeys()) {
    absl::StrAppend(&text, DefaultsOf("defaults.", key, profile));
  }
  for (const LawKey& key : LawKeys()) {
    absl::StrAppend(&text, "defaults.", key.name, " = ", OrNone(key.value), "\n");
  }
  return text;
}

std::string InitText() {
  std::string text;
  SectionWriter sections(text);
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.Is(ConfigKey::kLater)) continue;
    const std::size_t depth = sections.Enter(key.name);
    if (depth == 0) text.push_back('\n');
    const std::string value = key.value;
    absl::StrAppend(&text,
                    Wrap(absl::StrCat(key.meaning, " (", Rules(key), ")"), Margin(depth) + "# "));
    absl::StrAppend(&text, Margin(depth), value.empty() ? "# " : "", Leaf(key.name), ": ",
                    value.empty() ? "" : AsYaml(key, value), "\n");
  }
  return absl::StrCat(kInitHead, text, kInitTail);
}

std::string ReferenceText() {
  std::string text = kReferenceHead;
  for (const ConfigKey& key : ConfigKeys()) {
    if (key.Is(ConfigKey::kLater)) continue;
    absl::StrAppend(&text, "| `", key.name, "` | ", Code(key.value), " | ", DescribeType(key),
                    " | ", key.Is(ConfigKey::kRestart) ? "R" : "", " | `", EnvironmentName(key));
    absl::StrAppend(&text, "` | ", Cell(key.meaning), " |\n");
  }
  absl::StrAppend(&text, kReferencePolicies);
  for (const ConfigKey& key : PolicyKeys()) {
    absl::StrAppend(&text, "| `", key.name, "` | ", Code(key.value), " | ", DescribeType(key),
                    " | ", Cell(key.meaning), " |\n");
  }
  absl::StrAppend(&text, kReferenceLaws);
  for (const LawKey& key : LawKeys()) {
    absl::StrAppend(&text, "| `", key.name, "` | ", Code(key.value), " |\n");
  }
  return text;
}

std::string EffectiveText(const Config& config, bool sources) {
  std::string text;
  SectionWriter sections(text);
  for (const ConfigEntry& entry : config.entries) {
    const ConfigKey* const key = FindConfigKey(entry.key);
    // What is included is printed with the dependencies.
    if (key == nullptr || entry.value.empty() || entry.key == "include") continue;
    const std::size_t depth = sections.Enter(entry.key);
    absl::StrAppend(&text, Margin(depth), Leaf(entry.key), ": ", AsYaml(*key, entry.value),
                    sources ? SourceComment(entry) : "", "\n");
  }
  return absl::StrCat(text, "\n", PoliciesText(config.policy_entries, sources));
}

}  // namespace plimsoll
