// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The kinds of the rows of an input. Most inputs repeat the same kind.
struct KindColumn {
  private static let maxNames = 32

  /// The kind of rows that name none.
  let common: KindWord
  private var last: (bytes: [UInt8], word: KindWord)?
  private var names: Set<String> = []

  init(_ common: ReadingKind) { self.common = KindWord(common) }

  /// The kind for a cell; nil for an unknown word.
  @inline(__always) mutating func word(in cell: Field) -> KindWord? {
    if cell.isEmpty { return common }
    if let last, cell.hasSameBytes(as: last.bytes) { return last.word }
    guard let word = KindWord(cell.text) else { return nil }
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
