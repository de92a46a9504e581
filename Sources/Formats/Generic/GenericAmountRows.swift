// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Decides whether the amounts of a row are read, in a table in which a person named columns of doses or
/// carbohydrates. Other columns may state the kind, the unit or the state (such as planned) of each amount.
///
/// In a table with a separate column of glucose or ketones, a column such as `Type` can describe those.
/// There, only a column such as `Insulin type` is used. The words of a row are compared with closed lists. A
/// row of another kind is counted under its word. A row is rejected if its word is on no list, since its
/// amount may or may not be a dose. If several roles share a column, only a row whose words name the role is
/// read for it.
struct GenericAmountRows {
  /// A column that states what the amounts are, and its index in the header.
  private struct AmountSign {
    let place: Int
    let use: AmountWords.SignUse
  }

  private struct AmountSignColumn {
    /// The index of the column in `GenericColumns.amountSigns`.
    let index: Int
    /// The index of the column in the header.
    let place: Int
    let name: String
    let use: AmountWords.SignUse
    /// Whether each word in the first rows states the use of a dose, or that the amount is not a dose.
    let statesUses: Bool
    /// Whether a person selected the rows by this column, so that unknown words in it are read.
    let isPicked: Bool
    /// Whether the words show that the column is about these amounts. A column without this evidence excludes
    /// an amount only if the word is a known name of something else.
    var isEvident: Bool
    /// The kinds that occur among the words.
    var kinds = AmountKinds()
    /// The words that `kinds` includes, and whether each is on a list.
    var words: [[UInt8]: Bool] = [:]
    /// The number of rows with a word.
    var count = 0
    /// The number of rows whose word is on a list.
    var knownCount = 0
    /// The verdicts on the words that occurred in the column so far.
    var verdicts: [[UInt8]: AmountVerdict] = [:]
  }

  /// What the columns together mean for the amount of a row.
  private struct Judgement {
    /// The first column by which the amount is not read, and its verdict.
    var objection: (column: String, verdict: AmountVerdict)?
    /// Whether a word names the amount.
    var isPositive = false
  }

  /// The maximum number of words whose verdicts are kept. Further words are judged again in each row.
  private static let maxWords = 4096

  private let isFood: Bool
  /// Whether the table has different columns for doses and food. A row of either kind may then have both.
  private let hasBoth: Bool
  /// Whether a column of amounts also holds glucose or ketones. The rules for those count or reject the rows
  /// that are not amounts.
  let sharesReadings: Bool
  /// Whether doses and food have one column.
  let sharesAmounts: Bool
  private var columns: [AmountSignColumn] = []

  /// - Parameter isFood: whether the amounts are carbohydrates and not doses.
  init(_ finding: GenericFinding, isFood: Bool) {
    self.isFood = isFood
    let roles = Roles(finding)
    hasBoth = roles.hasBoth
    sharesReadings = isFood ? roles.foodsShareReadings : roles.dosesShareReadings
    sharesAmounts = roles.sharesAmounts
    columns = Self.signs(in: finding, isFood: isFood).compactMap { sign -> AmountSignColumn? in
      guard let index = finding.columns.amountSigns.firstIndex(of: sign.place) else { return nil }
      let cells = finding.header.cells(sign.place)
      var column = AmountSignColumn(
        index: index, place: sign.place, name: finding.header.names[sign.place], use: sign.use,
        statesUses: sign.use == .kind || cells.allSatisfy(AmountWords.statesUse),
        isPicked: finding.watches.contains { $0.place == sign.place && $0.isPick },
        isEvident: Self.isEvident(cells, sign, in: finding, isFood: isFood))
      for cell in cells { cell.withField { Self.observe($0.trimmed, in: &column, isFood: isFood) } }
      (column.count, column.knownCount) = (0, 0)
      return column
    }
  }

  /// The columns of a table that state what its mapped amounts are.
  static func signColumns(in finding: GenericFinding) -> [Int] {
    let kinds = [(GenericRole.doses, false), (GenericRole.foods, true)]
    let places = kinds.flatMap { roles, isFood in
      roles.contains { finding.columns[$0] >= 0 } ? signs(in: finding, isFood: isFood).map(\.place) : []
    }
    return Array(Set(places)).sorted()
  }

  /// Which columns have roles for amounts and for readings.
  private struct Roles {
    /// Whether glucose or ketones have a column without amounts.
    let hasReadings: Bool
    let hasBoth: Bool
    let dosesShareReadings: Bool
    let foodsShareReadings: Bool
    let sharesAmounts: Bool

    init(_ finding: GenericFinding) {
      func indexes(of roles: [GenericRole]) -> Set<Int> {
        Set(roles.map { finding.columns[$0] }.filter { $0 >= 0 })
      }
      let (doses, foods) = (indexes(of: GenericRole.doses), indexes(of: GenericRole.foods))
      let measured = indexes(of: GenericRole.measured)
      hasReadings = !measured.isSubset(of: doses.union(foods))
      hasBoth = !doses.isEmpty && !foods.isEmpty && doses.isDisjoint(with: foods)
      (dosesShareReadings, foodsShareReadings) = (
        !measured.isDisjoint(with: doses), !measured.isDisjoint(with: foods)
      )
      sharesAmounts = !doses.isDisjoint(with: foods)
    }
  }

  private static func signs(in finding: GenericFinding, isFood: Bool) -> [AmountSign] {
    let roles = Roles(finding)
    let used = (GenericRole.doses + GenericRole.foods + [.time, .date, .clock]).map { finding.columns[$0] }
    return finding.header.names.indices.compactMap { place in
      if used.contains(place) { return nil }
      let (name, cells) = (finding.header.words[place], finding.header.cells(place))
      let isOfUse = place == finding.columns[.use] && !isFood
      let stated = isOfUse ? .kindOfDose : use(of: name)
      guard let use = stated ?? (namesKinds(cells, in: name) ? .kind : nil) else { return nil }
      if use == .kindOfDose { return isFood || cells.isEmpty ? nil : AmountSign(place: place, use: use) }
      // If the table has both doses and food, a column of units can be about either, so it is not read.
      if roles.hasReadings || (use == .unit && roles.hasBoth) { return nil }
      // A column whose words are on no list does not state what the amounts are. In a column named for kinds
      // of rows, later words can be on a list.
      let isKept = [.state, .priming].contains(use) || (use == .kind && name.isRowType)
      let sign = AmountSign(place: place, use: use)
      return isKept || isEvident(cells, sign, in: finding, isFood: isFood) ? sign : nil
    }
  }

  private static func isEvident(
    _ cells: [String], _ sign: AmountSign, in finding: GenericFinding, isFood: Bool
  ) -> Bool {
    let isOfRows = finding.header.words[sign.place].isRowType
    return cells.contains {
      AmountWords.isEvidence(HeaderWords($0), sign.use, isFood: isFood, isOfRows: isOfRows)
    }
  }

  /// Whether a column states the kinds of rows, although its name does not show that. At least half of its
  /// words must be known. Together they must name at least two of doses, food and other things.
  private static func namesKinds(_ cells: [String], in name: HeaderWords) -> Bool {
    if name.isTime || name.isRemark || cells.isEmpty { return false }
    let cells = Set(cells)
    guard cells.count <= maxKinds, cells.allSatisfy({ CellContent($0) == .text }) else { return false }
    var kinds = AmountKinds()
    for cell in cells { kinds.observe(HeaderWords(cell)) }
    return kinds.areOfRows && cells.count { isKnown(HeaderWords($0)) } * 2 >= cells.count
  }
  private static let maxKinds = 12

  private static func isKnown(_ word: HeaderWords) -> Bool {
    if case .unknown = AmountWords.doseVerdict(word, AmountKinds()) { return false }
    return true
  }

  /// Observes the words in the columns for kinds of amounts and doses, so that all words are known before the
  /// first amount is read.
  mutating func survey(_ row: Row, _ places: GenericColumns) {
    for index in columns.indices where columns[index].use == .kind || columns[index].use == .kindOfDose {
      Self.observe(row[places.amountSigns[columns[index].index]].trimmed, in: &columns[index], isFood: isFood)
    }
  }

  private static func observe(_ cell: Field, in column: inout AmountSignColumn, isFood: Bool) {
    if cell.isEmpty { return }
    let bytes = Array(cell.bytes)
    if column.words[bytes] == nil, column.words.count < maxWords {
      let word = HeaderWords(cell.text)
      column.words[bytes] = isKnown(word)
      column.kinds.observe(word)
      // The name of a meal is evidence only for doses: it can also be the name of a food.
      if isFood, column.use == .kind, HeaderWords(column.name).isRowType, column.kinds.haveMeals {
        column.isEvident = true
      }
    }
    column.count += 1
    if column.words[bytes] == true { column.knownCount += 1 }
  }

  /// Ends the survey. The kinds that occur among all rows decide the meaning of each word.
  mutating func decide() {
    for index in columns.indices {
      columns[index].verdicts = [:]
      // A few words on a list can occur by chance in a column of other things.
      let areKnown = columns[index].knownCount * 4 >= columns[index].count
      if columns[index].use == .kind, columns[index].kinds.areOfRows, areKnown {
        columns[index].isEvident = true
      }
    }
    columns.removeAll { $0.use == .kind && !$0.isEvident && !$0.isPicked }
  }

  /// The columns whose words decide which rows are read, as indexes in the header.
  var places: [Int] { columns.map(\.place) }

  /// Whether no column shows which rows are read, although several roles share the amounts.
  var cannotSeparate: Bool {
    needsWord && !columns.contains { [.kind, .kindOfDose, .unit].contains($0.use) }
  }

  /// Whether an amount is read only if a word of its row names it.
  private var needsWord: Bool { sharesReadings || sharesAmounts }

  /// Whether the amounts of a row are read. Otherwise the row is counted or rejected.
  ///
  /// - Parameter isFoodRead: whether the same amount of the row is read as food, so that nothing is missing.
  mutating func reads(
    _ row: Row, _ places: GenericColumns, isFoodRead: Bool = false, into out: inout BatchBuilder
  ) -> Bool {
    let judgement = judgement(on: row, places)
    if judgement.objection == nil, judgement.isPositive || !needsWord { return !isFoodRead }
    if isFoodRead || sharesReadings { return false }
    switch judgement.objection {
    case (_, .other(let name))?: out.skip(name)
    case (let column, _)?:
      out.reject(
        row,
        "by \(shownName(column)), this may not be \(isFood ? "food" : "a dose"); use --where to choose rows, or --force"
      )
    case nil: out.reject(row, "no column shows whether the amount is a dose or food")
    }
    return false
  }

  /// Whether the amounts of a row are read.
  mutating func reads(_ row: Row, _ places: GenericColumns) -> Bool {
    let judgement = judgement(on: row, places)
    return judgement.objection == nil && (judgement.isPositive || !needsWord)
  }

  private mutating func judgement(on row: Row, _ places: GenericColumns) -> Judgement {
    var judgement = Judgement()
    var (lacksKind, pickedKind, unknownName): (String?, Bool, String?) = (nil, false, nil)
    for index in columns.indices {
      let column = columns[index]
      let cell = row[places.amountSigns[column.index]].trimmed
      if cell.isEmpty {
        if column.use == .kind, column.isEvident, column.kinds.areOfRows { lacksKind = column.name }
        continue
      }
      switch verdict(cell, index) {
      case .positive: judgement.isPositive = true
      case .neutral where column.use == .kind: pickedKind = pickedKind || column.isPicked
      case .neutral where column.use == .kindOfDose:
        if column.kinds.haveDoses, !column.isPicked { unknownName = column.name }
      case .neutral: break
      case let verdict: if judgement.objection == nil { judgement.objection = (column.name, verdict) }
      }
    }
    if judgement.isPositive || judgement.objection != nil { return judgement }
    // If a column states the kinds of the rows, an amount in a row without a kind may be of any kind.
    if let lacksKind, !hasBoth { judgement.objection = (lacksKind, .unknown) }
    // A person can choose the rows of medicines with `--where`. Of those, only the known names are insulins.
    if pickedKind, let unknownName { judgement.objection = (unknownName, .unknown) }
    return judgement
  }

  /// The subtype of the dose in a row by the word for its kind, such as `Long-acting dose`; nil without one.
  func subtype(of row: Row, _ places: GenericColumns) -> String? {
    let kinds = columns.filter { [.kind, .kindOfDose].contains($0.use) && $0.statesUses }.map {
      row[places.amountSigns[$0.index]].trimmed.text
    }
    return kinds.lazy.flatMap { HeaderWords($0).words.sorted() }.compactMap(InsulinName.subtype).first
  }

  private mutating func verdict(_ cell: Field, _ index: Int) -> AmountVerdict {
    let bytes = Array(cell.bytes)
    if let known = columns[index].verdicts[bytes] { return known }
    let verdict = verdict(HeaderWords(cell.text), of: columns[index])
    if columns[index].verdicts.count < Self.maxWords { columns[index].verdicts[bytes] = verdict }
    return verdict
  }

  private func verdict(_ word: HeaderWords, of column: AmountSignColumn) -> AmountVerdict {
    let verdict = AmountWords.verdict(word, column.use, isFood: isFood, column.kinds)
    switch verdict {
    case .other(AmountWords.foodName), .other(AmountWords.insulinName): return hasBoth ? .neutral : verdict
    case .unknown where column.isPicked: return .neutral
    case .unknown where [.kind, .state].contains(column.use) && !column.isEvident: return .neutral
    case .positive, .neutral, .other, .unknown: return verdict
    }
  }

  private static func use(of name: HeaderWords) -> AmountWords.SignUse? {
    if name.role == .unit { return .unit }
    if !name.words.isDisjoint(with: AmountWords.primingWords) { return .priming }
    if !name.words.isDisjoint(with: AmountWords.states) { return .state }
    if isOfKindsOfDoses(name) { return .kindOfDose }
    return name.isRowType || name.isPossibleName ? .kind : nil
  }

  /// Whether a column may state the kinds of doses. Next to readings, a column `Type` may be about those.
  static func mayStateKinds(_ name: HeaderWords, hasReadings: Bool) -> Bool {
    isOfKindsOfDoses(name) || (name.isRowType && !hasReadings)
  }

  /// Whether a word is a code of one or two letters that no insulin has as its name.
  static func isCode(_ word: String) -> Bool {
    (1...maxCode).contains(word.count) && word.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
      && word.contains(where: \.isLetter) && InsulinName.subtype(word) == nil
  }
  private static let maxCode = 2

  /// Whether a column is named for the kinds of doses, such as `insulin_kind` or `Insulinart`.
  static func isOfKindsOfDoses(_ name: HeaderWords) -> Bool {
    if !name.words.isDisjoint(with: AmountWords.kindsOfDoses) { return true }
    return !name.words.isDisjoint(with: AmountWords.kindWords)
      && !name.words.isDisjoint(with: AmountWords.insulinWords)
  }
}
