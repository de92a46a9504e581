// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// A row of the queue, and an item that was refused, in one line and as a JSON object.
enum QueueText {
  static func line(_ download: Download) -> String {
    let subject = text(download.subject)
    let state = download.refusal.map { "refused: \(displayed($0))" } ?? download.priority.name
    return "\(download.id)  \(subject)  \(state) · since \(instant(download.queuedAt))"
  }

  static func json(_ download: Download) -> String {
    let (from, until, of): (Int64?, Int64?, String?) =
      switch download.subject {
      case .readings(let from, let until):
        (from == .min ? nil : from, until == .max ? nil : until, nil)
      case .record(let guid): (nil, nil, guid)
      case .attachment(let digest): (nil, nil, digest)
      case .logbook, .changes, .records: (nil, nil, nil)
      }
    return """
      {"item":"download","id":\(download.id),"kind":"\(download.subject.kind)","since":\(member(from)),\
      "until":\(member(until)),"of":\(of.map(jsonText) ?? "null"),"priority":"\(download.priority.name)",\
      "queued_at":"\(instant(download.queuedAt))","refused":\(download.refusal.map(jsonText) ?? "null")}
      """
  }

  static func line(pin place: Int, _ range: DownloadSubject) -> String { "p\(place)  \(text(range))  pinned" }

  static func json(pin place: Int, _ range: DownloadSubject) -> String {
    guard case .readings(let from, let until) = range else { return "" }
    return """
      {"item":"pin","id":"p\(place)","since":\(member(from == .min ? nil : from)),\
      "until":\(member(until == .max ? nil : until))}
      """
  }

  static func line(_ item: StoredItem, _ reason: String) -> String {
    switch item {
    case .reading(let reading):
      "reading  \(reading.deviceTime.text.replacing("T", with: " "))  \(reading.kind.name)  \(reading.address)  refused: \(displayed(reason))"
    case .record(let record):
      "record  \(record.deviceTime.text.replacing("T", with: " "))  \(record.kind.rawValue)  \(record.guid.prefix(8))  refused: \(displayed(reason))"
    }
  }

  static func json(_ item: StoredItem, _ reason: String) -> String {
    let (word, kind, id) =
      switch item {
      case .reading(let reading): ("reading", reading.kind.name, reading.address)
      case .record(let record): ("record", record.kind.rawValue, record.guid)
      }
    return
      "{\"item\":\"\(word)\",\"kind\":\"\(kind)\",\"id\":\(jsonText(id)),\"refused\":\(jsonText(reason))}"
  }

  private static func text(_ subject: DownloadSubject) -> String {
    ([subject.kind] + words(subject)).joined(separator: " ")
  }

  private static func words(_ subject: DownloadSubject) -> [String] {
    switch subject {
    case .logbook, .changes, .records: []
    case .readings(let from, let until):
      (from == .min ? [] : ["from \(shown(from))"]) + (until == .max ? [] : ["until \(shown(until))"])
    case .record(let guid): [displayed(guid)]
    case .attachment(let digest): [String(displayed(digest).prefix(16))]
    }
  }

  private static func shown(_ seconds: Int64) -> String {
    DeviceTime(seconds: seconds).text.replacing("T", with: " ")
  }

  private static func member(_ seconds: Int64?) -> String {
    seconds.map { "\"\(DeviceTime(seconds: $0).text)\"" } ?? "null"
  }
}
