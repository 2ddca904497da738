#include "controller/src/offers.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>

namespace plimsoll::internal {
namespace {

// A raise that takes from others must be at least this large, and this part of what is held.
constexpr Calls kWorthTaking = 2;
constexpr Calls kWorthPart = 10;

// The three kinds of what is still missing from an offer, in the order in which they are served.
Calls UrgentGap(const OfferRow& row) {
  const Calls first = row.current == 0 && row.wants ? 1 : 0;
  return std::max(0, std::min(row.share, std::max(row.low, first)) - row.offer);
}
Calls NeededGap(const OfferRow& row) {
  return std::max(0, std::min(row.share, row.high) - row.offer);
}
Calls Gap(const OfferRow& row) { return std::max(0, row.share - row.offer); }

bool IsWorthTaking(const OfferRow& row) {
  return row.share - row.current >= std::max(kWorthTaking, row.current / kWorthPart);
}

Calls Excess(const OfferRow& row) { return std::max(0, row.offer - row.share); }
// The part of the excess that is headroom.
Calls Spare(const OfferRow& row) { return std::max(0, row.offer - std::max(row.share, row.high)); }
Calls SettledExcess(const OfferRow& row) { return row.settled ? Excess(row) : 0; }

using Part = Calls (*)(const OfferRow&);

class Offers {
 public:
  Offers(std::vector<OfferRow>& rows, const OfferTerms& terms) : rows_(rows), terms_(terms) {
    std::int64_t granted = 0;
    for (OfferRow& row : rows_) {
      row.offer = terms_.overbooked ? std::min(row.current, row.share) : row.current;
      granted += row.offer;
    }
    free_ = terms_.available - granted;
    transit_ = std::max<std::int64_t>(0, terms_.transit_max - terms_.in_transit);
    Sort();
  }

  void Make() {
    // Below 0 the join reserve is in use; below that, there has been a cut.
    free_ += TakeAny(Urgent() - (free_ + terms_.join_reserve));
    Give(UrgentGap, terms_.join_reserve);
    free_ += TakeWithinTransit(Worth(NeededGap) - free_, {Spare, SettledExcess});
    Give(NeededGap, 0);
    free_ += TakeWithinTransit(Worth(Gap) - free_, {SettledExcess});
    Give(Gap, 0);
  }

 private:
  void Sort() {
    for (OfferRow& row : rows_) {
      if (Excess(row) > 0) above_.push_back(&row);
      if (Gap(row) > 0) below_.push_back(&row);
    }
    std::stable_sort(above_.begin(), above_.end(),
                     [](const OfferRow* a, const OfferRow* b) { return Excess(*a) > Excess(*b); });
    std::stable_sort(below_.begin(), below_.end(),
                     [](const OfferRow* a, const OfferRow* b) { return Gap(*a) > Gap(*b); });
  }

  std::int64_t Worth(Part gap) const {
    std::int64_t sum = 0;
    for (const OfferRow* row : below_) sum += IsWorthTaking(*row) ? gap(*row) : 0;
    return sum;
  }
  std::int64_t Urgent() const {
    std::int64_t sum = 0;
    for (const OfferRow* row : below_) sum += UrgentGap(*row);
    return sum;
  }

  std::int64_t Take(std::int64_t missing, Part part) {
    std::int64_t taken = 0;
    for (OfferRow* row : above_) {
      if (taken >= missing) break;
      const auto cut = static_cast<Calls>(std::min<std::int64_t>(missing - taken, part(*row)));
      row->offer -= cut;
      taken += cut;
    }
    transit_ = std::max<std::int64_t>(0, transit_ - taken);
    return taken;
  }
  std::int64_t TakeAny(std::int64_t missing) {
    const std::int64_t spare = Take(missing, Spare);
    return spare + Take(missing - spare, Excess);
  }
  std::int64_t TakeWithinTransit(std::int64_t missing, std::initializer_list<Part> parts) {
    std::int64_t taken = 0;
    for (const Part part : parts) taken += Take(std::min(missing - taken, transit_), part);
    return taken;
  }

  // The largest gap first, from what is free and `reserve` more.
  void Give(Part gap, std::int64_t reserve) {
    for (OfferRow* row : below_) {
      if (free_ + reserve <= 0) break;
      const auto gain = static_cast<Calls>(std::min<std::int64_t>(free_ + reserve, gap(*row)));
      row->offer += gain;
      free_ -= gain;
    }
  }

  std::vector<OfferRow>& rows_;
  const OfferTerms& terms_;
  std::int64_t free_ = 0;     // of what is available; below 0 if more is offered
  std::int64_t transit_ = 0;  // how many more may be put under way
  std::vector<OfferRow*> above_;
  std::vector<OfferRow*> below_;
};

}  // namespace

void MakeOffers(std::vector<OfferRow>& rows, const OfferTerms& terms) {
  Offers(rows, terms).Make();
}

}  // namespace plimsoll::internal
