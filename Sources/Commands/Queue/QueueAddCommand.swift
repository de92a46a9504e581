// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport queue add`: what the next upload fetches, too.
struct QueueAddCommand: ClassifiedCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Have the next upload fetch something.",
    discussion: """
      'changes' is everything that others changed, 'readings' those that were shown from --since and up to --until, \
      'records' every record, 'record ID' and 'attachment ID' a single one, 'logbook' the name of the logbook.
      """)

  enum Kind: String, ExpressibleByArgument, CaseIterable {
    case changes, readings, records, record, attachment, logbook
  }

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "changes, readings, records, record, attachment or logbook.")
  var kind: Kind

  @Argument(help: "The whole id of the record or attachment.")
  var id: String?

  @Option(help: ArgumentHelp("Readings from this shown time on.", valueName: "time"))
  var since: TimeArgument?

  @Option(help: ArgumentHelp("Readings up to this shown time.", valueName: "time"))
  var until: TimeArgument?

  @Option(
    help: ArgumentHelp("waiting, changed or idle; the first goes before all others.", valueName: "word"))
  var priority: Priority = .waiting

  enum Priority: String, ExpressibleByArgument, CaseIterable { case waiting, changed, idle }

  @Flag(help: "Put this range of readings first whenever everything is fetched.")
  var pin = false

  func validate() throws {
    if (id != nil) != (kind == .record || kind == .attachment) {
      throw ValidationError("record and attachment take an id, the others none.")
    }
    if kind != .readings, since != nil || until != nil || pin {
      throw ValidationError("--since, --until and --pin belong to readings.")
    }
  }

  func run() throws {
    let output = Output()
    let store = try storeOptions.open(.editor)
    _ = try store.requireRemote()
    let isQueued = try store.queueDownload(
      try subject(store), DownloadPriority(priority), isPinned: pin, at: Host.now())
    output.line(isQueued ? "queued; the next upload fetches it" : "it is here already; nothing was queued")
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
      guard from < to else { throw Failure(.usage, "--until is not later than --since") }
      return .readings(from: from, until: to)
    }
  }

  /// A record that is not here yet cannot be found by its first characters.
  private func whole(_ id: String) throws -> String {
    let groups = id.split(separator: "-", omittingEmptySubsequences: false).map(\.count)
    guard groups == [8, 4, 4, 4, 12], id.allSatisfy({ $0 == "-" || $0.isHexDigit && $0.isASCII }) else {
      throw Failure(.usage, "'\(displayed(id))' is not the whole id of a record")
    }
    return id.lowercased()
  }

  private func digest(of id: String, _ store: Store) throws -> String {
    let record = try store.record(named: id)
    guard let digest = try store.contentDigest(of: record) else {
      throw Failure(.badInput, "\(displayed(id)): this record is no attachment that names a content")
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
