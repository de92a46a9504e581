// SPDX-License-Identifier: Apache-2.0

/// What a run of `upload` is asked to do.
package struct UploadOptions: Hashable, Sendable {
  /// Whether what is pending is sent.
  package var pushes = true
  /// Whether something is fetched.
  package var pulls = true
  /// Whether what others changed is due to be fetched, or only what is in the queue already.
  package var areChangesDue = true
  /// Whether readings are fetched that were left out so far.
  package var fetchesHistory = false
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
