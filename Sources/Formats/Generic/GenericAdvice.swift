// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The commands that would import an input whose columns cannot be determined, each checked on the input's head.
struct GenericAdvice {
  private static let maxCommands = 4

  let head: InputHead
  let options: ExportOptions
  let finding: GenericFinding

  /// What to do about a problem, to follow its sentence; empty when only a person can know.
  func text(for problem: GenericProblem) -> String {
    let commands = Array(commands(for: problem).prefix(Self.maxCommands))
    if commands.isEmpty { return "" }
    let lead =
      problem.isDoubtful ? "If its values are glucose, import them with:" : "Import what you need with:"
    return ". " + lead + commands.map { "\n  " + $0 }.joined()
  }

  private func commands(for problem: GenericProblem) -> [String] {
    if problem.rows.isEmpty { return problem.choices.flatMap { commands(naming: $0, rows: []) } }
    return problem.rows.flatMap { row in
      guard isPlain(row.value) else { return [String]() }
      if problem.isDoubtful { return problem.choices.flatMap { commands(naming: $0, rows: [row]) } }
      var options = options
      options.rows.append(row)
      return [ImportHint(options: options).command]
    }
  }

  /// The commands that name these columns, with the unit and the order of dates where the head leaves them open.
  private func commands(naming columns: GenericColumns, rows: [RowFilter]) -> [String] {
    var options = options
    options.format = nil
    options.rows += rows
    for role in [GenericRole.time, .date, .clock, .value, .ketone] where columns[role] >= 0 {
      guard let name = nameInCommands(columns[role]) else { return [] }
      options.columns[role.name] = name
    }
    let wish = GenericFinding.Wish(map: options.columns, rows: options.rows)
    guard options.columns["value"] != nil || options.columns["ketone"] != nil,
      let mapped = GenericFinding.find(head, wish), mapped.hasTimes || mapped.header.rows.isEmpty
    else { return [] }
    let units: [GlucoseUnit?] = unitIsOpen(mapped) ? GlucoseUnit.allCases : [options.unit]
    let orders: [String?] =
      orderIsOpen(mapped, options) ? DateOrder.allCases.map(\.rawValue) : [options.dateOrder]
    return units.flatMap { unit in
      orders.map { order in
        options.unit = unit
        options.dateOrder = order
        return ImportHint(options: options).command
      }
    }
  }

  /// A column's name as `--map` takes it; nil where it has none.
  private func nameInCommands(_ place: Int) -> String? {
    let name = finding.header.names[place].split(whereSeparator: \.isWhitespace).joined(separator: " ")
    let folded = foldedHeader(name)
    let twins = finding.header.names.count { foldedHeader($0) == folded }
    return folded.isEmpty || twins != 1 || !isPlain(name) ? nil : name
  }

  /// Whether a text can be in a command on a terminal.
  private func isPlain(_ text: String) -> Bool {
    !text.isEmpty && text.count <= 120
      && !text.unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
  }

  private func unitIsOpen(_ mapped: GenericFinding) -> Bool {
    var units = GenericUnits(mapped, given: options.unit)
    guard units.isOpen else { return false }
    for cell in mapped.header.cells(mapped.columns[.value]) { cell.withField { units.note($0, in: .absent) } }
    do {
      try units.settle()
      return false
    } catch {
      return true
    }
  }

  /// Whether nothing in an input that is seen whole says which number of a date is the day.
  private func orderIsOpen(_ mapped: GenericFinding, _ options: ExportOptions) -> Bool {
    let column = mapped.columns[.time] >= 0 ? mapped.columns[.time] : mapped.columns[.date]
    do {
      var format = try GenericFormat(GenericFormat.recognition(mapped), head: head, options: options)
      guard head.isWhole, format.orderIsOpen else { return false }
      for cell in mapped.header.cells(column) {
        cell.withField { field in
          guard let date = field.trimmed.openDate else { return }
          let time = OpenTime(
            first: date.first, second: date.second, year: date.year, hour: 0, minute: 0, seconds: 0,
            hasHalfDay: false, separator: date.separator)
          format.dates.note(field.trimmed.openTime ?? time, isHistory: format.kind.isHistory, line: 0)
        }
      }
      _ = try format.dates.settle(halfDayMeansMonthFirst: false, languagePutsDayFirst: false)
      return false
    } catch {
      return true
    }
  }
}
