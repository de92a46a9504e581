// SPDX-License-Identifier: Apache-2.0

import Logbook

// MARK: - Sources that have together what another one has

extension SourceTally {
  /// Finds sources that repeat the items of several other sources together, such as an app that collects the
  /// doses of a pen and a diary. If one other source has all of the items, no further source is searched.
  mutating func decideSums(_ day: Int) {
    guard kind != .smbg else { return }
    let around = Self.around(day)
    for whole in sources.indices where days[whole][day] != nil {
      guard let parts = parts(of: whole, on: around) else { continue }
      for part in parts {
        guard let own = self.day(whole, day, without: part), let other = self.day(part, day, without: whole),
          Self.areOpen(own, other)
        else { continue }
        compareDay(day, pair(whole, part), nil, hasRates: insulin != .all)
      }
    }
  }

  /// Several other sources whose items together have the amounts of a source. The sources with the largest
  /// amounts are added until the totals agree. The amounts must also agree on at least four fifths of the
  /// days. Nil if there are no such sources, or if one of them has all of the items.
  private func parts(of whole: Int, on around: ClosedRange<Int>) -> [Int]? {
    let open = around.filter { days[whole][$0]?.isDecided == false }
    let rest = { (source: Int, day: Int) in
      days[source][day].map { compared($0.without(Self.mask(whole), countedOnly: true)) }
    }
    var others = sources.indices.filter { $0 != whole }.map { source in
      (source, Self.sum(open.compactMap { rest(source, $0) }.filter { !$0.isDecided }))
    }.filter { $0.1.items > $0.1.rates }
    let mask = others.reduce(0) { $0 | Self.mask($1.0) }
    let own = open.filter { days[whole][$0].map { compared($0.without(mask)).items > 0 } ?? false }
    guard own.count >= Self.minDays else { return nil }
    let all = Self.sum(own.compactMap { days[whole][$0].map { compared($0.without(mask)) } })
    others = others.map { source, _ in
      (source, Self.sum(own.compactMap { rest(source, $0) }.filter { !$0.isDecided }))
    }.filter { $0.1.items > $0.1.rates && $0.1.unmatched >= 0.1 * all.unmatched }
      .sorted { ($1.1.unmatched, names[$0.0]) < ($0.1.unmatched, names[$1.0]) }
    guard all.rates < all.items, others.first.map({ !unmatchedAmountsAgree(all, $0.1) }) == true else {
      return nil
    }
    var parts: [Int] = []
    var together = Day()
    for (source, sum) in others {
      parts.append(source)
      together.add(sum)
      if parts.count > 1, unmatchedAmountsAgree(all, together) { break }
    }
    guard parts.count > 1, unmatchedAmountsAgree(all, together),
      insulin != .all || Self.useIsUnknown(all, together)
    else { return nil }
    let alike = own.count { day in
      let sum = Self.sum(parts.compactMap { rest($0, day) })
      return days[whole][day].map { unmatchedAmountsAgree(compared($0.without(mask)), sum) } ?? false
    }
    return alike >= Self.minDays && alike * 5 >= own.count * 4 ? parts : nil
  }
}
