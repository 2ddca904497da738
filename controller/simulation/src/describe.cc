#include "controller/simulation/src/describe.h"

#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace plimsoll::internal {
namespace {

std::string Describe(const GrantStamp& stamp) {
  return absl::StrCat(stamp.epoch.value, ".", stamp.seq.value);
}

std::string DescribeGrants(const std::vector<Grant>& grants) {
  if (grants.empty()) return "no grant";
  return absl::StrJoin(grants, ", ", [](std::string* out, const Grant& grant) {
    absl::StrAppend(out, "grant ", Describe(grant.stamp), " ", internal::Describe(grant.steps),
                    " anchor ", grant.anchor.value);
  });
}

struct Describer {
  std::string operator()(const RegisterRequest& m) const {
    return absl::StrFormat("register %s nonce %s", m.instance.value, m.nonce.substr(0, 4));
  }
  std::string operator()(const SyncRequest& m) const {
    std::string text = absl::StrCat("sync ", m.session.value, " n ", m.n.value);
    if (m.leaving) text += " leaving";
    for (const DependencyReport& report : m.dependencies) {
      absl::StrAppend(&text, " holds ", Describe(report.installed), " ",
                      internal::Describe(report.in_force), " in flight ", report.in_flight);
    }
    return text;
  }
  std::string operator()(const ReleaseRequest& m) const {
    return absl::StrCat("release ", m.session.value);
  }

  std::string operator()(const RegisterAnswer& a) const {
    return absl::StrCat("registered as ", a.session.value, ": ", DescribeGrants(a.grants));
  }
  std::string operator()(const SyncAnswer& a) const {
    return absl::StrCat(a.superseded ? "superseded: " : "", DescribeGrants(a.grants));
  }
  std::string operator()(const ReleaseAnswer&) const { return "released"; }
  std::string operator()(const Refusal& a) const {
    return absl::StrFormat("%s epoch %d", ToString(a.code), a.epoch.value);
  }
  std::string operator()(const NoAnswer& a) const { return std::string(a.why.message()); }
};

}  // namespace

std::string Describe(const Steps& steps) {
  return absl::StrCat(steps.limit, "/", steps.base, "/", steps.reserve);
}

std::string Describe(const std::vector<Bound>& bounds) {
  if (bounds.empty()) return "nothing";
  return absl::StrJoin(bounds, " ", [](std::string* out, const Bound& bound) {
    absl::StrAppend(out, bound.key.session.value, "=", Describe(bound.steps));
  });
}

std::string Describe(const AgentMessage& message) { return std::visit(Describer{}, message); }
std::string Describe(const Answer& answer) { return std::visit(Describer{}, answer); }

}  // namespace plimsoll::internal
