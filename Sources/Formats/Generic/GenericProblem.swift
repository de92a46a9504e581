// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The reason why the columns of a generic input cannot be determined, and the options that would solve this.
struct GenericProblem {
  private static let maxChoices = 4

  /// The problem as the start of a message, to which advice is appended.
  let text: String
  /// The columns that a person may choose, the likely ones first.
  var choices: [GenericColumns]
  /// Whether the values of the choices may be something else than glucose.
  var isDoubtful: Bool
  /// Rows that a person may select.
  var rows: [RowFilter]
  /// Kinds of readings that a person may give.
  var kinds: [ReadingKind]
  /// Whether the choices are series that may all be imported, with one command each.
  var areSeries: Bool
  /// Whether the times of the choices may state when rows were stored, not when readings were taken.
  var isOfStamps: Bool

  init(
    _ text: String, choices: [GenericColumns] = [], isDoubtful: Bool = false, rows: [RowFilter] = [],
    kinds: [ReadingKind] = [], areSeries: Bool = false, isOfStamps: Bool = false
  ) {
    self.text = text
    self.choices = Array(choices.prefix(Self.maxChoices))
    self.isDoubtful = isDoubtful
    self.rows = Array(rows.prefix(Self.maxChoices))
    self.kinds = kinds
    self.areSeries = areSeries
    self.isOfStamps = isOfStamps
  }

  /// Whether the choices read the same values with different columns of times, so that only one of them is
  /// right.
  var haveSeveralTimes: Bool {
    Set(choices.map { columns in [GenericRole.time, .date, .clock, .utc].map { columns[$0] } }).count > 1
      && Set(choices.map { $0[.value] }).count == 1
  }

  /// This problem of the times, with columns of values added to its choices. They are the choices of the
  /// other problem, or, without another problem, the columns that were found.
  func with(values found: GenericColumns, or other: GenericProblem?) -> GenericProblem {
    var problem = self
    let values = other?.choices ?? [found]
    let joined = choices.flatMap { time in values.map { time.joined(with: $0) } }
    problem.choices = Array(
      joined.filter { $0[.clock] < 0 || $0[.clock] != $0[.value] }.prefix(Self.maxChoices))
    problem.isDoubtful = other?.isDoubtful == true
    problem.kinds = other?.kinds ?? []
    problem.rows = other?.rows ?? []
    problem.areSeries = other?.areSeries == true
    return problem
  }

  /// This problem with a column of offsets added to its choices, once for each of its two meanings.
  func with(offsets place: Int) -> GenericProblem {
    var problem = self
    problem.choices = Array(choices.flatMap { $0.meanings(ofOffsets: place) }.prefix(Self.maxChoices))
    return problem
  }

  /// This problem of the values, with these columns of times added to its choices.
  func with(times: GenericColumns) -> GenericProblem {
    var problem = self
    problem.choices = choices.map { times.joined(with: $0) }
    return problem
  }
}

extension GenericColumns {
  init(time: Int) { self[.time] = time }

  init(date: Int, clock: Int) {
    self[.date] = date
    self[.clock] = clock
  }

  init(value: Int) { self[.value] = value }

  init(ketone: Int) { self[.ketone] = ketone }

  /// These columns without the column of a role.
  func without(_ role: GenericRole) -> GenericColumns {
    var others = self
    others[role] = -1
    return others
  }

  /// These columns, with the columns of times and values of `other` where it has any.
  func joined(with other: GenericColumns) -> GenericColumns {
    var joined = self
    for role in [GenericRole.time, .date, .clock, .value, .smbg, .ketone] where other[role] >= 0 {
      joined[role] = other[role]
    }
    return joined
  }
}
