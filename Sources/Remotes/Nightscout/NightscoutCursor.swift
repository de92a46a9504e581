// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Nightscout

/// How far the changes of a Nightscout site were pulled. All times are those of the server's clock, in
/// milliseconds.
struct NightscoutCursor: Codable, Hashable, Sendable {
  /// A record that was found in the last sweep; see `Window`. If the next sweep does not find the record,
  /// perhaps its document was deleted.
  struct Seen: Codable, Hashable, Sendable {
    let revision: String
    let kind: String
    let seconds: Int64
    let offset: Int32
  }

  /// The result of the last sweep. A sweep reads all documents whose events are in the last days.
  struct Window: Codable, Hashable, Sendable {
    /// The start of the period of a sweep. A sweep reads the documents whose events are after it.
    var start: Int64
    /// The digest of all documents that the sweep found in the collection `entries`.
    var digest: String
    /// The records that the sweep found in the collection `treatments`, by guid.
    var seen: [String: Seen]
    /// The rejected documents, with the times of their events. If a later sweep finds such a document again,
    /// it is not counted again.
    var refused: [String: Int64] = [:]
  }

  /// The length of the time before the last request, in milliseconds. Documents that were stored in this time
  /// are requested again, since they can become visible late. The server sets the time of a write before the
  /// write becomes visible, and several server instances have different clocks.
  static let overlap: Int64 = 60_000
  /// The tolerance when a time is compared with the site's clock; see `NightscoutTime.slack`.
  static let slack = NightscoutTime.slack
  /// The time in milliseconds after which the history is read again, even if the latest times have not
  /// changed. This is done only if the history may lack writes that became visible up to `overlap` late.
  /// Sweeps find most of these writes earlier. Entries that no search by time finds are counted at the same
  /// interval.
  static let unfoundWait: Int64 = 6 * 3_600_000
  /// The length of the period that a sweep reads, in milliseconds.
  static let sweepMilliseconds: Int64 = 2 * 86_400_000
  /// The start of the period that sweeps read is moved by at least this number of milliseconds. So the start,
  /// which is a part of the cursor, rarely changes.
  private static let sweepStepMilliseconds: Int64 = 86_400_000 / 2

  /// The time up to which all documents that the site stored were pulled.
  var complete: Int64
  /// When the last `NightscoutRound` that read the history began.
  var asked: Int64
  /// The latest time in each collection, as the server stated it when the round of `asked` began.
  var latest: [String: Int64]
  var window: Window
  /// When entries that no search by time finds were last counted; nil for never.
  var unfoundAsked: Int64?
  /// The number of entries that no search by time finds, when they were last counted; nil for never.
  var unfound: Int?
  /// The remaining steps of the current round; nil if no round is in progress.
  var round: NightscoutRound?

  init(asked: Int64, latest: [String: Int64]) {
    self.asked = asked
    self.latest = latest
    complete = NightscoutTime.minMilliseconds
    window = Window(start: asked - Self.sweepMilliseconds, digest: Self.digest([]), seen: [:])
  }

  /// Nil for a text that this program did not write.
  init?(_ text: String) {
    do {
      self = try JSONDecoder().decode(NightscoutCursor.self, from: Data(text.utf8))
    } catch {
      return nil
    }
  }

  /// The cursor as text for the store.
  var text: String { get throws(ServiceError) { try Self.text(of: self) } }

  /// A value as JSON. A position that cannot be written is an error: without it, the next sweep would begin
  /// again or miss deletions.
  private static func text(of value: some Encodable) throws(ServiceError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(value), as: UTF8.self)
    } catch {
      throw .protocolViolation("the position of the download from the site cannot be stored: \(error)")
    }
  }

  /// A position for a store that has sent these records and has not read the site since. With this position,
  /// the next sweep notices if such a record was deleted in the meantime.
  static func mark(_ sent: [String: Seen]) throws(ServiceError) -> String? {
    sent.isEmpty ? nil : "sent " + (try text(of: sent))
  }

  /// The records in a text made by `mark`; empty for any other text.
  static func sent(_ mark: String?) -> [String: Seen] {
    guard let mark, mark.hasPrefix("sent ") else { return [:] }
    do {
      return try JSONDecoder().decode([String: Seen].self, from: Data(mark.utf8.dropFirst(5)))
    } catch {
      return [:]
    }
  }

  /// The maximum number of rejected documents in `refused`. Further rejected documents are counted again in
  /// each round.
  private static let maxRefused = 1000

  /// Whether to count a rejected document. Each document is counted once, even if several sweeps find it.
  mutating func countsRefused(_ document: NightscoutDocument) -> Bool {
    guard window.refused[document.identifier] == nil else { return false }
    let time = document.treatmentInstant?.milliseconds ?? asked
    if time > window.start, window.refused.count < Self.maxRefused {
      window.refused[document.identifier] = time
    }
    return true
  }

  /// The start of the period that the next sweep reads, if the current sweep began at `now`. The start is
  /// moved at most twice a day, so that the cursor rarely changes.
  func nextStart(at now: Int64) -> Int64 {
    now - Self.sweepMilliseconds > window.start + Self.sweepStepMilliseconds
      ? now - Self.sweepMilliseconds : window.start
  }

  static func digest(_ documents: [NightscoutDocument]) -> String {
    NightscoutDocument.digest(
      documents.map { "\($0.identifier) \($0.digest)" }.sorted().joined(separator: "\n"))
  }
}

extension NightscoutCursor.Seen {
  init(_ record: NightscoutRecord) {
    self.init(
      revision: record.revision, kind: record.state.kind.rawValue, seconds: record.state.deviceTime.seconds,
      offset: record.state.placement.utcOffset)
  }

  /// The state of a reading that was found in a treatment. Its `kind` is empty, so it is not looked up if it
  /// is missing later. Only records can be deleted on the site, and readings cannot.
  init(_ reading: Reading) {
    self.init(
      revision: "", kind: "", seconds: reading.deviceTime.seconds, offset: reading.placement.utcOffset)
  }

  /// A record that this store sent in this state.
  init(_ state: RecordState, revision: String) {
    self.init(
      revision: revision, kind: state.kind.rawValue, seconds: state.deviceTime.seconds,
      offset: state.placement.utcOffset)
  }

  var isRecord: Bool { !kind.isEmpty }

  var milliseconds: Int64 { (seconds - Int64(offset)) * 1000 }
}

/// One pass over all changes that a site may have. It may need several pages and several runs.
struct NightscoutRound: Codable, Hashable, Sendable {
  enum Task: String, Codable, Sendable {
    /// Writes and deletions by API v3. In the first round, these are all documents.
    case history
    /// Writes by API v1, which do not change `srvModified`. They are found by reading all documents of the
    /// last days.
    case sweep
  }

  struct Step: Codable, Hashable, Sendable {
    let task: Task
    var walk: NightscoutWalk
    /// Whether an earlier page contains a part of the sweep, so that the current page does not contain the
    /// whole sweep.
    var isSplit = false
    /// The records in treatments that the sweep found on its earlier pages.
    var seen: [String: NightscoutCursor.Seen] = [:]
  }

  /// When the round began, and the latest time in each collection at that moment.
  let asked: Int64
  let latest: [String: Int64]
  var steps: [Step]

  /// Whether the round reads the history. If not, it only sweeps.
  var readsHistory: Bool
}
