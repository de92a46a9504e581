// SPDX-License-Identifier: Apache-2.0

package import Formats
package import Foundation
package import Logbook

/// A file with an input for the duration of a test.
package final class ScratchFile {
  /// The location of the file.
  package let url: URL

  /// A file with these bytes.
  package init(_ bytes: some Sequence<UInt8>) throws {
    url = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString)")
    try Data(bytes).write(to: url)
  }

  /// A file with this text.
  package convenience init(_ text: String) throws { try self.init(text.utf8) }

  deinit {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      // A file that remains in the temporary folder does not affect a test.
    }
  }

  /// The summary and the items of the input, as `Rendering` writes them.
  package func lines(_ change: (inout ExportOptions) throws -> Void = { _ in }) throws -> [String] {
    var options = try Rendering.options()
    try change(&options)
    return try Rendering.lines(of: url, options: options)
  }

  /// The readings of the input and how it ended.
  package func readings(
    _ change: (inout ExportOptions) throws -> Void = { _ in }
  ) throws -> (readings: [Reading], rejections: [Rejection], end: InputEnd) {
    var options = try Rendering.options()
    try change(&options)
    var reader = try InputReader(path: url.path, options: options)
    var (batch, hasMore) = (IngestBatch(), true)
    var all: (readings: [Reading], rejections: [Rejection]) = ([], [])
    while hasMore {
      hasMore = try reader.read(into: &batch)
      all.readings += batch.readings
      all.rejections += batch.rejections
      batch.removeItems()
    }
    return (all.readings, all.rejections, reader.end)
  }

  /// The reader's message when it refuses the input; nil when it reads it.
  package func refusal(_ change: (inout ExportOptions) throws -> Void = { _ in }) throws -> String? {
    do {
      _ = try readings(change)
      return nil
    } catch let failure as Failure {
      return failure.message
    }
  }
}
