// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// What a person said about an input. What is nil is read from the input, inferred, or asked for.
public struct ExportOptions: Sendable {
  /// The id of the format, instead of detection.
  public var format: String?
  /// The unit of values that name none.
  public var unit: GlucoseUnit?
  /// `dmy` or `mdy`, for dates that can be read both ways.
  public var dateOrder: String?
  /// The device's model, for inputs that name none.
  public var device: String?
  /// The kind of glucose readings, for generic inputs whose rows name none.
  public var kind: ReadingKind?
  /// Columns by role, for the generic format: `time=ts,value=mgdl`.
  public var columns: [String: String] = [:]
  /// Whether values are read that are unlikely to be readings, or contradict what a person said.
  public var force = false
  /// What the rows to read have in these columns, for the generic format; other rows are counted and left out.
  public var rows: [RowFilter] = []
  /// Whether a person says that the last line is complete, although it has no line end.
  public var lastLineIsComplete = false
  /// The command up to the options about the input, as a hint repeats it.
  public var commandStart = "glucoport import"
  /// The input's name as the command line has it, for hints.
  var inputName = "-"
  /// The zone for bare wall-clock times, and whether it was given for this import.
  public var zone: LogbookZone
  /// Whether the zone was given for this import.
  public var zoneIsGiven = false
  /// The host's clock in UTC seconds, by which doubtful times are found; nil when the clock itself is doubtful.
  public var now: Int64?
  /// Asked while the input is read: once it is true, reading ends with a failure of category `temporary`.
  public var isInterrupted: @Sendable () -> Bool = { false }

  /// Options that leave everything to the input but the zone and the clock.
  public init(zone: LogbookZone, now: Int64?) {
    self.zone = zone
    self.now = now
  }
}

/// Picks the rows of a table that have this value in a column, such as those of one person.
public struct RowFilter: Hashable, Sendable {
  /// The column's name, compared as headers are.
  public let column: String
  /// The value, compared exactly but for blanks around it.
  public let value: String

  /// The filter for rows with a value in a column.
  public init(column: String, value: String) {
    self.column = column
    self.value = value
  }
}
