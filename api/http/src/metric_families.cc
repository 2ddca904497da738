#include "api/http/src/metric_families.h"

#include <prometheus/text_serializer.h>

#include <limits>

#include "plimsoll/core/check.h"

namespace plimsoll::internal {
namespace {

prometheus::MetricType TypeOf(MetricKind kind) {
  switch (kind) {
    case MetricKind::kCounter:
      return prometheus::MetricType::Counter;
    case MetricKind::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricKind::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

}  // namespace

MetricFamilyBuilder::MetricFamilyBuilder(const MetricInfo& info) : info_(&info) {
  family_.name = info.name;
  family_.help = info.help;
  family_.type = TypeOf(info.kind);
}

void MetricFamilyBuilder::Add(const std::vector<std::string>& labels, double value) {
  prometheus::ClientMetric& series = AddSeries(labels);
  if (info_->kind == MetricKind::kCounter) {
    series.counter.value = value;
  } else {
    series.gauge.value = value;
  }
}

void MetricFamilyBuilder::Add(const std::vector<std::string>& labels,
                              const DurationHistogram& value) {
  prometheus::ClientMetric::Histogram& histogram = AddSeries(labels).histogram;
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < value.counts().size(); ++i) {
    seen += value.counts()[i];
    const bool last = i == DurationHistogram::kEnds.size();
    const double end = last ? std::numeric_limits<double>::infinity() : DurationHistogram::kEnds[i];
    histogram.bucket.push_back({seen, end});
  }
  histogram.sample_count = seen;
  histogram.sample_sum = value.sum_seconds();
}

prometheus::ClientMetric& MetricFamilyBuilder::AddSeries(const std::vector<std::string>& labels) {
  PLIMSOLL_CHECK(labels.size() == info_->labels.size(), "a series has the labels of the catalogue");
  prometheus::ClientMetric& series = family_.metric.emplace_back();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    series.label.push_back({info_->labels[i].name, labels[i]});
  }
  return series;
}

MetricFamilies::MetricFamilies() {
  for (const MetricInfo& info : MetricsCatalog()) builders_.emplace_back(info);
}

MetricFamilyBuilder& MetricFamilies::operator[](const std::string& name) {
  for (MetricFamilyBuilder& builder : builders_) {
    if (builder.family().name == name) return builder;
  }
  PLIMSOLL_CHECK(false, "only metrics of the catalogue can be exported");
  return builders_.front();
}

std::string MetricFamilies::Serialize() const {
  std::vector<prometheus::MetricFamily> families;
  for (const MetricFamilyBuilder& builder : builders_) {
    if (!builder.family().metric.empty()) families.push_back(builder.family());
  }
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace plimsoll::internal
