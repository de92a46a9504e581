// SPDX-License-Identifier: Apache-2.0

/// The rectangle of a picture with glucose values over a day, in whole user units. A screen shows no more
/// detail, and the page stays small.
struct ChartArea: Sendable {
  static let width = 720

  let left = 44
  let top = 8
  let right = ChartArea.width - 10
  let height: Int
  let scale: GlucoseScale

  var bottom: Int { top + height }

  func x(_ part: Double) -> Int { left + Int((min(1, max(0, part)) * Double(right - left)).rounded()) }

  func y(_ milligrams: Double) -> Int { top + scale.place(milligrams, of: height + 1) }

  /// The target range, its limits and the highest value with their labels, and the frame.
  func ground(_ targets: Targets, _ glucose: GlucoseText) -> String {
    let (low, high) = (y(glucose.milligrams(targets.low)), y(glucose.milligrams(targets.high)))
    var svg = SVG.rectangle("band", left, high, right - left, low - high)
    for (limit, place) in [(targets.low, low), (targets.high, high)] {
      svg += SVG.line("limit", left, place, right, place)
      svg += SVG.text("end", left - 5, place + 4, glucose.limit(limit))
    }
    svg += SVG.text("end", left - 5, top + 8, glucose.number(scale.top))
    return svg + SVG.rectangle("frame", left, top, right - left, height)
  }

  /// The hours below the frame.
  func hours(_ hours: [(part: Double, text: String)], under floor: Int) -> String {
    hours.map { hour in
      SVG.line("tick", x(hour.part), top, x(hour.part), floor)
        + SVG.text("middle", min(x(hour.part), right - 6), floor + 14, hour.text)
    }.joined()
  }

  /// Every third hour of a day of 24.
  static let usualHours = stride(from: 0, through: 24, by: 3).map { hour in
    (part: Double(hour) / 24, text: hour < 10 ? "0\(hour)" : "\(hour)")
  }
}

/// The elements of pictures. Inserted values are only numbers and names of classes; text is escaped.
enum SVG {
  static func line(_ name: String, _ x: Int, _ y: Int, _ x2: Int, _ y2: Int) -> String {
    "<line class=\"\(name)\" x1=\"\(x)\" y1=\"\(y)\" x2=\"\(x2)\" y2=\"\(y2)\"/>"
  }

  static func rectangle(_ name: String, _ x: Int, _ y: Int, _ width: Int, _ height: Int) -> String {
    "<rect class=\"\(name)\" x=\"\(x)\" y=\"\(y)\" width=\"\(max(0, width))\" height=\"\(max(0, height))\"/>"
  }

  static func circle(_ name: String, _ x: Int, _ y: Int, _ radius: Int) -> String {
    "<circle class=\"\(name)\" cx=\"\(x)\" cy=\"\(y)\" r=\"\(radius)\"/>"
  }

  static func text(_ name: String, _ x: Int, _ y: Int, _ text: String) -> String {
    "<text\(name.isEmpty ? "" : " class=\"\(name)\"") x=\"\(x)\" y=\"\(y)\">\(Markup(text))</text>"
  }

  static func path(_ name: String, _ outline: String) -> String {
    outline.isEmpty ? "" : "<path class=\"\(name)\" d=\"\(outline)\"/>"
  }

  /// The outline through points, each once.
  static func outline(_ points: [(x: Int, y: Int)], isClosed: Bool = false) -> String {
    guard let first = points.first else { return "" }
    var text = "M\(first.x) \(first.y)"
    var (last, isLine) = (first, false)
    for point in points.dropFirst() where point != last {
      text += "\(isLine ? " " : "L")\(point.x) \(point.y)"
      (last, isLine) = (point, true)
    }
    // A line without a length would be invisible.
    if !isLine { text += "h1" }
    return isClosed ? text + "Z" : text
  }

  /// Of the points with the same x only the first, the lowest, the highest and the last.
  static func thinned(_ points: [(x: Int, y: Int)]) -> [(x: Int, y: Int)] {
    var (kept, start): ([(x: Int, y: Int)], Int) = ([], 0)
    while start < points.count {
      var end = start
      while end < points.count, points[end].x == points[start].x { end += 1 }
      let group = points[start..<end]
      if group.count <= 4 {
        kept += group
      } else if let first = group.first, let last = group.last, let low = group.map(\.y).min(),
        let high = group.map(\.y).max()
      {
        kept += [first, (first.x, low), (first.x, high), last]
      }
      start = end
    }
    return kept
  }

  /// A picture with a title and a description for screen readers.
  ///
  /// A wide picture scrolls on a phone. It has a tab index, so that a keyboard can scroll it.
  static func picture(
    _ id: String, width: Int, height: Int, title: String, description: String, isSmall: Bool = false,
    _ content: String
  ) -> Markup {
    let scrolling = isSmall ? "" : " tabindex=\"0\" role=\"group\" aria-labelledby=\"\(id)t\""
    let picture =
      "<svg\(isSmall ? " class=\"small\"" : "") role=\"img\" aria-labelledby=\"\(id)t \(id)d\" viewBox=\"0 0 \(width) \(height)\" preserveAspectRatio=\"xMidYMid meet\"><title id=\"\(id)t\">\(Markup(title))</title><desc id=\"\(id)d\">\(Markup(description))</desc>\(content)</svg>"
    return Markup(made: "<div class=\"picture\"\(scrolling)>\(picture)</div>")
  }
}
