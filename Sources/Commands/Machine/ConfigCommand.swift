// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore
import Report
import Sync

/// `glucoport config`: shows and changes the settings in the store.
struct ConfigCommand: PrintingCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    "config", "Show or change the settings of the store.",
    """
    Without arguments it shows every setting. 'timezone' is the logbook's zone; a new one \
    recalculates times that state no offset, here and in every store of the logbook. With \
    --from, --until or --device it states a journey, a move or a device that was set to \
    another zone; 'config timezone' lists these. 'unit' is the unit of listings: mg/dL, \
    mmol/L, or none for each value's own. 'pull-interval' is the minimum time between \
    downloads of 'upload --unattended', 12h by default. 'history' is full, or on-demand to \
    download readings older than ninety days only with 'upload --all'. 'attachment-limit' \
    is the maximum size of an attachment, such as 25MiB. 'name' and 'born' are what 'report' \
    shows of the person; they are never sent.
    """,
    examples: "glucoport config timezone America/New_York",
    "glucoport config timezone Asia/Tokyo --from 2026-05-01 --until 2026-05-09")

  @OptionGroup var storeOptions: StoreOptions

  @Argument(
    help: "timezone, unit, pull-interval, history, attachment-limit, name or born.", completion: .settings)
  var name: String?

  @Argument(help: "The new value.", completion: .settingValues)
  var value: String?

  @OptionGroup var zoneOptions: ZoneOptions

  func validate() throws {
    try zoneOptions.check(name: name, value: value)
    guard let name else { return }
    guard let setting = ConfigSetting(rawValue: name) else {
      let names = ConfigSetting.allCases.map(\.rawValue).joined(separator: ", ")
      throw ValidationError("Unknown setting '\(name)'; use \(names).")
    }
    if let value, !setting.accepts(value) { throw ValidationError(setting.rule) }
  }

  func run(_ output: Output) throws {
    let setting = name.flatMap(ConfigSetting.init)
    let zones = ConfigZones(storeOptions: storeOptions, options: zoneOptions, output: output)
    if let number = zoneOptions.remove {
      try zones.remove(number)
    } else if setting == .timezone {
      if let value { try zones.set(value) } else { try zones.list() }
    } else if let setting, let value {
      try setting.set(value, in: storeOptions.open(.editor))
      if setting == .name, let letters = ReportForm.list(ReportPage.lettersMissing(in: value)) {
        output.message(
          "glucoport: the font of a PDF lacks \(letters), so a PDF has ? instead; for these letters 'glucoport report' writes an HTML page"
        )
      }
    } else {
      let store = try storeOptions.open(.reader)
      for each in ConfigSetting.allCases where setting == nil || setting == each {
        output.line("\(each.rawValue) \(try each.value(in: store))")
      }
    }
  }
}

/// One setting of the store, with its valid values and the way to store them.
enum ConfigSetting: String, CaseIterable {
  case timezone, unit
  case pullInterval = "pull-interval"
  case history
  case attachmentLimit = "attachment-limit"
  case name, born

  private static let maxNameCharacters = 100
  /// The value that removes a setting.
  private static let none = "none"

  /// All valid values of the setting; empty if they cannot be listed.
  var values: [String] {
    switch self {
    case .timezone: NamedZone.names
    case .unit: GlucoseUnit.allValueStrings + ["none"]
    case .history: ["full", "on-demand"]
    case .pullInterval, .attachmentLimit, .name, .born: []
    }
  }

  /// The sentence that explains the valid values. It is printed when a person enters an invalid value.
  var rule: String {
    switch self {
    case .timezone: "timezone is an IANA name."
    case .unit: "unit is mg/dL, mmol/L or none."
    case .pullInterval: "pull-interval is a number with its unit, h, m or s, such as 12h or 90m; or 0."
    case .history: "history is full or on-demand."
    case .name: "name is a text of at most \(Self.maxNameCharacters) characters, or none."
    case .born: "born is a date that has been, such as 1980-05-06, or none."
    case .attachmentLimit: "attachment-limit is a number of bytes, such as 500KiB, 25MiB or 1GiB."
    }
  }

  func accepts(_ value: String) -> Bool {
    switch self {
    case .timezone: true
    case .unit, .history: values.contains(value)
    // A duration without its unit is refused, since 5 could mean hours or seconds.
    case .pullInterval:
      value == "0" || value.last?.isLetter == true && DurationArgument(argument: value) != nil
    case .attachmentLimit: ByteCountArgument(argument: value) != nil
    case .name:
      value.contains { !$0.isWhitespace } && value.count <= Self.maxNameCharacters
        && value == TerminalText.line(value)
    case .born: value == Self.none || Self.isPastDate(value)
    }
  }

  func value(in store: Store) throws -> String {
    switch self {
    case .timezone: try store.timezone().name
    case .unit: try store.displayUnit()?.name ?? "none"
    case .pullInterval: Self.text(seconds: try store.pullIntervalSeconds())
    case .history: try store.fetchesHistoryOnDemand() ? "on-demand" : "full"
    case .attachmentLimit: ByteCountArgument.text(try store.attachmentLimit())
    case .name: displayed(try store.personName() ?? Self.none)
    case .born: try store.personBorn() ?? Self.none
    }
  }

  /// Stores a valid value. For the time zone it does nothing, since `ConfigZones` stores the zone.
  func set(_ value: String, in store: Store) throws {
    switch self {
    case .timezone: break
    case .unit: try store.setDisplayUnit(GlucoseUnit(name: value))
    case .pullInterval: try store.setPullIntervalSeconds(DurationArgument(argument: value)?.seconds ?? 0)
    case .history: try store.setFetchesHistoryOnDemand(value == "on-demand")
    case .attachmentLimit:
      try ByteCountArgument(argument: value).map { try store.setAttachmentLimit($0.bytes) }
    case .name: try store.setPersonName(value == Self.none ? nil : value)
    case .born: try store.setPersonBorn(value == Self.none ? nil : value)
    }
  }

  private static func isPastDate(_ text: String) -> Bool {
    guard text.count == 10, let day = DeviceTime(text: text + "T00:00:00") else { return false }
    return day.text.hasPrefix(text) && text >= "1880" && day.seconds <= Host.now()
  }

  private static func text(seconds: Int) -> String {
    if seconds % 3600 == 0, seconds > 0 { return "\(seconds / 3600)h" }
    return seconds % 60 == 0 && seconds > 0 ? "\(seconds / 60)m" : "\(seconds)s"
  }
}

/// The options of `config timezone`. The zone itself is an argument.
struct ZoneOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "With timezone and a zone: the zone held only from this shown time on.", valueName: "time"),
    transform: TimeArgument.parse)
  var from: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "With timezone and a zone: the zone held only until this shown time.", valueName: "time"),
    transform: TimeArgument.parse)
  var until: TimeArgument?

  @Option(
    help: ArgumentHelp(
      "With timezone and a zone: the zone held only for this device, by its serial number or model.",
      valueName: "device"))
  var device: String?

  @Option(help: ArgumentHelp("With timezone: remove period N of the list.", valueName: "n"))
  var remove: Int?

  /// Whether the options limit the zone to a period or a device.
  var statePeriod: Bool { from != nil || until != nil || device != nil }

  /// Refuses options that have no effect with these arguments.
  func check(name: String?, value: String?) throws {
    if statePeriod, name != ConfigSetting.timezone.rawValue || value == nil {
      throw ValidationError("--from, --until and --device need 'config timezone ZONE'.")
    }
    if remove != nil, name != ConfigSetting.timezone.rawValue || value != nil || statePeriod {
      throw ValidationError("--remove needs 'config timezone' without a zone.")
    }
  }
}

/// `glucoport config timezone`: shows and changes the time zones of the logbook.
struct ConfigZones {
  let storeOptions: StoreOptions
  let options: ZoneOptions
  let output: Output

  /// Sets the base zone of the logbook, or the zone of the period in the options.
  func set(_ name: String) throws {
    let zone = try LogbookZone(name: name)
    guard options.statePeriod else {
      Host.keepFilesPrivate()
      let isCreated = try !Store.exists(path: storeOptions.path)
      let store = try NewLogbook(timezone: name).openOrCreate(storeOptions.path, .editor, output)
      guard !isCreated else {
        return try output.line("timezone \(name): created the empty store \(displayed(storeOptions.path))")
      }
      try show("timezone \(name)", store.setTimezone(zone, at: Host.now()))
      return try showStated(store.statedItems(in: nil))
    }
    let store = try storeOptions.open(.editor)
    let zones = try store.zones()
    func shown(_ argument: TimeArgument?) -> DeviceTime? {
      argument?.placedTime(zone: zones.zone(), now: Host.now()).time
    }
    let period = ZonePeriod(
      guid: Host.randomUUID(), from: shown(options.from), until: shown(options.until), zone: zone.base,
      devices: try options.device.map { [try store.identity(ofDevice: $0)] } ?? [], madeAt: Host.now())
    guard period.first < period.end else {
      throw Failure(.usage, "--from is not before --until")
    }
    let before = try store.placedByImports(in: period)
    try show(Self.text(period, of: store), store.add(period, at: Host.now()))
    try showStated(store.statedItems(in: period))
    let after = try store.placedByImports(in: period)
    let replaced = (before.readings - after.readings, before.records - after.records)
    if replaced.0 > 0 || replaced.1 > 0 {
      output.line(
        "\(counted(replaced.0, "reading")) and \(counted(replaced.1, "record")) had the zone of their import; this period was "
          + "stated later and counts; to return to that zone, remove the period")
    }
  }

  /// Removes the period that has this number in the list of `config timezone`.
  func remove(_ number: Int) throws {
    let store = try storeOptions.open(.editor)
    let periods = try store.zones().listed
    guard periods.indices.contains(number - 1) else {
      throw Failure(
        .missingInput,
        "--remove \(number): there is no such period; 'glucoport config timezone' lists the periods")
    }
    let period = periods[number - 1]
    try show("removed: \(Self.text(period, of: store))", store.remove(period, at: Host.now()))
  }

  /// Prints the base zone and the periods with another zone, each with the number of its items.
  func list() throws {
    let store = try storeOptions.open(.reader)
    let zones = try store.zones()
    defer {
      for name in zones.unknownNames { output.line(StatusText.unknown(name, zone: zones.base.name)) }
    }
    let covered = try store.coverage(of: zones)
    guard !zones.periods.isEmpty || !covered.imports.isEmpty else {
      return output.line("timezone \(zones.base.name)")
    }
    output.line("timezone \(zones.base.name): \(Self.text(covered.base))")
    for (index, period) in zones.listed.enumerated() {
      output.line(
        "  \(index + 1)  \(try Self.text(period, of: store)): \(Self.text(covered.periods[period.guid] ?? .init()))"
      )
    }
    for (name, counts) in covered.imports.sorted(by: { $0.key < $1.key }) {
      output.line("  given for imports: \(displayed(name)): \(Self.text(counts))")
    }
    if zones.ignoredPeriods > 0 {
      output.line(
        "  \(counted(zones.ignoredPeriods, "more period is", "more periods are")) ignored: only \(LogbookZones.maxPeriods) count"
      )
    }
  }

  private func show(_ what: String, _ change: ZoneChange) throws {
    output.line(
      change.isChange
        ? "\(what): recalculated \(counted(change.readings, "reading")) and \(counted(change.records, "record"))"
        : "\(what): this holds already; nothing changed")
    let moves = change.toMove
    if moves.readings + moves.records > 0 {
      output.line(
        "\(counted(moves.readings, "reading")) and \(counted(moves.records, "record")) to move on the Nightscout site; 'glucoport upload' moves them, \(grouped(UploadOptions().maxMoves)) in a run"
      )
    }
  }

  private func showStated(_ stated: ZoneCoverage.ItemCounts) throws {
    guard stated.readings + stated.records > 0 else { return }
    output.line(
      "\(counted(stated.readings, "reading")) and \(counted(stated.records, "record")) state their offset, and "
        + "stay as they are shown")
  }

  private static func text(_ covered: ZoneCoverage.ItemCounts) -> String {
    "\(counted(covered.readings, "reading")), \(counted(covered.records, "record"))"
  }

  private static func text(_ period: ZonePeriod, of store: Store) throws -> String {
    var words = [period.zone.name]
    if let from = period.from { words.append("from \(from.text)") }
    if let until = period.until { words.append("until \(until.text)") }
    for device in period.devices.sorted() {
      words.append("for \(displayed(try store.device(identity: device).map(deviceName) ?? device))")
    }
    return words.joined(separator: " ")
  }
}

extension CompletionKind {
  /// Completes the names of the settings.
  static var settings: CompletionKind { .list(ConfigSetting.allCases.map(\.rawValue)) }

  /// Completes the values of the setting that the command line names.
  static var settingValues: CompletionKind {
    .custom { words, index, _ in
      words.prefix(index).last { ConfigSetting(rawValue: $0) != nil }.flatMap(ConfigSetting.init)?.values
        ?? []
    }
  }
}
