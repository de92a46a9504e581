// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation

/// The paths of the repository's files.
enum Repository {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let samples = root.appending(path: "Samples")

  /// The paths of the sample exports below `Samples`, in order.
  static var sampleExports: [String] {
    FormatConformance(formats: FormatRegister.all.map(\.id), lastResort: "generic", samples: samples)
      .samplePaths
  }
}
