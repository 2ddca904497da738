#pragma once

#include <map>
#include <string>
#include <vector>

namespace plimsoll {

// A page in the text format, read strictly enough to notice what a scraper would choke on.
struct PrometheusPage {
  std::map<std::string, std::string> types;                // by family
  std::map<std::string, std::string> helps;                // by family
  std::map<std::string, std::vector<std::string>> series;  // by family: "name{labels} value"
  std::vector<std::string> faults;                         // lines that belong to no family

  // The value of a series given as "name{labels}"; NaN if it is not there.
  double Value(const std::string& series_name) const;
};

PrometheusPage ParsePrometheusText(const std::string& text);

}  // namespace plimsoll
