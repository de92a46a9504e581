// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters
import SimulatedMeters

/// An invented HID meter for tests of the conformance suite. It receives an item's number and sends eight
/// bytes: the kind, the time, the value and a checksum.
final class ToyMeter: SimulatedMeter {
  let deviceDescriptor: [UInt8] = [18, 1, 0, 2, 0, 0, 0, 64, 0x34, 0x12, 0x78, 0x56, 0, 1, 0, 0, 0, 1]
  let configurationDescriptor: [UInt8] = [
    9, 2, 41, 0, 1, 1, 0, 0x80, 50, 9, 4, 0, 0, 2, 3, 0, 0, 0, 9, 0x21, 0, 1, 0, 1, 0x22, 35, 0,
    7, 5, 0x81, 3, 64, 0, 1, 7, 5, 0x02, 3, 64, 0, 1,
  ]
  let strings: [String] = []

  private let memory: SimulatedMemory
  private var answers: [[UInt8]] = []

  init(_ memory: SimulatedMemory) { self.memory = memory }

  static func holds(_ item: SimulatedItem) -> Bool {
    item.kind == .smbg && item.marks.isSubset(of: .controlSolution)
  }

  func control(_ request: ControlRequest, maxBytes: Int, data: [UInt8]) -> ControlAnswer { .stall }

  func accept(_ packet: [UInt8], endpoint: UInt8) -> Bool {
    let number = Int(packet[0]) | Int(packet[1]) << 8
    if number == 0 {
      answers.append(sealed(0, memory.clock.seconds, memory.items.count))
    } else if memory.items.indices.contains(number - 1) {
      let item = memory.items[number - 1]
      let level =
        switch item.measurement {
        case .low: 0xFFFE
        case .high: 0xFFFF
        case .value(let quantity): Int(quantity.number)
        }
      answers.append(sealed(item.marks.isEmpty ? 1 : 2, item.deviceTime.seconds, level))
    }
    return true
  }

  func nextPacket(endpoint: UInt8, maxBytes: Int) -> PacketAnswer {
    answers.isEmpty ? .nothing : .data(answers.removeFirst())
  }

  private func sealed(_ what: UInt8, _ seconds: Int64, _ number: Int) -> [UInt8] {
    let time = (0..<4).map { UInt8(truncatingIfNeeded: seconds >> ($0 * 8)) }
    let body = [what] + time + [UInt8(number & 0xFF), UInt8(number >> 8)]
    return body + [body.reduce(0x5A, &+)] + [UInt8](repeating: 0, count: 56)
  }
}

extension SimulatedFamily {
  static let toy = SimulatedFamily("toy", holds: ToyMeter.holds) { .usb(ToyMeter($0)) }
}

/// Reads the toy meter and compares the checksums.
struct ToyDriver: MeterDriver {
  static let id = "toy"
  static let name = "Toy"
  static let models = [MeterModel("Toy", vendorID: 0x1234, productID: 0x5678, link: .hid)]

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    try Toy.identity(Toy.exchange(0, meter, isCareful: true), meter)
  }

  func read(_ meter: MeterConnection) throws -> MeterContents { try Toy.read(meter, isCareful: true) }
}

/// Reads the toy meter without comparing the checksums.
struct CarelessToyDriver: MeterDriver {
  static let id = "toy"
  static let name = "Careless toy"
  static let models = ToyDriver.models

  func identify(_ meter: MeterConnection) throws -> MeterIdentity { try ToyDriver().identify(meter) }
  func read(_ meter: MeterConnection) throws -> MeterContents { try Toy.read(meter, isCareful: false) }
}

/// Reads the toy meter, and repeats a request endlessly if the answer is missing.
struct StubbornToyDriver: MeterDriver {
  static let id = "toy"
  static let name = "Stubborn toy"
  static let models = ToyDriver.models

  func identify(_ meter: MeterConnection) throws -> MeterIdentity { try ToyDriver().identify(meter) }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    for _ in 0..<400 {
      do { return try Toy.read(meter, isCareful: true) } catch {}
    }
    return try Toy.read(meter, isCareful: true)
  }
}

private enum Toy {
  static func read(_ meter: MeterConnection, isCareful: Bool) throws -> MeterContents {
    let first = try exchange(0, meter, isCareful: isCareful)
    var contents = MeterContents(identity(first, meter))
    for number in 0..<(Int(first[5]) | Int(first[6]) << 8) {
      let item = try exchange(number + 1, meter, isCareful: isCareful)
      let level = Int(item[5]) | Int(item[6]) << 8
      let unit = GlucoseUnit.milligramsPerDecilitre
      let measurement: Measurement =
        switch level {
        case 0xFFFE: .low(below: nil, unit)
        case 0xFFFF: .high(above: nil, unit)
        default: .value(Quantity(Double(level), unit))
        }
      contents.readings.append(
        MeterReading(.smbg, at: time(item), measurement, marks: item[0] == 2 ? .controlSolution : []))
    }
    return contents
  }

  static func identity(_ answer: [UInt8], _ meter: MeterConnection) -> MeterIdentity {
    MeterIdentity(
      device: Device(vendor: "Toy", model: "Toy", serial: "1", format: "toy"),
      clock: meter.compareClock(time(answer)))
  }

  static func exchange(_ number: Int, _ meter: MeterConnection, isCareful: Bool) throws -> [UInt8] {
    do throws(TransportError) {
      if isCareful { _ = try meter.perform(.discard, within: 0) }
      try meter.send([UInt8(number & 0xFF), UInt8(number >> 8)])
      let answer = try meter.receive(within: 100)
      let isWhole = answer.count == 64 && answer[..<7].reduce(0x5A, &+) == answer[7]
      guard isWhole || !isCareful && answer.count > 7 else { throw .failed("a broken answer") }
      return answer
    } catch {
      throw Failure(error, doing: "reading the toy")
    }
  }

  private static func time(_ answer: [UInt8]) -> DeviceTime {
    DeviceTime(seconds: answer[1...4].reversed().reduce(0) { $0 << 8 | Int64($1) })
  }
}
