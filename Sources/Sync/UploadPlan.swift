// SPDX-License-Identifier: Apache-2.0

public import Logbook
public import LogbookStore

/// What a run of `upload` is asked to do.
public struct UploadOptions: Hashable, Sendable {
  /// Whether what is pending is sent.
  public var pushes = true
  /// Whether something is fetched.
  public var pulls = true
  /// Whether what others changed is due to be fetched, or only what is in the queue already.
  public var areChangesDue = true
  /// Whether readings are fetched that were left out so far.
  public var fetchesHistory = false
  /// The most readings in one request.
  public var maxReadings = 10_000
  /// The most records in one request.
  public var maxRecords = 1000
  /// The most items on a page.
  public var maxChanges = 10_000
  /// The most bytes of an attachment in one request.
  public var maxPartBytes = PartSize.most

  /// Push and pull.
  public init() {}

  var queuesChanges: Bool { pulls && areChangesDue }
}

/// One thing that a run does next: at most one request, between transactions of the store.
public enum UploadStep: Hashable, Sendable {
  /// Writes a raised run number and an id into the store.
  case begin
  /// Sends the next readings that are pending.
  case pushReadings(limit: Int)
  /// Sends the next records that are pending.
  case pushRecords(PushPhase, limit: Int)
  /// Leaves the item that the last request held for another run.
  case setAside
  /// Keeps the item that the last request held, with the remote's words, and does not send it again.
  case quarantine(reason: String)
  /// Fetches and applies what comes next in the queue of downloads.
  case pull(limit: Int)
  /// Sends the next part of the content of an attachment, or asks how much of it is there.
  case pushAttachments
  /// Fetches the next part of the content of an attachment.
  case fetchAttachments
  /// Finds out what a remote that lost its newest part lacks, and queues it again.
  case requeueMissing
  /// Takes a node id of its own, since another store bears the present one.
  case renewNode
  /// Nothing is left to do, or nothing can be done.
  case finish(UploadEnding)
}

/// What came of a step.
public enum UploadEvent: Hashable, Sendable {
  /// The step was done; for a push or pull: there may be more of the kind.
  case done
  /// There was nothing to send, or no page left.
  case exhausted
  /// Before a part of an attachment's content, something was found to send that goes first.
  case overtaken
  /// A record was edited while its page was on the way: nothing of the page was applied.
  case rolledBack
  /// The request failed. `items` is how many were in it to which the failure may be due.
  case failed(RemoteError, items: Int)
}

/// How a run ends.
public enum UploadEnding: Hashable, Sendable {
  /// Everything that could be done is done.
  case complete
  /// Something is left that another run can do.
  case workLeft(String)
  /// The remote failed in a way that passes, and asks, perhaps, to wait.
  case failed(RemoteError)
}

/// Decides what a run does next from what came of its last step. A plain value, so that every path can be tested
/// without a store or a remote.
public struct UploadPlan: Sendable {
  /// How often a pull may be rolled back by edits before the run ends: a busy editor never keeps it running.
  public static let maxRollbacks = 5
  /// Items that are set aside before the remote itself counts as failing.
  public static let maxSetAside = 3
  static let maxRenewals = 2
  static let maxVerifications = 2

  let options: UploadOptions
  private var readings: BatchSize
  private var records: BatchSize
  private var changes: BatchSize
  private var step = UploadStep.begin
  /// What goes on after an item was set aside or quarantined.
  private var resumed = UploadStep.begin
  private var rollbacks = 0
  private var setAside = 0
  private var renewals = 0
  private var verifications = 0
  /// Why work is left, should nothing worse happen.
  private var reason: String?
  private var canPush = true
  /// The attachments to which the run goes back, when what overtook them is sent.
  private var overtaken: UploadStep?

  /// A plan whose first step is `begin`.
  public init(_ options: UploadOptions) {
    self.options = options
    readings = BatchSize(largest: options.maxReadings)
    records = BatchSize(largest: options.maxRecords)
    changes = BatchSize(largest: options.maxChanges)
  }

  /// The step to do.
  public var current: UploadStep { step }

  /// Whether records can be sent at all in this run. Those that cannot never hold a pull back.
  public var canPushRecords: Bool { options.pushes && canPush }

  /// Goes on to the next step.
  public mutating func note(_ event: UploadEvent) {
    step =
      switch event {
      case .done: afterSuccess()
      case .exhausted: afterLast()
      case .overtaken: afterOvertaking()
      case .rolledBack: afterRollback()
      case .failed(let error, let items): afterFailure(error, items: items)
      }
  }

  /// Remembers that something is left for another run.
  public mutating func leaveWork(_ reason: String) { self.reason = reason }

  /// Ends the run before its next step, as when its time is over.
  public mutating func stop(_ reason: String) {
    if case .finish = step { return }
    step = .finish(.workLeft(reason))
  }

  private mutating func afterSuccess() -> UploadStep {
    switch step {
    case .begin, .renewNode:
      overtaken = nil
      return firstPush
    // The remote keeps from a node what that node wrote. Whether a copy of this store wrote under its id cannot be told
    // without a position that both know, so what comes from the start comes to an id that wrote nothing.
    case .requeueMissing: return .renewNode
    case .pushReadings:
      readings.succeed()
      return .pushReadings(limit: readings.current)
    case .pushRecords(let phase, _):
      records.succeed()
      return .pushRecords(phase, limit: records.current)
    case .setAside, .quarantine: return resumed
    case .pull:
      changes.succeed()
      return .pull(limit: changes.current)
    case .pushAttachments, .fetchAttachments, .finish: return step
    }
  }

  private var firstPush: UploadStep {
    options.pushes && canPush ? .pushReadings(limit: readings.current) : firstPull
  }

  private var firstPull: UploadStep { options.pulls ? .pull(limit: changes.current) : firstAttachment }

  /// Attachments come last, so that nothing waits for them.
  private var firstAttachment: UploadStep { options.pushes && canPush ? .pushAttachments : firstFetch }

  private var firstFetch: UploadStep { options.pulls ? .fetchAttachments : ending }

  private var ending: UploadStep {
    if !canPush { return .finish(.failed(.readOnly)) }
    return .finish(reason.map { .workLeft($0) } ?? .complete)
  }

  private mutating func afterLast() -> UploadStep {
    switch step {
    case .pushReadings: return .pushRecords(.entries, limit: records.current)
    case .pushRecords(.entries, _): return .pushRecords(.children, limit: records.current)
    case .pushRecords(.children, _):
      defer { overtaken = nil }
      return overtaken ?? firstPull
    case .pull: return firstAttachment
    case .pushAttachments: return firstFetch
    default: return ending
    }
  }

  private mutating func afterOvertaking() -> UploadStep {
    overtaken = step
    return .pushReadings(limit: readings.current)
  }

  private mutating func afterRollback() -> UploadStep {
    rollbacks += 1
    guard rollbacks < Self.maxRollbacks else {
      return .finish(.workLeft("records are edited faster than they can be synced"))
    }
    return .pushRecords(.entries, limit: records.current)
  }

  private mutating func afterFailure(_ error: RemoteError, items: Int) -> UploadStep {
    switch error {
    case .tooLarge, .refused, .serverFailure: return afterRefusal(error, items: items)
    case .nodeReused where renewals < Self.maxRenewals:
      renewals += 1
      return .renewNode
    case .positionUnknown where verifications < Self.maxVerifications:
      verifications += 1
      return .requeueMissing
    case .readOnly where canPush:
      canPush = false
      return options.pulls ? firstPull : .finish(.failed(error))
    default: return .finish(.failed(error))
    }
  }

  /// A request that fails for what is in it is halved, down to the item at which it fails.
  private mutating func afterRefusal(_ error: RemoteError, items: Int) -> UploadStep {
    switch step {
    case .pushReadings where items == 0, .pushRecords where items == 0: return .finish(.failed(error))
    case .pushReadings:
      if readings.halve(sent: items) { return .pushReadings(limit: readings.current) }
    case .pushRecords(let phase, _):
      if records.halve(sent: items) { return .pushRecords(phase, limit: records.current) }
    case .pull:
      // A page of one item that fails still cannot be passed over: nobody knows what is on it.
      guard error != .tooLarge || changes.halve(sent: changes.current) else { return .finish(.failed(error)) }
      return error == .tooLarge ? .pull(limit: changes.current) : .finish(.failed(error))
    default: return .finish(.failed(error))
    }
    resumed = step
    switch error {
    case .tooLarge: return .quarantine(reason: "larger than the remote takes")
    case .refused(let reason): return .quarantine(reason: reason)
    default:
      setAside += 1
      reason = "the remote fails at some items; they are sent again later"
      return setAside < Self.maxSetAside ? .setAside : .finish(.failed(error))
    }
  }
}
