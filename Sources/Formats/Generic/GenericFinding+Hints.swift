// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Recognises values that are doses of insulin or numbers of an algorithm, so that no hint suggests to import
/// them as glucose.
extension GenericFinding {
  /// The last sentence of a message that suggests no command: it states why a column must not be read as
  /// glucose. Nil if the values of the column may be glucose.
  ///
  /// - Parameter value: the index of the column; negative without one.
  func reasonAgainstHint(forValuesIn value: Int) -> String? {
    guard value >= 0 else { return nil }
    if let codes = codesOfDoses(besides: value) {
      return ". No command is suggested, since \(codes); import the rows of each code of glucose with --where"
    }
    guard let sign = signOfAlgorithm ?? signOfDoses(in: value) ?? signOfOtherUnits(of: value) else {
      return nil
    }
    return ". No command is suggested, since \(sign); export the readings of the sensor or meter instead"
  }

  /// - Throws: `Failure` of category `badInput` if another column has names of insulins or codes of doses
  ///   next to the values that a person named.
  func requireNoDoses() throws {
    let value = columns[.value]
    guard value >= 0, !GenericRole.doses.contains(where: { columns[$0] >= 0 }),
      let sign = codesOfDoses(besides: value) ?? signOfInsulin(in: value)
    else { return }
    throw Failure(
      .badInput,
      "the column \(quoted([value])) may not hold glucose, since \(sign). Name doses as insulin= in --map, and "
        + "choose the rows of glucose with --where; if all rows are glucose, use --force")
  }

  /// The columns for doses instead of glucose, if each value has the name of an insulin in another column.
  /// Nil otherwise.
  func columnsOfDoses(insteadOf choice: GenericColumns) -> GenericColumns? {
    let value = choice[.value]
    guard value >= 0, let sign = indexOfInsulinNames(besides: value) else { return nil }
    let areNamed = header.rows.allSatisfy { row in
      cell(value, of: row).isEmpty || InsulinName.subtypeOfBrand(cell(sign, of: row)) != nil
    }
    guard areNamed else { return nil }
    var doses = choice.without(.value)
    (doses[.insulin], doses[.use]) = (value, sign)
    return doses
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
    return signOfDoses(in: value) { $0.showsDose(by: $1) }
  }

  /// The sign that values of a column are doses, since another column names an insulin; nil for a column that
  /// is named for glucose.
  private func signOfInsulin(in value: Int) -> String? {
    guard !header.words[value].mentionsGlucose else { return nil }
    return signOfDoses(in: value) { !$0.isRemark && Self.namesInsulin($1) }
  }

  private func signOfDoses(in value: Int, _ isSign: (HeaderWords, String) -> Bool) -> String? {
    let amounts = indexesOfInsulin(besides: value)
    let described = [GenericRole.note, .device, .serial].map { columns[$0] }
    let signs = header.names.indices.filter {
      $0 != value && !columns.hasTime(in: $0) && !described.contains($0) && mayShowDoses($0)
    }
    for row in header.rows {
      guard !cell(value, of: row).isEmpty, amounts.allSatisfy({ cell($0, of: row).isEmpty }) else { continue }
      if let sign = signs.first(where: { isSign(header.words[$0], cell($0, of: row)) }) {
        return
          "the values may be doses of insulin, as \(shownName(cell(sign, of: row))) in \(quoted([sign])) shows"
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

  /// Whether a short text has the brand or the substance of an insulin, and no amount.
  fileprivate static func namesInsulin(_ cell: String) -> Bool {
    let parts = cell.lowercased().split { !$0.isLetter && !$0.isNumber }
    let words = HeaderWords(cell)
    guard parts.count <= maxNameWords, words.words.isDisjoint(with: HeaderWords.noDoseWords),
      !words.statesAmount
    else { return false }
    // Only brands and substances, and not words for a use, are also found inside a longer word.
    return InsulinName.subtypeOfBrand(cell) != nil
      || parts.contains { InsulinName.subtype("x\($0)x") != nil }
  }
  private static let maxNameWords = 4

  private func indexOfInsulinNames(besides value: Int) -> Int? {
    header.names.indices.first { place in
      place != value && !columns.hasTime(in: place) && !header.words[place].isRemark
        && header.cells(place).contains(where: Self.namesInsulin)
    }
  }

  private func cell(_ place: Int, of row: [String]) -> String {
    row.indices.contains(place) ? row[place] : ""
  }

  /// The sign that a column has the codes of the diabetes data of the UCI repository, as text for a message.
  /// There 33 to 35 are doses of insulin, and 48 and 57 to 64 are values of glucose.
  private func codesOfDoses(besides value: Int) -> String? {
    guard !header.words[value].mentionsGlucose else { return nil }
    let place = header.names.indices.first { place in
      guard place != value, header.words[place].name.split(separator: " ").contains("code") else {
        return false
      }
      let codes = header.cells(place).compactMap { $0.withField { $0.trimmed.integer } }
      return codes.count == header.cells(place).count && codes.allSatisfy { (33...72).contains($0) }
        && codes.contains { (33...35).contains($0) } && Set(codes).count > 1
    }
    return place.map {
      "the codes 33 to 35 in \(quoted([$0])) are those of doses of insulin in some data sets"
    }
  }

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
  fileprivate static let noDoseWords: Set<String> = [
    "before", "after", "pre", "post", "no", "without", "none", "vor", "nach", "ohne",
  ]
  /// Words for medicines, in the languages of `HeaderWords`.
  private static let medicines: Set<String> = [
    "medication", "medications", "medicine", "medicines", "drug", "drugs", "medikament", "medikamente",
    "medikation", "arznei", "arzneimittel", "médicament", "médicaments", "medicament", "medicaments",
    "médication", "medicamento", "medicamentos", "medicación", "medicacion", "fármaco", "fármacos",
    "farmaco", "farmaci", "medicinale", "medicina", "medicinali", "medicação", "medicacao", "medicatie",
    "medicijn", "medicijnen", "geneesmiddel", "geneesmiddelen", "lek", "leki", "medicin", "medisin",
    "medicinering", "lægemiddel", "läkemedel", "legemiddel", "dose", "dosis",
  ]
  /// Words that may follow a word for medicines in the name of a column of their names.
  private static let wordsForKinds: Set<String> = [
    "type", "typ", "tipo", "art", "soort", "name", "nom", "nombre", "nome", "naam", "navn", "namn", "nazwa",
    "brand", "marke", "marque", "marca", "kind", "product", "produkt", "of", "de",
  ]
  /// Cells in a column of medicines that name no insulin: answers to the question whether one was taken, and
  /// the forms of other medicines.
  private static let answers: Set<String> = [
    "yes", "y", "n", "ja", "nein", "nej", "nei", "nee", "oui", "non", "sí", "si", "sim", "não", "tak", "nie",
    "x", "true", "false", "taken", "genommen", "keine", "kein", "ok",
    // These are forms of other medicines.
    "tablet", "tablets", "tablette", "tabletten", "pill", "pills", "comprimé", "comprimido", "oral",
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
  fileprivate func showsDose(by text: String) -> Bool {
    guard CellContent(text) == .text, !HeaderWords(text).statesAmount else { return false }
    // The names in nested objects have dots, as in `dose.unit`, so their last part is examined.
    let own = name.split(separator: ".").last.map { HeaderWords(String($0)) } ?? self
    if own.role == .unit { return Self.insulinUnits.contains(foldedHeader(text)) }
    let cell = HeaderWords(text)
    if own.isOfMedicine || (own.hasStem(Self.insulinStems) && own.isType) {
      return !cell.words.isEmpty && cell.words.isDisjoint(with: Self.noDoseWords.union(Self.answers))
    }
    if !own.isRemark, GenericFinding.namesInsulin(text) { return true }
    return (own.isRowType || own.isPossibleName || own.isName) && cell.namesDose
  }

  /// Whether this is a name for medicines or for the insulin of each row, and for nothing else.
  private var isOfMedicine: Bool {
    let others = words.filter { word in
      !Self.medicines.contains(word) && !HeaderWords.isOfInsulin(word) && !Self.wordsForKinds.contains(word)
    }
    return others.isEmpty && (mentionsInsulin || !words.isDisjoint(with: Self.medicines))
  }

  private static func isOfInsulin(_ word: String) -> Bool {
    insulinStems.contains { word.hasPrefix($0.description) }
      || foreignInsulinStems.contains { word.hasPrefix($0.description) }
  }

  /// Whether a text has an amount, as `NovoRapid 4 U` has. A concentration such as `U100` is not an amount.
  fileprivate var statesAmount: Bool {
    name.split { !$0.isLetter && !$0.isNumber }.contains { part in
      guard let number = Int(part.prefix(while: \.isNumber)) else { return false }
      return number < 100 && ["", "u", "e", "ie", "iu", "ui"].contains(part.drop(while: \.isNumber))
    }
  }

  /// Whether a cell of a column of names or kinds states that its row is a dose of insulin.
  var namesDose: Bool {
    words.isDisjoint(with: Self.noDoseWords)
      && (hasStem(Self.insulinStems) || Self.doseCells.contains(name))
  }

  private var isType: Bool {
    words.contains {
      ["type", "typ", "tipo", "art", "soort", "name"].contains($0) || $0.hasSuffix("typ")
        || $0.hasSuffix("type")
    }
  }
}
