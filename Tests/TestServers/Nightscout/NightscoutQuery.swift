// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The parameters of an address or form, parsed like on the site: brackets make objects, and a repeated name
/// makes a list.
struct NightscoutQuery {
  /// The names, in the order of their first occurrence.
  private(set) var names: [String] = []
  private var values: NightscoutDocument = [:]

  init(_ text: String) {
    for part in text.split(separator: "&") {
      let (name, value) = Self.sides(part)
      let path = Self.path(Self.plain(name))
      guard let first = path.first, !first.isEmpty else { continue }
      if values[first] == nil { names.append(first) }
      values[first] = Self.merged(values[first], path.dropFirst(), .string(Self.plain(value)))
    }
  }

  subscript(name: String) -> DocumentValue? { values[name] }

  /// All parameters as one object.
  var document: NightscoutDocument { values }

  private static func sides(_ part: Substring) -> (Substring, Substring) {
    let end = part.range(of: "]=")?.upperBound ?? part.firstIndex(of: "=").map { part.index(after: $0) }
    guard let end else { return (part, "") }
    return (part[..<part.index(before: end)], part[end...])
  }

  private static func plain(_ text: Substring) -> String {
    let spaced = text.replacing("+", with: " ")
    return spaced.removingPercentEncoding ?? String(spaced)
  }

  /// Splits a name such as `find[date][$gte]` into its parts.
  private static func path(_ name: String) -> [String] {
    guard let open = name.firstIndex(of: "["), open > name.startIndex else { return [name] }
    let inner = name[open...].split(separator: "[").compactMap { part in
      part.firstIndex(of: "]").map { String(part[..<$0]) }
    }
    return [String(name[..<open])] + inner
  }

  private static func merged(
    _ stored: DocumentValue?, _ path: ArraySlice<String>, _ value: DocumentValue
  ) -> DocumentValue {
    guard let name = path.first else {
      guard let stored else { return value }
      return .array((stored.array ?? [stored]) + [value])
    }
    if name.isEmpty || Int(name) != nil { return .array((stored?.array ?? []) + [value]) }
    var object = stored?.object ?? [:]
    object[name] = merged(object[name], path.dropFirst(), value)
    return .object(object)
  }
}
