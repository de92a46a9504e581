// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore

/// The stores of the other persons on this computer. If one of these stores has readings of an input, the
/// input was probably meant for the person of that store.
///
/// Only serial numbers and a few readings at the beginning of an input are compared. So a large import does
/// not search the other stores. A device or reading that the person's own store has is accepted:
/// a person has decided about it before.
struct OthersStores {
  /// The number of readings that are compared.
  private static let sampleSize = 256
  /// The minimum number of equal readings that show that the other store has the same readings. They must
  /// also be at least half of the readings that the other store could have.
  private static let minEqual = 12
  /// The minimum length of a serial number without leading zeros. A shorter one may be a placeholder of the
  /// source, so it is not compared.
  private static let minSerialLength = 5

  private let own: Person
  private let others: [Person]
  private let present: Store?

  /// Reads the list of persons; nil if the store belongs to none of them, or if there are no others.
  ///
  /// - Parameters:
  ///   - path: the path of the store into which the import goes.
  ///   - present: this store; nil if it does not exist yet.
  init?(_ path: String, _ present: Store?) throws {
    let all = try PersonList.load().all
    guard let own = all.first(where: { $0.hasStore(path) }) else { return nil }
    (self.own, self.present) = (own, present)
    others = all.filter { $0.name != own.name && !$0.hasStore(path) }
    if others.isEmpty { return nil }
  }

  /// Refuses an input with a device or with readings that the store of another person has.
  ///
  /// - Parameters:
  ///   - devices: the devices of the readings at the beginning of the input.
  ///   - readings: the readings at the beginning of the input.
  ///   - hint: how to import the input for the other person, and how for this one.
  /// - Throws: `Failure` of category `badInput` if another person's store has them.
  func requireNone(
    of devices: [Device], _ readings: [Reading] = [], in name: String, _ hint: (Person) -> String
  ) throws {
    let isOwn = devices.map { own.hasMeter([$0.serial]) }
    let serials = try zip(devices, isOwn).filter { !$1 && Self.identifies($0.serial) }.map(\.0)
      .filter { try present?.hasShownReadings(of: $0) != true }
    let sample = try unknown(Self.sample(readings.filter { !isOwn[Int($0.device.number)] }), devices)
    guard !serials.isEmpty || sample.count >= Self.minEqual else { return }
    for person in others {
      guard let what = try reading(person, { try Self.shared(serials, sample, devices, with: $0) }) else {
        continue
      }
      throw Failure(
        .badInput,
        "\(displayed(name)): \(what) in the store of \(displayed(person.name)), so nothing is imported; \(hint(person))"
      )
    }
  }

  /// What an input has in common with another person's store, in the words of the message; nil if nothing.
  private static func shared(
    _ serials: [Device], _ sample: [Reading], _ devices: [Device], with store: Store
  ) throws -> String? {
    if try serials.contains(where: store.hasShownReadings) {
      return "readings of the same meter or sensor are"
    }
    let holdings = try store.holdings(of: sample, devices)
    let equal = holdings.count { $0 == .equal }
    let possible = holdings.count { $0 != .outside }
    return equal >= minEqual && 2 * equal >= possible ? "the same readings are" : nil
  }

  /// The readings that the person's own store does not have.
  private func unknown(_ sample: [Reading], _ devices: [Device]) throws -> [Reading] {
    guard let present else { return sample }
    return zip(sample, try present.holdings(of: sample, devices)).filter { $1 != .equal }.map(\.0)
  }

  /// At most `sampleSize` of the readings, at equal distances in the list.
  private static func sample(_ readings: [Reading]) -> [Reading] {
    guard readings.count > sampleSize else { return readings }
    return (0..<sampleSize).map { readings[$0 * readings.count / sampleSize] }
  }

  private static func identifies(_ serial: String) -> Bool {
    serial.drop { $0 == "0" }.count >= minSerialLength
  }

  /// Runs work with the store of another person. If the store is missing or unreadable, the result is nil:
  /// the fault must not stop this import, and `person list` shows it.
  private func reading<Value>(_ person: Person, _ work: (Store) throws -> Value?) throws -> Value? {
    do {
      guard try Store.exists(path: person.store) else { return nil }
      return try work(Store(path: person.store, role: .reader))
    } catch is Failure {
      return nil
    }
  }
}
