// SPDX-License-Identifier: Apache-2.0

/// How far the attachments of a run are: a failing content is left aside, and the next one goes on.
struct AttachmentLane {
  /// Breaks in a row, without a part that went through, after which the remote counts as out of reach.
  static let maxBreaks = 6
  /// Contents at which the server may fail before it counts as failing.
  static let maxFailing = 3
  /// Answers to parts of one content that bring it no further.
  static let maxStalls = 8

  /// A part that goes on but is smaller, though more was asked for, counts as an answer that brings a content no further:
  /// with ranges of one byte, 25 MiB would take weeks.
  static let minPartBytes = 4096

  /// Contents that are left for another run, by their digests.
  private(set) var setAside: Set<String> = []
  private(set) var partSize: PartSize
  /// Pending readings that this run does not send.
  var readingsLeft: Int?
  private var sending: (digest: String, offset: Int64)?
  private var breaks = 0
  private var failing = 0
  private var stalls: [String: Int] = [:]

  init(_ partSize: PartSize) { self.partSize = partSize }

  /// Whether so many of the bytes of a part are worth another request.
  static func isProgress(_ bytes: Int64, of requested: Int, isLast: Bool) -> Bool {
    bytes > 0 && (isLast || bytes >= min(Int64(requested), Int64(minPartBytes)))
  }

  /// Where the remote's content ends; nil where it has to be asked.
  func offset(of digest: String) -> Int64? { sending.flatMap { $0.digest == digest ? $0.offset : nil } }

  /// The remote's content ends there.
  mutating func note(_ digest: String, endsAt offset: Int64) { sending = (digest, offset) }

  /// A part went through.
  mutating func succeed() {
    breaks = 0
    partSize.succeed()
  }

  /// The exchange was interrupted: what arrived is not known.
  ///
  /// - Returns: whether to try again at once.
  mutating func breakOff() -> Bool {
    sending = nil
    breaks += 1
    partSize.breakOff()
    return breaks < Self.maxBreaks
  }

  /// A part was too large.
  ///
  /// - Returns: whether a smaller one can be tried.
  mutating func halve() -> Bool { partSize.halve() }

  /// An answer brought a content no further.
  ///
  /// - Parameter weight: how much of the patience it takes.
  /// - Returns: whether to go on with it.
  mutating func stall(_ digest: String, weight: Int = 1) -> Bool {
    sending = nil
    stalls[digest, default: 0] += weight
    return stalls[digest, default: 0] < Self.maxStalls
  }

  /// Leaves a content for another run.
  mutating func leave(_ digest: String) {
    setAside.insert(digest)
    sending = nil
  }

  /// Leaves a content at which the server failed.
  ///
  /// - Returns: whether others are worth a try.
  mutating func fail(_ digest: String) -> Bool {
    leave(digest)
    failing += 1
    return failing < Self.maxFailing
  }
}
