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
  /// Columns by role, for the generic format: `time=ts,value=mgdl`.
  public var columns: [String: String] = [:]
  /// The zone for bare wall-clock times, and whether it was given for this import.
  public var zone: LogbookZone
  /// Whether the zone was given for this import.
  public var zoneIsGiven = false
  /// The host's clock in UTC seconds, for telling doubtful times; nil when the clock itself is doubtful.
  public var now: Int64?

  /// Options that leave everything to the input but the zone and the clock.
  public init(zone: LogbookZone, now: Int64?) {
    self.zone = zone
    self.now = now
  }
}
