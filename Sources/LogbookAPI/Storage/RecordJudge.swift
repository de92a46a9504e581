// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The records of a logbook in a storage's transaction, as `RecordJudge` needs them.
package protocol RecordTable {
  /// The record with this id; nil if there is none.
  func current(_ guid: String) throws -> CurrentRecord?
  /// The revision with which this same change was accepted before: the same record, node, version and digest.
  func earlierAnswer(to change: RecordChange) throws -> String?
  /// Whether this logbook returned a revision or position.
  func knows(_ position: String) throws -> Bool
  /// Stores a state under the next number of the logbook, and returns its revision.
  ///
  /// - Parameter isKnown: whether the record exists.
  mutating func store(_ change: RecordChange, _ state: RecordState, isKnown: Bool) throws -> String
  /// Stores with which revision a change was accepted. It replaces the answer for the same or an older version: a merge
  /// sends other content with the version that was sent before.
  mutating func keepAnswer(to change: RecordChange, _ revision: String) throws
}

/// A record as a storage has it.
package struct CurrentRecord: Sendable {
  /// The id of its state.
  package let revision: String
  /// Its state.
  package let state: RecordState

  package init(revision: String, state: RecordState) {
    self.revision = revision
    self.state = state
  }
}

/// Decides on changes of records. Each states the revision on which it is based. All storages use it.
package struct RecordJudge<Table: RecordTable> {
  /// The records, with what was stored.
  package private(set) var table: Table
  private var answerBytes = 0

  /// - Parameter table: the records in the caller's transaction.
  package init(_ table: Table) { self.table = table }

  /// Applies a batch in the caller's transaction.
  ///
  /// - Returns: one verdict for each change.
  /// - Throws: `ServiceError.tooLarge` if the conflicts do not fit an answer, and the errors of the table.
  package mutating func apply(_ changes: [RecordChange]) throws -> [RecordVerdict] {
    var verdicts: [RecordVerdict] = []
    for change in changes { verdicts.append(try apply(change)) }
    return verdicts
  }
}

extension RecordJudge {
  private mutating func apply(_ change: RecordChange) throws -> RecordVerdict {
    let current = try table.current(change.guid)
    // The node repeats the request because the answer was lost. Changes by others since then are not a conflict.
    if let revision = try table.earlierAnswer(to: change), Self.isCurrent(revision, of: change, current) {
      return .accepted(revision: revision)
    }
    guard let current else { return try store(change, change.state, isKnown: false) }
    guard change.state.kind == current.state.kind else {
      return .refused(reason: "the record is of kind \(current.state.kind), and a kind never changes")
    }
    // A deletion based on the tombstone itself is a decision to keep it. A concurrent restore that arrives later must
    // conflict with it.
    let isDecided = change.state.isDeleted && change.base == current.revision
    if change.state.agrees(with: current.state), !isDecided {
      // A conflict teaches the client the record's provenance. A client that already has this revision knows it.
      if current.state.teachesProvenance(to: change.state), change.base != current.revision {
        return try conflict(change, current)
      }
      if change.state.teachesProvenance(to: current.state), !change.state.isDeleted {
        return try store(change, current.state.learning(change.state.provenance), isKnown: true)
      }
      try table.keepAnswer(to: change, current.revision)
      return .accepted(revision: current.revision)
    }
    if change.base == current.revision {
      // The first provenance stays, whatever another program sends.
      var state = change.state
      state.provenance = current.state.provenance ?? state.provenance
      return try store(change, state, isKnown: true)
    }
    return try conflict(change, current)
  }

  /// Whether an earlier answer is still valid. In a damaged or hand-edited storage the record may be missing, or have
  /// other content at this revision: then the change is applied again.
  private static func isCurrent(
    _ revision: String, of change: RecordChange, _ current: CurrentRecord?
  ) -> Bool {
    guard let current else { return false }
    return current.revision != revision || change.state.agrees(with: current.state)
  }

  private mutating func store(
    _ change: RecordChange, _ state: RecordState, isKnown: Bool
  ) throws -> RecordVerdict {
    let revision = try table.store(change, state, isKnown: isKnown)
    try table.keepAnswer(to: change, revision)
    return .accepted(revision: revision)
  }

  private mutating func conflict(_ change: RecordChange, _ current: CurrentRecord) throws -> RecordVerdict {
    answerBytes += current.state.json.utf8.count
    guard answerBytes <= WireProtocol.maxBodyBytes / 2 else { throw ServiceError.tooLarge }
    return .conflict(
      revision: current.revision, state: current.state,
      isBaseKnown: try change.base.map(table.knows) ?? false)
  }
}

/// A node with its latest run, as a storage recorded it.
package struct RecordedNode: Sendable {
  /// The number of the node in its logbook.
  package let id: Int64
  private let runNumber: Int64
  private let runID: String
  private let lastSeq: Int64

  /// - Parameter lastSeq: the number of the last change that the node made; 0 without one.
  package init(id: Int64, runNumber: Int64, runID: String, lastSeq: Int64) {
    self.id = id
    self.runNumber = runNumber
    self.runID = runID
    self.lastSeq = lastSeq
  }

  /// Whether a run is the recorded one. False for a later run, which is recorded next.
  ///
  /// - Parameters:
  ///   - position: the number of the last position that the run has seen; 0 without one.
  ///   - hidesOwn: whether the node's own changes are hidden from it. Then the first request of a run must know all of
  ///     them. Otherwise a copy of the node's store made some, or an answer was lost, and the node needs another id to
  ///     see them.
  /// - Throws: `ServiceError.nodeReused` for an earlier run, or another one with this number.
  package func isRecorded(
    _ run: RunStamp, position: Int64, hidesOwn: Bool
  ) throws(ServiceError) -> Bool {
    if runNumber == run.number, runID == run.id { return true }
    guard runNumber < run.number, lastSeq <= position || !hidesOwn else { throw .nodeReused }
    return false
  }
}
