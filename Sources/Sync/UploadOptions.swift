// SPDX-License-Identifier: Apache-2.0

/// A choice between two base zones.
package enum ZoneChoice: String, CaseIterable, Sendable {
  /// The zone of this store.
  case mine
  /// The zone of the remote's logbook.
  case theirs
}

/// The options of an `upload` run.
package struct UploadOptions: Hashable, Sendable {
  /// Whether pending items are sent.
  package var pushes = true
  /// Whether anything is fetched.
  package var pulls = true
  /// Whether a fetch of others' changes is due, in addition to queued downloads.
  package var areChangesDue = true
  /// Whether contents that the remote lacked are requested again before their delay has passed.
  package var asksForAbsent = false
  /// Whether readings that were left out so far are fetched.
  package var fetchesHistory = false
  /// Whether to agree on the base zone before anything is sent, if no remote has taken part in it yet.
  package var joinsZones = false
  /// Whether the remote stores only instants, so that a change of zone moves documents.
  package var movesDocuments = false
  /// The maximum number of documents moved in one run. Each takes one request of some 50 to 100 ms at a hosted site, so
  /// this limit adds some minutes to a run. Pull and push are completed first.
  package var maxMoves = 5000
  /// The maximum number of documents removed in one run, each by one request.
  package var maxRemovals = 5000
  /// The base zone to use if people set different ones for the two logbooks; nil to ask.
  package var zoneChoice: ZoneChoice?
  /// The maximum number of readings in one request.
  package var maxReadings = 10_000
  /// The maximum number of records in one request.
  package var maxRecords = 1000
  /// The maximum number of items on a page.
  package var maxChanges = 10_000
  /// The maximum number of bytes of an attachment in one request.
  package var maxPartBytes = PartSize.maxBytes

  package init() {}

  var queuesChanges: Bool { pulls && areChangesDue }
}

/// The services of the host for a run.
package struct UploadEnvironment: Sendable {
  /// The host's clock in UTC seconds.
  package var now: @Sendable () -> Int64
  /// A random UUID, in lower case.
  package var makeID: @Sendable () -> String
  /// A random number from 0 up to, not including, 1.
  package var jitter: @Sendable () -> Double
  /// Whether the run's time limit has passed.
  package var isOutOfTime: @Sendable () -> Bool
  /// Whether the run has transferred its maximum number of bytes.
  package var isOutOfBytes: @Sendable () -> Bool

  package init(
    now: @escaping @Sendable () -> Int64, makeID: @escaping @Sendable () -> String,
    jitter: @escaping @Sendable () -> Double, isOutOfTime: @escaping @Sendable () -> Bool = { false },
    isOutOfBytes: @escaping @Sendable () -> Bool = { false }
  ) {
    self.now = now
    self.makeID = makeID
    self.jitter = jitter
    self.isOutOfTime = isOutOfTime
    self.isOutOfBytes = isOutOfBytes
  }
}
