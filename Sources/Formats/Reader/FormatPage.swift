// SPDX-License-Identifier: Apache-2.0

/// What a person wants to know of a format before an import, as `glucoport formats NAME` prints it. In a file beside the
/// format's reader, `NameFormat+Page.swift`.
///
/// Each text is a line of a list: it begins in lower case, and has no full stop.
package struct FormatPage: Sendable {
  /// How to get the export out of the app or site, step by step, with ` > ` between the parts of a menu.
  package let origin: [String]
  /// The forms in which the export comes.
  package let variants: [String]
  /// Which languages of the app it is read in.
  package let languages: String
  /// What is imported.
  package let reads: [String]
  /// What is in such an export and is not imported.
  package let leaves: [String]

  /// What a format has that says nothing of itself yet.
  static let missing = FormatPage(origin: [], variants: [], languages: "", reads: [], leaves: [])
}
