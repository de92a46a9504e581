// SPDX-License-Identifier: Apache-2.0

/// The elements of a picture, read by the rules of XML. Each broken rule is listed in `faults`.
struct XMLCheck {
  struct Element {
    let name: String
    let attributes: [String: String]

    /// The numeric value of an attribute.
    func number(_ name: String) -> Double? { attributes[name].flatMap { Double($0) } }
  }

  private(set) var elements: [Element] = []
  private(set) var faults: [String] = []
  private var open: [String] = []

  init(_ text: String) {
    var rest = Substring(text)
    while let start = rest.firstIndex(of: "<") {
      check(text: rest[..<start])
      guard let end = rest[start...].firstIndex(of: ">") else {
        faults.append("a tag without an end")
        return
      }
      parse(tag: rest[rest.index(after: start)..<end])
      rest = rest[rest.index(after: end)...]
    }
    check(text: rest)
    if !open.isEmpty { faults.append("open at the end: \(open)") }
  }

  private mutating func parse(tag: Substring) {
    if tag.hasPrefix("/") {
      if open.popLast() != String(tag.dropFirst()) { faults.append("</\(tag.dropFirst())> closes nothing") }
      return
    }
    let isEmpty = tag.hasSuffix("/")
    var rest = isEmpty ? tag.dropLast() : tag
    let name = String(rest.prefix { $0 != " " })
    rest = rest.dropFirst(name.count)
    if name.firstMatch(of: /^[a-z][A-Za-z]*$/) == nil { faults.append("the name '\(name)'") }
    var attributes: [String: String] = [:]
    while let match = rest.prefixMatch(of: /\ ([A-Za-z0-9-]+)="([^"<]*)"/) {
      if attributes.updateValue(String(match.2), forKey: String(match.1)) != nil {
        faults.append("\(match.1) twice in <\(name)>")
      }
      check(text: match.2)
      rest = rest[match.range.upperBound...]
    }
    if !rest.isEmpty { faults.append("'\(rest)' in <\(name)>") }
    elements.append(Element(name: name, attributes: attributes))
    if !isEmpty { open.append(name) }
  }

  private mutating func check(text: Substring) {
    if text.contains(">") { faults.append("a bare > in '\(text)'") }
    for match in text.matches(of: /&([^;]*;?)/)
    where !["amp;", "lt;", "gt;", "quot;", "#39;"].contains(match.1) {
      faults.append("'&\(match.1)'")
    }
  }

  /// The coordinates that are invalid or outside of the picture.
  func strays(width: Double, height: Double) -> [String] {
    elements.flatMap { element in
      coordinates(of: element).compactMap { name, number, axis -> String? in
        guard let number, number >= 0, number <= (axis == "x" ? width : height) else {
          return "\(name) of <\(element.name)> \(element.attributes)"
        }
        return nil
      }
    }
  }

  private func coordinates(of element: Element) -> [(name: String, number: Double?, axis: String)] {
    var places: [(String, Double?, String)] = []
    for (name, axis) in [
      ("x", "x"), ("x1", "x"), ("x2", "x"), ("cx", "x"), ("y", "y"), ("y1", "y"), ("y2", "y"), ("cy", "y"),
    ] where element.attributes[name] != nil { places.append((name, element.number(name), axis)) }
    if element.name == "rect" {
      let right = element.number("x").flatMap { x in element.number("width").map { x + $0 } }
      let bottom = element.number("y").flatMap { y in element.number("height").map { y + $0 } }
      places += [("right edge", right, "x"), ("bottom edge", bottom, "y")]
    }
    if let outline = element.attributes["d"] { places += Self.points(outline) }
    return places.map { ($0.0, $0.1, $0.2) }
  }

  /// The points of an outline with the commands M, L, H, h and Z.
  private static func points(_ outline: String) -> [(String, Double?, String)] {
    var points: [(String, Double?, String)] = []
    for part in outline.matches(of: /([A-Za-z])([^A-Za-z]*)/) {
      let numbers = part.2.split(separator: " ").map { Double($0) }
      switch part.1 {
      case "M", "L":
        if numbers.isEmpty || !numbers.count.isMultiple(of: 2) { points.append(("\(part.0)", nil, "x")) }
        for (index, number) in numbers.enumerated() {
          points.append(("\(part.0)", number, index.isMultiple(of: 2) ? "x" : "y"))
        }
      case "H": points.append(("\(part.0)", numbers.first ?? nil, "x"))
      case "h", "Z": break
      default: points.append(("\(part.0)", nil, "x"))
      }
    }
    return points
  }
}
