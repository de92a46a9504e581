// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A Bluetooth characteristic: the number of its service and its own number.
package struct SimulatedCharacteristic: Hashable, Sendable {
  package let service: UInt16
  package let number: UInt16

  package init(_ service: UInt16, _ number: UInt16) {
    self.service = service
    self.number = number
  }
}

/// A notification or an indication of the characteristic with this number.
package struct SimulatedNotification: Hashable, Sendable {
  package var number: UInt16
  package var bytes: [UInt8]

  package init(_ number: UInt16, _ bytes: [UInt8]) {
    self.number = number
    self.bytes = bytes
  }
}

/// A meter with the Glucose Service, as a bonded host sees it. This simulation is written from the
/// specification of the service, and not from the driver.
///
/// These details of real meters are unknown and were chosen for the simulation:
/// - the final indication is queued after the last record
/// - a new connection ends a transfer and turns notifications off
/// - a request with an unknown op code is answered with result 02
package final class SimulatedGlucoseMeter {
  /// The traits of a model.
  package struct Traits: Sendable {
    package var name = "meter+00123456"
    package var maker = "Roche"
    package var model = "925"
    package var hasSerial = true
    package var hasContext = true
    /// Whether results are in mol/L.
    package var isMolar = false
    /// The time offset: minutes from the base time to the device time; nil if the meter never sends it.
    package var offset: Int? = 9
    /// Whether a record has the time offset only if the offset changed.
    package var omitsOffset = false
    /// Whether the newest record has the number 0, and older ones have greater numbers.
    package var countsBackwards = false
    /// Whether the records are sent as soon as notifications are on.
    package var streams = false
    /// Whether control solution is stated as the location 4, not as the type 10.
    package var controlIsLocation = false
    package var hasKetones = false

    package init() {}
  }

  /// The values that can be read.
  package var values: [SimulatedCharacteristic: [UInt8]] = [:]
  /// The notifications that answer a request of all records, without the indication that ends the transfer.
  package var records: [SimulatedNotification] = []
  /// The number of records that the meter announces; nil for the number of measurements.
  package var announced: Int?
  /// The indication that ends a transfer; nil if the meter sends none.
  package var end: [UInt8]? = [0x06, 0x00, 0x01, 0x01]
  /// Whether the connection is lost after this number of notifications.
  package var vanishesAfter: Int?
  /// Whether requests are refused until the host and the meter are bonded.
  package var isBonded = true
  /// Whether the meter supports requests for the records from a given number on.
  package var filtersByNumber = true
  /// Whether the answer to a request for the records from a number on lacks the time offset even in its
  /// first record.
  package var losesOffset = false
  /// Whether the meter answers requests at all.
  package var answersRequests = true
  /// The indexes of records that the next transfer leaves out, as if they were lost on the way.
  package var lost: Set<Int> = []
  /// All received requests, including refused ones.
  package private(set) var requests: [[UInt8]] = []

  private let traits: Traits
  private var subscribed: Set<UInt16> = []
  private var queue: [SimulatedNotification] = []
  private var sent = 0

  package init(_ memory: SimulatedMemory, _ traits: Traits = Traits()) {
    self.traits = traits
    values = [
      .init(0x1800, 0x2A00): Array(traits.name.utf8),
      .init(0x180A, 0x2A29): Array(traits.maker.utf8) + [0],
      .init(0x180A, 0x2A24): Array(traits.model.utf8),
      .init(0x180A, 0x2A26): Array(memory.firmware.utf8),
      .init(0x1808, 0x2A51): [0xFF, 0x03],
      .init(0x1805, 0x2A2B): Self.time(memory.clock) + [0, 0, 0],
    ]
    if traits.hasSerial { values[.init(0x180A, 0x2A25)] = Array(memory.serial.utf8) }
    let items = memory.items.filter { Self.holds($0, traits) }
    for (index, item) in items.enumerated() {
      let number = UInt16(traits.countsBackwards ? items.count - 1 - index : index + 1)
      records += Self.notifications(item, number, traits, isFirst: index == 0)
    }
    if traits.countsBackwards { records.reverse() }
  }

  /// Whether a model with these traits can store an item.
  package static func holds(_ item: SimulatedItem, _ traits: Traits) -> Bool {
    let marks: [ReadingMarks] =
      [[], .controlSolution] + (traits.hasContext ? [.beforeMeal, .afterMeal, .fasting, .bedtime] : [])
    guard item.deviceTime.parts.second == 0, marks.contains(item.marks) else { return false }
    return item.kind == .smbg || item.kind == .ketone && traits.hasKetones && item.marks.isEmpty
  }

  /// Starts a new connection.
  package func connect() {
    (subscribed, queue, sent) = ([], [], 0)
  }

  /// Whether the connection is lost.
  package var isGone: Bool { vanishesAfter.map { sent >= $0 } ?? false }

  /// Turns a characteristic's notifications on. False if the meter does not have it.
  package func subscribe(_ number: UInt16) -> Bool {
    guard [0x2A18, 0x2A52].contains(number) || number == 0x2A34 && traits.hasContext else { return false }
    subscribed.insert(number)
    if traits.streams, number == 0x2A52 { queue += records }
    return true
  }

  /// Receives a request at the record access control point. Returns the ATT error; nil for success.
  package func request(_ bytes: [UInt8]) -> UInt8? {
    requests.append(bytes)
    guard isBonded else { return 0x05 }
    guard subscribed.isSuperset(of: [0x2A18, 0x2A52]) else { return 0x81 }
    guard answersRequests else { return nil }
    switch bytes {
    case [0x03, 0x00]:
      queue = []
      answer([0x06, 0x00, 0x03, 0x01])
    case _ where !queue.isEmpty: return 0x80
    case [0x04, 0x01]:
      let count = announced ?? records.count { $0.number == 0x2A18 }
      answer([0x05, 0x00, UInt8(count & 0xFF), UInt8(count >> 8)])
    case [0x04, 0x03, 0x01, bytes.dropFirst(3).first ?? 0, bytes.last ?? 0] where filtersByNumber:
      let count = from(bytes).count { $0.number == 0x2A18 }
      answer([0x05, 0x00, UInt8(count & 0xFF), UInt8(count >> 8)])
    case [0x01, 0x03, 0x01, bytes.dropFirst(3).first ?? 0, bytes.last ?? 0] where filtersByNumber:
      let records = from(bytes)
      queue += records.enumerated().filter { !lost.contains($0.offset) }.map(\.element)
      lost = []
      if let end { answer(records.isEmpty ? [0x06, 0x00, 0x01, 0x06] : end) }
    case [0x01, 0x01] where records.isEmpty: answer([0x06, 0x00, 0x01, 0x06])
    case [0x01, 0x01]:
      queue += records.enumerated().filter { !lost.contains($0.offset) }.map(\.element)
      lost = []
      if let end { answer(end) }
    default: answer([0x06, 0x00, bytes.first ?? 0, 0x02])
    }
    return nil
  }

  /// The next notification or indication; nil if there is none.
  package func next() -> SimulatedNotification? {
    guard !queue.isEmpty, !isGone else { return nil }
    sent += 1
    return queue.removeFirst()
  }

  /// The records whose number is at least the number in the request. The first measurement of a transfer has
  /// its time offset, even if later measurements omit it.
  private func from(_ request: [UInt8]) -> [SimulatedNotification] {
    func number(_ bytes: [UInt8]) -> Int { Int(bytes[1]) | Int(bytes[2]) << 8 }
    let least = Int(request[3]) | Int(request[4]) << 8
    var found = records.filter { number($0.bytes) >= least }
    let first = found.firstIndex { $0.number == 0x2A18 }
    if let first, let offset = traits.offset, found[first].bytes[0] & 1 == 0, !losesOffset {
      found[first].bytes[0] |= 1
      found[first].bytes.insert(
        contentsOf: [UInt8(truncatingIfNeeded: offset), UInt8(truncatingIfNeeded: offset >> 8)], at: 10)
    }
    return found
  }

  private func answer(_ bytes: [UInt8]) { queue.append(SimulatedNotification(0x2A52, bytes)) }
}

extension SimulatedGlucoseMeter {
  private static func time(_ time: DeviceTime) -> [UInt8] {
    let p = time.parts
    return [UInt8(p.year & 0xFF), UInt8(p.year >> 8)]
      + [p.month, p.day, p.hour, p.minute, p.second].map { UInt8($0) }
  }

  /// A measurement and, if the item has a mark or is a ketone, its context.
  private static func notifications(
    _ item: SimulatedItem, _ number: UInt16, _ traits: Traits, isFirst: Bool
  ) -> [SimulatedNotification] {
    let meal: UInt8? =
      switch item.marks {
      case .beforeMeal: 1
      case .afterMeal: 2
      case .fasting: 3
      case .bedtime: 5
      default: item.kind == .ketone ? 6 : nil
      }
    let (code, isMolar) = concentration(item, traits)
    let sequence = [UInt8(number & 0xFF), UInt8(number >> 8)]
    var flags: UInt8 = 0x02 | 0x08
    if isMolar { flags |= 0x04 }
    if meal != nil { flags |= 0x10 }
    let base = DeviceTime(seconds: item.deviceTime.seconds - Int64(traits.offset ?? 0) * 60)
    var bytes = sequence + time(base)
    if let offset = traits.offset, isFirst || !traits.omitsOffset {
      flags |= 0x01
      bytes += [UInt8(truncatingIfNeeded: offset), UInt8(truncatingIfNeeded: offset >> 8)]
    }
    let isControl = item.marks == .controlSolution
    let sample: UInt8 = !isControl ? 0xF8 : traits.controlIsLocation ? 0x41 : 0xFA
    bytes += [UInt8(code & 0xFF), UInt8(code >> 8), sample, 0, 0]
    let measurement = SimulatedNotification(0x2A18, [flags] + bytes)
    guard let meal else { return [measurement] }
    return [measurement, SimulatedNotification(0x2A34, [0x02] + sequence + [meal])]
  }

  /// The concentration of an item as a SFLOAT, a decimal number of 16 bits, and whether it is in mol/L.
  private static func concentration(_ item: SimulatedItem, _ traits: Traits) -> (UInt16, Bool) {
    switch item.measurement {
    case .high: return (0x07FE, traits.isMolar)
    case .low: return (0x0802, traits.isMolar)
    case .value(let quantity):
      if item.kind == .ketone { return (0xB000 | UInt16((quantity.number * 10).rounded()), false) }
      let unit: GlucoseUnit = traits.isMolar ? .millimolesPerLitre : .milligramsPerDecilitre
      let number = quantity.converted(to: unit).number
      return traits.isMolar
        ? (0xC000 | UInt16((number * 10).rounded()), true) : (0xB000 | UInt16(number.rounded()), false)
    }
  }
}

extension SimulatedRegister {
  /// Models with the Bluetooth glucose profile.
  static let radio: [SimulatedFamily] = [
    family("Accu-Chek Guide") { _ in },
    family("Contour Next One") {
      ($0.name, $0.maker, $0.model) = ("Contour7830H1234567", "Ascensia Diabetes Care", "Contour7830")
      ($0.offset, $0.omitsOffset) = (-7, true)
    },
    family("CareSens Dual") {
      ($0.name, $0.maker, $0.model) = ("CareSens 4567", "i-SENS", "CareSens Dual")
      ($0.hasKetones, $0.controlIsLocation) = (true, true)
    },
    family("TaiDoc, newest first") {
      ($0.name, $0.maker, $0.model, $0.offset) = ("TAIDOC TD4277", "TaiDoc", "TD4277", nil)
      ($0.hasContext, $0.countsBackwards) = (false, true)
    },
    family("mol/L, without a serial number") {
      ($0.name, $0.maker, $0.model) = ("Sugar 0042", "Example", "Sugar")
      ($0.hasSerial, $0.isMolar) = (false, true)
    },
  ]

  private static func family(
    _ variant: String, _ change: (inout SimulatedGlucoseMeter.Traits) -> Void
  ) -> SimulatedFamily {
    var traits = SimulatedGlucoseMeter.Traits()
    change(&traits)
    let model = traits
    return SimulatedFamily(
      "bluetooth-glucose", variant: variant, hasChecksums: false,
      holds: { SimulatedGlucoseMeter.holds($0, model) }
    ) {
      .radio(SimulatedGlucoseMeter($0, model))
    }
  }
}
