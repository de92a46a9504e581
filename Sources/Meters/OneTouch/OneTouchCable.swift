// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The cables between a USB plug and the socket of an older OneTouch meter: they carry others' ids.
enum OneTouchCable {
  /// The cables, for a meter with this name.
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
