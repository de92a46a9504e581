// SPDX-License-Identifier: Apache-2.0

import Logbook

/// How the doses and meals of a generic input are read, in columns that a person named.
struct GenericDiary {
  /// A column of doses, and their subtype if its name states one, as `Basal (U)` does.
  private struct DoseColumn {
    let role: GenericRole
    let subtype: String?
  }

  /// A column of carbohydrates, and the field of food for its amounts: `carbs` or `servings`.
  private struct FoodColumn {
    let role: GenericRole
    let field: String
  }

  private let doses: [DoseColumn]
  private let foods: [FoodColumn]
  /// The name that a person gave this table to distinguish it from others. It is empty for a table that also
  /// has readings, since the name is then that of the device.
  private let table: String
  /// The subtype of doses that the name of the sheet states; nil if it states none, or if the table also has
  /// readings.
  private let subtypeOfSheet: String?
  /// The rules that decide which rows have doses and food; nil if a person requires all rows.
  private var rows: (doses: GenericAmountRows, foods: GenericAmountRows)?
  private let isForced: Bool

  /// Nil for an input without columns of doses, carbohydrates or notes.
  ///
  /// - Throws: `Failure` of category `badInput` if a column of carbohydrates states energy.
  init?(_ finding: GenericFinding, _ options: ExportOptions) throws {
    let hasReadings = GenericRole.measured.contains { finding.columns[$0] >= 0 }
    isForced = options.force
    table = hasReadings ? "" : options.device ?? ""
    subtypeOfSheet = hasReadings ? nil : options.sheet.flatMap(Self.subtype(ofSheet:))
    doses = GenericRole.doses.compactMap { role in
      finding.name(of: role).map { DoseColumn(role: role, subtype: InsulinName.subtype($0)) }
    }
    foods = try GenericRole.foods.compactMap { role in
      guard let name = finding.name(of: role) else { return nil }
      let words = HeaderWords(name).words
      if !words.isDisjoint(with: Self.energyWords) {
        throw Failure(
          .badInput,
          "the column \(finding.quoted([finding.columns[role]])) holds energy, and \(role.name)= is for grams: leave it out of --map"
        )
      }
      let isInExchanges = !words.isDisjoint(with: Self.exchangeWords) || Self.statesGramsOfAUnit(name)
      return FoodColumn(role: role, field: isInExchanges ? "servings" : "carbs")
    }
    if doses.isEmpty, foods.isEmpty, finding.columns[.note] < 0 { return nil }
    let rules = (
      doses: GenericAmountRows(finding, isFood: false), foods: GenericAmountRows(finding, isFood: true)
    )
    for (isOfRole, role) in [(rules.doses, GenericRole.insulin), (rules.foods, .carbs)]
    where isOfRole.cannotSeparate {
      throw Failure(
        .badInput,
        "the column \(finding.quoted([finding.columns[role]])) has several roles in --map, and no column of kinds or units shows "
          + "which rows are which; name it for one role, and choose its rows with --where")
    }
    // One amount is never two things, so this option cannot give it several roles.
    let isShared = rules.doses.sharesAmounts || rules.doses.sharesReadings || rules.foods.sharesReadings
    if !options.force || isShared { rows = rules }
  }

  /// Notes the words of a row, before rows are read.
  mutating func survey(_ row: Row, _ columns: GenericColumns) {
    rows?.doses.survey(row, columns)
    rows?.foods.survey(row, columns)
  }

  mutating func decide() {
    rows?.doses.decide()
    rows?.foods.decide()
  }

  /// The columns whose words decide which rows are read, as indexes in the header.
  /// Nil if a person requires all rows.
  var signs: [Int]? { rows.map { $0.doses.places + $0.foods.places } }

  /// Whether the amount of a row in the column of this role is read.
  mutating func reads(_ role: GenericRole, _ row: Row, _ columns: GenericColumns) -> Bool {
    guard GenericRole.doses.contains(role) else { return rows?.foods.reads(row, columns) ?? true }
    if rows?.doses.sharesAmounts == true, rows?.foods.reads(row, columns) == true { return false }
    return rows?.doses.reads(row, columns) ?? true
  }

  /// Whether the value of a row is a dose or food, in a column that also has the role of the values.
  mutating func readsValue(of row: Row, _ columns: GenericColumns) -> Bool {
    if row[columns[.value]].trimmed.isEmpty { return false }
    return (doses.map(\.role) + foods.map(\.role)).contains { role in
      columns[role] == columns[.value] && reads(role, row, columns)
    }
  }

  /// Whether a row states which insulin was given, or for what.
  func namesInsulin(_ row: Row, _ columns: GenericColumns) -> Bool {
    InsulinName.subtype(row[columns[.use]].trimmed.text) != nil
      || rows?.doses.subtype(of: row, columns) != nil
  }

  /// The subtype of the doses in a sheet with this name, such as `Basal`. The rate of a pump is not a dose.
  /// Words such as `long` state the subtype only as the whole name or with a word for insulin, since `Long
  /// weekend` is not about insulin.
  static func subtype(ofSheet name: String) -> String? {
    guard AmountName.reasonAgainstDoses(name) == nil, let subtype = InsulinName.subtype(name) else {
      return nil
    }
    let header = HeaderWords(name)
    if header.words.count == 1 || header.namesDose || header.words.contains("acting") { return subtype }
    let others = header.words.subtracting(adjectives).joined(separator: " ")
    return InsulinName.subtype(others) == subtype ? subtype : nil
  }

  /// The milligrams of many tablets, and more units than most people ever inject at a time.
  private static let minOfTablets = 100.0

  private static let adjectives: Set<String> = [
    "background", "correction", "corrección", "fast", "korrektur", "kurz", "lang", "lento", "long", "longue",
    "misch", "mista", "mix", "mixed", "mixta", "mixte", "rapid", "rapida", "rapide", "rapido", "retard",
    "rápida", "rápido", "schnell", "schnelles", "short", "slow",
  ]

  /// Words for exchange units. Such a unit is 10, 12 or 15 g of carbohydrates, depending on country and
  /// clinic.
  private static let exchangeWords: Set<String> = [
    "annokset", "annoksia", "annos", "annosta", "be", "broodeenheden", "broodeenheid", "broteinheit",
    "broteinheiten", "brotwert", "brotwerte", "brødenheder", "brødenheter", "brödenheter", "bu", "bus",
    "chlebowe", "chlebowych", "chlebové", "chlebových", "choices", "cp", "cps", "değişimi", "değişim",
    "echange", "echanges", "egység", "equivalente", "equivalentes", "exch", "exchange", "exchanges",
    "hiilihydraattiannokset", "hiilihydraattiannoksia", "hiilihydraattiannos", "intercambio", "intercambios",
    "jednotek", "jednotka", "jednotky", "karbohydratenhet", "karbohydratenheter", "ke", "khe",
    "kohlenhydrateinheit", "kohlenhydrateinheiten", "kolhydratenhet", "kolhydratenheter",
    "koolhydraateenheden", "kulhydratenhed", "kulhydratenheder", "pane", "porce", "porcje", "porcji",
    "porsjon", "porsjoner", "porção", "porções", "porciones", "porción", "portie", "porties", "portion",
    "portionen", "portioner", "portions", "porzione", "porzioni", "rac", "racions", "raciones", "ración",
    "scambi", "scambio", "serving", "servings", "sj", "troca", "trocas", "vj", "ww", "wymiennik",
    "wymienniki", "wymienników", "xe", "échange", "échanges", "équivalents", "единиц", "единицы", "хе",
    "хлебные", "хлебных", "カーボ", "份",
  ]
  /// Whether a column's name states the grams in one unit of food, as in `Carbohydrate (10 g)`, `KH
  /// [x10g]` or `Carbs/10`.
  private static func statesGramsOfAUnit(_ name: String) -> Bool {
    let folded = foldedHeader(name)
    let words = folded.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    return ["10", "12", "15"].contains { grams in
      ["\(grams)g", "x\(grams)g", "x\(grams)"].contains(where: words.contains)
        || zip(words, words.dropFirst()).contains { $0 == (grams, "g") }
        || (words.last == grams && folded.contains("/\(grams)"))
    }
  }
  private static let energyWords: Set<String> = [
    "cal", "calorie", "calories", "calorías", "energie", "energy", "energía", "kalorien", "kcal", "kj",
  ]

  /// Adds the doses, the meals and the note of a row.
  mutating func read(
    _ row: Row, _ columns: GenericColumns, at time: ShownTime, _ mark: DecimalMark,
    into out: inout BatchBuilder
  ) {
    let named = row[columns[.serial]].isEmpty ? row[columns[.device]].text : row[columns[.serial]].text
    let owner = named.isEmpty ? table : named
    let hasDoses = doses.contains { !row[columns[$0.role]].isEmpty }
    let hasFoods = foods.contains { !row[columns[$0.role]].isEmpty }
    // If doses and food have one column, only the rules for doses count or reject a row that is neither.
    let sharesAmounts = rows?.doses.sharesAmounts ?? false
    let readsFoods =
      !hasFoods
      || (sharesAmounts
        ? rows?.foods.reads(row, columns) : rows?.foods.reads(row, columns, into: &out)) ?? true
    let isFoodRead = sharesAmounts && hasFoods && readsFoods
    let readsDoses =
      !hasDoses || rows?.doses.reads(row, columns, isFoodRead: isFoodRead, into: &out) ?? true
    for column in doses where readsDoses {
      guard let dose = amount(column.role, PlausibleAmounts.units) else { continue }
      var fields: [String: FieldValue] = ["units": .number(dose)]
      // The column `use` describes only the first column of doses.
      let name = column.role == .insulin ? row[columns[.use]].trimmed.text : ""
      if !isForced, !name.isEmpty, dose >= Self.minOfTablets, InsulinName.subtype(name) == nil {
        out.reject(
          row, "a dose of 100 U or more of something that is not known as an insulin; --force reads it")
        continue
      }
      if !name.isEmpty { fields["text"] = .text(name) }
      let stated =
        InsulinName.subtype(name) ?? column.subtype ?? rows?.doses.subtype(of: row, columns)
      let subtype = stated ?? subtypeOfSheet
      if let subtype { fields["subtype"] = .text(subtype) }
      out.add(.insulin, at: time, owner: Self.owner(owner, column.role), line: row.line, fields)
    }
    for column in foods where readsFoods {
      let range = column.field == "carbs" ? PlausibleAmounts.grams : PlausibleAmounts.servings
      guard let food = amount(column.role, range) else { continue }
      out.add(
        .food, at: time, owner: Self.owner(owner, column.role), line: row.line, [column.field: .number(food)])
    }
    if columns[.note] >= 0, !row[columns[.note]].isEmpty {
      out.add(.note, at: time, owner: owner, line: row.line, ["text": .text(row[columns[.note]].text)])
    }

    func amount(_ role: GenericRole, _ range: ClosedRange<Double>) -> Double? {
      let cell = row[columns[role]]
      if cell.isEmpty { return nil }
      guard let number = cell.number(mark), range.contains(number) else {
        out.reject(row, "the amount of \(role.name) is not a plausible number")
        return nil
      }
      return number == 0 ? nil : number
    }
  }

  /// The owner of a record. It is a part of the record's identity. Doses of a row in different columns are
  /// different doses, even if they are equal, so their owners differ.
  private static func owner(_ owner: String, _ role: GenericRole) -> String {
    role == .insulin || role == .carbs ? owner : "\(owner) \(role.name)"
  }
}

extension GenericFinding {
  /// The name of the column with a role; nil without one.
  func name(of role: GenericRole) -> String? {
    columns[role] >= 0 ? header.names[columns[role]] : nil
  }

  /// The column that names the insulin of each dose. In each row with a dose, the cell of this column is
  /// empty, or names a known insulin or a use such as `bolus`. Nil if there is no such column, or more than
  /// one.
  var indexOfInsulinNames: Int? {
    let doses = columns[.insulin]
    guard doses >= 0 else { return nil }
    let rows = header.rows.filter { $0.indices.contains(doses) && !$0[doses].isEmpty }
    let found = header.names.indices.filter { place in
      if columns.isUsed(place) { return false }
      let cells = rows.compactMap { $0.indices.contains(place) && !$0[place].isEmpty ? $0[place] : nil }
      return !cells.isEmpty && cells.allSatisfy { InsulinName.subtype($0) != nil }
    }
    return found.count == 1 ? found[0] : nil
  }
}

/// Recognises by its name a column that does not hold doses of insulin or grams of carbohydrates, although a
/// person chose it for them.
///
/// For example, a pump writes its basal rate in each row. If 0.8 U/h were read as a dose every 5 minutes, the
/// sum would be 230 U a day.
enum AmountName {
  /// A meaning of a column: the words in its name that show the meaning, and its description in messages.
  private struct ColumnMeaning {
    let text: String
    let words: Set<String>
  }

  private static let ofBoth = [
    ColumnMeaning(
      text: "holds a ratio, a factor or a limit",
      words: [
        "factor", "faktor", "goal", "icr", "index", "isf", "limit", "max", "maximum", "minimum",
        "ratio", "sensitivity", "target", "ziel", "zielwert",
      ]),
    ColumnMeaning(
      text: "holds what is still active",
      words: [
        "active", "activa", "actieve", "actif", "aktiv", "aktives", "aktywna", "ativa", "attiva", "board",
        "aktivt", "bob", "cob", "iob", "restinsulin", "активный",
      ]),
    ColumnMeaning(
      text: "holds a sum of the day",
      words: [
        "daily", "diaria", "diária", "gesamtinsulin", "gesamttagesdosis", "giornaliera", "journalière",
        "quotidienne", "tagesdosis", "tagesinsulin", "tagessumme", "tdd", "tdi",
      ]),
    ColumnMeaning(
      text: "holds a running total",
      words: [
        "accumulated", "acumulada", "acumulado", "akkumuleret", "cumulata", "cumulated", "cumulatief",
        "cumulatif",
        "cumulative", "cumulativo", "cumulato", "cumulé", "cumulée", "cumulés", "kumulativ", "kumulerad",
        "kumuliert", "kumulierte", "kumuliertes", "narastająco", "progressivo", "running", "нарастающим",
        "累計",
        "累计",
      ]),
    ColumnMeaning(
      text: "holds what was recommended",
      words: [
        "aanbevolen", "aconsejada", "aconsejado", "aconselhada", "aconselhado", "advies",
        "advised", "anbefalet", "anbefalt", "berechnet", "berechnete", "berechneter", "berechnetes",
        "beregnet", "berekend", "berekende", "beräknad", "bolusadvies", "bolusvorschlag", "calcolata",
        "calcolato", "calculada", "calculado", "calculated", "calculé", "calculée", "conseillé", "conseillée",
        "consigliata", "consigliato", "doporučená", "doporučené", "doporučený", "ehdotettu", "empfehlung",
        "empfohlen", "empfohlene", "empfohlener", "empfohlenes", "estimated", "foreslået", "foreslått",
        "föreslagen", "föreslaget", "geadviseerd", "geadviseerde", "laskettu", "navržený", "obliczona",
        "obliczony", "proponowana", "proponowany", "proposed", "proposé", "proposée", "proposta", "proposto",
        "propuesta", "propuesto", "raccomandata", "raccomandato", "recomendada", "recomendado",
        "recommandé", "recommandée", "recommended", "rekommenderad", "rekommenderat", "sugerida", "sugerido",
        "sugerowana", "sugerowany", "suggerita", "suggerito", "suggested", "suggéré", "suggérée",
        "suositeltu", "voorgesteld", "voorgestelde", "vorgeschlagen", "vorgeschlagene", "vorgeschlagener",
        "vorgeschlagenes", "vorschlag", "vypočítaný", "zalecana", "zalecane", "zalecany",
      ]),
    ColumnMeaning(
      text: "holds what was planned",
      words: [
        "desired", "geplant", "geplante", "geplanter", "geplantes", "gepland", "geplande", "gewenst",
        "gewenste", "gewünscht", "gewünschte", "gewünschter", "intended", "pianificata", "pianificato",
        "planerad", "planerat", "planificada", "planificado", "planifié", "planifiée", "planlagt", "planned",
        "planowana", "planowany", "plánovaný", "prevista", "previsto", "programada", "programado",
        "programmata", "programmato", "prévu", "prévue", "scheduled", "suunniteltu", "wanted",
      ]),
    ColumnMeaning(
      text: "holds a stock or its price",
      words: [
        "cost", "gjenværende", "inventory", "jäljellä", "kosten", "left", "pozostała", "pozostało", "preis",
        "price", "remaining", "reservoir", "residua", "residuo", "restant", "restante", "resterende",
        "rimanente", "stock", "tilbageværende", "verbleibend", "verbleibende", "verbleibendes", "zbývající",
        "återstående", "übrig",
      ]),
  ]

  private static let insulin =
    [
      ColumnMeaning(
        text: "holds a rate",
        words: [
          "basalhastighed", "basalrate", "débit", "debiet", "h", "heure", "hora", "hour", "hr", "ora", "rate",
          "rates", "snelheid", "std", "stunde", "tasa", "timme", "tasso", "uur", "velocidad",
        ])
    ] + ofBoth + [
      ColumnMeaning(
        text: "is in another unit than U",
        words: [
          "clicks", "drops", "gocce", "gotas", "gouttes", "kg", "klicks", "mg", "ml", "mu", "ng", "nmol",
          "pmol", "tropfen", "x10", "µg", "µl", "µu", "μu",
        ])
    ]

  private static let carbohydrates =
    ofBoth + [
      ColumnMeaning(
        text: "is in another unit than g",
        words: [
          "%", "cup", "cups", "eenheden", "einheiten", "enheder", "enheter", "jednostki", "kg", "lb", "lbs",
          "mg", "mmol", "ounce", "ounces", "oz", "part", "parts", "percent", "points", "punkte", "puntos",
          "unidades", "unit", "units", "unità", "unités",
        ])
    ]

  /// What a column chosen for doses holds according to its name; nil if the name does not exclude doses.
  static func reasonAgainstDoses(_ name: String) -> String? { reason(name, insulin) }

  /// What a column chosen for carbohydrates holds according to its name; nil if the name does not exclude
  /// grams.
  static func reasonAgainstGrams(_ name: String) -> String? { reason(name, carbohydrates) }

  private static func reason(_ name: String, _ meanings: [ColumnMeaning]) -> String? {
    var words = HeaderWords(name).words.union(name.contains("%") ? ["%"] : [])
    if foldedHeader(name).hasSuffix("/10") { words.insert("x10") }
    // mySugr has the column `Meal Carbohydrates (Grams, Factor 1)`, which holds grams and not a factor.
    if !words.isDisjoint(with: ["gram", "gramm", "grammes", "grams"]) {
      words.subtract(["factor", "faktor"])
    }
    // An injection in the left arm is not what is left.
    if !words.isDisjoint(with: places) { words.remove("left") }
    if isRatio(name, words) { return ofBoth.first?.text }
    // `Rest-Insulin` is still active, and a column named `Rest` can be a stock.
    if words == ["rest", "insulin"] { words = ["restinsulin"] }
    return meanings.first { !$0.words.isDisjoint(with: words) }?.text
  }

  /// Whether a name states a ratio of insulin and food: `IE pro BE`, `U/CP`, `I:C`.
  private static func isRatio(_ name: String, _ words: Set<String>) -> Bool {
    if words == ["i", "c"] { return true }
    let isPerUnit = name.contains("/") || !words.isDisjoint(with: ["je", "na", "par", "per", "por", "pro"])
    return isPerUnit && !words.isDisjoint(with: exchanges)
      && words.contains { insulinUnits.contains($0) || HeaderWords($0).namesDose }
  }

  private static let exchanges: Set<String> = [
    "be", "bu", "cp", "cps", "exchange", "ke", "khe", "rac", "ración", "sj", "vj", "ww", "xe", "хе",
  ]
  private static let insulinUnits: Set<String> = [
    "e", "ie", "iu", "j", "u", "ui", "unit", "units", "einheiten", "unités", "unidades", "unità", "ед",
  ]
  private static let places: Set<String> = [
    "abdomen", "arm", "belly", "buttock", "deltoid", "flank", "foot", "hand", "hip", "leg", "side", "stomach",
    "thigh",
  ]
}

extension GenericFinding {
  /// - Throws: `Failure` of category `badInput` if a person chose a column for doses or carbohydrates, but
  ///   its name states something else.
  func requireAmounts() throws {
    for role in GenericRole.foods + GenericRole.doses {
      let isFood = GenericRole.foods.contains(role)
      guard let name = name(of: role),
        let reason = isFood ? AmountName.reasonAgainstGrams(name) : AmountName.reasonAgainstDoses(name)
      else { continue }
      throw Failure(
        .badInput,
        "the column \(quoted([columns[role]])) \(reason), and \(role.name)= is for \(isFood ? "grams" : "doses in U"); "
          + "leave it out of --map, or add --force if its name is wrong")
    }
  }
}
