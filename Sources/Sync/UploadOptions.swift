// SPDX-License-Identifier: Apache-2.0

/// A person's choice between two base zones.
package enum ZoneChoice: String, CaseIterable, Sendable {
  /// Use the zone of this store.
  case mine
  /// Use the zone of the remote's logbook.
  case theirs
}

package struct UploadOptions: Hashable, Sendable {
  /// Whether to send pending items.
  package var pushes = true
  /// Whether to download anything.
  package var pulls = true
  /// Whether changes of other nodes must be pulled, in addition to queued downloads.
  package var areChangesDue = true
  /// Whether contents that the remote lacked are requested again at once, without waiting for the end of
  /// their delay.
  package var requestsAbsentAtOnce = false
  /// Whether to download readings that were left out earlier.
  package var fetchesHistory = false
  /// Whether to determine the common base zone before anything is sent, because the store has not joined a
  /// remote yet.
  package var joinsZones = false
  /// Whether the remote stores only instants, so that a change of zone requires moving documents.
  package var movesDocuments = false
  /// The maximum number of documents that one upload moves. A request takes 50 to 100 ms on a hosted site, so
  /// the moves take some minutes. Push and pull are completed before.
  package var maxMoves = 5000
  /// The maximum number of documents that one upload removes, with one request for each.
  package var maxRemovals = 5000
  /// The base zone to use if people set different base zones in the two logbooks; nil if no choice was given.
  package var zoneChoice: ZoneChoice?
  /// The maximum number of readings in one request.
  package var maxReadings = 10_000
  /// The maximum number of records in one request.
  package var maxRecords = 1000
  /// The maximum number of items on a page of the remote's changes.
  package var maxChanges = 10_000
  /// The maximum number of bytes of an attachment in one request.
  package var maxPartBytes = PartSize.maxBytes

  package init() {}

  var queuesChanges: Bool { pulls && areChangesDue }
}

/// The functions of the host that an upload uses, so that tests can replace them.
package struct UploadEnvironment: Sendable {
  /// The host's clock in UTC seconds.
  package var now: @Sendable () -> Int64
  /// Creates a random UUID in lower case.
  package var makeID: @Sendable () -> String
  /// Returns a random number from 0 up to, but not including, 1.
  package var jitter: @Sendable () -> Double
  /// Whether the time limit of the upload has passed.
  package var isOutOfTime: @Sendable () -> Bool
  /// Whether the upload has transferred its maximum number of bytes.
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
