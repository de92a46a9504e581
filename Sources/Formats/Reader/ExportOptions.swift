// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// The options of a person about an input. An option that is nil is read from the input, inferred, or
/// requested in an error message.
public struct ExportOptions: Sendable {
  /// The id of the format. If it is set, the format is not detected.
  public var format: String?
  /// The unit of values without a unit.
  public var unit: GlucoseUnit?
  /// The order of day and month, `dmy` or `mdy`, for dates that can be read both ways.
  public var dateOrder: String?
  /// The device's model, for inputs without one.
  public var device: String?
  /// The kind of glucose readings, for generic inputs without a kind in their rows.
  public var kind: ReadingKind?
  /// For the generic format, the name of the column for each role, as in `--map time=ts,value=mgdl`.
  public var columns: [String: String] = [:]
  /// Whether to read values that are unlikely to be readings, or that contradict an option.
  public var force = false
  /// When the export was made, in UTC seconds, as a person states it.
  public var exportedAt: Int64?
  /// The values that rows must have in these columns to be read. Other rows are counted and left out.
  public var rows: [RowFilter] = []
  /// Whether the last line is complete although it has no line end.
  public var lastLineIsComplete = false
  /// The command up to the options about the input, for hints.
  public var commandStart = "glucoport import"
  /// The input's name as the command line has it, for hints.
  var inputName = "-"
  /// The name of the sheet that is read; nil for an input that is not a sheet of a workbook.
  var sheet: String?
  /// The zone for wall-clock times without an offset.
  public var zone: LogbookZone
  /// Whether the zone was given for this import.
  public var zoneIsGiven = false
  /// The host's clock in UTC seconds, by which doubtful times are found; nil when the host's clock is
  /// doubtful.
  public var now: Int64?
  /// The id of the person whose items are read, if the input has items of several persons, or names no
  /// person.
  package var patient: String?
  /// Whether the input was fetched from a source. The settings of the source state the person, so messages
  /// suggest no options of `import`.
  package var isFetched = false
  /// Called while the input is read. When it returns true, reading ends with a failure of category
  /// `temporary`.
  public var isInterrupted: @Sendable () -> Bool = { false }

  /// Options with only the zone and the clock.
  public init(zone: LogbookZone, now: Int64?) {
    self.zone = zone
    self.now = now
  }
}

/// Picks the rows of a table that have this value in a column, such as those of one person.
public struct RowFilter: Hashable, Sendable {
  /// The column's name, compared as headers are.
  public let column: String
  /// The value, compared exactly except for blanks around it.
  public let value: String

  /// The filter for rows with a value in a column.
  public init(column: String, value: String) {
    self.column = column
    self.value = value
  }
}
