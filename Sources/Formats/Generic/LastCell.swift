// SPDX-License-Identifier: Apache-2.0

/// Remembers the last cell that is read of each row, which the end of a cut input may have shortened.
///
/// Files without a final line end are common and are read whole; a cell that continues the rows before it
/// much worse than a longer one would is taken as cut.
struct LastCell {
  private static let maxTexts = 64

  private var previous: Double?
  private var previousCount = 0
  private var hasRows = false
  private var fewestDecimals = Int.max
  private var texts: [[UInt8]] = []

  /// Whether no row came before.
  var isEmpty: Bool { !hasRows }

  mutating func note(_ cell: Field, as role: GenericRole, mark: DecimalMark) {
    hasRows = true
    previousCount = cell.count
    switch role {
    case .value, .smbg, .ketone, .carbs, .insulin:
      guard let number = cell.number(mark) else { return }
      previous = number
      fewestDecimals = min(fewestDecimals, Self.decimals(of: cell, mark))
    case .device, .serial:
      if texts.count < Self.maxTexts, !texts.contains(where: cell.hasSameBytes) {
        texts.append(Array(cell.bytes))
      }
    default: break
    }
  }

  /// Whether the cell, the very last of the input, may have lost characters.
  func mayBeCut(_ cell: Field, as role: GenericRole, mark: DecimalMark) -> Bool {
    if cell.isEmpty { return !hasRows || previousCount > 0 }
    switch role {
    case .device, .serial:
      return textMayBeCut(cell)
    case _ where cell.shape == .quoted: return false
    case .value, .smbg, .ketone, .carbs, .insulin: return numberMayBeCut(cell, mark)
    case .time, .date, .clock, .offset, .tick: return cell.count < previousCount
    case .unit, .kind, .control, .note: return false
    }
  }

  /// A name that is the start of a known one, or is not known and shorter than all that are. The name of a lone row
  /// may be cut anywhere, and half a name would permanently be another device.
  private func textMayBeCut(_ cell: Field) -> Bool {
    if !hasRows { return cell.shape != .quoted }
    if texts.contains(where: cell.hasSameBytes) { return false }
    return texts.contains { $0.count > cell.count && $0.starts(with: cell.bytes) }
      || (cell.shape != .quoted && !texts.isEmpty && texts.allSatisfy { $0.count > cell.count })
  }

  private func numberMayBeCut(_ cell: Field, _ mark: DecimalMark) -> Bool {
    guard let number = cell.number(mark) else {
      if case nil = ValueWord(cell, mark: mark) { return true }
      return cell[0] == UInt8(ascii: "<") || cell[0] == UInt8(ascii: ">")
    }
    guard let previous else { return false }
    let decimals = Self.decimals(of: cell, mark)
    if decimals < fewestDecimals { return true }
    return decimals == 0 && abs(number * 10 - previous) < abs(number - previous)
  }

  private static func decimals(of cell: Field, _ mark: DecimalMark) -> Int {
    guard let place = cell.bytes.firstIndex(of: mark.rawValue) else { return 0 }
    return cell.count - place - 1
  }
}
