// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The known facts about the meters of one maker. They ensure that a reading is stored once, whether it is
/// read over USB or Bluetooth.
struct GlucoseMaker: Hashable {
  /// The vendor, as the USB driver of the same meters spells it.
  let vendor: String
  /// Whether times keep their seconds. The time identifies a reading, so seconds are removed if the maker's
  /// USB driver gets only minutes.
  var hasSeconds = true
  /// Whether sequence numbers rise with time, and the meter can send only the records from a given number on.
  /// Captures show both for some makers; other meters count backwards or ignore the number.
  var numbersCountUp = false
  /// Whether the code 6 in place of a meal means that the measurement is a ketone.
  var hasKetones = false
  /// The beginnings of the maker's name in the device information, in lower case.
  fileprivate var makers: [String] = []
  /// The beginnings of the advertised name.
  fileprivate var names: [String] = []

  /// The maker of a meter, by its device information or else by its advertised name.
  init(maker: String, name: String) {
    let maker = maker.trimmingBlanks
    let known = Self.all.first { each in each.makers.contains { maker.lowercased().hasPrefix($0) } }
    self =
      known ?? Self.all.first { each in each.names.contains { name.hasPrefix($0) } }
      ?? GlucoseMaker(maker.isEmpty ? "unknown" : maker)
  }

  private init(
    _ vendor: String, hasSeconds: Bool = true, numbersCountUp: Bool = false, hasKetones: Bool = false,
    makers: [String] = [], names: [String] = []
  ) {
    self.vendor = vendor
    self.hasSeconds = hasSeconds
    self.numbersCountUp = numbersCountUp
    self.hasKetones = hasKetones
    self.makers = makers
    self.names = names
  }

  /// The part of an advertised name that every meter of its maker has; the rest may be a serial number.
  static func commonPart(ofName name: String) -> String {
    all.lazy.flatMap(\.names).first { name.hasPrefix($0) } ?? ""
  }

  /// The name of the product with this model number, for people.
  func product(_ model: String) -> String {
    if vendor == Self.roche { return MedicalDevice.product(model) }
    return model.isEmpty ? "glucose meter" : model
  }

  /// The values at which the product shows LO and HI, in mg/dL; nil if they are unknown.
  func range(of product: String) -> ClosedRange<Double>? {
    switch vendor {
    case Self.roche: MedicalDevice.lowLimit(product)...600
    case Self.taiDoc, Self.trividia: 20...600
    default: nil
    }
  }

  private static let (roche, taiDoc, trividia) = ("Roche", "TaiDoc", "Trividia")

  private static let all = [
    GlucoseMaker(roche, numbersCountUp: true, makers: ["roche"], names: ["meter+"]),
    GlucoseMaker(
      "Ascensia", hasSeconds: false, numbersCountUp: true, makers: ["ascensia", "bayer"], names: ["Contour"]),
    GlucoseMaker(trividia, hasSeconds: false, makers: ["trividia", "nipro"], names: ["NiproBGM"]),
    GlucoseMaker(taiDoc, hasSeconds: false, makers: ["taidoc", "fora"], names: ["TNG", "FORA", "TAIDOC"]),
    GlucoseMaker("i-SENS", hasKetones: true, makers: ["i-sens", "isens"], names: ["CareSens", "ReliOn"]),
  ]
}
