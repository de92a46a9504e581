// SPDX-License-Identifier: Apache-2.0

import CommandParts
import Logbook
import LogbookStore

/// The stores of the other persons on this computer. If one of these stores has items of an input, the input
/// was probably meant for the person of that store.
///
/// Only serial numbers, and a few readings and records at the beginning of an input, are compared. So a large
/// import does not search the other stores. A device or item that the person's own store has is accepted:
/// a person has decided about it before.
struct OthersStores {
  /// The number of readings, and of records, that are compared.
  private static let sampleSize = 256
  /// The minimum number of equal items that show that the other store has the same items. They must also be
  /// at least half of the items that the other store could have.
  private static let minEqual = 12
  /// The minimum number of equal records that differ in their time of day or content. Two persons may take
  /// the same basal dose at the same time each day.
  private static let minDifferent = 6
  /// The minimum number of digits in the name of a record's device, without leading zeros, for which the name
  /// counts as a serial number. Names of programs and models have fewer digits.
  private static let minSerialDigits = 5
  /// The number of newest records of a store whose devices are known.
  private static let newestRecords = 1000
  private static let secondsPerDay: Int64 = 86_400
  /// The minimum length of a serial number without leading zeros. A shorter one may be a placeholder of the
  /// source, so it is not compared.
  private static let minSerialLength = 5

  private let own: Person
  private let others: [Person]
  private let present: Store?
  /// What a refusal means, in the words of the message.
  private let outcome: String

  /// Reads the list of persons; nil if the store belongs to none of them, or if there are no others.
  ///
  /// - Parameters:
  ///   - path: the path of the store into which the data go.
  ///   - present: this store; nil if it does not exist yet.
  ///   - outcome: what a refusal means, in the words of the message.
  init?(_ path: String, _ present: Store?, outcome: String = "nothing is imported") throws {
    guard let (own, others) = try PersonList.load().others(ofStore: path) else { return nil }
    (self.own, self.others, self.present, self.outcome) = (own, others, present, outcome)
  }

  /// Refuses an input with items that the store of another person has.
  ///
  /// - Parameters:
  ///   - batch: the beginning of the input.
  ///   - format: the id of the input's format.
  ///   - hint: how to import the input for the other person, and how for this one.
  /// - Throws: `Failure` of category `badInput` if another person's store has them.
  func requireNone(
    of batch: IngestBatch, format: String, in name: String, _ hint: (Person) -> String
  ) throws {
    try requireNone(of: batch.devices, batch.readings, in: name, hint)
    let places = batch.records.indices.filter { isCompared(batch.records[$0]) }
    let owners = try unknownDevices(Set(places.lazy.map { batch.records[$0].owner }))
    guard !owners.isEmpty || places.count >= Self.minEqual else { return }
    for person in others {
      if owners.contains(where: { person.hasMeter([$0]) }) {
        throw Failure(
          .badInput,
          "\(displayed(name)): it has doses or meals of a device of \(displayed(person.name)), so \(outcome); "
            + hint(person))
      }
      let found = try reading(person) { store in
        if try Self.hasDevice(owners, store) { return "doses or meals of the same device are" }
        return try hasRecords(batch.records, places, format, in: store) ? "the same doses or meals are" : nil
      }
      guard let found else { continue }
      throw Failure(
        .badInput,
        "\(displayed(name)): \(found) in the store of \(displayed(person.name)), so \(outcome); \(hint(person))"
      )
    }
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
        "\(displayed(name)): \(what) in the store of \(displayed(person.name)), so \(outcome); \(hint(person))"
      )
    }
  }

  /// Refuses a copy of another person's store. Its newest import is an import of that store, and not of the
  /// person's own store.
  ///
  /// - Throws: `Failure` of category `badInput` for such a copy.
  func requireNoCopy(_ copy: Store, in name: String, _ hint: (Person) -> String) throws {
    guard let newest = try copy.newestImport(), try present?.hasImport(newest) != true else { return }
    for person in others where try reading(person, { try $0.hasImport(newest) }) == true {
      throw Failure(
        .badInput,
        "\(displayed(name)): this is a copy of the store of \(displayed(person.name)), so \(outcome); \(hint(person))"
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

  /// Whether a record of an input is compared. Records of the person's own devices are not.
  private func isCompared(_ record: ImportedRecord) -> Bool {
    record.kind.details?.isListed == true && !record.deleted && !record.isDeletedAtSource
      && (record.owner.isEmpty || !own.hasMeter([record.owner]))
  }

  /// The names of devices that are serial numbers, and that the person's own store does not have.
  private func unknownDevices(_ names: Set<String>) throws -> Set<String> {
    let serials = names.filter {
      $0.filter(\.isNumber).drop { $0 == "0" }.count >= Self.minSerialDigits && Self.identifies($0)
    }
    guard let present, !serials.isEmpty else { return serials }
    let known = try present.sources(ofNewestRecords: Self.newestRecords)
    return try serials.filter { try !known.contains($0) && !present.hasShownReadings(ofSerial: $0) }
  }

  private static func hasDevice(_ serials: Set<String>, _ store: Store) throws -> Bool {
    guard !serials.isEmpty else { return false }
    return try !serials.isDisjoint(with: store.sources(ofNewestRecords: newestRecords))
      || serials.contains(where: store.hasShownReadings(ofSerial:))
  }

  /// Whether another store has at least half of the records that it could have. A record that the person's
  /// own store has, too, does not count as one of them.
  private func hasRecords(
    _ records: [ImportedRecord], _ places: [Int], _ format: String, in store: Store
  ) throws -> Bool {
    guard let times = try store.timesOfRecords() else { return false }
    let possible = Self.sample(places.filter { times.contains(records[$0].deviceTime.seconds) })
      .map { records[$0] }
    guard possible.count >= Self.minEqual else { return false }
    let isHeld = try store.hasShown(possible, format: format)
    let isOwn = try present?.hasShown(possible, format: format)
    let equal = possible.indices.filter { isHeld[$0] && isOwn?[$0] != true }.map { possible[$0] }
    let different = Set(
      equal.map { "\($0.deviceTime.seconds % Self.secondsPerDay) \($0.kind) \($0.fields.json)" })
    return equal.count >= Self.minEqual && 2 * equal.count >= possible.count
      && different.count >= Self.minDifferent
  }

  /// The readings that the person's own store does not have.
  private func unknown(_ sample: [Reading], _ devices: [Device]) throws -> [Reading] {
    guard let present else { return sample }
    return zip(sample, try present.holdings(of: sample, devices)).filter { $1 != .equal }.map(\.0)
  }

  /// At most `sampleSize` of the items, at equal distances in the list.
  private static func sample<Item>(_ items: [Item]) -> [Item] {
    guard items.count > sampleSize else { return items }
    return (0..<sampleSize).map { items[$0 * items.count / sampleSize] }
  }

  /// A sample of a store that a person wants to import or restore: all its devices, and its newest readings
  /// and records. It is compared with the stores of other persons.
  static func sample(of store: Store) throws -> IngestBatch {
    var batch = IngestBatch()
    (batch.devices, batch.readings) = try store.newestReadings(sampleSize)
    let known = batch.devices
    batch.devices += try store.devices().filter { !known.contains($0) }
    batch.records = try store.newestRecords(sampleSize)
    return batch
  }

  private static func identifies(_ serial: String) -> Bool {
    serial.drop { $0 == "0" }.count >= minSerialLength
  }

  private func reading<Value>(_ person: Person, _ work: (Store) throws -> Value?) throws -> Value? {
    try person.readingStore(work)
  }
}

extension PersonList {
  /// The person of a store and the persons of other stores; nil if the store belongs to no person, or if
  /// there are no others.
  func others(ofStore path: String) -> (own: Person, others: [Person])? {
    guard let own = all.first(where: { $0.hasStore(path) }) else { return nil }
    let others = all.filter { $0.name != own.name && !$0.hasStore(path) }
    return others.isEmpty ? nil : (own, others)
  }
}

extension Person {
  /// Runs work with the person's store, as one of several stores that are compared. If the store is missing
  /// or unreadable, the result is nil: the fault must not stop the command for another person, and `person
  /// list` shows it.
  func readingStore<Value>(_ work: (Store) throws -> Value?) throws -> Value? {
    do {
      guard try Store.exists(path: store) else { return nil }
      return try work(Store(path: store, role: .reader))
    } catch is Failure {
      return nil
    }
  }
}
