// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The words of one column that may show whether a sensor or a meter measured the values of an input. This
/// column is not the column of kinds.
///
/// Only a person knows whether `CGM low` states what measured a value, or why it was measured. So such words
/// never decide the kind: the input is refused, and the message asks for the kind.
struct GenericDeviceWords {
  /// The column's name.
  let name: String
  /// The different words in the column, sorted.
  let words: [String]
  /// Whether the words are yes and no, under a name such as `isManual`.
  let areMarks: Bool

  /// - Parameters:
  ///   - values: the different cells of the column.
  ///   - hasEmptyCells: whether the cell of some rows is empty.
  ///
  /// Nil if the words state no device, or all of them state the same device.
  init?(_ name: String, _ values: Set<[UInt8]>, hasEmptyCells: Bool, areMarks: Bool) {
    let words = values.map { String(decoding: $0, as: UTF8.self) }.sorted()
    if areMarks {
      guard words.allSatisfy(Self.isMark), words.count > 1 || (hasEmptyCells && !words.isEmpty) else {
        return nil
      }
    } else {
      let deviceKinds = Set(words.compactMap(SourceName.statedDeviceKind))
      guard deviceKinds.isSuperset(of: [.sensor, .meter]) else { return nil }
    }
    (self.name, self.words, self.areMarks) = (name, words, areMarks)
  }

  /// Whether the input must be refused with a question, if all of its values would get this kind.
  func ask(besides kind: ReadingKind) -> Bool {
    guard areMarks else { return true }
    let words = HeaderWords(name)
    // Values of finger sticks may be typed, or sent by a meter automatically, so `auto` does not mean a
    // sensor.
    return kind == .cbg || (words.mark == .sensor && words.words.isDisjoint(with: ["auto", "automatic"]))
  }

  /// The kind of reading that a word states for its rows; nil if it states none.
  func kind(of word: String) -> ReadingKind? {
    guard areMarks else {
      return SourceName.statedDeviceKind(word).map { $0 == .sensor ? .cbg : .smbg }
    }
    return Self.deviceKind(of: word, in: name) == .sensor ? .cbg : .smbg
  }

  /// The kind of device that a word means in a column with this name. The word is yes or no.
  static func deviceKind(of word: String, in name: String) -> SourceKinds.DeviceKind {
    (HeaderWords(name).mark == .sensor) == isYes(word) ? .sensor : .meter
  }

  static func isYes(_ text: String) -> Bool { !noes.contains(text.lowercased()) }

  static func isMark(_ text: String) -> Bool { marks.contains(text.lowercased()) }

  /// Whether a cell is a yes or no as programs write it: 0, 1, `true` or `false`.
  static func isMarkOfProgram(_ text: String) -> Bool {
    ["0", "1", "true", "false"].contains(text.lowercased())
  }

  private static let marks: Set<String> = noes.union([
    "1", "true", "yes", "y", "x", "t", "ja", "j", "oui", "sí", "si", "sì", "sim", "✓", "✔", "wahr", "vrai",
    "verdadero", "vero", "tak", "kyllä", "ano", "да", "evet",
  ])
  private static let noes: Set<String> = [
    "0", "false", "no", "n", "f", "nein", "non", "não", "nej", "nee", "✗", "-", "falsch", "faux", "falso",
    "nei", "nie", "ei", "ne", "нет", "hayır",
  ]
}

extension HeaderWords {
  /// The kind of device whose rows a column with this name marks by yes: a meter or a sensor; nil for any
  /// other name.
  var mark: SourceKinds.DeviceKind? {
    let words = name.split { !$0.isLetter }.map(String.init)
    let rest = words.filter { !Self.markLinks.contains($0) }
    if words.isEmpty || rest.isEmpty { return nil }
    if rest.allSatisfy(Self.meterMarks.contains) { return .meter }
    return rest.allSatisfy(Self.sensorMarks.contains) ? .sensor : nil
  }

  private static let markLinks: Set<String> = [
    "is", "was", "from", "by", "entry", "entered", "reading", "value", "measurement", "glucose", "bg", "test",
    "flag", "ist", "von", "es", "est", "data",
  ]
  private static let meterMarks: Set<String> = [
    "manual", "manually", "fingerstick", "fingersticks", "finger", "stick", "fingerprick", "prick",
    "capillary",
    "smbg", "bgm", "meter", "calibration", "calibrated", "strip", "blood", "manuell", "blutig",
    "kalibrierung",
    "manuel", "calibrage", "kapillar", "calibración", "calibrazione", "manuale", "typed", "user",
  ]
  private static let sensorMarks: Set<String> = [
    "cgm", "sensor", "interstitial", "continuous", "automatic", "auto", "capteur", "sensore",
  ]
}

extension GenericFormat {
  /// - Throws: `Failure` of category `badInput` if a column states that a sensor took some values and a meter
  ///   others, and nothing else shows the kinds.
  func refuseMixedDevices(_ hint: ImportHint) throws {
    let value = finding.columns[.value]
    guard let deviceWords = rows.deviceWords, !options.force, options.kind == nil, value >= 0,
      finding.columns[.kind] < 0, finding.columns[.smbg] < 0, finding.kindOfColumn(value) == nil,
      !kind.hasMeters, deviceWords.ask(besides: kind.column.common.kind)
    else { return }
    let changes = deviceWords.words.compactMap { word in
      deviceWords.kind(of: word).map { kind in
        { (options: inout ExportOptions) in
          options.rows.append(RowFilter(column: deviceWords.name, value: word))
          options.kind = kind
        }
      }
    }.prefix(4)
    let isPlain = deviceWords.name.isPlainInCommands && deviceWords.words.allSatisfy(\.isPlainInCommands)
    throw Failure(
      .badInput,
      "the column \(shownName(deviceWords.name)) may say which values are a sensor's (cbg) and which are finger sticks (smbg). Import "
        + "the rows of each kind with --where and --kind; or all of them, as those of one kind, with --kind alone"
        + (isPlain ? ":" + hint.lines(Array(changes)) : ""))
  }

  /// - Throws: `Failure` of category `badInput` if rows with a value state unknown kinds.
  func refuseUnknownKinds(_ hint: ImportHint) throws {
    guard !options.force, let word = unknownKinds.sorted().first else { return }
    let column = finding.header.names[finding.columns[.kind]]
    let changes = [ReadingKind.smbg, .cbg].map { kind in
      { (options: inout ExportOptions) in
        options.rows.append(RowFilter(column: column, value: word))
        options.kind = kind
      }
    }
    let command =
      word.isPlainInCommands && finding.nameInCommands(finding.columns[.kind]) != nil
      ? hint.lines(changes) : ""
    throw Failure(
      .badInput,
      "rows with a value have the kind \(shownName(word)) in the column \(shownName(column)), which glucoport does not know. Import "
        + "the rows of each kind with --where and --kind, or leave those of unknown kinds out with --force:"
        + command + hint.lines([{ $0.force = true }]))
  }

  /// Whether a row with a number under a name for glucose states an unknown kind. Words for other
  /// measurements and for limits are known kinds.
  func isOfUnknownKind(_ row: Row) -> Bool {
    guard refusesUnknownKinds, let number = row[columns[.value]].trimmed.number(units.mark), number != 0
    else {
      return false
    }
    let word = HeaderWords(row[columns[.kind]].trimmed.text)
    return !word.namesNoValue && !word.namesNoReading
  }
}
