// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport queue add`: queues a download for the next upload.
struct QueueAddCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a download for the next upload.",
    discussion: helpText(
      """
      'changes': everything that others changed; 'readings': those shown from --since to \
      before --until; 'records': every record; 'record ID' and 'attachment ID': a single \
      one; 'logbook': the name of the logbook.
      """,
      examples: "glucoport queue add readings --since 2026-03-01 --until 2026-06-01",
      "glucoport queue add records --priority idle"))

  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case changes, readings, records, record, attachment, logbook
  }

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "changes, readings, records, record, attachment or logbook.")
  var kind: Kind

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

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    _ = try store.requireRemote()
    let isQueued = try store.queueDownload(
      try subject(store), DownloadPriority(priority), isPinned: pin, at: Host.now())
    output.line(isQueued ? "queued; the next upload downloads it" : "it is already here; nothing was queued")
    try output.finish()
  }

  private func subject(_ store: Store) throws -> DownloadSubject {
    switch kind {
    case .changes: return .changes
    case .records: return .records
    case .logbook: return .logbook
    case .record: return .record(try whole(id ?? ""))
    case .attachment: return .attachment(try digest(of: id ?? "", store))
    case .readings:
      let zone = try store.timezone()
      let (from, to) = (time(since, zone) ?? .min, time(until, zone) ?? .max)
      guard from < to else { throw Failure(.usage, "--until must be later than --since") }
      return .readings(from: from, until: to)
    }
  }

  /// A record that is not here yet cannot be found by its first characters.
  private func whole(_ id: String) throws -> String {
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
    argument?.placed(zone: zone, now: Host.now()).time.seconds
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
