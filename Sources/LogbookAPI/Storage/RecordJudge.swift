// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The access to a logbook's records that `RecordJudge` needs, inside a storage's transaction.
package protocol RecordTable {
  /// The record with this guid; nil if there is none.
  func current(_ guid: String) throws -> CurrentRecord?
  /// The revision with which exactly this change was accepted earlier: with the same record, node, version
  /// and digest. Nil if it was not.
  func earlierAnswer(to change: RecordChange) throws -> String?
  /// Whether this logbook has returned this revision or position to a client.
  func knows(_ position: String) throws -> Bool
  /// Stores a state with the next sequence number of the logbook, and returns its revision.
  ///
  /// - Parameter isKnown: whether the record exists.
  mutating func store(_ change: RecordChange, _ state: RecordState, isKnown: Bool) throws -> String
  /// Stores the revision with which a change was accepted. It replaces the stored answer for the same or an
  /// older version. The same version can have another content, since a merge is sent with the version that
  /// was sent before.
  mutating func keepAnswer(to change: RecordChange, _ revision: String) throws
}

/// A record with the state that a storage has now.
package struct CurrentRecord: Sendable {
  /// The revision of this state.
  package let revision: String
  /// The state of the record in the storage.
  package let state: RecordState

  package init(revision: String, state: RecordState) {
    self.revision = revision
    self.state = state
  }
}

/// Decides whether a change of a record is accepted, by the revision on which the change is based. Every
/// storage uses it.
package struct RecordJudge<Table: RecordTable> {
  /// The records of the logbook, with all changes so far.
  package private(set) var table: Table
  private var answerBytes = 0

  /// - Parameter table: the records in the caller's transaction.
  package init(_ table: Table) { self.table = table }

  /// Applies a batch in the caller's transaction.
  ///
  /// - Returns: one verdict for each change.
  /// - Throws: `ServiceError.tooLarge` if the states in conflict do not fit in one answer, and errors of the
  ///   table.
  package mutating func apply(_ changes: [RecordChange]) throws -> [RecordVerdict] {
    var verdicts: [RecordVerdict] = []
    for change in changes { verdicts.append(try apply(change)) }
    return verdicts
  }
}

extension RecordJudge {
  private mutating func apply(_ change: RecordChange) throws -> RecordVerdict {
    let current = try table.current(change.guid)
    // The node repeats a request whose answer was lost. If other nodes have changed the record after this
    // request, this is not a conflict. A change based on the current revision is not such a repetition: the
    // node knows the present state, and sends its own state again.
    if change.base != current?.revision, let revision = try table.earlierAnswer(to: change),
      Self.isCurrent(revision, of: change, current)
    {
      return .accepted(revision: revision)
    }
    guard let current else { return try store(change, change.state, isKnown: false) }
    guard change.state.kind == current.state.kind else {
      return .refused(reason: "the record is of kind \(current.state.kind), and a kind never changes")
    }
    // A deletion whose base is the tombstone itself is a decision to keep the record deleted. It gets a new
    // revision, so that a restore at the same time becomes a conflict.
    let isDecided = change.state.isDeleted && change.base == current.revision
    if change.state.agrees(with: current.state), !isDecided, !Self.statesOtherAge(change, current) {
      // The answer `conflict` contains the provenance, which the client does not know yet. A client whose
      // change is based on this revision already knows the provenance.
      if current.state.addsProvenance(to: change.state), change.base != current.revision {
        return try conflict(change, current)
      }
      if change.state.addsProvenance(to: current.state), !change.state.isDeleted {
        return try store(change, current.state.addingProvenance(change.state.provenance), isKnown: true)
      }
      try table.keepAnswer(to: change, current.revision)
      return .accepted(revision: current.revision)
    }
    if change.base == current.revision {
      // The first provenance of a record is kept, even if a client sends another one.
      var state = change.state
      state.provenance = current.state.provenance ?? state.provenance
      return try store(change, state, isKnown: true)
    }
    return try conflict(change, current)
  }

  /// Whether a change keeps the content that the client knows, and states another age of its export. After an
  /// undo of the latest export, it is an earlier one; after a redo, a later one.
  private static func statesOtherAge(_ change: RecordChange, _ current: CurrentRecord) -> Bool {
    guard let age = change.state.export, let known = current.state.export else { return false }
    return change.base == current.revision && age != known
  }

  /// Whether the stored answer to this change is still valid. In a damaged storage, the record may be
  /// missing, or this revision of it may have another content. If so, the change is applied again.
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

/// A node with its latest run, as the storage recorded it.
package struct RecordedNode: Sendable {
  /// The number that the node has in its logbook.
  package let id: Int64
  private let runNumber: Int64
  private let runID: String
  private let lastSeq: Int64

  /// - Parameter lastSeq: the sequence number of the last change that the node made; 0 if it made none.
  package init(id: Int64, runNumber: Int64, runID: String, lastSeq: Int64) {
    self.id = id
    self.runNumber = runNumber
    self.runID = runID
    self.lastSeq = lastSeq
  }

  /// Whether this run is already recorded as the latest one of the node. False for a later run, which must be
  /// recorded.
  ///
  /// - Parameters:
  ///   - position: the sequence number of the last position that the run has seen; 0 if it has seen none.
  ///   - hidesOwn: whether answers to this run omit the node's own changes. If so, a run that is not recorded
  ///     must know all of them at its first request. If it does not know one, a copy of the node's store made
  ///     the change, or an answer was lost. The node then needs another id to receive the change. Only the
  ///     answers to a comparison contain all changes.
  /// - Throws: `ServiceError.nodeReused` for an earlier run, or for a different run with the same number.
  package func isRecorded(
    _ run: RunStamp, position: Int64, hidesOwn: Bool
  ) throws(ServiceError) -> Bool {
    if runNumber == run.number, runID == run.id { return true }
    guard runNumber < run.number, lastSeq <= position || !hidesOwn else { throw .nodeReused }
    return false
  }
}
