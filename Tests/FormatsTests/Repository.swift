// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Formats
import Foundation

/// Where the tests find the files of the repository.
enum Repository {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let samples = root.appending(path: "Samples")

  /// The sample exports by their path below `Samples`, in order.
  static var sampleExports: [String] {
    FormatConformance(formats: ExportRegister.all.map(\.id), lastResort: "generic", samples: samples)
      .samplePaths
  }
}
