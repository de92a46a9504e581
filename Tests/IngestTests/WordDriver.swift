// SPDX-License-Identifier: Apache-2.0

import Logbook
import Meters

/// A driver for tests. Each packet of its meter is a text with one item, and the packet `end` is the last
/// one. The import handles the contents of all drivers in the same way. The packets are:
///
/// - `meter SERIAL FIRMWARE CLOCK`
/// - `reading KIND TIME VALUE [tick=N] [offset=SECONDS] [again] [control]`
/// - `amount KIND FIELD NUMBER TIME`
/// - `note ID TIME TEXT`
/// - `broken`
struct WordDriver: MeterDriver {
  static let id = "word"
  static let name = "Word"
  static let models = [MeterModel("Word One", vendorID: 0x1209, productID: 1, link: .hid)]

  func identify(_ meter: MeterConnection) throws -> MeterIdentity {
    let words = try receive(meter)
    var identity = MeterIdentity(
      device: Device(vendor: "Words", model: "Word One", serial: words[1], format: Self.id),
      firmware: words[2])
    identity.clock = DeviceTime(text: words[3]).map(meter.compareClock)
    return identity
  }

  func read(_ meter: MeterConnection) throws -> MeterContents {
    var contents = MeterContents(try identify(meter))
    try meter.onIdentity(contents.identity)
    while true {
      let words = try receive(meter)
      switch words[0] {
      case "reading": contents.readings.append(try reading(words))
      case "note":
        let fields = RecordFields(["text": .text(words[3])])
        contents.records.append(MeterRecord(.note, at: try time(words[2]), fields, sourceID: words[1]))
      case "amount":
        let fields = RecordFields([words[2]: .number(Double(words[3]) ?? 0)])
        contents.records.append(
          MeterRecord(RecordKind(rawValue: words[1]) ?? .note, at: try time(words[4]), fields))
      case "offset": contents.clockOffsets.append(Int(words[1]) ?? 0)
      case "broken":
        contents.rejections.append(Rejection(line: 7, reason: "the record's checksum is wrong"))
      default: return contents
      }
    }
  }

  private func receive(_ meter: MeterConnection) throws -> [String] {
    let bytes: [UInt8]
    do {
      bytes = try meter.receive(within: 100)
    } catch {
      throw Failure(error, doing: "reading the memory")
    }
    return String(decoding: bytes, as: UTF8.self).split(separator: " ").map(String.init)
  }

  private func reading(_ words: [String]) throws -> MeterReading {
    func number(_ name: String) -> Int64? {
      words.first { $0.hasPrefix(name) }.flatMap { Int64($0.dropFirst(name.count)) }
    }
    let value = Quantity(Double(words[3]) ?? 0, .milligramsPerDecilitre)
    return MeterReading(
      ReadingKind(name: words[1]) ?? .smbg, at: try time(words[2]), .value(value),
      marks: words.contains("again") ? .clockSetBack : words.contains("control") ? .controlSolution : [],
      tick: number("tick="),
      utcOffset: number("offset=").map { Int32($0) })
  }

  private func time(_ text: String) throws -> DeviceTime {
    guard let time = DeviceTime(text: text) else { throw Failure(.protocolViolation, "no time") }
    return time
  }
}

/// The transcript of a session in which the meter sends these packets.
func wordSession(_ packets: [String], startedAt: Int64 = 1_795_219_200) -> Transcript {
  var transcript = Transcript(driver: "word", vendorID: 0x1209, productID: 1, startedAt: startedAt)
  transcript.steps = packets.enumerated().map { index, packet in
    Transcript.Step(
      milliseconds: index * 1000, exchange: .receive(maxBytes: 64), result: .success(Array(packet.utf8)))
  }
  return transcript
}
