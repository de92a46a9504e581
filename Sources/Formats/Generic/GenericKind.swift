// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines the kind of the readings of a generic input whose rows name none.
///
/// The priority is: the kind that a person gave, the words of the header, the intervals of the times, else
/// finger sticks. A row's own word has priority over all of them.
struct GenericKind {
  /// The kinds that rows name, and the kind of rows that name none.
  var column: KindColumn
  private var basis: Decision.Basis
  /// Whether all times may show more than those of the head.
  private(set) var isOpen = false
  private var cadence = Cadence()
  private let hasValues: Bool
  private let hasColumn: Bool
  /// Whether rows without a word for their kind may be of any kind.
  private let needsWord: Bool

  init(_ finding: GenericFinding, given: ReadingKind?) {
    hasValues = finding.columns[.value] >= 0
    hasColumn = finding.columns[.kind] >= 0
    needsWord = finding.needsKindWord
    let (kind, basis) = Self.stated(finding, given: given)
    column = KindColumn(kind ?? .smbg, readsMealMarks: finding.readsMealMarks)
    self.basis = basis
    isOpen = kind == nil && hasValues && !needsWord && !Self.rowsStateKinds(finding)
  }

  private static func stated(_ finding: GenericFinding, given: ReadingKind?) -> (
    ReadingKind?, Decision.Basis
  ) {
    if let given { return (given, .given) }
    let value = finding.columns[.value]
    if value >= 0, let named = finding.kindOfColumn(value) { return (named, .read) }
    return finding.header.words.contains(where: \.isOfSensor) ? (.cbg, .read) : (nil, .inferred)
  }

  /// Whether all rows of the head have a word for their kind.
  private static func rowsStateKinds(_ finding: GenericFinding) -> Bool {
    let (value, kind) = (finding.columns[.value], finding.columns[.kind])
    guard kind >= 0, !finding.header.rows.isEmpty else { return false }
    return finding.header.rows.allSatisfy { row in
      guard row.indices.contains(value), !row[value].isEmpty else { return true }
      return row.indices.contains(kind) && !row[kind].isEmpty && !finding.isMealMark(row[kind])
    }
  }

  /// Notes the time of a reading without a word for its kind. `series` distinguishes its device from others.
  mutating func note(_ seconds: Int64, series: UInt64) {
    if isOpen { cadence.note(seconds, series: series) }
  }

  /// Determines the kind if the first rows show the intervals of a sensor. Other intervals prove nothing.
  mutating func decideFromHead() {
    guard isOpen, cadence.isSensor else { return }
    decide()
  }

  mutating func decide() {
    guard isOpen else { return }
    isOpen = false
    if cadence.isSensor { column = KindColumn(.cbg, readsMealMarks: column.readsMealMarks) }
    cadence = Cadence()
  }

  /// The word for a row's kind; nil for a row of another kind.
  @inline(__always) mutating func word(in cell: Field) -> KindWord? {
    needsWord && cell.isEmpty ? nil : column.word(in: cell)
  }

  /// The name with which a row of another kind is counted.
  mutating func name(of cell: Field) -> String {
    cell.trimmed.isEmpty ? "row without a kind" : column.name(of: cell)
  }

  /// Whether the readings may be a sensor's own.
  var mayBeHistory: Bool { isOpen || column.common.kind == .cbg }

  var isHistory: Bool { column.common.kind == .cbg }

  var decision: Decision? {
    guard hasValues else { return nil }
    if needsWord { return Decision("kind", "stated by each row", .read) }
    let common = column.common.kind.name
    return Decision("kind", hasColumn ? "stated by the rows, else \(common)" : common, basis)
  }
}

/// The kinds of the rows of an input. Most inputs repeat the same kind.
struct KindColumn {
  private static let maxNames = 32

  /// The kind of rows that name none.
  let common: KindWord
  /// Whether a word such as `Fasting` leaves the kind open.
  let readsMealMarks: Bool
  private var last: (bytes: [UInt8], word: KindWord)?
  private var names: Set<String> = []

  init(_ common: ReadingKind, readsMealMarks: Bool = false) {
    self.common = KindWord(common)
    self.readsMealMarks = readsMealMarks
  }

  /// Whether a cell leaves the kind open.
  func leavesOpen(_ cell: Field) -> Bool { cell.isEmpty || (readsMealMarks && MealMark.isMark(cell.text)) }

  /// The kind for a cell; nil for an unknown word.
  @inline(__always) mutating func word(in cell: Field) -> KindWord? {
    if cell.isEmpty { return common }
    if let last, cell.hasSameBytes(as: last.bytes) { return last.word }
    guard let word = KindWord(cell.text) ?? (leavesOpen(cell) ? common : nil) else { return nil }
    last = (Array(cell.bytes), word)
    return word
  }

  /// The name with which rows of another kind are counted. The number of names is limited, so that a column
  /// of free text does not fill the memory.
  mutating func name(of cell: Field) -> String {
    let name = String(foldedHeader(cell.text).prefix(32))
    if names.count < Self.maxNames { names.insert(name) }
    return names.contains(name) ? name : "another kind"
  }
}

/// A word for the kind of reading in a column of kinds.
struct KindWord {
  let kind: ReadingKind
  let marks: ReadingMarks

  init(_ kind: ReadingKind, _ marks: ReadingMarks = []) {
    self.kind = kind
    self.marks = marks
  }

  init?(_ text: String) {
    guard let word = Self.words[HeaderWords(text).name] else { return nil }
    self = word
  }

  private static let words: [String: KindWord] = {
    var words: [String: KindWord] = [
      "manual": KindWord(.smbg, .manual), "calibration": KindWord(.smbg, .calibration),
      "control": KindWord(.smbg, .controlSolution), "control solution": KindWord(.smbg, .controlSolution),
      "scan": KindWord(.scan), "scanned": KindWord(.scan), "flash": KindWord(.scan),
      "scan glucose": KindWord(.scan),
      "ketone": KindWord(.ketone), "ketones": KindWord(.ketone), "blood ketone": KindWord(.ketone),
    ]
    for word in [
      "smbg", "bg", "bgm", "mbg", "meter", "fingerstick", "finger stick", "finger", "strip", "strip glucose",
      "blood", "blood glucose", "blood sugar", "blood sugar reading", "blood sample", "glucose",
      "blutzucker", "blutzuckermessung", "glycémie", "glucemia", "glucosa", "glicemia", "glicose", "glukoza",
      "glukose", "glukos", "bloedglucose", "bloedsuiker", "blodsukker", "blodsocker", "blodglukose",
      "blodglukos",
      "glucose reading", "blood glucose reading", "bg reading", "finger prick", "fingerprick", "capillary",
    ] { words[word] = KindWord(.smbg) }
    for word in [
      "cbg", "cgm", "egv", "sgv", "sensor", "sensor glucose", "historic", "historic glucose", "history",
      "auto",
      "automatic", "continuous", "sensor reading", "cgm reading", "sensorglukose", "gewebezucker",
    ] { words[word] = KindWord(.cbg) }
    return words
  }()
}
