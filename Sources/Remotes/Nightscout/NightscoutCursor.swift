// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Nightscout

/// How far a site has been pulled. All times are of the server's clock, in milliseconds.
struct NightscoutCursor: Codable, Hashable, Sendable {
  /// A record in the last sweep, so that its removal can be noticed.
  struct Seen: Codable, Hashable, Sendable {
    let revision: String
    let kind: String
    let seconds: Int64
    let offset: Int32
  }

  /// The state of the last sweep.
  struct Window: Codable, Hashable, Sendable {
    /// Sweeps read events after this time.
    var start: Int64
    /// The digest of the entries.
    var digest: String
    /// The records in treatments.
    var seen: [String: Seen]
    /// Rejected documents with their times, so that each is counted once.
    var refused: [String: Int64] = [:]
  }

  /// Everything stored in this many milliseconds before the last request is requested again. The server stamps a write
  /// before it becomes visible, and several instances have different clocks.
  static let overlap: Int64 = 60_000
  /// The site states its clock in whole seconds, and with the delay of an answer.
  static let slack = NightscoutTime.slack
  /// The interval between two reads of the history while no latest time changes: late writes can then only be in the
  /// overlap. Each run's sweeps still read the events of the last days.
  static let unfoundWait: Int64 = 6 * 3_600_000
  /// The length of a sweep's period.
  static let sweptBack: Int64 = 2 * 86_400_000
  /// The start of a sweep's period moves in steps of this size.
  private static let sweptStep: Int64 = 86_400_000 / 2

  /// Everything stored before this time has been pulled.
  var complete: Int64
  /// The start of the last round that read the history.
  var asked: Int64
  /// The latest time in each collection at that moment, as stated by the server.
  var latest: [String: Int64]
  var window: Window
  /// The time of the last search for entries that no search by time finds.
  var unfoundAsked: Int64?
  /// The number of such entries.
  var unfound: Int?
  /// The rest of the current round; nil between rounds.
  var round: NightscoutRound?

  init(asked: Int64, latest: [String: Int64]) {
    self.asked = asked
    self.latest = latest
    complete = NightscoutTime.minMilliseconds
    window = Window(start: asked - Self.sweptBack, digest: Self.digest([]), seen: [:])
  }

  /// Nil for a text that this program did not write.
  init?(_ text: String) {
    do {
      self = try JSONDecoder().decode(NightscoutCursor.self, from: Data(text.utf8))
    } catch {
      return nil
    }
  }

  /// The cursor's text for the store. Encoding it cannot fail.
  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    } catch {
      return ""
    }
  }

  /// A position for a store that has sent these records and has not read the site since. A record deleted there before
  /// the next sweep would otherwise leave no trace.
  static func mark(_ sent: [String: Seen]) -> String? {
    guard !sent.isEmpty else { return nil }
    do {
      return "sent " + String(decoding: try JSONEncoder().encode(sent), as: UTF8.self)
    } catch {
      return nil
    }
  }

  /// The sent records in a mark; empty for any other mark.
  static func sent(_ mark: String?) -> [String: Seen] {
    guard let mark, mark.hasPrefix("sent ") else { return [:] }
    do {
      return try JSONDecoder().decode([String: Seen].self, from: Data(mark.utf8.dropFirst(5)))
    } catch {
      return [:]
    }
  }

  /// The maximum number of remembered rejected documents. Further ones are counted again in every round.
  private static let maxRefused = 1000

  /// Whether to count a rejected document: each is counted once, in whatever number of sweeps.
  mutating func notesRefused(_ document: NightscoutDocument) -> Bool {
    guard window.refused[document.identifier] == nil else { return false }
    let time = document.treatmentInstant?.milliseconds ?? asked
    if time > window.start, window.refused.count < Self.maxRefused {
      window.refused[document.identifier] = time
    }
    return true
  }

  /// The start of the next period after a sweep at this time. It moves in steps, so that little changes between runs.
  func nextStart(at now: Int64) -> Int64 {
    now - Self.sweptBack > window.start + Self.sweptStep ? now - Self.sweptBack : window.start
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

  /// A reading of a treatment, which is never removed.
  init(_ reading: Reading) {
    self.init(
      revision: "", kind: "", seconds: reading.deviceTime.seconds, offset: reading.placement.utcOffset)
  }

  /// A state that was sent.
  init(_ state: RecordState, revision: String) {
    self.init(
      revision: revision, kind: state.kind.rawValue, seconds: state.deviceTime.seconds,
      offset: state.placement.utcOffset)
  }

  var isRecord: Bool { !kind.isEmpty }

  var milliseconds: Int64 { (seconds - Int64(offset)) * 1000 }
}

/// One pass through all possible changes, over any number of pages.
struct NightscoutRound: Codable, Hashable, Sendable {
  enum Task: String, Codable, Sendable {
    /// Writes and deletions by API v3; in a first pull, everything.
    case history
    /// Writes by API v1, which leave no mark of change.
    case sweep
  }

  struct Step: Codable, Hashable, Sendable {
    let task: Task
    var walk: NightscoutWalk
    /// Whether an earlier page belongs to the sweep, so that no single page is the whole sweep.
    var isSplit = false
    /// The records on earlier pages of a sweep of treatments.
    var seen: [String: NightscoutCursor.Seen] = [:]
  }

  /// The start of the round, and the latest times then.
  let asked: Int64
  let latest: [String: Int64]
  var steps: [Step]

  /// Whether the round reads the history.
  var readsHistory: Bool
}
