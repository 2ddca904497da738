#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "controller/operations/policy_book.h"

namespace plimsoll {

// The book of whichever reign it is: with a store that changes hands, what operators have set is
// read anew when a reign begins, and forgotten when it ends. As confined as Operations are.
class CurrentBook final : public Operations {
 public:
  explicit CurrentBook(std::unique_ptr<PolicyBook> book) : book_(std::move(book)) {}

  // How the file was read last is carried over.
  void Replace(std::unique_ptr<PolicyBook> book) {
    book->set_config(book_->config());
    book_ = std::move(book);
  }
  const PolicyBook& book() const { return *book_; }

  ChangePlan Plan(const ChangeRequest& request, absl::Time now) override {
    return book_->Plan(request, now);
  }
  std::optional<ChangePlan> Expire(absl::Time now) override { return book_->Expire(now); }
  void Settle(const absl::Status& written) override { book_->Settle(written); }
  std::optional<DependencyFacts> Find(const DependencyId& name) const override {
    return book_->Find(name);
  }
  ConfigFacts config() const override { return book_->config(); }
  std::vector<ChangeFault> Validate(const std::string& text) const override {
    return book_->Validate(text);
  }
  Question ReadQuestion(const std::string& body, std::vector<ChangeFault>& faults) const override {
    return book_->ReadQuestion(body, faults);
  }

 private:
  std::unique_ptr<PolicyBook> book_;
};

}  // namespace plimsoll
