// SPDX-License-Identifier: Apache-2.0

import FormatConformance
import Logbook

@testable import Formats

/// Checks whether a format recognises a text as its own.
enum Claims {
  static func claims<Format: ExportFormat>(_ text: String, _ type: Format.Type) throws -> Bool {
    let head = try InputHead(text: Array(text.utf8), isWhole: true)
    return type.recognise(head, options: try Rendering.options()) != nil
  }
}
