// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The USB cables for the socket of older OneTouch meters. They have the USB ids of other manufacturers.
enum OneTouchCable {
  /// A model for each cable, with the meter's name.
  static func models(_ name: String) -> [MeterModel] {
    let chips: [(cable: String, vendorID: UInt16, productID: UInt16)] = [
      ("LifeScan cable", 0x067B, 0x2303), ("FTDI cable", 0x0403, 0x6001), ("CH340 cable", 0x1A86, 0x7523),
    ]
    return chips.map { chip in
      MeterModel(
        "\(name), \(chip.cable)", vendorID: chip.vendorID, productID: chip.productID,
        link: .terminal(LineSettings(baud: 9600)), isShared: true)
    }
  }
}
