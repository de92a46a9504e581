// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// `glucoport config`: the settings kept in the store.
struct ConfigCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Show or change the settings of the store.",
    discussion: """
      Without arguments it shows every setting. 'timezone' places all times without a zone of their own anew; \
      'unit' is the unit of listings: mg/dL, mmol/L, or none for each value's own.
      """)

  @OptionGroup var storeOptions: StoreOptions

  @Argument(help: "timezone or unit.")
  var name: String?

  @Argument(help: "The new value.")
  var value: String?

  func validate() throws {
    if let name, name != "timezone", name != "unit" {
      throw ValidationError("There is no setting '\(name)'; there are timezone and unit.")
    }
    if name == "unit", let value, value != "none", GlucoseUnit(name: value) == nil {
      throw ValidationError("unit is mg/dL, mmol/L or none.")
    }
  }

  func run() throws {
    let output = Output()
    if let name, let value {
      let store = try storeOptions.open(.editor)
      if name == "unit" {
        try store.setDisplayUnit(GlucoseUnit(name: value))
      } else {
        let placed = try store.setTimezone(LogbookZone(name: value))
        output.line(
          "timezone \(value): placed \(grouped(placed.readings)) readings and \(grouped(placed.records)) records anew"
        )
      }
    } else {
      let store = try storeOptions.open(.reader)
      if name != "unit" { output.line("timezone \(try store.timezone().name)") }
      if name != "timezone" { output.line("unit \(try store.displayUnit()?.name ?? "none")") }
    }
    try output.finish()
  }
}
