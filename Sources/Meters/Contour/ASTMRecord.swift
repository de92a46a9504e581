// SPDX-License-Identifier: Apache-2.0

import Logbook

/// A record of ASTM E1394: fields between `|`, components between `^`. Field 0 is the type.
struct ASTMRecord: Hashable {
  /// The record as received.
  let text: String
  private let fields: [Substring]

  init(_ text: [UInt8]) {
    self.text = String(decoding: text, as: UTF8.self)
    fields = self.text.split(separator: "|", omittingEmptySubsequences: false)
  }

  /// The letter of the record's type.
  var type: Substring { self[0] }

  /// A field; empty past the end of the record.
  subscript(_ index: Int) -> Substring { fields.indices.contains(index) ? fields[index] : "" }

  func components(_ index: Int) -> [Substring] {
    self[index].split(separator: "^", omittingEmptySubsequences: false)
  }

  /// The time in a field: twelve digits, to the minute, or fourteen, to the second; nil for anything else.
  func time(_ index: Int) -> DeviceTime? {
    let digits = self[index].utf8.map { Int($0) - 0x30 }
    guard digits.count == 12 || digits.count == 14, digits.allSatisfy({ (0...9).contains($0) }) else {
      return nil
    }
    func number(_ start: Int, _ end: Int) -> Int { digits[start..<end].reduce(0) { $0 * 10 + $1 } }
    return DeviceTime(
      year: number(0, 4), month: number(4, 6), day: number(6, 8), hour: number(8, 10),
      minute: number(10, 12), second: digits.count == 14 ? number(12, 14) : 0)
  }

  /// The number in a field of plain decimal digits, such as `102` or `10.9`; nil for anything else.
  func number(_ index: Int) -> Double? {
    let text = self[index]
    let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isPlain = parts.allSatisfy { part in
      (1...9).contains(part.count) && part.allSatisfy { (0x30...0x39).contains($0) }
    }
    return parts.count <= 2 && isPlain ? Double(text) : nil
  }
}

/// The content of a meter's header record.
struct ContourHeader {
  /// The model as the meter names it, such as `Bayer7390` or `Contour7800`.
  let product: String
  /// The versions of the meter's parts, separated by blanks.
  let firmware: String
  /// The complete serial number, with the model number before the dash.
  let serial: String
  /// The range in which the meter reports numbers; nil if it is not stated.
  let range: ContourRange?
  /// The number of results that the meter announces.
  let count: Int?
  /// The time on the meter's clock.
  let clock: DeviceTime?

  /// Parses a header record; nil for another record. Only the serial number is required: meters differ in the
  /// number of fields and settings.
  init?(_ record: ASTMRecord) {
    let parts = record.components(4)
    guard record.type == "H", parts.count >= 3 else { return nil }
    let serial = String(parts[2]).trimmed
    guard !serial.isEmpty else { return nil }
    product = String(parts[0]).trimmed
    firmware = String(parts[1]).replacing("\\", with: " ")
    self.serial = serial
    let setting = record.components(5).first { $0.hasPrefix("V=") }
    range = setting.flatMap { ContourRange($0.dropFirst(2)) }
    count = Int(record[6]).flatMap { (0...1_000_000).contains($0) ? $0 : nil }
    clock = record.time(13)
  }

  /// The name of the model whose number is in the header; for an unknown number, `product`.
  var model: String { Self.models[String(product.suffix(4))] ?? product }

  private static let models = [
    "7390": "Contour USB", "6200": "Contour Next Link", "6210": "Contour Next Link 2.4",
    "6300": "Contour Next Link", "7350": "Contour Next", "7410": "Contour Next USB",
    "7800": "Contour Next One or Plus One", "7900": "Contour Next", "7950": "Contour Plus Blue or Care",
  ]
}

/// The range in which a meter reports numbers: it shows LO below the range, and HI above it.
struct ContourRange: Hashable {
  let low: Double
  let high: Double
  let unit: GlucoseUnit

  /// Parses the setting V: the lower end of the range in two digits, followed by its upper end in three.
  ///
  /// Meters print mg/dL even if they show mmol/L. A single source saw a meter that printed tenths of mmol/L,
  /// `06333`. No meter's range ends below 400 mg/dL or above 40 mmol/L.
  init?(_ text: some StringProtocol) {
    guard text.utf8.count == 5, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let low = Double(text.prefix(2)), let high = Double(text.suffix(3)), low < high
    else { return nil }
    let isMass = high > 400
    self.low = isMass ? low : low / 10
    self.high = isMass ? high : high / 10
    unit = isMass ? .milligramsPerDecilitre : .millimolesPerLitre
  }
}

extension String {
  /// The text without blanks at both ends.
  fileprivate var trimmed: String {
    let tail = drop { $0 == " " }.reversed().drop { $0 == " " }
    return String(tail.reversed())
  }
}
