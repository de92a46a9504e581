// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport config`: the settings in the store.
struct ConfigCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show or change the settings of the store.",
    discussion: helpText(
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
      "glucoport config timezone Asia/Tokyo --from 2026-05-01 --until 2026-05-09"))

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
    if let value, !setting.takes(value) { throw ValidationError(setting.rule) }
  }

  func run() throws {
    let output = Output()
    let setting = name.flatMap(ConfigSetting.init)
    let zones = ConfigZones(storeOptions: storeOptions, options: zoneOptions, output: output)
    if let number = zoneOptions.remove {
      try zones.remove(number)
    } else if setting == .timezone {
      if let value { try zones.set(value) } else { try zones.list() }
    } else if let setting, let value {
      try setting.set(value, in: storeOptions.open(.editor))
    } else {
      let store = try storeOptions.open(.reader)
      for each in ConfigSetting.allCases where setting == nil || setting == each {
        output.line("\(each.rawValue) \(try each.value(in: store))")
      }
    }
    try output.finish()
  }
}

/// One setting: its valid values, and how they are stored.
enum ConfigSetting: String, CaseIterable {
  case timezone, unit
  case pullInterval = "pull-interval"
  case history
  case attachmentLimit = "attachment-limit"
  case name, born

  private static let maxNameCharacters = 100
  /// The value that clears a setting.
  private static let none = "none"

  /// The values that it accepts; none where they are not a list.
  var values: [String] {
    switch self {
    case .timezone: NamedZone.names
    case .unit: GlucoseUnit.allValueStrings + ["none"]
    case .history: ["full", "on-demand"]
    case .pullInterval, .attachmentLimit, .name, .born: []
    }
  }

  /// What a value that it does not take is answered with.
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

  func takes(_ value: String) -> Bool {
    switch self {
    case .timezone: true
    case .unit, .history: values.contains(value)
    // Without its unit, 5 can be hours or seconds.
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

  /// Sets a valid value. `ConfigZones` sets the zone.
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
