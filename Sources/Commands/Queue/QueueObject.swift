// SPDX-License-Identifier: Apache-2.0

import Logbook
import LogbookStore

/// A row of the queue, as `queue list --json` prints it; glucoport-json(5) documents its members.
struct DownloadObject: Encodable {
  let item = "download"
  let id: Int64
  let kind: String
  let since: String?
  let until: String?
  let of: String?
  let priority: String
  let queuedAt: String
  let refused: String?

  init(_ download: Download) {
    id = download.id
    kind = download.subject.kind
    let range = download.subject.shownRange
    (since, until) = (range.since, range.until)
    of =
      switch download.subject {
      case .record(let guid): guid
      case .attachment(let digest): digest
      case .logbook, .changes, .readings, .records: nil
      }
    priority = download.priority.name
    queuedAt = instant(download.queuedAt)
    refused = download.refusal
  }
}

/// A range of readings that every upload fetches.
struct PinObject: Encodable {
  let item = "pin"
  let id: String
  let since: String?
  let until: String?

  init(_ place: Int, _ range: DownloadSubject) {
    id = "p\(place)"
    (since, until) = range.shownRange
  }
}

/// An item that the remote refused, with the reason.
struct RefusedObject: Encodable {
  let item: String
  let kind: String
  let id: String
  let refused: String

  init(_ item: StoredItem, _ reason: String) {
    (self.item, kind, id) =
      switch item {
      case .reading(let reading): ("reading", reading.kind.name, reading.address)
      case .record(let record): ("record", record.kind.rawValue, record.guid)
      }
    refused = reason
  }
}

extension DownloadSubject {
  /// The shown times between which readings are fetched; nil for an open end.
  fileprivate var shownRange: (since: String?, until: String?) {
    guard case .readings(let from, let until) = self else { return (nil, nil) }
    return (
      from == .min ? nil : DeviceTime(seconds: from).text,
      until == .max ? nil : DeviceTime(seconds: until).text
    )
  }
}
