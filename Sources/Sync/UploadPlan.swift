// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// Determines the next step of an upload from the events that it receives. It is a plain value, so that every
/// path can be tested without a store and a remote.
package struct UploadPlan: Sendable {
  /// The maximum number of times that edits roll back a pull in one upload, so that frequent edits cannot
  /// prolong it endlessly.
  package static let maxRollbacks = 5
  /// The number of items that an upload may skip before the remote itself counts as failing.
  package static let maxSetAside = 3
  static let maxRenewals = 2
  static let maxVerifications = 2

  let options: UploadOptions
  private var state = UploadState.beginning
  private var sending: UploadSending
  private var readings: BatchSize
  private var records: BatchSize
  private var changes: BatchSize
  private var rollbacks = 0
  private var setAside = 0
  private var renewals = 0
  private var verifications = 0
  /// Why another upload is needed, if this one succeeds; nil if none is needed.
  private var leftWork: String?

  package init(_ options: UploadOptions) {
    self.options = options
    sending = options.pushes ? .allowed : .notRequested
    readings = BatchSize(largest: options.maxReadings)
    records = BatchSize(largest: options.maxRecords)
    changes = BatchSize(largest: options.maxChanges)
  }

  /// The step to perform now.
  package var current: UploadStep {
    switch state {
    case .beginning: .begin
    case .pushing(.readings, _): .pushReadings(limit: readings.current)
    case .pushing(.records(let phase), _): .pushRecords(phase, limit: records.current)
    case .skipping(_, .setAside, _): .setAside
    case .skipping(_, .quarantine(let reason), _): .quarantine(reason: reason)
    case .pulling: .pull(limit: changes.current)
    case .moving: .alignSite
    case .transferring(.upload): .pushAttachments
    case .transferring(.download): .fetchAttachments
    case .requeueing: .requeueMissing
    case .renewing: .renewNode
    case .ended(let ending): .finish(ending)
    }
  }

  /// Whether this upload can send records. Records that cannot be sent never delay a pull.
  package var canPushRecords: Bool { sending == .allowed }

  /// Determines the next state from an event.
  ///
  /// - Throws: `UploadPlanError` for an event that is impossible in the current step. Builds with assertions
  ///   stop at once instead.
  package mutating func advance(after event: UploadEvent) throws(UploadPlanError) {
    guard let next = state(after: event) else {
      let error = UploadPlanError(step: current, event: event)
      assertionFailure(error.description)
      throw error
    }
    state = next
  }
}

// MARK: - Transitions

extension UploadPlan {
  /// The state after an event; nil for an event that is impossible in the current state. All combinations are
  /// listed, so that the compiler finds those missing for a new state or event.
  mutating func state(after event: UploadEvent) -> UploadState? {
    switch (state, event) {
    case (.ended, .workLeft): return nil
    case (_, .workLeft(let reason)):
      leftWork = reason
      return state
    case (_, .limitReached(let limit)): return after(limit)
    case (.beginning, .done), (.renewing, .done): return firstPush
    // There is nothing to send, and the remote has no changes, so the upload ends.
    case (.beginning, .exhausted): return ending
    // A remote does not return a node's own changes to it. If the store and the remote know no common
    // position, a copy of this store may have written with the same node id. So before everything is pulled
    // from the start, the node gets a new id.
    case (.requeueing, .done): return .renewing
    case (.skipping(let batch, _, let next), .done): return .pushing(batch, then: next)
    case (.pushing(let batch, let next), _): return afterPush(of: batch, then: next, event)
    case (.pulling, _): return afterPull(event)
    case (.moving, .done): return .moving
    case (.moving, .exhausted): return firstAttachment
    case (.moving, .failed(let error, _)): return afterFailure(error)
    case (.transferring(let direction), _): return afterTransfer(direction, event)
    case (.requeueing, .failed(let error, _)), (.beginning, .failed(let error, _)): return afterFailure(error)
    case (.beginning, .newItemsFirst), (.beginning, .rolledBack),
      (.renewing, .exhausted), (.renewing, .newItemsFirst), (.renewing, .rolledBack), (.renewing, .failed),
      (.skipping, .exhausted), (.skipping, .newItemsFirst), (.skipping, .rolledBack), (.skipping, .failed),
      (.requeueing, .exhausted), (.requeueing, .newItemsFirst), (.requeueing, .rolledBack),
      (.moving, .newItemsFirst), (.moving, .rolledBack), (.ended, _):
      return nil
    }
  }

  /// The state of an upload that has reached a limit. If the time limit interrupted a request, this is not a
  /// failure of the remote.
  private func after(_ limit: UploadLimit) -> UploadState {
    switch (state, limit) {
    case (.ended(.failed(.unavailable)), .time): break
    case (.ended, _): return state
    default: break
    }
    return .ended(.workLeft("\(limit.option) reached; the next run continues"))
  }

  private var firstPush: UploadState { canPushRecords ? .pushing(.readings, then: .pull) : firstPull }

  private var firstPull: UploadState { options.pulls ? .pulling : firstMove }

  /// The next state after the pull. Moves come after it, since a pull may change the zone and makes this
  /// store up to date.
  private var firstMove: UploadState {
    options.movesDocuments && canPushRecords ? .moving : firstAttachment
  }

  /// The next state for attachments. They come last, so that they delay nothing else.
  private var firstAttachment: UploadState { canPushRecords ? .transferring(.upload) : firstFetch }

  private var firstFetch: UploadState { options.pulls ? .transferring(.download) : ending }

  private var ending: UploadState {
    if sending == .refused { return .ended(.failed(.readOnly)) }
    return .ended(leftWork.map { .workLeft($0) } ?? .complete)
  }

  private mutating func afterPush(
    of batch: UploadBatch, then next: AfterPush, _ event: UploadEvent
  ) -> UploadState? {
    switch event {
    case .done:
      switch batch {
      case .readings: readings.succeed()
      case .records: records.succeed()
      }
      return state
    case .exhausted:
      switch batch {
      case .readings: return .pushing(.records(.entries), then: next)
      case .records(.entries): return .pushing(.records(.children), then: next)
      case .records(.children): return start(next)
      }
    case .failed(let error, let items):
      switch error {
      case .tooLarge, .refused, .serverFailure:
        return afterRefusal(error, of: batch, items: items, then: next)
      default: return afterFailure(error)
      }
    case .newItemsFirst, .rolledBack, .workLeft, .limitReached: return nil
    }
  }

  private func start(_ next: AfterPush) -> UploadState {
    switch next {
    case .pull: firstPull
    case .transfer(let direction): .transferring(direction)
    }
  }

  private mutating func afterPull(_ event: UploadEvent) -> UploadState? {
    switch event {
    case .done:
      changes.succeed()
      return .pulling
    case .exhausted: return firstMove
    // The next download is a content that a person asked for, but items were added in the meantime. These
    // items are sent first. After the last download, readings may be visible on a site again.
    case .newItemsFirst: return .pushing(.readings, then: .pull)
    case .rolledBack: return afterRollback()
    // If a page with a single item is too large, it cannot be skipped, since its content is unknown.
    case .failed(.tooLarge, _) where changes.halve(sent: changes.current): return .pulling
    case .failed(let error, _): return afterFailure(error)
    case .workLeft, .limitReached: return nil
    }
  }

  private mutating func afterRollback() -> UploadState {
    rollbacks += 1
    guard rollbacks < Self.maxRollbacks else {
      return .ended(.workLeft("records are edited faster than they can be synced; the next run continues"))
    }
    // If the page did not continue at the store's position, the pull is tried again, even in an upload that
    // only pulls.
    return canPushRecords ? .pushing(.records(.entries), then: .pull) : .pulling
  }

  private mutating func afterTransfer(_ direction: TransferDirection, _ event: UploadEvent) -> UploadState? {
    switch event {
    case .done: state
    case .exhausted:
      switch direction {
      case .upload: firstFetch
      case .download: ending
      }
    case .newItemsFirst: .pushing(.readings, then: .transfer(direction))
    case .failed(let error, _): afterFailure(error)
    case .rolledBack, .workLeft, .limitReached: nil
    }
  }
}

// MARK: - Failures

extension UploadPlan {
  /// The state after a failure that the items of a batch did not cause.
  private mutating func afterFailure(_ error: ServiceError) -> UploadState {
    switch error {
    case .nodeReused where renewals < Self.maxRenewals:
      renewals += 1
      return .renewing
    case .positionUnknown where verifications < Self.maxVerifications:
      verifications += 1
      return .requeueing
    case .readOnly where sending == .allowed:
      sending = .refused
      return options.pulls ? firstPull : .ended(.failed(error))
    default: return .ended(.failed(error))
    }
  }

  /// Halves the batch size after a failure that the content of a batch caused, until the failing item is
  /// found.
  private mutating func afterRefusal(
    _ error: ServiceError, of batch: UploadBatch, items: Int, then next: AfterPush
  ) -> UploadState {
    guard items > 0 else { return .ended(.failed(error)) }
    let isHalved =
      switch batch {
      case .readings: readings.halve(sent: items)
      case .records: records.halve(sent: items)
      }
    if isHalved { return .pushing(batch, then: next) }
    switch error {
    case .tooLarge: return .skipping(batch, .quarantine(reason: "larger than the remote accepts"), then: next)
    case .refused(let reason): return .skipping(batch, .quarantine(reason: reason), then: next)
    default:
      setAside += 1
      leftWork = "the remote failed for some items; the next run sends them again"
      return setAside < Self.maxSetAside ? .skipping(batch, .setAside, then: next) : .ended(.failed(error))
    }
  }
}

/// The state of an upload. It contains everything that determines the next step, except sizes and counts.
enum UploadState: Hashable, Sendable {
  case beginning
  /// Pending items are being sent. `then` is the state after the last item.
  case pushing(UploadBatch, then: AfterPush)
  /// The only item of the last request failed and is skipped. After this, further batches of the same kind
  /// are sent.
  case skipping(UploadBatch, SkippedItem, then: AfterPush)
  case pulling
  /// Hidden items are being removed from the site, and then items are moved after a change of zone.
  case moving
  case transferring(TransferDirection)
  case requeueing
  case renewing
  case ended(UploadEnding)
}

/// The kind of items in a push request.
enum UploadBatch: Hashable, Sendable {
  case readings
  case records(PushPhase)
}

/// What the upload does with an item whose request the remote does not process successfully.
enum SkippedItem: Hashable, Sendable {
  case setAside
  case quarantine(reason: String)
}

/// What follows after all pending items were sent.
enum AfterPush: Hashable, Sendable {
  case pull
  /// The transfer of attachments that was interrupted to send items.
  case transfer(TransferDirection)
}

/// The direction in which contents of attachments are transferred.
enum TransferDirection: Hashable, Sendable {
  case upload
  case download
}

/// Whether an upload may send items.
enum UploadSending: Hashable, Sendable {
  case allowed
  /// The upload only pulls.
  case notRequested
  /// The remote reported that the login is read-only.
  case refused
}

/// An event that is impossible in the current step. This is a bug in glucoport, and not a `Failure`.
package struct UploadPlanError: Error, Hashable, CustomStringConvertible {
  /// The step that was being performed.
  package var step: UploadStep
  /// The event that is impossible in `step`.
  package var event: UploadEvent

  /// A sentence for a bug report.
  package var description: String { "the upload step \(step) ended with \(event)" }
}
