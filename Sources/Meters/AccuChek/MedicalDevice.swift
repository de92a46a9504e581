// SPDX-License-Identifier: Apache-2.0

import Logbook

/// What a meter states about itself: the attributes of its object "medical device system".
struct MedicalDevice: Hashable {
  /// The manufacturer, in the meter's spelling.
  var manufacturer = ""
  /// The model number: three digits.
  var model = ""
  /// The serial number, without the label before it.
  var serial = ""
  /// The firmware version, such as `v1.9.6`, without the label before it.
  var firmware = ""
  /// The time on the meter's clock; nil if the meter does not report it.
  var clock: DeviceTime?
  /// Whether the host may set the clock.
  var canSetClock = false

  /// Parses the answer to a request for all attributes.
  init(parsing content: [UInt8]) throws(MalformedAPDU) {
    var reader = APDUReader(content, part: "the meter's attributes")
    _ = try reader.u16()
    let attributes = try reader.attributes()
    if let value = attributes[Attribute.model] {
      var texts = APDUReader(value, part: "the meter's model")
      manufacturer = Self.text(try texts.counted())
      model = Self.text(try texts.counted())
    }
    if let value = attributes[Attribute.production] { try readProduction(value) }
    clock = attributes[Attribute.clock].flatMap(MedicalTime.parse)
    canSetClock = attributes[Attribute.timeInfo].flatMap(\.first).map { $0 & 0x40 != 0 } ?? false
  }

  /// The product with this model number, for people.
  ///
  /// The numbers are those of Tidepool's table, a single source. An unknown number has no effect on the
  /// protocol.
  var product: String { Self.product(model) }

  /// The product with this model number.
  static func product(_ model: String) -> String {
    switch Int(model) {
    case 483, 484, 497, 498, 499, 500, 502, 685: "Accu-Chek Aviva Connect"
    case 479, 501, 503, 765: "Accu-Chek Performa Connect"
    case 921, 922, 923, 925, 926, 929, 930, 932: "Accu-Chek Guide"
    case 897, 898, 901, 902, 903, 904, 905: "Accu-Chek Guide Me"
    case 958, 959, 960, 961, 963, 964, 965, 972, 973, 975, 976, 977, 978, 979, 980: "Accu-Chek Instant"
    case 966, 967, 968, 969, 970, 971: "Accu-Chek Instant S"
    case 982: "ReliOn Platinum"
    default: model.isEmpty ? "Accu-Chek" : "Accu-Chek \(model)"
    }
  }

  /// The value below which the meter shows LO: 10 mg/dL on the Instant, 20 on the others. A single source
  /// states this.
  var lowLimit: Double { Self.lowLimit(product) }

  /// The value below which the meter with this product name shows LO.
  static func lowLimit(_ product: String) -> Double { product.hasPrefix("Accu-Chek Instant") ? 10 : 20 }
}

extension MedicalDevice {
  fileprivate enum Attribute {
    static let model: UInt16 = 0x0928
    static let production: UInt16 = 0x092D
    static let clock: UInt16 = 0x0987
    static let timeInfo: UInt16 = 0x0A45
  }

  /// Reads the production specification: the number of entries, their size in bytes, and for each its type, a
  /// component and a text such as `serial-number: 92500000042`.
  fileprivate mutating func readProduction(_ value: [UInt8]) throws(MalformedAPDU) {
    var reader = APDUReader(value, part: "the meter's production specification")
    let count = try reader.u16()
    var entries = APDUReader(try reader.counted(), part: "the meter's production specification")
    for _ in 0..<count {
      let type = try entries.u16()
      _ = try entries.u16()
      let text = Self.text(try entries.counted())
      let words = text.split(separator: ":", maxSplits: 1)
      let said = words.last.map { String($0).trimmingBlanks } ?? ""
      if type == 1 { serial = said }
      if type == 5 { firmware = said }
    }
  }

  /// The text before the first zero byte.
  fileprivate static func text(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self).trimmingBlanks
  }
}
