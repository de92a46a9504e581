// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Formats
import Logbook
import LogbookStore
import Remotes

/// `glucoport source`: commands for the sources from which `fetch` imports.
struct SourceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "source",
    "Set, show, test or remove a place from which 'glucoport fetch' imports.",
    examples: "glucoport source set phone --type http http://192.168.1.5:17580/sgv.json --insecure-http",
    "glucoport source show",
    subcommands: [
      SourceSetCommand.self, SourceShowCommand.self, SourceTestCommand.self, SourceRemoveCommand.self,
    ])
}

/// `glucoport source show`: prints what the store knows about its sources. It sends no request.
struct SourceShowCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "show",
    "Show the sources and the state of their fetches, without contacting them.",
    examples: "glucoport source show", "glucoport source show phone --json")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: ArgumentHelp("The sources; default: all of the store.", valueName: "name"))
  var names: [String] = []

  @Flag(help: "Print one JSON object for each source.")
  var json = false

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.reader)
    let zone = try store.timezone()
    let names = Set(try store.requireSources(names).map(\.name))
    for setting in try store.sourcesWithHoles() where names.contains(setting.name) {
      try output.result(asJSON: json, SourceObject(setting), orLines: SourceText.lines(setting, in: zone))
    }
  }
}

/// `glucoport source test`: asks a source and prints what it has. No items are stored.
struct SourceTestCommand: AsyncPrintingCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    "test", "Ask a source, show what it has, and store nothing.",
    examples: "glucoport source test phone", "glucoport source test phone --store anna.db")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The source.")
  var name: String

  func run(_ output: Output) async throws {
    let store = try storeOptions.open(.reader)
    guard let setting = try store.requireSources([name]).first else { return }
    let gate = SourceGate(setting: setting, now: Host.now())
    if case .asked(let next) = gate.verdict(isUnattended: false, isNow: true) {
      throw Failure(
        .temporary, "\(displayed(name)): the source asked for no request before \(instant(next))")
    }
    let preview: SourcePreview
    do {
      preview = try await SourcePreview(setting, for: store)
    } catch let failed as SourceRequest.Failed {
      // If the source asked for a wait or rejected the login, that is stored, so that later fetches take it
      // into account.
      if failed.error.retryAfterSeconds != nil
        || failed.wasAsked && failed.error.failure.category == .permission
      {
        let state = gate.failed(
          setting.state, failed.error, wasAsked: failed.wasAsked, jitter: Double.random(in: 0..<1))
        try storeOptions.open(.importer).setState(state, of: setting)
      }
      throw failed.error.failure
    }
    output.line(SourceText.title(setting))
    for line in preview.lines { output.line("  \(line)") }
  }
}

/// `glucoport source remove`: removes a source from the store. It sends no request.
struct SourceRemoveCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "remove", "Remove a source. What was fetched from it stays.",
    examples: "glucoport source remove phone", "glucoport source remove phone --store anna.db")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "The source.")
  var name: String

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.importer)
    let wasThere = try store.removeSource(name)
    let shown = displayed(name)
    output.line(
      wasThere
        ? "the source '\(shown)' was removed; what was fetched from it stays"
        : "the store had no source '\(shown)'")
  }
}

/// The data that a source returns for one request. No items are stored.
struct SourcePreview {
  let contents: SourceContents
  /// The state of the source after the request. For a command, it contains how the command ended.
  let state: SourceState
  let now: Int64

  /// - Parameter store: the store that has the source; nil if it does not exist yet.
  /// - Throws: `Failure`, or `SourceRequest.Failed` if the request fails.
  init(_ setting: SourceSetting, for store: Store?) async throws {
    let request = SourceRequest(setting: setting)
    now = Host.now()
    // The request has no entity tag or date, so that the source sends its answer even if it has not changed.
    var before = SourceState()
    // Only recent items of a site are read, since they are enough to show whose site it is.
    if setting.type == .nightscout { before.cursor = SourceSite.recent(at: now) }
    do {
      let result = try await request.send(before)
      guard let body = result.body else {
        throw Failure(.protocolViolation, "\(setting.name): it answers without data to a first request")
      }
      try request.check(body)
      state = result.state
      contents = try SourceContents(body, request.options(for: store, of: body))
      // The zone is unknown, so an import of these times would fail with the same failure.
      if contents.needsZone, setting.access.timezone == nil, try store?.hasKnownZone() != true,
        try !NewLogbook().isKnown
      {
        throw Store.missingZone(for: body.name)
      }
      if let fault = contents.end.fault { throw Failure(.temporary, "\(setting.name): the answer\(fault)") }
    } catch let error as SourceFailure {
      throw SourceRequest.Failed(error: error, state: before, wasAsked: true)
    }
  }

  var lines: [String] {
    contents.lines(now: now) + (state.lastLine.map { ["the command says: \(displayed($0))"] } ?? [])
  }
}

/// The types of sources. The raw values are the words of `--type`.
enum SourceType: String, CaseIterable, ExpressibleByArgument {
  case nightscout, http, command

  /// The name of the type in messages.
  var title: String {
    switch self {
    case .nightscout: "Nightscout site"
    case .http: "address"
    case .command: "command"
    }
  }

  /// The default of the shortest time in seconds between two unattended fetches.
  var intervalSeconds: Int { self == .http ? 300 : 900 }

  /// The default time limit of a fetch in seconds. A Nightscout site may have years of items.
  var maxSeconds: Int { self == .nightscout ? 600 : 180 }
}

extension SourceSetting {
  /// The type of the source; nil if this version does not know it.
  var type: SourceType? { SourceType(rawValue: access.type) }

  /// Where the data comes from, without a secret: the address, or the program of a command without its
  /// arguments.
  var place: String { access.url ?? access.command.first ?? "" }
}
