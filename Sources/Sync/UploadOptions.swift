// SPDX-License-Identifier: Apache-2.0

/// Which of two base zones holds.
package enum ZoneChoice: String, CaseIterable, Sendable {
  /// That of this store.
  case mine
  /// That of the remote's logbook.
  case theirs
}

/// What a run of `upload` is asked to do.
package struct UploadOptions: Hashable, Sendable {
  /// Whether what is pending is sent.
  package var pushes = true
  /// Whether something is fetched.
  package var pulls = true
  /// Whether what others changed is due to be fetched, or only what is in the queue already.
  package var areChangesDue = true
  /// Whether contents that the remote did not have are asked for again before their wait is over.
  package var asksForAbsent = false
  /// Whether readings are fetched that were left out so far.
  package var fetchesHistory = false
  /// Whether the base zone is agreed on before anything is sent, where no remote had a say in it yet.
  package var joinsZones = false
  /// Whether the remote holds instants alone, so that a change of zone moves what was sent.
  package var movesDocuments = false
  /// The most documents that are moved in one run. Each takes a request of its own, of some 50 to 100 ms at a hosted
  /// site: with these a run takes some minutes longer, and what pull and push wait for is done before.
  package var maxMoves = 5000
  /// The most documents that are removed in one run, each by a request of its own, too.
  package var maxRemovals = 5000
  /// Which base zone holds where people gave the two logbooks different ones; nil to ask.
  package var zoneChoice: ZoneChoice?
  /// The most readings in one request.
  package var maxReadings = 10_000
  /// The most records in one request.
  package var maxRecords = 1000
  /// The most items on a page.
  package var maxChanges = 10_000
  /// The most bytes of an attachment in one request.
  package var maxPartBytes = PartSize.maxBytes

  /// Push and pull.
  package init() {}

  var queuesChanges: Bool { pulls && areChangesDue }
}
