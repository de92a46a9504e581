// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A packet of TaiDoc's protocol: 51, command, four bytes of data, direction, sum. Both directions use the same form.
struct TaiDocPacket: Hashable {
  /// The number of bytes of every packet.
  static let length = 8

  /// The sender of a packet, in the byte before the sum.
  enum Sender: UInt8 {
    case host = 0xA3
    case meter = 0xA5
  }

  /// The command, also in its answer.
  var command: UInt8
  /// Four bytes.
  var data: [UInt8]

  init(_ command: UInt8, _ data: [UInt8] = [0, 0, 0, 0]) {
    self.command = command
    self.data = data
  }

  /// The packet as sent.
  func bytes(from sender: Sender) -> [UInt8] {
    let head = [0x51, command] + data + [sender.rawValue]
    return head + [Self.sum(head)]
  }

  /// The first complete packet of the meter, which is removed with the bytes before it; nil if there is none.
  ///
  /// After an invalid packet or a wrong sum, the search continues at the next byte that may begin a packet.
  static func next(in bytes: inout [UInt8]) -> TaiDocPacket? {
    var start = 0
    while start + length <= bytes.count {
      let piece = bytes[start..<start + length]
      if piece.first == 0x51, piece[start + 6] == Sender.meter.rawValue,
        sum(piece.dropLast()) == piece[start + 7]
      {
        let packet = TaiDocPacket(piece[start + 1], Array(piece[start + 2..<start + 6]))
        bytes.removeFirst(start + length)
        return packet
      }
      start += 1
    }
    bytes.removeFirst(start)
    return nil
  }

  private static func sum(_ bytes: some Sequence<UInt8>) -> UInt8 { bytes.reduce(0, &+) }
}

/// A record of a TaiDoc meter, which is sent in two packets.
enum TaiDocRecord: Hashable {
  case reading(MeterReading)
  /// Neither glucose nor ketone; with its name.
  case skipped(String)
  /// A record that could not be parsed, with the reason.
  case rejected(String)

  /// Parses the data of the packets with the time and the value.
  init(time: [UInt8], value: [UInt8]) {
    guard time.count == 4, value.count == 4 else {
      self = .rejected("the record has no time or no value")
      return
    }
    // Meters with a cuff mark records of blood pressure in the byte of the minute.
    if time[2] & 0x80 != 0 {
      self = .skipped("blood pressure")
    } else if let name = Self.otherKinds[value[3] >> 2 & 0x0F] {
      self = .skipped(name)
    } else if let shown = Self.time(time) {
      self = Self.reading(at: shown, value)
    } else {
      self = .rejected("invalid time")
    }
  }

  /// The time in a packet: year, month and day in one word, minute, hour. There are no seconds.
  static func time(_ data: [UInt8]) -> DeviceTime? {
    guard data.count == 4 else { return nil }
    let date = Int(data[0]) | Int(data[1]) << 8
    return DeviceTime(
      year: 2000 + date >> 9, month: date >> 5 & 0x0F, day: date & 0x1F, hour: Int(data[3] & 0x1F),
      minute: Int(data[2] & 0x3F))
  }

  /// The data of a packet with this time; nil for a year that does not fit.
  static func data(_ time: DeviceTime) -> [UInt8]? {
    let parts = time.parts
    guard (2000...2127).contains(parts.year) else { return nil }
    let date = (parts.year - 2000) << 9 | parts.month << 5 | parts.day
    return [UInt8(date & 0xFF), UInt8(date >> 8), UInt8(parts.minute), UInt8(parts.hour)]
  }
}

extension TaiDocRecord {
  /// Other kinds of measurement than glucose (0) and ketone (7); a single source names them.
  private static let otherKinds: [UInt8: String] = [
    6: "haematocrit", 8: "uric acid", 9: "cholesterol", 0xB: "haemoglobin", 0xC: "lactate",
    0xD: "triglycerides",
  ]

  /// The number that means no value.
  private static let invalid = 0xFFFF

  private static func reading(at time: DeviceTime, _ value: [UInt8]) -> TaiDocRecord {
    let number = Int(value[0]) | Int(value[1]) << 8
    guard number != invalid else { return .skipped("entry that the meter marks as invalid") }
    guard number > 0 else { return .rejected("the value is zero") }
    let marks: ReadingMarks = [[], .beforeMeal, .afterMeal, .controlSolution][Int(value[3] >> 6)]
    switch value[3] >> 2 & 0x0F {
    case 0: return .reading(MeterReading(.smbg, at: time, glucose(number), marks: marks))
    case 7: return .reading(MeterReading(.ketone, at: time, ketone(number), marks: marks))
    default: return .rejected("unknown kind of measurement")
    }
  }

  /// Glucose is in mg/dL whatever unit the meter shows; its manual states LO below 20 and HI above 600.
  private static func glucose(_ number: Int) -> Measurement {
    switch number {
    case ..<20: .low(below: 20, .milligramsPerDecilitre)
    case ...600: .value(Quantity(Double(number), .milligramsPerDecilitre))
    default: .high(above: 600, .milligramsPerDecilitre)
    }
  }

  /// Ketone is in units of 1/300 mmol/L, by a single source; the meter shows tenths of mmol/L.
  private static func ketone(_ number: Int) -> Measurement {
    number > 2400
      ? .high(above: 8, .millimolesPerLitre)
      : .value(Quantity((Double(number) / 30).rounded() / 10, .millimolesPerLitre))
  }
}
