// SPDX-License-Identifier: Apache-2.0

/// What is visible of a logbook, as its withdrawals say: the same everywhere, in whatever order they came.
package struct Visibility: Sendable {
  /// The records that imports brought which were withdrawn, each with the digests under which they are listed.
  package private(set) var listedRecords: [String: Set<String>] = [:]
  /// The states of records that withdrawn imports made of others.
  package private(set) var undoneChanges: [String: Set<String>] = [:]
  /// The records about which a withdrawal of their own says whether they are hidden.
  package private(set) var ownRecords: [String: Bool] = [:]
  private var listed: [SeriesName: [PointRuns]] = [:]
  private var rules: [String: [DeviceRule]] = [:]
  private var own: [SeriesName: [SeriesPoint: Bool]] = [:]

  /// A record of kind `withdrawal` that is no tombstone.
  package struct Item: Hashable, Sendable {
    package let guid: String
    package let withdrawal: Withdrawal
    /// The digest of the record's content.
    package let digest: String

    package init(guid: String, _ withdrawal: Withdrawal, digest: String) {
      (self.guid, self.withdrawal, self.digest) = (guid, withdrawal, digest)
    }
  }

  package init(_ items: some Collection<Item>) {
    for case .input(let input) in items.lazy.filter(\.withdrawal.isHidden).map(\.withdrawal.subject) {
      for (series, runs) in input.points { listed[series, default: []].append(runs) }
      for (guid, digest) in input.records { listedRecords[guid, default: []].insert(digest) }
      for change in input.changes {
        undoneChanges[change.guid, default: []].insert(change.after.withdrawalDigest)
      }
    }
    for item in items {
      let withdrawal = item.withdrawal
      switch withdrawal.subject {
      case .input: break
      case .device(let rule): if withdrawal.isHidden { rules[rule.device, default: []].append(rule) }
      case .reading(let identity):
        // An import may say that a source corrected a reading; who withdraws the import withdraws that, too.
        if listedRecords[item.guid]?.contains(item.digest) == true { continue }
        own[SeriesName(identity), default: [:]][SeriesPoint(identity)] = withdrawal.isHidden
      case .record(let guid): ownRecords[guid] = withdrawal.isHidden
      }
    }
  }

  /// What is said of the readings of one series.
  package func series(_ name: SeriesName) -> SeriesVisibility {
    SeriesVisibility(
      listed: listed[name] ?? [], rules: rules[name.device] ?? [], own: own[name] ?? [:],
      showsEqualOnce: name.kind == .cbg || name.positionKind == .tick)
  }

  /// Whether a withdrawn import lists a reading.
  package func lists(_ reading: ReadingIdentity) -> Bool {
    listed[SeriesName(reading)]?.contains { $0.contains(SeriesPoint(reading)) } ?? false
  }

  /// Whether a record with this content is hidden, apart from the entry to which it belongs.
  package func hides(record guid: String, digest: String) -> Bool {
    ownRecords[guid] ?? listedRecords[guid]?.contains(digest) ?? false
  }
}

/// What withdrawals say of the readings of one series.
package struct SeriesVisibility: Sendable {
  fileprivate let listed: [PointRuns]
  fileprivate let rules: [DeviceRule]
  fileprivate let own: [SeriesPoint: Bool]
  fileprivate let showsEqualOnce: Bool

  /// Whether a withdrawn import lists a point.
  package func lists(_ point: SeriesPoint) -> Bool { listed.contains { $0.contains(point) } }

  /// Whether a reading is withdrawn.
  package func hides(_ point: SeriesPoint, shownAt time: DeviceTime) -> Bool {
    if !own.isEmpty, let isHidden = own[point] { return isHidden }
    return rules.contains { $0.covers(time) } || lists(point)
  }

  /// A reading among others of its position.
  package struct Item: Sendable {
    package let point: SeriesPoint
    package let deviceTime: DeviceTime
    package let measurement: Measurement

    package init(_ point: SeriesPoint, at deviceTime: DeviceTime, _ measurement: Measurement) {
      (self.point, self.deviceTime, self.measurement) = (point, deviceTime, measurement)
    }
  }

  /// Why a reading is not shown.
  package enum Verdict: Int64, Sendable {
    case shown = 0
    case withdrawn = 1
    /// An equal reading of its place is shown: two stores numbered the same one apart.
    case equalIsShown = 2
  }

  /// What becomes of the readings of one position, in order.
  package func judge(_ place: [Item]) -> [Verdict] {
    var verdicts: [Verdict] = []
    for (index, item) in place.enumerated() {
      if hides(item.point, shownAt: item.deviceTime) {
        verdicts.append(.withdrawn)
      } else if showsEqualOnce, own[item.point] == nil,
        zip(place[..<index], verdicts).contains(where: {
          $1 == .shown && $0.deviceTime == item.deviceTime && $0.measurement.agrees(with: item.measurement)
        })
      {
        verdicts.append(.equalIsShown)
      } else {
        verdicts.append(.shown)
      }
    }
    return verdicts
  }
}
