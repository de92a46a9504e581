// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Sync

/// The options of `config timezone` apart from the zone.
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

  /// Whether they state a period.
  var statePeriod: Bool { from != nil || until != nil || device != nil }

  /// Refuses options that have no meaning for the arguments.
  func check(name: String?, value: String?) throws {
    if statePeriod, name != ConfigSetting.timezone.rawValue || value == nil {
      throw ValidationError("--from, --until and --device need 'config timezone ZONE'.")
    }
    if remove != nil, name != ConfigSetting.timezone.rawValue || value != nil || statePeriod {
      throw ValidationError("--remove needs 'config timezone' without a zone.")
    }
  }
}

/// `glucoport config timezone`: the zones of the logbook.
struct ConfigZones {
  let storeOptions: StoreOptions
  let options: ZoneOptions
  let output: Output

  /// Gives the logbook a base zone, or states a period.
  func set(_ name: String) throws {
    let zone = try LogbookZone(name: name)
    guard options.statePeriod else {
      Host.keepFilesPrivate()
      let store = try NewLogbook(timezone: name).openOrCreate(storeOptions.path, .editor, output)
      return try show("timezone \(name)", store.setTimezone(zone, at: Host.now()))
    }
    let store = try storeOptions.open(.editor)
    let zones = try store.zones()
    func shown(_ argument: TimeArgument?) -> DeviceTime? {
      argument?.placed(zone: zones.zone(), now: Host.now()).time
    }
    let period = ZonePeriod(
      guid: Host.randomUUID(), from: shown(options.from), until: shown(options.until), zone: zone.base,
      devices: try options.device.map { [try store.identity(ofDevice: $0)] } ?? [], madeAt: Host.now())
    guard period.first < period.end else {
      throw Failure(.usage, "--from is not before --until")
    }
    let before = try store.placedByImports(in: period)
    try show(Self.text(period, of: store), store.add(period, at: Host.now()))
    let after = try store.placedByImports(in: period)
    let replaced = (before.readings - after.readings, before.records - after.records)
    if replaced.0 > 0 || replaced.1 > 0 {
      output.line(
        "\(counted(replaced.0, "reading")) and \(counted(replaced.1, "record")) had the zone of their import; this period was "
          + "stated later and counts; to return to that zone, remove the period")
    }
  }

  /// Removes a listed period.
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

  /// Lists the base zone and the periods, each with the number of its items.
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

  private static func text(_ covered: ZoneCoverage.Counts) -> String {
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
