// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What the header record of a meter says of it.
struct ContourHeader {
  /// `Bayer7390`, `Contour7800`.
  let product: String
  /// The versions of its parts with blanks between them.
  let firmware: String
  /// The whole serial number, with the model's number before the dash.
  let serial: String
  /// Between what values the meter reports numbers; nil where it does not say.
  let range: ContourRange?
  /// How many results it announces.
  let count: Int?
  /// Its clock.
  let clock: DeviceTime?

  /// The header in this record; nil where it is none. Meters differ in how many fields and settings they have, so
  /// that none but the serial number is wanted.
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

  /// What the model's number in the header means; the product's text for one that nobody has listed.
  var model: String { Self.models[String(product.suffix(4))] ?? product }

  private static let models = [
    "7390": "Contour USB", "6200": "Contour Next Link", "6210": "Contour Next Link 2.4",
    "6300": "Contour Next Link", "7350": "Contour Next", "7410": "Contour Next USB",
    "7800": "Contour Next One or Plus One", "7900": "Contour Next", "7950": "Contour Plus Blue or Care",
  ]
}

/// Between what values a meter reports numbers: below it shows LO, above it HI.
struct ContourRange: Hashable {
  let low: Double
  let high: Double
  let unit: GlucoseUnit

  /// The setting V: two digits and three. Meters print mg/dL even where they show mmol/L; one was seen to print tenths
  /// of mmol/L, `06333`, which a single source states. No meter reaches below 400 mg/dL or above 40 mmol/L.
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
  /// Without blanks at both ends.
  fileprivate var trimmed: String {
    let tail = drop { $0 == " " }.reversed().drop { $0 == " " }
    return String(tail.reversed())
  }
}
