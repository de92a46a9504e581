// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// A row of the queue, or a refused item, in one line.
enum QueueText {
  static func line(_ download: Download) -> String {
    let subject = text(download.subject)
    let state = download.refusal.map { "refused: \(displayed($0))" } ?? download.priority.name
    return "\(download.id)  \(subject)  \(state) · since \(instant(download.queuedAt))"
  }

  static func line(pin place: Int, _ range: DownloadSubject) -> String { "p\(place)  \(text(range))  pinned" }

  static func line(_ item: StoredItem, _ reason: String) -> String {
    switch item {
    case .reading(let reading):
      "reading  \(reading.deviceTime.text.replacing("T", with: " "))  \(reading.kind.name)  \(reading.address)  refused: \(displayed(reason))"
    case .record(let record):
      "record  \(record.deviceTime.text.replacing("T", with: " "))  \(record.kind.rawValue)  \(record.guid.prefix(8))  refused: \(displayed(reason))"
    }
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
}
