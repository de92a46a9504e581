// SPDX-License-Identifier: Apache-2.0

/// Which items of a logbook are visible, according to its withdrawals. The result is the same on every store,
/// whatever the order of the withdrawals.
package struct Visibility: Sendable {
  /// The records that withdrawn imports list, by guid, each with the digests of the listed contents.
  package private(set) var listedRecords: [String: Set<String>] = [:]
  /// For each record that has a separate withdrawal: whether that withdrawal hides the record.
  package private(set) var ownRecords: [String: Bool] = [:]
  /// For records that their source deleted: the digest of the content that is hidden.
  package private(set) var deletedContents: [String: String] = [:]
  /// The ids of the imports that are withdrawn.
  package private(set) var undoneImports: Set<String> = []
  private var listed: [SeriesName: [PointRuns]] = [:]
  private var rules: [String: [DeviceRule]] = [:]
  private var own: [SeriesName: [SeriesPoint: Bool]] = [:]
  private var corrected: [SeriesName: Set<SeriesPoint>] = [:]

  /// A record of kind `withdrawal` that is not a tombstone.
  package struct WithdrawalItem: Hashable, Sendable {
    package let guid: String
    package let withdrawal: Withdrawal
    /// The digest of the record's content; see `RecordState.withdrawalDigest`.
    package let digest: String

    package init(guid: String, _ withdrawal: Withdrawal, digest: String) {
      (self.guid, self.withdrawal, self.digest) = (guid, withdrawal, digest)
    }
  }

  package init(_ items: some Collection<WithdrawalItem>) {
    for case .input(let input) in items.lazy.filter(\.withdrawal.isHidden).map(\.withdrawal.subject) {
      if !input.importID.isEmpty { undoneImports.insert(input.importID) }
      for (series, runs) in input.points { listed[series, default: []].append(runs) }
      for (guid, digest) in input.records { listedRecords[guid, default: []].insert(digest) }
    }
    removeBrought(items)
    for item in items {
      let withdrawal = item.withdrawal
      switch withdrawal.subject {
      case .input, .brought: break
      case .device(let rule): if withdrawal.isHidden { rules[rule.device, default: []].append(rule) }
      case .reading(let identity):
        // This withdrawal may have come with an import, as the correction of a reading by its source. If the
        // import is withdrawn, the correction is withdrawn, too.
        if listedRecords[item.guid]?.contains(item.digest) == true { continue }
        switch (withdrawal.reason, withdrawal.isHidden) {
        case (Withdrawal.correctedAtSource, true):
          corrected[SeriesName(identity), default: []].insert(SeriesPoint(identity))
          continue
        case (Withdrawal.restoredAtSource, false): continue
        default: break
        }
        own[SeriesName(identity), default: [:]][SeriesPoint(identity)] = withdrawal.isHidden
      case .record(let guid) where withdrawal.content.isEmpty: ownRecords[guid] = withdrawal.isHidden
      case .record(let guid):
        // An import wrote this withdrawal. If the import is withdrawn, what its export stated does not count.
        if !withdrawal.isHidden || listedRecords[item.guid]?.contains(item.digest) == true { continue }
        deletedContents[guid] = withdrawal.content
      }
    }
  }

  /// Removes items from the lists of withdrawn imports if another import also contains them. This is not done
  /// if the other import is undone, too.
  private mutating func removeBrought(_ items: some Collection<WithdrawalItem>) {
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

  /// The series whose readings withdrawn imports list.
  package var listedSeries: [SeriesName] { listed.filter { !$0.value.isEmpty }.map(\.key) }

  /// Determines which readings of one series are visible.
  package func series(_ name: SeriesName) -> SeriesVisibility {
    SeriesVisibility(
      listed: listed[name] ?? [], rules: rules[name.device] ?? [], own: own[name] ?? [:],
      corrected: corrected[name] ?? [],
      showsEqualOnce: name.kind == .cbg || name.positionKind == .tick)
  }

  /// Whether a withdrawal names a record, so that its visibility may depend on its content.
  package func names(record guid: String) -> Bool {
    ownRecords[guid] != nil || deletedContents[guid] != nil || listedRecords[guid] != nil
  }

  /// Whether withdrawals hide a record with this content. Whether the record's entry is hidden is not
  /// considered.
  package func hides(record guid: String, digest: String) -> Bool {
    ownRecords[guid]
      ?? (deletedContents[guid] == digest || listedRecords[guid]?.contains(digest) == true)
  }
}
