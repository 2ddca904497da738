#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "controller/config/faults.h"
#include "controller/config/yaml_tree.h"
#include "controller/operations/audit.h"
#include "plimsoll/http/operations.h"

namespace plimsoll {

// What was found in the configuration file.
struct FileReading {
  std::optional<PolicySet> policies = {};  // nothing: it cannot be used, and `faults` says why
  TemplateSet templates = {};
  std::string hash = {};
  std::vector<ChangeFault> faults = {};
  std::vector<std::string> pending_restart = {};
  bool observe_all = false;  // the emergency switch
  std::string summary = {};  // what it changes, as a sentence
  // To be called once it is in force; may be empty.
  std::function<void()> accept = {};
};

struct PolicyBookOptions {
  PolicySet file_policies = {};
  TemplateSet file_templates = {};
  bool observe_all = false;
  std::string hash = {};
  // What a dependency is that is made over REST and sets nothing. The "defaults" of the file are
  // those of the file.
  Policy defaults = {};
  absl::Duration lease = absl::Seconds(10);
  // Reads the file anew; empty: there is none.
  std::function<FileReading()> reread = {};
  // What is wrong with a configuration of this text.
  std::function<std::vector<ChangeFault>(const std::string& text)> check = {};
  // Told of every change that has been made. May be empty.
  std::function<void(const AuditRecord& record)> on_audit = {};
};

// What holds: the policies of the file, those made over REST, and the overrides, and how they
// change. The file wins where both know a name: what was made over REST is kept, and comes back
// when the file lets go of the name. An override ends by itself, or with its dependency. A name
// that has no policy of either may have one from a template of the file, as the core does it.
//
// No thread, no clock, no disk of its own: time, file and durability are handed in.
// Thread-compatible.
class PolicyBook final : public Operations {
 public:
  // `documents` are those of the store. What of them cannot be used any more is left alone, is not
  // in force, and is told by notices().
  PolicyBook(PolicyBookOptions options, const std::vector<Document>& documents, absl::Time now);

  // All that holds now.
  PolicyEvent InForce() const;
  const std::vector<std::string>& notices() const { return notices_; }
  // How the file was read before this book was made.
  void set_config(ConfigFacts config) { config_ = std::move(config); }

  ChangePlan Plan(const ChangeRequest& request, absl::Time now) override;
  std::optional<ChangePlan> Expire(absl::Time now) override;
  void Settle(const absl::Status& written) override;
  std::optional<DependencyFacts> Find(const DependencyId& name) const override;
  ConfigFacts config() const override { return config_; }
  std::vector<ChangeFault> Validate(const std::string& text) const override;
  Question ReadQuestion(const std::string& body, std::vector<ChangeFault>& faults) const override;

 private:
  struct Times {
    std::int64_t revision = 0;
    absl::Time create_time;
    absl::Time update_time;
  };
  // Made over REST.
  struct Made {
    YamlNode settings;  // as they were asked for
    Policy policy;
    Times times;
  };
  struct State {
    PolicySet file;
    bool observe_all = false;
    std::map<DependencyId, Times> file_times;
    TemplateSet templates;
    std::map<std::string, Times> template_times;
    std::map<DependencyId, Made> made;
    std::map<DependencyId, OverrideFacts> overrides;

    // The policy of its own.
    const Policy* Find(const DependencyId& name) const;
    // The template of a name that has none of its own; null if there is none.
    const TemplateSet::value_type* FindTemplate(const DependencyId& name) const;
    bool Knows(const DependencyId& name) const;
    std::optional<Policy> PolicyOf(const DependencyId& name) const;
  };
  // A plan in the making.
  struct Draft {
    const ChangeRequest& request;
    absl::Time now;
    State next;
    ChangePlan plan;
    AuditRecord audit;
    DependencyId name;
    std::string note;  // for the log
    ConfigFacts config;
    std::function<void()> accept = {};
  };

  static DocumentKey PolicyKey(const DependencyId& name) { return {"dependency", name.value}; }
  static DocumentKey OverrideKey(const DependencyId& name) { return {"override", name.value}; }
  static PolicyEvent EventOf(const State& state);
  // When each was made and changed, after a reload: what is the same keeps its times.
  template <typename Policies, typename Each>
  static Each TimesAfter(const Policies& before, const Each& times, const Policies& after,
                         const Times& fresh);
  // What the store should have under this key.
  static std::optional<std::string> BodyOf(const State& state, const DocumentKey& key);
  static void Write(const State& state, const DocumentKey& key, WriteBatch& batch);
  static void Refuse(Draft& draft, int status, const std::string& code, const std::string& detail);
  static void RefuseBody(Draft& draft, const Faults& faults);

  void Load(const Document& document, absl::Time now);
  std::optional<Made> ParseMade(const DependencyId& name, const std::string& document) const;
  std::int64_t NextRevision(absl::Time now);

  // Each fills in the draft; policy_changes.cc.
  void PutDependency(Draft& draft);
  void PatchDependency(Draft& draft);
  void DeleteDependency(Draft& draft);
  void PutQuota(Draft& draft);
  void PutOverride(Draft& draft);
  void DeleteOverride(Draft& draft);
  void Reset(Draft& draft);
  void Evict(Draft& draft);
  void Reload(Draft& draft);
  // Each is false if the draft is refused.
  bool HasPolicy(Draft& draft, const std::string& advice = "") const;
  bool IsInUse(Draft& draft) const;
  bool MayChange(Draft& draft) const;
  bool Matches(Draft& draft, const std::string& collection, std::int64_t revision) const;
  void Make(Draft& draft, YamlNode settings, Policy policy);
  // Overrides of dependencies that are gone are dropped.
  void DropOrphans(Draft& draft) const;
  void Close(Draft& draft);
  const PolicyBookOptions options_;
  State state_;
  ConfigFacts config_;
  std::vector<std::string> notices_;
  std::int64_t last_revision_ = 0;
  // Documents of which it is not known what the store has.
  std::set<DocumentKey> unsettled_;
  // What waits for Settle().
  struct Pending {
    State next;
    ConfigFacts config;
    bool regardless = false;
    std::vector<DocumentKey> keys;
    std::optional<AuditRecord> audit;
    std::function<void()> accept;
  };
  std::optional<Pending> pending_;
};

}  // namespace plimsoll
