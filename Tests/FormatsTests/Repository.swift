// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Where the tests find the files of the repository.
enum Repository {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  static let samples = root.appending(path: "Samples")

  /// The sample exports by their path below `Samples`, in order.
  static var sampleExports: [String] {
    let extensions: Set<String> = ["csv", "tsv", "txt", "json", "ndjson", "gz"]
    let files = FileManager.default.enumerator(atPath: samples.path)?.compactMap { $0 as? String } ?? []
    return files.filter { path in
      extensions.contains((path as NSString).pathExtension) && !path.hasSuffix(".expected.ndjson")
    }.sorted()
  }
}
