// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Suggests commands that would import an input whose columns cannot be determined. Each command is tried on
/// the input's first rows before it is suggested.
struct GenericAdvice {
  private static let maxCommands = 4

  let head: InputHead
  let options: ExportOptions
  let finding: GenericFinding

  /// The advice to append to the text of a problem; empty if no command can be suggested.
  func text(for problem: GenericProblem) -> String {
    let commands = Array(commands(for: problem).prefix(Self.maxCommands))
    if commands.isEmpty {
      return problem.choices.lazy.compactMap { finding.reasonAgainstHint(forValuesIn: $0[.value]) }.first
        ?? ""
    }
    if problem.areSeries, !problem.isDoubtful {
      return ". Import each column of your own sensors or meters as a separate device:"
        + commands.map { "\n  " + $0 }.joined()
    }
    let lead =
      if problem.haveSeveralTimes {
        "Import it with one of these, not with several: each reads the same values at other times:"
      } else if problem.isOfStamps {
        "If the values were measured then, import them with:"
      } else if problem.isDoubtful {
        "If its values are glucose, import them with:"
      } else {
        "Import what you need with:"
      }
    return ". " + lead + commands.map { "\n  " + $0 }.joined()
  }

  private func commands(for problem: GenericProblem) -> [String] {
    if problem.rows.isEmpty {
      return problem.choices.enumerated().flatMap { index, choice in
        // If there are several series, each command imports one of them as a separate device. Columns that
        // all series share are read only by the first command.
        let isFurther = problem.areSeries && index > 0
        return commands(
          naming: isFurther ? choice.without(.ketone).without(.smbg) : choice, rows: [], of: problem)
      }
    }
    return problem.rows.flatMap { row in
      guard row.value.isPlainInCommands, !options.rows.contains(row) else { return [String]() }
      if problem.isDoubtful {
        return problem.choices.flatMap { commands(naming: $0, rows: [row], of: problem) }
      }
      var options = options
      options.rows.append(row)
      // If a command would only lead to another problem, the choices of that problem are added to it.
      let request = GenericFinding.ColumnRequest(options)
      let finding = GenericFinding.find(head, request) ?? GenericFinding.findByCells(head, request)
      if let next = finding?.problem {
        return next.choices.flatMap { commands(naming: $0, rows: [row], of: next) }
      }
      return [ImportHint(options: options).command]
    }
  }

  /// The import commands that choose these columns. There is one for each unit, order of dates and kind of
  /// reading that the first rows do not determine.
  private func commands(
    naming columns: GenericColumns, rows: [RowFilter], of problem: GenericProblem
  ) -> [String] {
    var options = options
    options.format = nil
    options.rows += rows
    for role in [GenericRole.time, .date, .clock, .utc, .offset, .value, .smbg, .ketone]
    where columns[role] >= 0 {
      guard let name = finding.nameInCommands(columns[role]) else { return [] }
      options.columns[role.name] = name
    }
    // Each series becomes a separate device. If two series had one device, the second value of a time would
    // count as a changed value of the first.
    if problem.areSeries, problem.choices.count > 1, options.device == nil {
      options.device = options.columns["value"]
    }
    guard options.columns["value"] != nil || options.columns["ketone"] != nil,
      let mapped = GenericFinding.find(head, GenericFinding.ColumnRequest(options)),
      mapped.hasTimes || mapped.header.rows.isEmpty,
      mapped.reasonAgainstHint(forValuesIn: mapped.columns[.value]) == nil
    else { return [] }
    let kinds: [ReadingKind?] = problem.kinds.isEmpty ? [options.kind] : problem.kinds
    let units: [GlucoseUnit?] = possibleUnits(mapped) ?? [options.unit]
    let orders: [String?] =
      orderIsUndecided(mapped, options) ? DateOrder.allCases.map(\.rawValue) : [options.dateOrder]
    return units.flatMap { unit in
      orders.flatMap { order in
        kinds.map { kind in
          options.unit = unit
          options.dateOrder = order
          options.kind = kind
          return ImportHint(options: options).command
        }
      }
    }
  }

  /// The possible units of the values; nil if the head determines the unit.
  private func possibleUnits(_ mapped: GenericFinding) -> [GlucoseUnit]? {
    var units = GenericUnits(mapped, given: options.unit, isForced: true)
    guard units.isUndecided else { return nil }
    for cell in mapped.header.cells(mapped.columns[.value]) {
      cell.withField { units.observe($0, in: .absent) }
    }
    do {
      try units.decide()
      return nil
    } catch {
      return units.choices
    }
  }

  /// Whether the head is the whole input, and still does not show which number of a date is the day.
  private func orderIsUndecided(_ mapped: GenericFinding, _ options: ExportOptions) -> Bool {
    let column = mapped.columns[.time] >= 0 ? mapped.columns[.time] : mapped.columns[.date]
    do {
      var format = try GenericFormat(GenericFormat.recognition(mapped), head: head, options: options)
      guard head.isWhole, format.orderIsUndecided else { return false }
      for cell in mapped.header.cells(column) {
        cell.withField { field in
          guard let date = field.trimmed.ambiguousDate else { return }
          let time = AmbiguousTime(
            first: date.first, second: date.second, year: date.year, hour: 0, minute: 0, seconds: 0,
            hasHalfDay: false, separator: date.separator)
          format.dates.observe(field.trimmed.ambiguousTime ?? time, isHistory: format.kind.isHistory, line: 0)
        }
      }
      _ = try format.dates.decide(halfDayMeansMonthFirst: false, languagePutsDayFirst: false)
      return false
    } catch {
      return true
    }
  }
}
