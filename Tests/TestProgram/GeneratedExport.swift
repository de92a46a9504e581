// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logbook

/// Makes exports for tests.
package enum GeneratedExport {
  private static let header = "time,glucose (mg/dL)"

  /// Readings five minutes apart, from 2024-01-01 on.
  package static func csv(rows count: Int, from first: Int = 0) -> [UInt8] {
    var bytes = Array((header + "\n").utf8)
    bytes.reserveCapacity(count * 25)
    for row in first..<first + count {
      bytes += Array("\(time(row)),\(60 + row * 7 % 200)\n".utf8)
    }
    return bytes
  }

  package static func time(_ row: Int) -> String {
    DeviceTime(seconds: 1_704_067_200 + Int64(row) * 300).text
  }
}

/// The repository's sample exports.
package enum Samples {
  package static func path(_ name: String) -> String {
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Samples/\(name)").path
  }
}
