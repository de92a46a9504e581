// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook
import Nightscout

/// How far a site has been pulled. Every time in it is of the server's clock, in milliseconds.
struct NightscoutCursor: Codable, Hashable, Sendable {
  /// A record as the last sweep saw it, so that one that is gone can be reported.
  struct Seen: Codable, Hashable, Sendable {
    let revision: String
    let kind: String
    let seconds: Int64
    let offset: Int32
  }

  /// What the last sweep saw.
  struct Window: Codable, Hashable, Sendable {
    /// The time of the event behind which the sweep looks.
    var start: Int64
    /// Over the entries.
    var digest: String
    /// The records of treatments.
    var seen: [String: Seen]
    /// Documents that were not taken, each with its time, so that they are counted once.
    var refused: [String: Int64] = [:]
  }

  /// The server stamps a write before anybody sees it, and several instances have clocks of their own: what was stored
  /// in so many milliseconds before a question is asked for once more.
  static let overlap: Int64 = 60_000
  /// The site gives its clock in whole seconds, and with the delay of an answer.
  static let slack = NightscoutTime.slack
  /// While no latest time moves, what became visible late can only be in the overlap, and the history is left alone
  /// for so long. The sweeps of each run see the events of the last days all the same.
  static let patience: Int64 = 6 * 3_600_000
  /// How far back a sweep looks.
  static let sweptBack: Int64 = 2 * 86_400_000
  /// By how much its start lags behind before it moves.
  private static let sweptStep: Int64 = 86_400_000 / 2

  /// Everything that was stored up to here has been pulled.
  var complete: Int64
  /// When the last round began that read the history.
  var asked: Int64
  /// The latest time in each collection by then, as the server reports it.
  var latest: [String: Int64]
  var window: Window
  /// When entries were looked for last that no search by time finds.
  var unfoundAsked: Int64?
  /// How many of them were counted.
  var unfound: Int?
  /// What is left of a round; nil between rounds.
  var round: NightscoutRound?

  /// Nothing pulled yet.
  init(asked: Int64, latest: [String: Int64]) {
    self.asked = asked
    self.latest = latest
    complete = NightscoutTime.minMilliseconds
    window = Window(start: asked - Self.sweptBack, digest: Self.digest([]), seen: [:])
  }

  /// Nil for what this program did not write.
  init?(_ text: String) {
    do {
      self = try JSONDecoder().decode(NightscoutCursor.self, from: Data(text.utf8))
    } catch {
      return nil
    }
  }

  /// The cursor as the store keeps it. Nothing in it can fail to be written.
  var text: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return String(decoding: try encoder.encode(self), as: UTF8.self)
    } catch {
      return ""
    }
  }

  /// A position for a store that has sent these records and not looked at the site since: what is deleted there before
  /// the next sweep leaves no trace.
  static func mark(_ sent: [String: Seen]) -> String? {
    guard !sent.isEmpty else { return nil }
    do {
      return "sent " + String(decoding: try JSONEncoder().encode(sent), as: UTF8.self)
    } catch {
      return nil
    }
  }

  /// The records that a mark says were sent; none for any other mark.
  static func sent(_ mark: String?) -> [String: Seen] {
    guard let mark, mark.hasPrefix("sent ") else { return [:] }
    do {
      return try JSONDecoder().decode([String: Seen].self, from: Data(mark.utf8.dropFirst(5)))
    } catch {
      return [:]
    }
  }

  /// Documents that are not taken beyond so many are counted in every round that shows them.
  private static let maxRefused = 1000

  /// Whether a document is counted as not taken: each is once, however many sweeps show it.
  mutating func notesRefused(_ document: NightscoutDocument) -> Bool {
    guard window.refused[document.identifier] == nil else { return false }
    let time = document.treatmentInstant?.milliseconds ?? asked
    if time > window.start, window.refused.count < Self.maxRefused {
      window.refused[document.identifier] = time
    }
    return true
  }

  /// The start of the window after a sweep at this time. It moves in steps, so that little changes from run to run.
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
