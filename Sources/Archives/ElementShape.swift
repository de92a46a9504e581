// SPDX-License-Identifier: Apache-2.0

/// Which elements of XML are rows, and what their columns are.
package struct ElementShape {
  /// A member of a row that is written as an element with a name and a value: `<MetadataEntry key="…" value="…"/>`.
  package struct Pairs {
    let element: String
    let key: String
    let value: String
    let names: [String]

    package init(element: String, key: String, value: String, names: [String]) {
      (self.element, self.key, self.value, self.names) = (element, key, value, names)
    }
  }

  /// Stands in a path for an element of any name, which becomes the last column of each row inside of it.
  package static let anyName = "*"

  /// The path of the rows from the outermost element on.
  let path: [String]
  /// The attributes that are columns.
  let attributes: [String]
  /// What of the elements inside of a row are further columns.
  let pairs: Pairs?
  /// Whether the path leads through an element of any name. Stored, as the two below, since each row asks for it.
  let hasAnyName: Bool
  /// How many columns are filled by the row's own element.
  let ownColumnCount: Int
  /// How many columns a row has: the attributes, then the names of the pairs, then that of the element of any name.
  package let columnCount: Int

  package init(path: [String], attributes: [String], pairs: Pairs? = nil) {
    (self.path, self.attributes, self.pairs) = (path, attributes, pairs)
    hasAnyName = path.contains(Self.anyName)
    ownColumnCount = attributes.count + (pairs?.names.count ?? 0)
    columnCount = ownColumnCount + (hasAnyName ? 1 : 0)
  }
}
