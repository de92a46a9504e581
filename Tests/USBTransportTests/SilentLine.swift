// SPDX-License-Identifier: Apache-2.0

import Logbook
import SimulatedMeters

/// A line without answers.
final class SilentLine: SimulatedLine {
  func take(_ bytes: [UInt8], line: LineSettings) -> [UInt8] { [] }
}

/// A line that echoes what it receives if the speed is right.
final class EchoLine: SimulatedLine {
  func take(_ bytes: [UInt8], line: LineSettings) -> [UInt8] { line.baud == 19200 ? bytes : [0xFF] }
}
