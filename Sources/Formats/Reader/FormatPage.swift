// SPDX-License-Identifier: Apache-2.0

/// What a person wants to know about a format before an import, as `glucoport formats NAME` prints it. It is in the
/// file `NameFormat+Page.swift` next to the format's reader.
///
/// Each text is a line of a list: it begins in lower case and has no full stop.
package struct FormatPage: Sendable {
  /// How to get the export out of the app or site, step by step, with ` > ` between the parts of a menu.
  package let origin: [String]
  /// The forms in which the export comes.
  package let variants: [String]
  /// The languages of the app that are read.
  package let languages: String
  /// What is imported.
  package let reads: [String]
  /// What such an export holds that is not imported.
  package let leaves: [String]

  /// The page of a format that has no page yet.
  static let missing = FormatPage(origin: [], variants: [], languages: "", reads: [], leaves: [])
}
