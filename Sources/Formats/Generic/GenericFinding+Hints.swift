// SPDX-License-Identifier: Apache-2.0

/// Recognises values that are doses of insulin or numbers of an algorithm, so that no hint suggests to import
/// them as glucose.
extension GenericFinding {
  /// The last sentence of a message that suggests no command: it states why a column must not be read as
  /// glucose. Nil if the values of the column may be glucose.
  ///
  /// - Parameter value: the index of the column; negative without one.
  func reasonAgainstHint(forValuesIn value: Int) -> String? {
    guard value >= 0, let sign = signOfAlgorithm ?? signOfDoses(in: value) ?? signOfOtherUnits(of: value)
    else { return nil }
    return ". No command is suggested, since \(sign); export the readings of the sensor or meter instead"
  }

  /// The sign that an algorithm for insulin wrote the input, as text for a message. Then the glucose in the
  /// input is a copy or a prediction, whatever its column is called.
  private var signOfAlgorithm: String? {
    header.names.indices.first { header.words[$0].isOfAlgorithm }.map {
      "the values may be those that an algorithm used or predicted, as \(quoted([$0])) shows"
    }
  }

  /// The sign that the values of a column are doses, as text for a message; nil for a column that is named
  /// for glucose. A row that also has an amount of insulin in another column is not a sign: its words may
  /// describe that amount.
  private func signOfDoses(in value: Int) -> String? {
    guard !header.words[value].mentionsGlucose else { return nil }
    if header.words[value].mentionsInsulin { return "\(quoted([value])) has a word for insulin" }
    let amounts = indexesOfInsulin(besides: value)
    let signs = header.names.indices.filter { $0 != value && !columns.hasTime(in: $0) && mayShowDoses($0) }
    for row in header.rows {
      let cell = { (place: Int) in row.indices.contains(place) ? row[place] : "" }
      guard !cell(value).isEmpty, amounts.allSatisfy({ cell($0).isEmpty }) else { continue }
      if let sign = signs.first(where: { header.words[$0].showsDose(by: cell($0)) }) {
        return "the values may be doses of insulin, as \(shownName(cell(sign))) in \(quoted([sign])) shows"
      }
    }
    return nil
  }

  /// Whether a single object holds entries by their ids, each with its own time and glucose. Then no column
  /// of times belongs to a column of values.
  var holdsEntriesByID: Bool {
    guard delimiter == nil, header.rows.count == 1 else { return false }
    func parents(_ isWanted: (HeaderWords) -> Bool) -> Set<Substring> {
      Set(
        header.names.compactMap { name in
          guard let dot = name.lastIndex(of: "."), isWanted(HeaderWords(String(name[dot...].dropFirst())))
          else { return nil }
          return name[..<dot]
        })
    }
    return parents(\.isTime).intersection(parents(\.isGlucose)).count >= Self.minOfEntries
  }
  private static let minOfEntries = 3

  /// Whether no row has a measured value.
  var hasNoMeasuredCells: Bool {
    GenericRole.measured.allSatisfy { columns[$0] < 0 || header.cells(columns[$0]).isEmpty }
  }

  /// The columns of times and of amounts by role, for `--map`, in rows that are doses by their word. Nil
  /// without times, or if not exactly one column is named only for an amount.
  var namesOfDoses: [String: String]? {
    let amounts = header.names.indices.filter {
      Self.amountNames.contains(header.words[$0].name) && header.content($0) == .number
    }
    guard hasTimes, amounts.count == 1, let amount = nameInCommands(amounts[0]) else { return nil }
    var names = [GenericRole.insulin.name: amount]
    for role in [GenericRole.time, .date, .clock] where columns[role] >= 0 {
      guard let name = nameInCommands(columns[role]) else { return nil }
      names[role.name] = name
    }
    return names
  }

  private static let amountNames: Set<String> = ["amount", "dose", "dosis", "insulin", "units"]

  /// The columns with amounts of insulin, apart from a column of values.
  func indexesOfInsulin(besides value: Int) -> [Int] {
    header.names.indices.filter {
      $0 != value && header.words[$0].isInsulinAmount && header.content($0) == .number && !holdsCodes($0)
    }
  }

  /// Whether the numbers of a column are codes: whole numbers up to 3. Apple Health writes the reason of a
  /// dose as 1 or 2.
  private func holdsCodes(_ place: Int) -> Bool {
    header.cells(place).allSatisfy {
      $0.withField { $0.trimmed.integer.map { (0...3).contains($0) } } == true
    }
  }

  /// Whether a word for insulin in this column describes the values. It does not if the column also has words
  /// or units for glucose: then the words only distinguish rows.
  private func mayShowDoses(_ place: Int) -> Bool {
    !header.cells(place).contains { cell in
      let words = HeaderWords(cell)
      return GenericUnits.isOfGlucose(cell) || words.mentionsGlucose || words.isSugar || words.kind != nil
    }
  }
}

extension GenericColumns {
  /// Whether a column has times or dates.
  fileprivate func hasTime(in place: Int) -> Bool {
    [GenericRole.time, .date, .clock].contains { self[$0] == place }
  }
}

extension HeaderWords {
  private static let insulinStems: [StaticString] = ["insulin", "insuliin"]
  /// Beginnings of words for insulin in languages whose words for glucose are not known.
  private static let foreignInsulinStems: [StaticString] = [
    "inzulin", "inzulín", "insülin", "инсулин", "інсулін", "ινσουλίν", "ινσουλιν", "インスリン", "인슐린",
    "胰岛素", "胰島素", "אינסולין", "أنسولين", "إنسولين", "อินซูลิน",
  ]
  private static let insulinUnits: Set<String> = [
    "u", "iu", "ie", "ui", "e", "u/h", "iu/h", "ie/h", "ui/h", "e/h", "units", "unit", "einheiten",
    "einheit", "unités", "unidades", "unità", "eenheden",
  ]
  private static let doseCells: Set<String> = [
    "bolus", "basal", "meal bolus", "correction bolus", "temp basal",
  ]
  /// Words that show that a text with a word for insulin is not about a dose: `before insulin`, `no bolus`.
  private static let noDoseWords: Set<String> = [
    "before", "after", "pre", "post", "no", "without", "none", "vor", "nach", "ohne",
  ]
  private static let noAmountWords: Set<String> = [
    "board", "iob", "active", "rate", "id", "guid", "sensitivity", "duration", "time", "total", "type",
  ]

  /// Whether this is the name of a column with decisions of an algorithm for insulin (OpenAPS, AAPS, Trio). A
  /// name for suggested doses in a diary is not such a name.
  fileprivate var isOfAlgorithm: Bool {
    if !words.isDisjoint(with: ["openaps", "enacted", "predbgs", "eventualbg"]) { return true }
    if ["pred bgs", "eventual bg"].contains(name) { return true }
    return name.split(whereSeparator: { $0 == "." || $0 == "/" }).contains("suggested")
      || (words.contains("suggested") && mentionsGlucose)
  }

  /// Whether the name has a word for insulin, in any language.
  fileprivate var mentionsInsulin: Bool {
    hasStem(Self.insulinStems) || hasStem(Self.foreignInsulinStems)
  }

  /// Whether this is the name of a column with amounts of insulin.
  fileprivate var isInsulinAmount: Bool {
    (hasStem(Self.insulinStems) || words.contains("bolus")) && words.isDisjoint(with: Self.noAmountWords)
  }

  /// Whether a cell of a column with this name shows that the value of its row is a dose of insulin.
  fileprivate func showsDose(by cell: String) -> Bool {
    guard CellContent(cell) == .text else { return false }
    // The names in nested objects have dots, as in `dose.unit`, so their last part is examined.
    let own = name.split(separator: ".").last.map { HeaderWords(String($0)) } ?? self
    if own.role == .unit { return Self.insulinUnits.contains(foldedHeader(cell)) }
    let cell = HeaderWords(cell)
    if own.hasStem(Self.insulinStems) {
      return own.isType && !cell.words.isEmpty && cell.words.isDisjoint(with: Self.noDoseWords)
    }
    return (own.isRowType || own.isPossibleName || own.isName) && cell.namesDose
  }

  /// Whether a cell of a column of names or kinds states that its row is a dose of insulin.
  var namesDose: Bool {
    words.isDisjoint(with: Self.noDoseWords)
      && (hasStem(Self.insulinStems) || Self.doseCells.contains(name))
  }

  private var isType: Bool {
    words.contains { ["type", "typ", "tipo", "art", "soort", "name"].contains($0) || $0.hasSuffix("typ") }
  }
}
