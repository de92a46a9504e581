// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// A Bluetooth meter by its address: `D4:3E:00:12:34:56`.
struct BluetoothArgument: ExpressibleByArgument, Equatable {
  /// In upper case, as bluetoothd writes it.
  let address: String

  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 6, parts.allSatisfy({ $0.utf8.count == 2 && $0.allSatisfy(\.isHexDigit) }) else {
      return nil
    }
    address = argument.uppercased()
  }
}
