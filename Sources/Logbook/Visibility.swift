// SPDX-License-Identifier: Apache-2.0

/// What is visible of a logbook, as its withdrawals say: the same everywhere, in whatever order they came.
package struct Visibility: Sendable {
  /// The records that imports brought which were withdrawn, each with the digests under which they are listed.
  package private(set) var listedRecords: [String: Set<String>] = [:]
  /// The states of records that withdrawn imports made of others.
  package private(set) var undoneChanges: [String: Set<String>] = [:]
  /// The records about which a withdrawal of their own says whether they are hidden.
  package private(set) var ownRecords: [String: Bool] = [:]
  /// The ids of imports whose withdrawals hold.
  package private(set) var undoneImports: Set<String> = []
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
      if !input.importID.isEmpty { undoneImports.insert(input.importID) }
      for (series, runs) in input.points { listed[series, default: []].append(runs) }
      for (guid, digest) in input.records { listedRecords[guid, default: []].insert(digest) }
      for change in input.changes {
        undoneChanges[change.guid, default: []].insert(change.after.withdrawalDigest)
      }
    }
    removeBrought(items)
    for item in items {
      let withdrawal = item.withdrawal
      switch withdrawal.subject {
      case .input, .brought: break
      case .device(let rule): if withdrawal.isHidden { rules[rule.device, default: []].append(rule) }
      case .reading(let identity):
        // An import may say that a source corrected a reading; who withdraws the import withdraws that, too.
        if listedRecords[item.guid]?.contains(item.digest) == true { continue }
        own[SeriesName(identity), default: [:]][SeriesPoint(identity)] = withdrawal.isHidden
      case .record(let guid): ownRecords[guid] = withdrawal.isHidden
      }
    }
  }

  /// Takes out of the lists what an import brought, too, that is not undone.
  private mutating func removeBrought(_ items: some Collection<Item>) {
    var brought: [SeriesName: [PointRuns]] = [:]
    for item in items where !item.withdrawal.isHidden {
      guard case .brought(let input) = item.withdrawal.subject, !undoneImports.contains(input.importID)
      else { continue }
      for (series, runs) in input.points where listed[series] != nil {
        brought[series, default: []].append(runs)
      }
      for (guid, digest) in input.records { listedRecords[guid]?.remove(digest) }
    }
    for (series, lists) in brought {
      listed[series] = listed[series]?.map { list in lists.reduce(list) { $0.subtracting($1) } }
        .filter { !$0.isEmpty }
    }
    listedRecords = listedRecords.filter { !$0.value.isEmpty }
  }

  /// The series of which withdrawals of imports list readings.
  package var listedSeries: [SeriesName] { listed.filter { !$0.value.isEmpty }.map(\.key) }

  /// What is said of the readings of one series.
  package func series(_ name: SeriesName) -> SeriesVisibility {
    SeriesVisibility(
      listed: listed[name] ?? [], rules: rules[name.device] ?? [], own: own[name] ?? [:],
      showsEqualOnce: name.kind == .cbg || name.positionKind == .tick)
  }

  /// Whether a record with this content is hidden, apart from the entry to which it belongs.
  package func hides(record guid: String, digest: String) -> Bool {
    ownRecords[guid] ?? listedRecords[guid]?.contains(digest) ?? false
  }
}
