// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// Decides what a run does next from the result of its last step. A plain value, so that every path can be tested
/// without a store or a remote.
package struct UploadPlan: Sendable {
  /// How often a pull may be rolled back by edits before the run ends: a busy editor never keeps it running.
  package static let maxRollbacks = 5
  /// Items that are set aside before the remote itself counts as failing.
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
  /// Why another run is needed, unless something worse happens.
  private var leftWork: String?

  /// A plan whose first step is `begin`.
  package init(_ options: UploadOptions) {
    self.options = options
    sending = options.pushes ? .allowed : .notRequested
    readings = BatchSize(largest: options.maxReadings)
    records = BatchSize(largest: options.maxRecords)
    changes = BatchSize(largest: options.maxChanges)
  }

  /// The step to do.
  package var current: UploadStep {
    switch state {
    case .beginning: .begin
    case .pushing(.readings, _): .pushReadings(limit: readings.current)
    case .pushing(.records(let phase), _): .pushRecords(phase, limit: records.current)
    case .passing(_, .setAside, _): .setAside
    case .passing(_, .quarantine(let reason), _): .quarantine(reason: reason)
    case .pulling: .pull(limit: changes.current)
    case .moving: .moveDocuments
    case .transferring(.upload): .pushAttachments
    case .transferring(.download): .fetchAttachments
    case .requeueing: .requeueMissing
    case .renewing: .renewNode
    case .ended(let ending): .finish(ending)
    }
  }

  /// Whether records can be sent at all in this run. Those that cannot never hold a pull back.
  package var canPushRecords: Bool { sending == .allowed }

  /// Goes on to the next step.
  ///
  /// - Throws: `UploadPlanError` for an event that the current step cannot have; builds with assertions stop at once.
  package mutating func note(_ event: UploadEvent) throws(UploadPlanError) {
    guard let next = state(after: event) else {
      let error = UploadPlanError(step: current, event: event)
      assertionFailure(error.description)
      throw error
    }
    state = next
  }

  /// Remembers that something is left for another run.
  package mutating func leaveWork(_ reason: String) { leftWork = reason }

  /// Ends the run before its next step, as when its time is over.
  ///
  /// - Parameter isInterrupting: whether the same reason ended the last request, which is then no failure of the remote.
  package mutating func stop(_ reason: String, isInterrupting: Bool = false) {
    switch state {
    case .ended(.failed(.unavailable)) where isInterrupting: break
    case .ended: return
    default: break
    }
    state = .ended(.workLeft(reason))
  }
}

// MARK: - Transitions

extension UploadPlan {
  /// The state behind an event; nil for one that cannot follow the current step. Each combination is listed, so that
  /// the compiler asks about those of a further state or event.
  mutating func state(after event: UploadEvent) -> UploadState? {
    switch (state, event) {
    case (.beginning, .done), (.renewing, .done): return firstPush
    // The remote keeps from a node what that node wrote. Whether a copy of this store wrote under its id cannot be
    // determined without a position that both know, so what comes from the start comes to an id that wrote nothing.
    case (.requeueing, .done): return .renewing
    case (.passing(let batch, _, let next), .done): return .pushing(batch, then: next)
    case (.pushing(let batch, let next), _): return afterPush(of: batch, then: next, event)
    case (.pulling, _): return afterPull(event)
    case (.moving, .done): return .moving
    case (.moving, .exhausted): return firstAttachment
    case (.moving, .failed(let error, _)): return afterFailure(error)
    case (.transferring(let direction), _): return afterTransfer(direction, event)
    case (.requeueing, .failed(let error, _)), (.beginning, .failed(let error, _)): return afterFailure(error)
    case (.beginning, .exhausted), (.beginning, .overtaken), (.beginning, .rolledBack),
      (.renewing, .exhausted), (.renewing, .overtaken), (.renewing, .rolledBack), (.renewing, .failed),
      (.passing, .exhausted), (.passing, .overtaken), (.passing, .rolledBack), (.passing, .failed),
      (.requeueing, .exhausted), (.requeueing, .overtaken), (.requeueing, .rolledBack), (.moving, .overtaken),
      (.moving, .rolledBack), (.ended, _):
      return nil
    }
  }

  private var firstPush: UploadState { canPushRecords ? .pushing(.readings, then: .pull) : firstPull }

  private var firstPull: UploadState { options.pulls ? .pulling : firstMove }

  /// Behind the pull, which may bring a change of zone; what others and this store made is in step by then.
  private var firstMove: UploadState {
    options.movesDocuments && canPushRecords ? .moving : firstAttachment
  }

  /// Attachments come last, so that they delay nothing.
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
    case .overtaken, .rolledBack: return nil
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
    // By what was made here, when a content that a person asked for was next in the queue.
    case .overtaken: return .pushing(.readings, then: .pull)
    case .rolledBack: return afterRollback()
    // A page of one item that fails still cannot be passed over: nobody knows what is on it.
    case .failed(.tooLarge, _) where changes.halve(sent: changes.current): return .pulling
    case .failed(let error, _): return afterFailure(error)
    }
  }

  private mutating func afterRollback() -> UploadState {
    rollbacks += 1
    guard rollbacks < Self.maxRollbacks else {
      return .ended(.workLeft("records are edited faster than they can be synced; the next run continues"))
    }
    // A page that does not follow what the store holds is rolled back in a run that sends nothing, too.
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
    case .overtaken: .pushing(.readings, then: .transfer(direction))
    case .failed(let error, _): afterFailure(error)
    case .rolledBack: nil
    }
  }
}

// MARK: - Failures

extension UploadPlan {
  /// What follows a failure that is not due to the items of a batch.
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

  /// A request that fails for what is in it is halved, down to the item at which it fails.
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
    case .tooLarge: return .passing(batch, .quarantine(reason: "larger than the remote accepts"), then: next)
    case .refused(let reason): return .passing(batch, .quarantine(reason: reason), then: next)
    default:
      setAside += 1
      leftWork = "the remote failed for some items; the next run sends them again"
      return setAside < Self.maxSetAside ? .passing(batch, .setAside, then: next) : .ended(.failed(error))
    }
  }
}
