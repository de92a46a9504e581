// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Finds the columns that a person named, and those that decide which rows are read.
extension GenericFinding {
  /// The finding for a header with the columns in `--map`; nil if it lacks one of them.
  static func mapped(_ header: GenericHeader, _ request: ColumnRequest) -> GenericFinding? {
    var finding = GenericFinding(header: header)
    for (roleName, column) in request.map.sorted(by: { $0.key < $1.key }) {
      guard let role = GenericRole(name: roleName), let place = header.index(of: column) else { return nil }
      finding.columns[role == .utc ? .time : role] = place
    }
    finding.timesAreMappedAsUTC = request.map[GenericRole.utc.name] != nil
    finding.valueIsMapped = request.map[GenericRole.value.name] != nil
    if header.isOneShort, !finding.hasTimes {
      finding.columns = finding.columns.moved { $0 + 1 }
      finding.header = header.shifted
    }
    finding.addOptionalColumns(besides: Set(request.map.keys))
    if request.map[GenericRole.kind.name] == nil { finding.dropEventsNextToSensor() }
    if finding.columns[.unit] < 0, let place = finding.indexOfNestedUnit(of: finding.columns[.value]) {
      finding.columns[.unit] = place
    }
    if request.map[GenericRole.unit.name] == nil, !request.isForced { finding.useOtherUnits() }
    if finding.columns[.use] < 0, let place = finding.indexOfInsulinNames { finding.columns[.use] = place }
    guard finding.watchRows(request) else { return nil }
    finding.columns.origins = finding.indexesOfOrigins
    finding.columns.kindSigns = finding.kindSigns.map(\.place)
    finding.columns.amountSigns = GenericAmountRows.signColumns(in: finding)
    // Without a role for offsets in the map, a column of unclear offsets is ignored: a person who names
    // columns would have named it.
    if request.map[GenericRole.offset.name] == nil, finding.decideOffsets() != nil {
      finding.columns[.offset] = -1
    }
    finding.columns.zoneSigns = finding.zoneSigns.map(\.place)
    return finding
  }

  /// Watches the columns that identify the person of a row, and those with which a person selects rows.
  ///
  /// - Returns: whether all columns that a person named exist.
  mutating func watchRows(_ request: ColumnRequest) -> Bool {
    let rows = request.rows
    let places = rows.compactMap { header.index(of: $0.column) }
    guard places.count == rows.count else { return false }
    watches = zip(places, rows).map { WatchedColumn(place: $0, name: header.names[$0], use: .pick($1.value)) }
    let isNamed = columns[.value] >= 0 && header.words[columns[.value]].isGlucose
    for place in header.names.indices where !places.contains(place) {
      // A column of sources whose words also state the kind may have a word such as `forecast`, too.
      guard !columns.hasRole(place) || kindMayBeSource && place == columns[.kind] else { continue }
      let words = header.words[place]
      // A nested object is read through its members, so the whole object is not watched.
      if header.names.contains(where: { $0.hasPrefix(header.names[place] + ".") }) { continue }
      if words.isPerson {
        watches.append(WatchedColumn(place: place, name: header.names[place], use: .person))
      } else if words.isBareID {
        watches.append(WatchedColumn(place: place, name: header.names[place], use: .possiblePerson))
      } else if words.isName, isNamed {
        watches.append(WatchedColumn(place: place, name: header.names[place], use: .possibleName))
      } else if words.isOfPerson {
        watches.append(WatchedColumn(place: place, name: header.names[place], use: .attribute))
      } else if mayNameThings(place) {
        watches.append(WatchedColumn(place: place, name: header.names[place], use: .flag))
      } else if words.isFlag || (words.consistsOfRowMarks && holdsOnlyMarks(place))
        || (words.isPossibleControl && holdsOnlyMarks(place) && !header.cells(place).isEmpty)
        || (words.isPossibleFlag && header.cells(place).allSatisfy(GenericDeviceWords.isMarkOfProgram))
      {
        watches.append(WatchedColumn(place: place, name: header.names[place], use: .flag))
      } else if words.mark != nil, holdsOnlyMarks(place) {
        watches.append(WatchedColumn(place: place, name: header.names[place], use: .deviceMark))
      } else if mayMarkRows(place) {
        watches.append(WatchedColumn(place: place, name: header.names[place], use: .words))
      }
    }
    columns.watched = watches.map(\.place)
    columns.marks = watches.filter(\.isOfMarks).map(\.place)
    columns.series = header.names.indices.filter { mayNameSeries($0) || mayNumberSeries($0) }
    return true
  }

  /// Whether a column may name what each row measures. It matters only if a person chose the column of
  /// values, and the name of that column does not mention glucose.
  private func mayNameThings(_ place: Int) -> Bool {
    let words = header.words[place]
    guard valueIsMapped, columns[.value] >= 0, !header.words[columns[.value]].mentionsGlucose,
      words.isRowType || words.isPossibleName
    else { return false }
    let cells = header.cells(place)
    return cells.allSatisfy { CellContent($0) == .text } && !cells.allSatisfy(MealMark.isMark)
  }

  /// Whether a column may have names of persons, whatever it is called: words that each occur in many rows.
  private func mayNameSeries(_ place: Int) -> Bool {
    let words = header.words[place]
    guard !columns.isUsed(place), !words.name.isEmpty, !words.isTime, !words.isRowType, !words.isOfSensor,
      words.role == nil
    else { return false }
    let cells = header.cells(place)
    return !cells.isEmpty && cells.count == header.rows.count && Set(cells).count * 2 <= cells.count + 1
      && cells.allSatisfy { CellContent($0) == .text }
  }

  /// Whether a column may have words for rows that are not readings, such as `forecast`. Often only the last
  /// rows have such a word. A remark does not count: `average day` states nothing about its reading.
  private func mayMarkRows(_ place: Int) -> Bool {
    let words = header.words[place]
    return !words.name.isEmpty && !words.isTime && !words.isRemark && !describesNeighbour(place)
      && header.cells(place).allSatisfy { CellContent($0) == .text }
  }

  /// Whether a column may have numbers of persons: its cells are whole numbers that each occur in many rows.
  private func mayNumberSeries(_ place: Int) -> Bool {
    let words = header.words[place]
    guard !columns.isUsed(place), !words.name.isEmpty, !words.isTime, words.role == nil else { return false }
    let cells = header.cells(place)
    return !cells.isEmpty && cells.count == header.rows.count && Set(cells).count * 5 <= cells.count
      && cells.allSatisfy { $0.withField { $0.trimmed.integer } != nil }
  }

  /// Whether the mapped column of times has any times.
  var hasTimes: Bool {
    let column = columns[.time] >= 0 ? columns[.time] : columns[.date]
    return [.time, .epoch, .date, .serial].contains(header.content(column))
  }
}
