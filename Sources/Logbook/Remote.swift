// SPDX-License-Identifier: Apache-2.0

/// What one run of an upload tells a remote of itself with every request.
public struct RunStamp: Hashable, Sendable {
  /// The id of this installation, a random UUID.
  public var node: String
  /// Raised by one with every run of the node.
  public var number: Int64
  /// A random UUID of this run, so that two copies of a store never pass for one.
  public var id: String
  /// The logbook that the store was synced with; nil before the first answer.
  public var logbook: String?
  /// The latest position of the remote that this store has seen; nil before the first answer. Where the node wrote
  /// something behind it, a copy of the store did, or an answer was lost: the node's own writes are kept from it, so
  /// it needs another id to see them.
  public var mark: String?

  /// A run of a node.
  public init(node: String, number: Int64, id: String, logbook: String? = nil, mark: String? = nil) {
    self.node = node
    self.number = number
    self.id = id
    self.logbook = logbook
    self.mark = mark
  }
}

/// Readings with the devices they point to, on their way to or from a remote. Every occurrence is stated.
public struct ReadingBatch: Sendable {
  /// The devices; readings point here by `DeviceIndex`.
  public var devices: [Device]
  /// The readings.
  public var readings: [Reading]

  /// A batch of readings and their devices.
  public init(devices: [Device] = [], readings: [Reading] = []) {
    self.devices = devices
    self.readings = readings
  }
}

/// What a remote answers to a batch of readings: each of them is stored there, but for those listed as refused.
public struct ReadingAnswer: Hashable, Sendable {
  /// Readings that the remote did not have.
  public var stored: Int
  /// Readings that it had, whatever their value.
  public var known: Int
  /// Places in the batch of readings that it has with another value.
  public var differing: [Int]
  /// Places in the batch of readings that it refuses for good, with its words.
  public var refused: [RefusedItem]
  /// The remote's position after this request.
  public var mark: String?

  /// An answer with these counts.
  public init(
    stored: Int, known: Int, differing: [Int] = [], refused: [RefusedItem] = [], mark: String? = nil
  ) {
    self.stored = stored
    self.known = known
    self.differing = differing
    self.refused = refused
    self.mark = mark
  }
}

/// One item of a batch that a remote refuses for good.
public struct RefusedItem: Hashable, Sendable {
  /// The place in the batch, from 0.
  public var item: Int
  /// The remote's words.
  public var reason: String

  /// A refusal of the item at this place.
  public init(item: Int, reason: String) {
    self.item = item
    self.reason = reason
  }
}

/// What a remote answers to one change of a record.
public enum RecordVerdict: Hashable, Sendable {
  /// It is the remote's state, too, under this revision.
  case accepted(revision: String)
  /// The remote has another state, which this change was not made on. Where it does not even know the base, as
  /// after it was restored from a backup, there is none to merge against.
  case conflict(revision: String, state: RecordState, isBaseKnown: Bool)
  /// The remote refuses it for good, with its words.
  case refused(reason: String)
}

/// The answers to a batch of changes, in the order of the batch.
public struct RecordAnswer: Hashable, Sendable {
  /// One for each change sent.
  public var verdicts: [RecordVerdict]
  /// The remote's position after this request.
  public var mark: String?

  /// The answers in the order of the batch.
  public init(verdicts: [RecordVerdict], mark: String? = nil) {
    self.verdicts = verdicts
    self.mark = mark
  }
}

/// A record as a remote has it.
public struct RemoteRecord: Hashable, Sendable {
  /// The identity.
  public var guid: String
  /// The remote's mark for this state.
  public var revision: String
  /// The content.
  public var state: RecordState

  /// A record under the remote's revision.
  public init(guid: String, revision: String, state: RecordState) {
    self.guid = guid
    self.revision = revision
    self.state = state
  }
}

/// A page of what others changed on a remote.
public struct ChangePage: Sendable {
  /// Readings, each once.
  public var readings: ReadingBatch
  /// Records in their current state, each once.
  public var records: [RemoteRecord]
  /// Items of the remote that are not taken, counted by the reason.
  public var notTaken: [String: Int] = [:]
  /// Where the next page begins. Moves on an empty page, too.
  public var cursor: String
  /// Whether there is another page.
  public var hasMore: Bool

  /// A page and where the next one begins.
  public init(readings: ReadingBatch, records: [RemoteRecord], cursor: String, hasMore: Bool) {
    self.readings = readings
    self.records = records
    self.cursor = cursor
    self.hasMore = hasMore
  }
}

/// What a remote says of the logbook behind a login.
public struct RemoteLogbook: Hashable, Sendable {
  /// The logbook's id, a UUID that no other logbook has.
  public var id: String
  /// The name for people.
  public var name: String
  /// Whether this login may change it.
  public var isWritable: Bool
  /// The most readings in one request.
  public var maxReadings: Int
  /// The most records in one request.
  public var maxRecords: Int
  /// What the login lacks of what an upload needs, in the remote's own words; empty where nothing is missing or known.
  public var missingPermissions: [String]
  /// The remote's latest position.
  public var mark: String?
  /// The remote's clock in UTC seconds, where it tells.
  public var time: Int64?

  /// A logbook behind a login.
  public init(
    id: String, name: String, isWritable: Bool, maxReadings: Int, maxRecords: Int,
    missingPermissions: [String] = [], mark: String? = nil, time: Int64? = nil
  ) {
    self.id = id
    self.name = name
    self.isWritable = isWritable
    self.maxReadings = maxReadings
    self.maxRecords = maxRecords
    self.missingPermissions = missingPermissions
    self.mark = mark
    self.time = time
  }
}

/// Why a request to a remote failed: what can be done about it, and a sentence that holds no secret and no value.
public enum RemoteError: Error, Hashable, Sendable {
  /// It cannot be reached, or the exchange broke off: nobody knows whether the request was carried out.
  case unavailable(String)
  /// It asks to wait, perhaps for so many seconds.
  case busy(String, retryAfterSeconds: Int?)
  /// It failed at this very request; another may pass.
  case serverFailure(String)
  /// The request is larger than it takes.
  case tooLarge
  /// It refuses the request for good.
  case refused(String)
  /// The login is not, or no longer, good.
  case loginRefused(String)
  /// The login is good for reading only.
  case readOnly
  /// It saw a later run of this node: the store is a copy, or was restored.
  case nodeReused
  /// It serves another logbook than the one that this store was synced with.
  case otherLogbook(id: String)
  /// It does not know a cursor or mark that it gave: it was restored from an older backup.
  case positionUnknown
  /// It broke its protocol.
  case protocolViolation(String)
  /// The logbook was removed there for ever.
  case purged
}

/// The most items that one push may hold.
public struct BatchLimits: Hashable, Sendable {
  /// Readings in one push.
  public var readings: Int
  /// Changes of records in one push.
  public var records: Int

  /// Limits of at least one item each; without arguments none that a store comes near.
  public init(readings: Int = .max, records: Int = .max) {
    self.readings = readings
    self.records = records
  }
}

/// A server that a store syncs with. Requests are safe to repeat; none is repeated by the remote itself.
public protocol Remote: Sendable {
  /// How many items one push may hold; what is pushed together is acknowledged together.
  var batchLimits: BatchLimits { get }
  /// What the login gives access to.
  func logbook() async throws(RemoteError) -> RemoteLogbook
  /// Sends readings; known ones are not stored again.
  func push(_ batch: ReadingBatch, _ run: RunStamp) async throws(RemoteError) -> ReadingAnswer
  /// Sends changes of records, each answered on its own.
  func push(_ changes: [RecordChange], _ run: RunStamp) async throws(RemoteError) -> RecordAnswer
  /// What others changed behind the cursor; nil when nothing changed at all.
  ///
  /// - Parameter limit: the most items on the page.
  func changes(after cursor: String?, limit: Int, _ run: RunStamp) async throws(RemoteError) -> ChangePage?
  /// Digests over the identities of the readings that the remote has.
  func readingDigests(_ run: RunStamp) async throws(RemoteError) -> IdentityDigests
}

extension Remote {
  /// No limit but the caller's.
  public var batchLimits: BatchLimits { BatchLimits() }
}
