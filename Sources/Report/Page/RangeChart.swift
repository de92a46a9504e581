// SPDX-License-Identifier: Apache-2.0

/// The five ranges as a bar, very high on top, each with its name and percentage next to it.
struct RangeChart {
  /// Lowest range first; nil for one that is part of another.
  let parts: [(name: String, percent: Double, text: String)?]

  private static let height = 240
  private static let labelHeight = 20

  /// - Parameter id: an id that no other picture of the page has.
  func picture(_ id: String, title: String, description: String) -> Markup {
    var svg = ""
    var top = Double(10)
    var places: [(middle: Int, text: String)] = []
    let sum = max(parts.compactMap { $0?.percent }.reduce(0, +), 0.01)
    for (index, part) in parts.enumerated().reversed() {
      guard let part else { continue }
      let height = part.percent / sum * Double(Self.height)
      let (y, end) = (Int(top.rounded()), Int((top + height).rounded()))
      if part.percent > 0 {
        svg += SVG.rectangle("b\(index) part", 10, y, 70, max(1, end - y))
      }
      places.append(((y + end) / 2, "\(part.text) % \(part.name)"))
      top += height
    }
    for (place, label) in zip(Self.apart(places.map(\.middle)), places) {
      svg += SVG.path("leader frame", "M80 \(label.middle)L100 \(place)H106")
      svg += SVG.text("", 112, place + 4, label.text)
    }
    return SVG.picture(
      id, width: 250, height: Self.height + 20, title: title, description: description, isSmall: true, svg)
  }

  /// The positions of labels from top to bottom, moved apart so that they do not overlap.
  static func apart(_ middles: [Int]) -> [Int] {
    var places = middles
    for index in places.indices {
      let least = index == 0 ? 14 : places[index - 1] + labelHeight
      places[index] = max(places[index], least)
    }
    var most = height + 6
    for index in places.indices.reversed() {
      places[index] = min(places[index], most)
      most = places[index] - labelHeight
    }
    return places
  }
}
