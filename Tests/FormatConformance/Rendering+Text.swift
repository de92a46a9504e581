// SPDX-License-Identifier: Apache-2.0

package import Formats
import Foundation
import Logbook

extension Rendering {
  /// The result of an export reader for a text in a file: the summary, then every item.
  package static func lines(ofText text: String, options change: (inout ExportOptions) -> Void = { _ in })
    throws
    -> [String]
  {
    let file = FileManager.default.temporaryDirectory.appending(path: "glucoport-\(UUID().uuidString)")
    try Data(text.utf8).write(to: file)
    defer { _ = unlink(file.path) }
    var options = try options()
    change(&options)
    return try lines(of: file, options: options)
  }

  /// Only the items, without the summary.
  package static func items(ofText text: String, options change: (inout ExportOptions) -> Void = { _ in })
    throws
    -> [String]
  {
    Array(try lines(ofText: text, options: change).dropFirst())
  }
}
