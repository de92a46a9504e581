// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Determines the kind of the readings of a generic input whose rows name none.
///
/// The priority is: the kind that a person gave, the words of the header, the intervals of the times, else
/// finger sticks. A row's own word has priority over all of them. If a column names sources, the kind is
/// determined for each source.
struct GenericKind {
  /// The kinds that rows name, and the kind of rows that name none.
  var column: KindColumn
  private var basis: Decision.Basis
  /// Whether the kind is unknown until the times of all rows are surveyed.
  private(set) var isUndecided = false
  private var cadence = Cadence()
  /// Whether the intervals of the readings are steady, but too long for a sensor and too regular for a
  /// person.
  private(set) var isDoubtful = false
  /// The sources that columns of sources name, which decide the kind of each row. Nil if a person or the
  /// header of the value column states one kind for all rows.
  private var sources: SourceKinds?
  /// Whether only the header names a sensor. A source is then a meter only if its own name states it.
  private var isReadFromHeader = false
  /// The times of rows whose word is `auto`; nil if the meaning of `auto` is known.
  private var automatic: Cadence?
  /// A cache of the words for the kinds of the last rows' sources. If a word is nil, nothing shows the kind
  /// of the source, and the word of the row counts.
  private var words: [(key: SourceKinds.SourceKey, word: KindWord?)] = []
  /// The maximum size of `words`. Few tables have more sources; the word of a further source is searched
  /// again in each row.
  private static let maxWords = 16
  private let hasValues: Bool
  private let hasColumn: Bool
  /// Whether rows without a word for their kind may measure anything, so that they are not read.
  private let needsWord: Bool

  init(_ finding: GenericFinding, given: ReadingKind?) {
    hasValues = finding.columns[.value] >= 0
    hasColumn = finding.columns[.kind] >= 0
    needsWord = finding.needsKindWord
    let (kind, basis) = Self.statedKind(finding, given: given)
    column = KindColumn(
      kind ?? .smbg, readsMealMarks: finding.readsMealMarks, readsGlucose: finding.kindsMayBeGlucoseOnly)
    self.basis = basis
    isUndecided =
      kind == nil && hasValues && (!needsWord || column.readsGlucose)
      && !Self.rowsStateKinds(finding, column)
    if given == nil, finding.kindsMayBeAutomatic { automatic = Cadence() }
    let isOfValues = finding.columns[.value] >= 0 && finding.kindOfColumn(finding.columns[.value]) != nil
    let roles = [GenericRole.device, .serial].filter { finding.columns[$0] >= 0 }
    let hasSources = !roles.isEmpty || !finding.columns.origins.isEmpty || finding.kindMayBeSource
    isReadFromHeader = !isUndecided && kind == .cbg
    if given == nil, !isOfValues, !needsWord,
      isReadFromHeader || (hasSources && (isUndecided || finding.kindMayBeSource))
    {
      sources = SourceKinds(readsWords: true)
    }
  }

  private static func statedKind(_ finding: GenericFinding, given: ReadingKind?) -> (
    ReadingKind?, Decision.Basis
  ) {
    if let given { return (given, .given) }
    let value = finding.columns[.value]
    if value >= 0, let named = finding.kindOfColumn(value) { return (named, .read) }
    return finding.indexOfSensorColumn == nil ? (nil, .inferred) : (.cbg, .read)
  }

  /// Whether all rows of the head have a word for their kind.
  private static func rowsStateKinds(_ finding: GenericFinding, _ column: KindColumn) -> Bool {
    let (value, kind) = (finding.columns[.value], finding.columns[.kind])
    guard kind >= 0, !finding.header.rows.isEmpty else { return false }
    return finding.header.rows.allSatisfy { row in
      guard row.indices.contains(value), !row[value].isEmpty else { return true }
      return row.indices.contains(kind) && !column.hasUnknownKind(row[kind])
    }
  }

  /// Whether the times of further rows may still help to determine a kind.
  var takesTimes: Bool { isUndecided || sources != nil || automatic != nil }

  /// Records the time of a reading whose row has the word `auto` for its kind.
  mutating func observeStated(_ cell: Field, at seconds: Int64) {
    if automatic != nil, KindWord.saysAutomatic(cell.text) { automatic?.observe(seconds, series: 0) }
  }

  /// Records the time of a reading whose row has no word for its kind.
  mutating func observe(
    _ seconds: Int64, of key: SourceKinds.SourceKey, label: SourceKinds.Label = SourceKinds.Label(texts: [])
  ) {
    if isUndecided { cadence.observe(seconds, series: key.hash) }
    sources?.observe(seconds, of: key, label: label)
  }

  /// Whether the label of a source is already recorded. If not, the caller must create it, which is slow.
  func knows(_ key: SourceKinds.SourceKey) -> Bool { sources?.knows(key) != false }

  /// Determines the kind if the first rows show the intervals of a sensor. Other intervals prove nothing.
  /// Each of several sources is still judged by its own times.
  mutating func decideFromHead() {
    if let automatic, automatic.isSensor { self.automatic = nil }
    guard isUndecided, cadence.isSensor else { return }
    decideCommon()
  }

  /// Determines the common kind and the kind of each source.
  mutating func decide() {
    guard takesTimes else { return }
    // A meter that sends its values writes `auto` as well, so the times decide.
    if let automatic, automatic.isOfPerson { column.automatic = KindWord(.smbg) }
    automatic = nil
    sources?.decide()
    if isUndecided { decideCommon() }
    sources?.joinSensors()
  }

  /// Whether a column next to the values is one of a sensor, although all times are those of finger sticks.
  var contradictsHeader: Bool {
    guard isReadFromHeader, let sources else { return false }
    let meters = sources.labels(of: .meter)
    let areNamed = meters.allSatisfy { meter in
      meter.texts.contains(where: SourceName.isMeter) || SourceName.deviceKind(of: meter.texts) == .meter
    }
    return !areNamed && sources.labels(of: .sensor).isEmpty && sources.labels(of: .unknown).isEmpty
  }

  private mutating func decideCommon() {
    isUndecided = false
    let hasSensor = sources?.labels(of: .sensor).isEmpty == false
    if cadence.isSensor || hasSensor { column.setCommon(.cbg) }
    isDoubtful = !isHistory && cadence.isSteady
    cadence = Cadence()
  }

  /// The sources with too few values to show whether they are meters or sensors, in an input with a sensor.
  /// Empty if a column has too many texts to name sources.
  var unknownSources: [SourceKinds.Label] {
    guard let sources, isHistory, !isReadFromHeader, !sources.isFull, !sources.labels(of: .sensor).isEmpty
    else { return [] }
    return sources.labels(of: .unknown).filter { !$0.name.isEmpty }
  }

  /// Whether the input has readings of a sensor, and next to them finger sticks.
  var hasMeters: Bool { isHistory && sources?.labels(of: .meter).isEmpty == false }

  /// Whether the sources of rows may have different kinds.
  var dependsOnDevice: Bool { sources != nil }

  /// The cached word for the kind of a source. The outer optional is nil if the source is not cached; the
  /// inner one is nil if nothing shows its kind.
  @inline(__always) func knownWord(of key: SourceKinds.SourceKey) -> KindWord?? {
    for known in words where known.key == key { return .some(known.word) }
    return nil
  }

  /// The kind of device of the sources with this name. Serial numbers are ignored, since each new sensor has
  /// another number.
  private func deviceKind(named texts: [String]) -> SourceKinds.DeviceKind? {
    texts.first.flatMap { sources?.deviceKind(named: $0) }
  }

  /// Whether the kind of a source is unknown because it first occurs after the kinds were decided. Always
  /// false for a table without a sensor.
  func isUnseen(_ key: SourceKinds.SourceKey, _ texts: [String]) -> Bool {
    guard let sources, isHistory, !isReadFromHeader, !sources.isFull, !texts.isEmpty,
      sources.deviceKind(of: key) == nil
    else { return false }
    return SourceName.deviceKind(of: texts) == nil && !texts.contains(where: SourceName.isMeter)
      && [nil, .unknown].contains(deviceKind(named: texts))
  }

  /// Finds and caches the word for the kind of a source; nil if nothing shows it.
  mutating func findWord(of key: SourceKinds.SourceKey, _ texts: [String]) -> KindWord? {
    let found = findWord(key, texts)
    if words.count == Self.maxWords { words.removeFirst() }
    words.append((key, found))
    return found
  }

  private func findWord(_ key: SourceKinds.SourceKey, _ texts: [String]) -> KindWord? {
    let stated = SourceName.deviceKind(of: texts)
    let deviceKind =
      stated ?? sources?.deviceKind(of: key) ?? (isReadFromHeader ? nil : deviceKind(named: texts))
    switch deviceKind {
    case .sensor:
      let scan = stated == nil ? nil : texts.lazy.compactMap { KindWord($0) }.first { $0.kind == .scan }
      return scan ?? KindWord(.cbg)
    case .meter:
      // A word for a typed value also marks the reading as manual.
      let word = stated == nil ? nil : texts.lazy.compactMap { KindWord($0) }.first { $0.kind == .smbg }
      return word ?? KindWord(.smbg)
    case .unknown, nil: return texts.contains(where: SourceName.isMeter) ? KindWord(.smbg) : nil
    }
  }

  /// The word for a row's kind; nil for a row that is not a glucose reading.
  @inline(__always) mutating func word(in cell: Field) -> KindWord? {
    needsWord && cell.isEmpty ? nil : column.word(in: cell)
  }

  /// The name with which a row of another kind is counted.
  mutating func name(of cell: Field) -> String {
    cell.trimmed.isEmpty ? "row without a kind" : column.name(of: cell)
  }

  /// Whether the readings may be a sensor's history.
  var mayBeHistory: Bool { isUndecided || column.common.kind == .cbg }

  var isHistory: Bool { column.common.kind == .cbg }

  var decision: Decision? {
    guard hasValues else { return nil }
    let common = column.common.kind.name
    if needsWord {
      return column.readsGlucose
        ? Decision("kind", common, basis) : Decision("kind", "stated by each row", .read)
    }
    if hasMeters, !hasColumn { return Decision("kind", Decision.kindOfEachDevice, .inferred) }
    return Decision("kind", hasColumn ? "stated by the rows, else \(common)" : common, basis)
  }
}

/// Determines the kinds of the rows of an input from words. The last word is cached, since most inputs repeat
/// the same word.
struct KindColumn {
  private static let maxNames = 32

  /// The kind of rows that name none.
  private(set) var common: KindWord
  /// Whether a row with a word such as `Fasting` is read, although the word does not show the kind.
  let readsMealMarks: Bool
  /// Whether a word such as `Glucose` does not show the kind of its row.
  let readsGlucose: Bool
  /// The kind of rows whose word is `auto`.
  var automatic = KindWord(.cbg)
  private var last: (bytes: [UInt8], word: KindWord)?
  private var lastCell: (bytes: [UInt8], isUnknown: Bool)?
  private var names: Set<String> = []

  init(_ common: ReadingKind, readsMealMarks: Bool = false, readsGlucose: Bool = false) {
    self.common = KindWord(common)
    self.readsMealMarks = readsMealMarks
    self.readsGlucose = readsGlucose
  }

  mutating func setCommon(_ kind: ReadingKind) {
    common = KindWord(kind)
    last = nil
  }

  /// Whether a word in the column of kinds does not show the kind of its row.
  func hasUnknownKind(_ text: String) -> Bool {
    text.isEmpty || (readsMealMarks && MealMark.isMark(text))
      || (readsGlucose && KindWord.saysOnlyGlucose(text))
  }

  /// Whether a cell of the column of kinds does not show the kind of its row. The last word is cached, since
  /// most inputs repeat the same word.
  mutating func hasUnknownKind(_ cell: Field) -> Bool {
    if cell.isEmpty { return true }
    guard readsMealMarks || readsGlucose else { return false }
    if let lastCell, cell.hasSameBytes(as: lastCell.bytes) { return lastCell.isUnknown }
    let isUnknown = hasUnknownKind(cell.text)
    lastCell = (Array(cell.bytes), isUnknown)
    return isUnknown
  }

  /// The kind for a cell; nil for an unknown word.
  @inline(__always) mutating func word(in cell: Field) -> KindWord? {
    if cell.isEmpty { return common }
    if let last, cell.hasSameBytes(as: last.bytes) { return last.word }
    guard let word = word(for: cell.text) else { return nil }
    last = (Array(cell.bytes), word)
    return word
  }

  private func word(for text: String) -> KindWord? {
    if readsGlucose, KindWord.saysOnlyGlucose(text) { return common }
    if KindWord.saysAutomatic(text) { return automatic }
    return KindWord(text) ?? (hasUnknownKind(text) ? common : nil)
  }

  /// The name with which rows of another kind are counted. The number of names is limited, so that a column
  /// of free text does not fill the memory.
  mutating func name(of cell: Field) -> String {
    let name = String(foldedHeader(cell.text).prefix(32))
    if names.count < Self.maxNames { names.insert(name) }
    return names.contains(name) ? name : "another kind"
  }
}

/// The kind and the marks of a reading that a word in a column of kinds means, such as `fingerstick`.
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

  /// Whether a word states that its row has glucose, and not what measured it.
  static func saysOnlyGlucose(_ text: String) -> Bool { onlyGlucose.contains(HeaderWords(text).name) }

  /// Whether a word states that a device sent the value. Both sensors and meters do.
  static func saysAutomatic(_ text: String) -> Bool { automatic.contains(HeaderWords(text).name) }

  private static let automatic: Set<String> = ["auto", "automatic"]
  private static let onlyGlucose: Set<String> = [
    "bg", "blood glucose", "blood sugar", "blood sugar reading", "glucose", "glucose reading",
    "blood glucose reading", "bg reading", "glucose value", "blood glucose value", "blutzucker",
    "blutzuckermessung", "blutzuckerwert", "glukosewert", "glycémie", "glucemia", "glucosa", "glicemia",
    "glicose", "glukoza", "glukose", "glukos", "bloedglucose", "bloedsuiker", "blodsukker", "blodsocker",
    "blodglukose", "blodglukos",
  ]

  private static let words: [String: KindWord] = {
    var words: [String: KindWord] = [
      "manual": KindWord(.smbg, .manual), "manuell": KindWord(.smbg, .manual),
      "manuel": KindWord(.smbg, .manual), "manuale": KindWord(.smbg, .manual),
      "calibration": KindWord(.smbg, .calibration),
      "control": KindWord(.smbg, .controlSolution), "control solution": KindWord(.smbg, .controlSolution),
      "scan": KindWord(.scan), "scanned": KindWord(.scan), "flash": KindWord(.scan),
      "scan glucose": KindWord(.scan),
      "ketone": KindWord(.ketone), "ketones": KindWord(.ketone), "blood ketone": KindWord(.ketone),
    ]
    for word in onlyGlucose { words[word] = KindWord(.smbg) }
    for word in automatic { words[word] = KindWord(.cbg) }
    for word in [
      "smbg", "bgm", "mbg", "meter", "fingerstick", "finger stick", "finger", "strip", "strip glucose",
      "blood",
      "blood sample", "finger prick", "fingerprick", "capillary", "capillary blood", "capilar", "capillaire",
      "kapillar", "fingerstich", "fingerpiks", "messgerät", "blutig", "glucometer", "glucómetro",
      "glucometro",
      "glucomètre", "glukometer", "medidor", "doigt", "dedo", "palec", "prick",
    ] { words[word] = KindWord(.smbg) }
    for word in [
      "cbg", "cgm", "egv", "sgv", "sensor", "sensor glucose", "historic", "historic glucose", "history",
      "continuous", "sensor reading", "cgm reading", "sensor value", "cgm value", "sensorglukose",
      "sensorwert",
      "gewebezucker", "interstitial", "interstitial glucose", "interstitial fluid", "capteur", "czujnik",
    ] { words[word] = KindWord(.cbg) }
    return words
  }()
}
