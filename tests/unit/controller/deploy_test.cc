// The configurations that are shipped for containers are ones that the controller takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "controller/config/yaml_tree.h"
#include "controller/main/config_keys.h"
#include "controller/main/config_loader.h"

namespace plimsoll {
namespace {

using ::testing::AnyOf;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string ReadDeployed(const std::string& name) {
  std::ifstream file(std::string(PLIMSOLL_DEPLOY_DIR) + "/" + name);
  EXPECT_TRUE(file.is_open()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

YamlNode ParseDeployed(const std::string& name) {
  Faults faults;
  const std::optional<YamlNode> node = ParseYaml(ReadDeployed(name), {"", ""}, faults);
  EXPECT_TRUE(node.has_value());
  EXPECT_THAT(faults.ToLines(name), IsEmpty());
  return node.value_or(YamlNode{});
}

// The value below these keys and numbers; an empty one if there is none.
YamlNode At(YamlNode node, const std::vector<std::string>& path) {
  for (const std::string& key : path) {
    YamlNode next;
    for (const YamlMember& member : node.members) {
      if (member.key == key) next = member.value;
    }
    if (node.kind == YamlNode::Kind::kList) next = node.items.at(std::stoul(key));
    node = next;
  }
  return node;
}

// What is wrong with a configuration, by pointer. Secrets are not here.
std::vector<std::string> FaultsOfDeployed(const std::string& text) {
  ConfigRequest request;
  request.skip_secrets = true;
  request.environment = {"PLIMSOLL_ADVERTISE__AGENTS=http://a-0.as:7481",
                         "PLIMSOLL_ADVERTISE__API=http://a-0.as:7480"};
  Faults faults;
  const absl::StatusOr<Config> config = ReadLayered(request, text, faults);
  std::vector<std::string> pointers;
  for (const Fault& fault : faults.Sorted()) pointers.push_back(fault.pointer);
  EXPECT_EQ(config.ok(), pointers.empty()) << config.status();
  return pointers;
}

TEST(DeployTest, TheConfigurationOfComposeIsTaken) {
  EXPECT_THAT(FaultsOfDeployed(ReadDeployed("compose/plimsoll-controller.yaml")), IsEmpty());
}

TEST(DeployTest, TheConfigMapOfKubernetesIsTaken) {
  const YamlNode map = ParseDeployed("kubernetes/configmap.yaml");
  const std::string text = At(map, {"data", "plimsoll-controller.yaml"}).text;
  ASSERT_FALSE(text.empty());
  const std::vector<std::string> faults = FaultsOfDeployed(text);
  if (FindConfigKey("state.etcd.endpoints") != nullptr) {
    EXPECT_THAT(faults, IsEmpty());
    return;
  }
  // Without a store in etcd nothing but that is at fault.
  EXPECT_THAT(faults, ::testing::Each(AnyOf(StartsWith("/state"), StartsWith("/advertise"))));
}

TEST(DeployTest, ManifestsParseAndAgreeOnNamesAndPorts) {
  const YamlNode set = ParseDeployed("kubernetes/statefulset.yaml");
  const std::vector<std::string> pod = {"spec", "template", "spec", "containers", "0"};
  const auto in_pod = [&](std::vector<std::string> more) {
    more.insert(more.begin(), pod.begin(), pod.end());
    return At(set, more).text;
  };
  EXPECT_EQ(At(set, {"spec", "replicas"}).text, "3");
  EXPECT_EQ(in_pod({"livenessProbe", "httpGet", "path"}), "/livez");
  EXPECT_EQ(in_pod({"readinessProbe", "httpGet", "path"}), "/readyz");
  EXPECT_EQ(in_pod({"securityContext", "readOnlyRootFilesystem"}), "true");
  EXPECT_EQ(At(set, {"spec", "template", "spec", "securityContext", "runAsNonRoot"}).text, "true");
  const std::string label = "app.kubernetes.io/name";
  const std::string app = At(set, {"spec", "selector", "matchLabels", label}).text;
  EXPECT_EQ(At(set, {"spec", "template", "metadata", "labels", label}).text, app);

  const YamlNode pods = ParseDeployed("kubernetes/service-pods.yaml");
  EXPECT_EQ(At(pods, {"metadata", "name"}).text, At(set, {"spec", "serviceName"}).text);
  EXPECT_EQ(At(pods, {"spec", "clusterIP"}).text, "None");
  EXPECT_EQ(At(pods, {"spec", "publishNotReadyAddresses"}).text, "true");
  for (const char* name : {"service-pods", "service-agents", "service-api"}) {
    const YamlNode service = ParseDeployed("kubernetes/" + std::string(name) + ".yaml");
    EXPECT_EQ(At(service, {"spec", "selector", label}).text, app) << name;
  }
  const YamlNode budget = ParseDeployed("kubernetes/poddisruptionbudget.yaml");
  EXPECT_EQ(At(budget, {"spec", "maxUnavailable"}).text, "1");
  EXPECT_EQ(At(budget, {"spec", "selector", "matchLabels", label}).text, app);
  for (const char* name :
       {"kubernetes/kustomization.yaml", "compose.yaml", "compose/prometheus.yml"}) {
    ParseDeployed(name);
  }
}

}  // namespace
}  // namespace plimsoll
