// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// `glucoport queue`: commands for queued downloads, and for items that the remote refused.
struct QueueCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "queue", "List, add, cancel and retry downloads.",
    "No queue command uses the network: the next upload downloads what is queued.",
    examples: "glucoport queue list", "glucoport queue add readings --since 2026-03-01 --until 2026-06-01",
    subcommands: [
      QueueListCommand.self, QueueAddCommand.self, QueueCancelCommand.self, QueueRetryCommand.self,
    ])
}

/// `glucoport queue add`: queues a download, which the next upload runs.
struct QueueAddCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "add", "Add a download for the next upload.",
    """
    'changes': everything that others changed; 'readings': those shown from --since to \
    before --until; 'records': every record; 'record ID' and 'attachment ID': a single \
    one; 'logbook': the name of the logbook.
    """,
    examples: "glucoport queue add readings --since 2026-03-01 --until 2026-06-01",
    "glucoport queue add records --priority idle")

  enum DownloadKind: String, ExpressibleByArgument, CaseIterable {
    case changes, readings, records, record, attachment, logbook
  }

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "changes, readings, records, record, attachment or logbook.")
  var kind: DownloadKind

  @Argument(help: "The complete id of the record or attachment.")
  var id: String?

  @Option(
    help: ArgumentHelp("Readings whose shown time is this or later.", valueName: "time"),
    transform: TimeArgument.parse)
  var since: TimeArgument?

  @Option(
    help: ArgumentHelp("Readings whose shown time is before this.", valueName: "time"),
    transform: TimeArgument.parse)
  var until: TimeArgument?

  @Option(
    help: ArgumentHelp("Urgency: waiting (first), changed or idle (last).", valueName: "word"))
  var priority: Priority = .waiting

  enum Priority: String, ExpressibleByArgument, CaseIterable { case waiting, changed, idle }

  @Flag(help: "Download this range of readings before others whenever everything is downloaded.")
  var pin = false

  func validate() throws {
    if (id != nil) != (kind == .record || kind == .attachment) {
      throw ValidationError("'record' and 'attachment' need an id; the other kinds have none.")
    }
    if kind != .readings, since != nil || until != nil || pin {
      throw ValidationError("--since, --until and --pin are only for 'readings'.")
    }
  }

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.editor)
    _ = try store.requireRemote()
    let isQueued = try store.queueDownload(
      try subject(store), DownloadPriority(priority), isPinned: pin, at: Host.now())
    output.line(isQueued ? "queued; the next upload downloads it" : "it is already here; nothing was queued")
  }

  private func subject(_ store: Store) throws -> DownloadSubject {
    switch kind {
    case .changes: return .changes
    case .records: return .records
    case .logbook: return .logbook
    case .record: return .record(try completeID(id ?? ""))
    case .attachment: return .attachment(try digest(of: id ?? "", store))
    case .readings:
      let zone = try store.timezone()
      let (from, to) = (time(since, zone) ?? .min, time(until, zone) ?? .max)
      guard from < to else { throw Failure(.usage, "--until must be later than --since") }
      return .readings(from: from, until: to)
    }
  }

  /// Checks that an id is complete. A record that the store lacks cannot be found by the first characters of
  /// its id.
  private func completeID(_ id: String) throws -> String {
    let groups = id.split(separator: "-", omittingEmptySubsequences: false).map(\.count)
    guard groups == [8, 4, 4, 4, 12], id.allSatisfy({ $0 == "-" || $0.isHexDigit && $0.isASCII }) else {
      throw Failure(.usage, "'\(displayed(id))' is not the complete id of a record")
    }
    return id.lowercased()
  }

  private func digest(of id: String, _ store: Store) throws -> String {
    let record = try store.record(named: id)
    guard let digest = try store.contentDigest(of: record) else {
      throw Failure(.badInput, "\(displayed(id)): this record is not an attachment with a content")
    }
    return digest
  }

  private func time(_ argument: TimeArgument?, _ zone: LogbookZone) -> Int64? {
    argument?.placedTime(zone: zone, now: Host.now()).time.seconds
  }
}

extension DownloadPriority {
  fileprivate init(_ priority: QueueAddCommand.Priority) {
    switch priority {
    case .waiting: self = .waiting
    case .changed: self = .changed
    case .idle: self = .idle
    }
  }
}

/// `glucoport queue list`: lists the downloads in the order in which uploads run them.
struct QueueListCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "list", "List the queued downloads in their order, and the pinned ranges.",
    examples: "glucoport queue list", "glucoport queue list --refused")

  @OptionGroup var storeOptions: StoreOptions

  @Flag(help: "List what the remote refused, with its reasons: readings, records and downloads.")
  var refused = false

  @Flag(help: "Print one JSON object per line.")
  var json = false

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    if refused { try listRefused(store, output) }
    for download in try store.downloads() where (download.refusal != nil) == refused {
      try output.result(asJSON: json, DownloadObject(download), orLines: [QueueText.line(download)])
    }
    if !refused {
      for (place, range) in try store.pinnedRanges().enumerated() {
        try output.result(
          asJSON: json, PinObject(place + 1, range), orLines: [QueueText.line(pin: place + 1, range)])
      }
    }
  }

  private func listRefused(_ store: Store, _ output: Output) throws {
    try store.forEachRefused { item, reason in
      try output.result(asJSON: json, RefusedObject(item, reason), orLines: [QueueText.line(item, reason)])
    }
  }
}

/// `glucoport queue retry`: lets the next upload send refused items again.
struct QueueRetryCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "retry", "Let the next upload retry what the remote refused.",
    "Without a number: everything that was refused, including readings and records.",
    examples: "glucoport queue retry 3", "glucoport queue retry")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "Numbers from 'queue list --refused'.")
  var numbers: [Int64] = []

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.sync)
    let downloads = numbers.isEmpty ? try store.downloads().filter { $0.refusal != nil }.map(\.id) : numbers
    let refused = try store.retryDownloads(downloads)
    let others = numbers.isEmpty ? try store.releaseRefused() : 0
    output.line("to be retried: \(grouped(refused.count + others))")
    for number in Set(downloads).subtracting(refused).sorted() {
      output.message("glucoport: download \(number) was not refused; the next upload downloads it anyway")
    }
  }
}

/// `glucoport queue cancel`: removes downloads and pinned ranges from the queue.
struct QueueCancelCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "cancel", "Remove downloads from the queue.",
    examples: "glucoport queue cancel 3 4", "glucoport queue cancel p1")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "Numbers from 'queue list'; those of pinned ranges begin with p.")
  var numbers: [QueueNumber]

  func run(_ output: Output) throws {
    try storeOptions.open(.editor).cancelDownloads(
      numbers.compactMap(\.download), pins: numbers.compactMap(\.pin))
    output.line("cancelled: \(grouped(numbers.count))")
  }
}

/// The number of a row in `queue list`: `7` for a download, `p1` for a pinned range.
enum QueueNumber: ExpressibleByArgument {
  case download(Int64)
  case pin(Int)

  init?(argument: String) {
    if argument.hasPrefix("p"), let place = Int(argument.dropFirst()), place > 0 {
      self = .pin(place)
    } else if let id = Int64(argument) {
      self = .download(id)
    } else {
      return nil
    }
  }

  var download: Int64? { if case .download(let id) = self { id } else { nil } }
  var pin: Int? { if case .pin(let place) = self { place } else { nil } }
}

/// A download for `queue list --json`; glucoport-json(5) documents the members.
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

/// A pinned range for `queue list --json`: every upload fetches its readings.
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

/// An item that the remote refused, with the reason, for `queue list --json`.
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
  /// The range of shown times whose readings are fetched. An end is nil if it is open; both are nil for a
  /// download that is not of readings.
  fileprivate var shownRange: (since: String?, until: String?) {
    guard case .readings(let from, let until) = self else { return (nil, nil) }
    return (
      from == .min ? nil : DeviceTime(seconds: from).text,
      until == .max ? nil : DeviceTime(seconds: until).text
    )
  }
}

/// The rows of `queue list` as text.
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
