// SPDX-License-Identifier: Apache-2.0

import PDF

/// The meaning of a colour. Each meaning has one colour for paper and light screens, and one for dark
/// screens.
///
/// The colours of the five ranges are dark and light in turn. So people who see red and green alike can
/// distinguish neighbouring ranges, and so can readers of a print in grey.
enum Ink: String, CaseIterable {
  case text, soft, line, grid, paper, panel, shade
  case band, limit, curve, half, tails
  case veryLow, low, target, high, veryHigh
  case above, below, rapid, basal, rate, food

  /// The colour on paper as `0xRRGGBB`.
  var light: UInt32 {
    switch self {
    case .text: 0x111111
    case .soft: 0x4D4D4D
    case .line: 0x767676
    case .grid: 0xD0D0D0
    case .paper: 0xFFFFFF
    case .panel: 0xE9EDF2
    case .shade: 0xF3F3F3
    case .band: 0xE4F2E9
    case .limit: 0x1B7044
    case .curve: 0x123F66
    case .half: 0x8FB1D3
    case .tails: 0xD3E1EF
    case .veryLow: 0x8C0014
    case .low: 0xF4958A
    case .target: 0x1B7044
    case .high: 0xFFD479
    case .veryHigh: 0xB84A00
    case .above: 0xFFD479
    case .below: 0xE4695B
    case .rapid: 0x3B6FB0
    case .basal: 0x7A4E9E
    case .rate: 0xD9CBE6
    case .food: 0xA3540A
    }
  }

  /// The colour on a dark screen.
  var dark: UInt32 {
    switch self {
    case .text: 0xECECEC
    case .soft: 0xB9B9B9
    case .line: 0x8E8E8E
    case .grid: 0x444444
    case .paper: 0x161616
    case .panel: 0x26303A
    case .shade: 0x212121
    case .band: 0x1A3325
    case .limit: 0x6FCB97
    case .curve: 0xA9CDF0
    case .half: 0x3C5F82
    case .tails: 0x24384C
    case .veryLow: 0xD8404F
    case .low: 0xF7B5AD
    case .target: 0x3E9C69
    case .high: 0xFFD479
    case .veryHigh: 0xD9702A
    case .above: 0x8A6A1E
    case .below: 0xC2503F
    case .rapid: 0x7FB0EA
    case .basal: 0xC09BE0
    case .rate: 0x4B3A5E
    case .food: 0xE79A4B
    }
  }

  var colour: PDFColour { PDFColour(light) }

  init(_ band: GlucoseBand) {
    switch band {
    case .veryLow: self = .veryLow
    case .low: self = .low
    case .target: self = .target
    case .high: self = .high
    case .veryHigh: self = .veryHigh
    }
  }

  /// The colours as a style sheet declares them.
  static func declarations(_ colour: (Ink) -> UInt32) -> String {
    allCases.map { ink in
      let digits = String(colour(ink), radix: 16)
      return "--i-\(ink.rawValue):#\(String(repeating: "0", count: 6 - digits.count))\(digits)"
    }.joined(separator: ";")
  }

  /// The rules of a style sheet that give elements of a picture their colours by their classes.
  static var rules: String {
    allCases.map {
      ".f-\($0.rawValue){fill:var(--i-\($0.rawValue))}.s-\($0.rawValue){stroke:var(--i-\($0.rawValue))}"
    }
    .joined()
  }
}
