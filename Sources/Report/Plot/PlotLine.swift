// SPDX-License-Identifier: Apache-2.0

/// What a part of a picture means. A terminal with colours gives each its own; no meaning is by colour alone.
package enum PlotRole: Hashable, Sendable {
  case band(GlucoseBand)
  case insulin, food, axis, median, spread
  /// What does not count, and says so in words.
  case leftOut
}

/// One line of a picture, in pieces of one meaning.
package struct PlotLine: Hashable, Sendable {
  /// Characters that lie side by side and mean the same.
  package struct Piece: Hashable, Sendable {
    /// The characters.
    package var text: String
    /// What they mean; nil for plain text.
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

  /// A line with text of one meaning; plain text without one.
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

/// The signs of which pictures are made.
package struct PlotSigns: Sendable {
  /// Whether only ASCII is used.
  package let isASCII: Bool

  /// Unicode signs, or ASCII alone.
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

  /// The filling of a range: each has its own, so that a bar is read without colours.
  func filling(_ band: GlucoseBand) -> Character {
    switch band {
    case .veryLow: isASCII ? "!" : "▓"
    case .low: isASCII ? "-" : "▒"
    case .target: isASCII ? "=" : "█"
    case .high: isASCII ? "+" : "░"
    case .veryHigh: isASCII ? "#" : "▞"
    }
  }

  /// Text of ours with what ASCII has instead of our signs.
  package func plain(_ text: String) -> String {
    guard isASCII else { return text }
    return text.replacing("–", with: "-").replacing(" · ", with: dot).replacing("—", with: "-")
      .replacing("…", with: "...")
  }
}
