// SPDX-License-Identifier: Apache-2.0

/// The meaning of a part of a picture. A terminal with colours has one for each meaning. No meaning is shown
/// only by colour.
package enum PlotRole: Hashable, Sendable {
  case band(GlucoseBand)
  case insulin, food, axis, median, spread
  /// Items that do not count, which the text also states.
  case leftOut
}

/// One line of a picture, as pieces with one meaning each.
package struct PlotLine: Hashable, Sendable {
  /// Adjacent characters with the same meaning.
  package struct Piece: Hashable, Sendable {
    /// The characters.
    package var text: String
    /// Their meaning; nil for plain text.
    package let role: PlotRole?
  }

  /// The pieces from left to right.
  package private(set) var pieces: [Piece] = []
  /// The number of columns.
  package var columns: Int { pieces.reduce(0) { $0 + $1.text.count } }
  /// The line without its meanings and without blanks at its end.
  package var text: String {
    var text = pieces.map(\.text).joined()
    while text.last == " " { text.removeLast() }
    return text
  }

  /// A line of text with one meaning; plain text without one.
  package init(_ text: String = "", _ role: PlotRole? = nil) { append(text, role) }

  /// Adds characters at the end.
  package mutating func append(_ text: String, _ role: PlotRole? = nil) {
    guard !text.isEmpty else { return }
    if let last = pieces.indices.last, pieces[last].role == role {
      pieces[last].text += text
    } else {
      pieces.append(Piece(text: text, role: role))
    }
  }

  /// Adds the pieces of another line at the end.
  mutating func append(_ other: PlotLine) { for piece in other.pieces { append(piece.text, piece.role) } }
}

/// The signs for pictures.
package struct PlotSigns: Sendable {
  /// Whether only ASCII is used.
  package let isASCII: Bool

  /// Unicode signs, or only ASCII.
  package init(isASCII: Bool) { self.isASCII = isASCII }

  var stick: Character { isASCII ? "o" : "●" }
  var scan: Character { isASCII ? "x" : "○" }
  var curve: Character { isASCII ? "*" : "⠒" }
  var wall: Character { isASCII ? "|" : "│" }
  var mark: Character { isASCII ? "+" : "┤" }
  var corner: Character { isASCII ? "+" : "└" }
  var floor: Character { isASCII ? "-" : "─" }
  var tick: Character { isASCII ? "+" : "┴" }
  var limit: Character { isASCII ? "-" : "┈" }
  var quartiles: Character { isASCII ? ":" : "▒" }
  var tails: Character { isASCII ? "." : "░" }
  /// Between the parts of a line.
  var dot: String { isASCII ? " - " : " · " }

  /// The filling of a range. Each has a different one, so that a bar is readable without colours.
  func filling(_ band: GlucoseBand) -> Character {
    switch band {
    case .veryLow: isASCII ? "!" : "▓"
    case .low: isASCII ? "-" : "▒"
    case .target: isASCII ? "=" : "█"
    case .high: isASCII ? "+" : "░"
    case .veryHigh: isASCII ? "#" : "▞"
    }
  }

  /// The text with ASCII characters instead of the program's own signs.
  package func plain(_ text: String) -> String {
    guard isASCII else { return text }
    return text.replacing("–", with: "-").replacing(" · ", with: dot).replacing("—", with: "-")
      .replacing("…", with: "...")
  }
}
