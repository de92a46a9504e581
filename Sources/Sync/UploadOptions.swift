// SPDX-License-Identifier: Apache-2.0

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
