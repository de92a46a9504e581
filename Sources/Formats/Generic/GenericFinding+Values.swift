// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds the columns of values.
extension GenericFinding {
  /// Finds the column of values. Returns a problem if it cannot determine the column.
  mutating func findValue(given kind: ReadingKind?) -> GenericProblem? {
    let free = header.names.indices.filter { !columns.isUsed($0) && holdsValues($0) }
    if let ketone = free.first(where: { header.words[$0].isKetone }) { columns[.ketone] = ketone }
    let named = free.filter { header.words[$0].isGlucose }
    if let pair = sensorAndSticks(named), kind != .smbg {
      columns[.value] = pair.sensor
      columns[.smbg] = pair.sticks
      return nil
    }
    let single = withoutTwins(named)
    if single.count == 1 { return use(single[0], given: kind) }
    if single.count > 1 { return severalProblem(single) }
    if let problem = unreadableProblem { return problem }
    let possible = free.filter { header.words[$0].isPossibleGlucose && header.content($0) != .empty }
    if let first = possible.first { return possibleGlucoseProblem(first, possible) }
    let nameless = free.filter { header.words[$0].isValue }
    if nameless.count > 1 { return severalProblem(nameless) }
    if nameless.count == 1 { return useNameless(nameless[0]) }
    if columns[.ketone] >= 0 { return nil }
    if header.words.filter(\.isMeal).count > 1 { return mealProblem }
    let others = free.filter { header.content($0) == .number && mayBeGlucose($0) }
    // A column with a unit of glucose in its name, or in a separate column, is a better choice than those
    // without one.
    let withUnit = others.filter { header.words[$0].unit != nil || hasColumnOfUnits($0) }
    let isOfOthers = header.words.contains(where: \.namesOther)
    let choices = withUnit.isEmpty && !isOfOthers ? others : withUnit
    return GenericProblem(
      "no column is named for glucose", choices: choices.map { GenericColumns(value: $0) }, isDoubtful: true)
  }

  /// A column of a sensor's values and one of finger sticks, if there are exactly these two; nil otherwise.
  private func sensorAndSticks(_ named: [Int]) -> (sensor: Int, sticks: Int)? {
    guard named.count == 2, let sticks = named.first(where: { kindOfColumn($0) == .smbg }),
      let sensor = named.first(where: { $0 != sticks }), !header.words[sensor].glucose.isCBG,
      kindOfColumn(sensor) == .cbg || (header.words[sticks].glucose.isCBG && kindOfColumn(sensor) != .smbg)
    else { return nil }
    return (sensor, sticks)
  }

  /// The member that states the unit of the member with the values, as `glucose.unit` does for
  /// `glucose.value`. Nil if there is no such member.
  func indexOfNestedUnit(of value: Int) -> Int? {
    guard value >= 0, let dot = header.names[value].lastIndex(of: ".") else { return nil }
    let parent = header.names[value][...dot]
    return header.names.indices.first { place in
      let name = header.names[place]
      guard name.hasPrefix(parent), !columns.isUsed(place) else { return false }
      let member = name.dropFirst(parent.count)
      return !member.contains(".") && HeaderWords(String(member)).role == .unit
        && !header.cells(place).isEmpty
    }
  }

  /// The problem of a column that is named for glucose, but whose cells are not numbers, or are in another
  /// unit.
  private var unreadableProblem: GenericProblem? {
    let all = header.names.indices.filter { !columns.isUsed($0) }
    if let place = all.first(where: { header.words[$0].isInGramsPerLitre }) {
      return gramsProblem(of: place)
    }
    guard
      let place = all.first(where: { header.words[$0].isGlucose && header.content($0) == .text }),
      let cell = header.cells(place).first
    else { return nil }
    return GenericProblem(
      "the cells of \(quoted([place])) are not plain numbers: \(shownName(cell)); write a number alone, such as 118, and the unit "
        + "in the name of the column, or in a separate column")
  }

  private func gramsProblem(of place: Int) -> GenericProblem {
    GenericProblem(
      "the column \(quoted([place])) is in g/L, which glucoport does not read; multiply its values by 100, and name it in mg/dL"
    )
  }

  /// The problem of a column whose name means glucose, if a column of units next to it has no unit of
  /// glucose.
  var unknownUnitProblem: GenericProblem? {
    let value = columns[.value]
    guard value >= 0, columns[.unit] < 0, header.words[value].isGlucose else { return nil }
    let nested = indexOfNestedUnit(of: value)
    for place in header.names.indices
    where (header.words[place].role == .unit || place == nested) && !columns.isUsed(place) {
      let cells = header.cells(place)
      guard let cell = cells.first, cells.allSatisfy({ CellContent($0) == .text }) else { continue }
      if cells.contains(where: { HeaderWords($0).statesGramsPerLitre }) { return gramsProblem(of: value) }
      // If the unit is in the name of the values, a column of units describes other columns.
      if header.words[value].unit != nil { continue }
      return GenericProblem(
        "the column \(quoted([place])) has the unit \(shownName(cell)), which is neither mg/dL nor mmol/L",
        choices: [columns], isDoubtful: true)
    }
    return nil
  }

  /// Uses the only column that is named for glucose. Returns a problem instead if the name has two meanings.
  private mutating func use(_ place: Int, given kind: ReadingKind?) -> GenericProblem? {
    if isOfKetoneSensor(place) {
      let values = header.cells(place).compactMap { $0.withField { $0.number(.point) ?? $0.number(.comma) } }
      guard values.count >= GenericPlausibility.minCount else { return ketoneProblem(place) }
      guard values.sorted()[values.count / 2] < GenericPlausibility.minMedian else {
        return ketoneProblem(place)
      }
      columns[.ketone] = place
      return nil
    }
    columns[.value] = place
    useNestedUnit(of: place)
    columns.twin = twin(of: place) ?? -1
    return otherSubjectProblem(given: kind) ?? cbgProblem(given: kind) ?? secondProblem(besides: place)
  }

  private mutating func useNestedUnit(of value: Int) {
    guard columns[.unit] < 0, let place = indexOfNestedUnit(of: value),
      header.cells(place).contains(where: GenericUnits.isOfGlucose)
    else { return }
    columns[.unit] = place
  }

  /// The problem of a table whose other columns show that its glucose is not a person's reading. Such columns
  /// are about a cell culture, blood gases, predictions, pictures or the weather.
  private func otherSubjectProblem(given kind: ReadingKind?) -> GenericProblem? {
    // An algorithm for insulin (a loop) writes a copy of the sensor's value, next to predictions and the
    // reason for its decision.
    let areDecisions =
      header.words.contains { $0.name == "reason" }
      && header.words.contains { $0.glucose.unknown.contains("eventual") }
    let other = header.words.firstIndex {
      $0.isOfOtherSubject || (areDecisions && $0.glucose.unknown.contains("eventual"))
    }
    guard kind == nil, let other else { return nil }
    return GenericProblem(
      "the column \(quoted([other])) is of a cell culture, a laboratory, a prediction, a picture or the weather",
      choices: [columns], isDoubtful: true, kinds: [.smbg, .cbg])
  }

  /// Whether the name of a column is like those of a ketone sensor (Sibio). The app of the glucose sensor
  /// from the same maker has nearly the same name for glucose.
  private func isOfKetoneSensor(_ place: Int) -> Bool {
    header.names.first == "No." && header.names[place].hasPrefix("Sensor reading")
      && header.words[place].unit == .millimolesPerLitre
  }

  private func ketoneProblem(_ place: Int) -> GenericProblem {
    GenericProblem(
      "the column \(quoted([place])) may hold glucose or the values of a ketone sensor",
      choices: [GenericColumns(ketone: place), GenericColumns(value: place)])
  }

  /// The problem that only a person knows whether CBG means capillary or continuous glucose: hospitals and
  /// programs use it differently.
  func cbgProblem(given kind: ReadingKind?) -> GenericProblem? {
    let place = columns[.value]
    guard kind == nil, place >= 0, header.words[place].glucose.isCBG, columns[.kind] < 0,
      kindOfColumn(place) == nil
    else { return nil }
    return GenericProblem(
      "the column \(quoted([place])) may hold capillary values, which are finger sticks, or continuous ones of a sensor",
      choices: [GenericColumns(value: place)], kinds: [.smbg, .cbg])
  }

  /// The kind of reading that a column's name states. If another column is one of a sensor, a column named
  /// CBG is capillary.
  func kindOfColumn(_ place: Int) -> ReadingKind? {
    let words = header.words[place]
    guard words.glucose.isCBG else { return words.kind ?? words.glucose.kindOfSensor }
    let hasSensor = header.words.contains { !$0.glucose.isCBG && $0.isGlucose && $0.kind == .cbg }
    return hasSensor ? .smbg : nil
  }

  private func possibleGlucoseProblem(_ first: Int, _ all: [Int]) -> GenericProblem {
    let words = header.words[first].glucose.unknown.prefix(3).map { shownName($0) }
    let detail =
      words.isEmpty ? "says more than that" : "has more words beside it: \(words.joined(separator: ", "))"
    return GenericProblem(
      "the name of the column \(quoted([first])) mentions glucose and \(detail)",
      choices: all.map { GenericColumns(value: $0) }, isDoubtful: true)
  }

  func severalProblem(_ places: [Int]) -> GenericProblem {
    GenericProblem(
      "several columns may hold glucose: \(quoted(places))",
      choices: places.map { GenericColumns(value: $0) },
      isDoubtful: !header.words[places[0]].isGlucose, areSeries: true)
  }

  /// Whether a column may hold glucose, so that a message can offer it for a person to confirm.
  private func mayBeGlucose(_ place: Int) -> Bool {
    let words = header.words[place]
    return !words.name.isEmpty && !words.isTime && !words.namesOther && !words.namesNoValue && !words.isPerson
      && !words.isCounter
      && !words.isBareID && !words.mentionsGlucose && !["index", "#"].contains(words.name)
  }

  /// Whether another column has the name of this one and a word for a unit, such as `quantityUnit` for
  /// `quantity`. All its cells must be units of glucose.
  private func hasColumnOfUnits(_ place: Int) -> Bool {
    header.names.indices.contains { other in
      let (name, cells) = (header.names[other], header.cells(other))
      return other != place && !header.names[place].isEmpty && name.hasPrefix(header.names[place])
        && HeaderWords(String(name.dropFirst(header.names[place].count))).role == .unit
        && !cells.isEmpty && cells.allSatisfy(GenericUnits.isOfGlucose)
    }
  }

  /// Uses a column whose name does not state what its values measure, if something else shows that it is
  /// glucose. Otherwise, returns a problem.
  private mutating func useNameless(_ place: Int) -> GenericProblem? {
    let choices = [GenericColumns(value: place)]
    let others = header.names.indices.filter { $0 != place && header.words[$0].namesOther }
    if header.words[place].isSugar, others.contains(where: { header.words[$0].namesFood }) {
      return GenericProblem("no column is named for glucose, and \(quoted([place])) is for food")
    }
    if let other = others.first {
      return GenericProblem(
        "the column \(quoted([place])) does not say that it holds glucose, and \(quoted([other])) is of "
          + "something else", choices: choices, isDoubtful: true)
    }
    if columns[.unit] >= 0, !header.cells(columns[.unit]).contains(where: GenericUnits.isOfGlucose) {
      columns[.unit] = -1
    }
    let kinds = columns[.kind] >= 0 ? header.cells(columns[.kind]) : []
    if kinds.contains(where: { KindWord($0) != nil && HeaderWords($0).mentionsGlucose }) {
      needsKindWord = true
    } else if let names = indexOfOtherNames {
      // A unit of glucose does not prove that the values are glucose: laboratories use the same units for
      // many other measurements.
      let named = Set(header.cells(names).filter { HeaderWords($0).mentionsGlucose })
      return GenericProblem(
        "the column \(quoted([names])) names things other than glucose",
        choices: named.isEmpty ? [] : choices,
        rows: named.sorted().map { RowFilter(column: header.names[names], value: $0) })
    } else if columns[.unit] >= 0 {
      needsUnitWord = !header.titleNamesGlucose
    } else if !header.titleNamesGlucose {
      return GenericProblem(
        "the column \(quoted([place])) does not say that it holds glucose", choices: choices, isDoubtful: true
      )
    }
    columns[.value] = place
    return nil
  }
}

extension GenericFinding {
  /// Whether a column `Quality` describes what the column on its left names, such as a diet, and not the
  /// readings.
  func describesNeighbour(_ place: Int) -> Bool {
    guard header.words[place].name == "quality", place > 0 else { return false }
    let left = header.words[place - 1]
    return left.isOfDailyLife && !left.mentionsGlucose
  }
}
