// SPDX-License-Identifier: Apache-2.0

import Formats
import Logbook
import USBTransport

/// Whose a meter is.
struct MeterOwner {
  private let identity: MeterIdentity
  private let meter: PluggedMeter
  private let persons: PersonList

  init(_ identity: MeterIdentity, _ meter: PluggedMeter, _ persons: PersonList) {
    (self.identity, self.meter, self.persons) = (identity, meter, persons)
  }

  /// The names by which a meter is assigned: its serial numbers, or its model.
  private var names: [String] {
    let serials = [identity.device.serial, meter.device.serial].filter { !$0.isEmpty }
    return serials.isEmpty ? [identity.device.model] : serials
  }

  /// The person to whom the meter is assigned.
  ///
  /// - Throws: `Failure` of category `configuration` for a meter that is assigned to none.
  func required() throws -> Person {
    if let person = persons.owner(ofMeter: names) { return person }
    let words = ["glucoport", "person", "assign", names[0]].map(\.shellWord).joined(separator: " ")
    throw Failure(
      .configuration,
      "\(meter.place): this meter is assigned to no person, so that it is open whose readings it holds; '\(words) NAME' assigns it to \(alternatives(persons.all.map { displayed($0.name) })); nothing was imported"
    )
  }

  /// - Throws: `Failure` of category `badInput` for a meter that is assigned to a person with another store.
  func requireStore(_ path: String) throws {
    guard let person = persons.owner(ofMeter: names), !person.hasStore(path) else { return }
    throw Failure(
      .badInput,
      "\(meter.place): this meter is that of \(displayed(person.name)); nothing was imported; '--person \(person.name.shellWord)' imports it there, and --yes here"
    )
  }
}
