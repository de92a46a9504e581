// SPDX-License-Identifier: Apache-2.0

/// The XML elements that are rows, and their columns.
package struct ElementShape {
  /// Members of a row that are elements with a name and a value: `<MetadataEntry key="…" value="…"/>`.
  package struct Pairs {
    let element: String
    let key: String
    let value: String
    let names: [String]

    package init(element: String, key: String, value: String, names: [String]) {
      (self.element, self.key, self.value, self.names) = (element, key, value, names)
    }
  }

  /// A wildcard in a path: an element of any name. Its name becomes the last column of each row inside it.
  package static let anyName = "*"

  /// The path of the rows, from the root element on.
  let path: [String]
  /// The attributes that are columns.
  let attributes: [String]
  /// The elements inside a row that are further columns.
  let pairs: Pairs?
  /// Whether the path has a wildcard. Stored, like the next two, since each row needs it.
  let hasAnyName: Bool
  /// The number of columns that the row's own element fills.
  let ownColumnCount: Int
  /// The number of columns of a row: the attributes, the names of the pairs, and the name of the wildcard element.
  package let columnCount: Int

  package init(path: [String], attributes: [String], pairs: Pairs? = nil) {
    (self.path, self.attributes, self.pairs) = (path, attributes, pairs)
    hasAnyName = path.contains(Self.anyName)
    ownColumnCount = attributes.count + (pairs?.names.count ?? 0)
    columnCount = ownColumnCount + (hasAnyName ? 1 : 0)
  }
}
