// SPDX-License-Identifier: Apache-2.0

/// The progress of a run's attachments. A failing content is left for another run, and the next one continues.
struct AttachmentLane {
  /// The number of consecutive interruptions without a transferred part after which the remote counts as unreachable.
  static let maxBreaks = 6
  /// The number of contents for which the server may fail before the server counts as failing.
  static let maxFailing = 3
  /// The maximum number of answers for one content without progress.
  static let maxStalls = 8

  /// A smaller part counts as no progress if more was requested and it is not the last: with ranges of one byte, 25 MiB
  /// would take weeks.
  static let minPartBytes = 4096

  /// The digests of contents left for another run.
  private(set) var setAside: Set<String> = []
  private(set) var partSize: PartSize
  /// The number of pending readings that this run does not send.
  var readingsLeft: Int?
  private var sending: (digest: String, offset: Int64)?
  private var breaks = 0
  private var failing = 0
  private var stalls: [String: Int] = [:]

  init(_ partSize: PartSize) { self.partSize = partSize }

  /// Whether this number of received bytes counts as progress.
  static func isProgress(_ bytes: Int64, of requested: Int, isLast: Bool) -> Bool {
    bytes > 0 && (isLast || bytes >= min(Int64(requested), Int64(minPartBytes)))
  }

  /// The end of the remote's part of a content; nil if it must be requested.
  func offset(of digest: String) -> Int64? { sending.flatMap { $0.digest == digest ? $0.offset : nil } }

  /// Records the end of the remote's part of a content.
  mutating func note(_ digest: String, endsAt offset: Int64) { sending = (digest, offset) }

  /// Records a transferred part.
  mutating func succeed() {
    breaks = 0
    partSize.succeed()
  }

  /// Records an interruption, after which the end of the remote's part is unknown.
  ///
  /// - Returns: whether to retry immediately.
  mutating func breakOff() -> Bool {
    sending = nil
    breaks += 1
    partSize.breakOff()
    return breaks < Self.maxBreaks
  }

  /// Records that a part was too large.
  ///
  /// - Returns: whether a smaller part is possible.
  mutating func halve() -> Bool { partSize.halve() }

  /// Records an answer without progress.
  ///
  /// - Parameter weight: the number of answers that it counts as.
  /// - Returns: whether to continue with the content.
  mutating func stall(_ digest: String, weight: Int = 1) -> Bool {
    sending = nil
    stalls[digest, default: 0] += weight
    return stalls[digest, default: 0] < Self.maxStalls
  }

  mutating func leave(_ digest: String) {
    setAside.insert(digest)
    sending = nil
  }

  /// Leaves a content for which the server failed.
  ///
  /// - Returns: whether to try other contents.
  mutating func fail(_ digest: String) -> Bool {
    leave(digest)
    failing += 1
    return failing < Self.maxFailing
  }
}
