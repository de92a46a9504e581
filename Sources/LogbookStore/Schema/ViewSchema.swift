// SPDX-License-Identifier: Apache-2.0

import Logbook

/// The views that glucoport-store(5) documents. They use no SQL function of the program, so that any program
/// can read them.
enum ViewSchema {
  static let statements = """
    CREATE VIEW readings AS
    SELECT
      \(StoredName.kind) AS kind,
      strftime('%Y-%m-%dT%H:%M:%SZ', r.device_time - \(readingOffset), 'unixepoch') AS time,
      strftime('%Y-%m-%dT%H:%M:%S', r.device_time, 'unixepoch') AS device_time,
      \(offset(readingOffset)) AS utc_offset,
      CASE r.offset_source WHEN 0 THEN 'stated' WHEN 1 THEN 'zone' WHEN 2 THEN 'zone-gap'
        WHEN 3 THEN 'zone-overlap' WHEN 4 THEN 'ticks' ELSE 'instant' END AS offset_source,
      r.value AS value,
      CASE r.unit WHEN 0 THEN 'mg/dL' ELSE 'mmol/L' END AS unit,
      \(milligrams) AS value_mgdl,
      \(millimoles) AS value_mmoll,
      CASE r.range_flag WHEN 1 THEN 'low' WHEN 2 THEN 'high' END AS range,
      r.threshold AS threshold,
      rtrim(
        \(marks), ',') AS marks,
      \(Withdrawn.reading) AS withdrawn,
      d.vendor AS vendor, d.model AS model, d.serial AS serial, d.format AS format,
      \(StoredName.positionKind) AS position_kind,
      r.position AS position, r.value_bucket AS value_bucket, r.occurrence AS occurrence,
      r.ingest AS ingest, r.uploaded AS uploaded
    -- CROSS: readings first, whatever is asked for, since no index leads from a series to its readings.
    FROM reading AS r CROSS JOIN series AS s ON s.id = r.series CROSS JOIN device AS d ON d.id = s.device;

    CREATE VIEW records AS
    SELECT
      guid, kind, entry_guid,
      strftime('%Y-%m-%dT%H:%M:%SZ', device_time - utc_offset, 'unixepoch') AS time,
      strftime('%Y-%m-%dT%H:%M:%S', device_time, 'unixepoch') AS device_time,
      \(offset("utc_offset")) AS utc_offset,
      json_extract(fields, '$.subtype') AS subtype,
      fields, \(Withdrawn.record) AS withdrawn, deleted, version, version_synced, ingest,
      provenance_format, provenance_source
    FROM record
    WHERE kind IN ('insulin', 'food', 'exercise', 'note', 'annotation', 'attachment');
    """

  private static let readingOffset = "coalesce(r.stated_offset, r.derived_offset)"

  private static func offset(_ column: String) -> String {
    """
    CASE WHEN \(column) = 0 THEN 'Z' ELSE
        printf('%s%02d:%02d', CASE WHEN \(column) < 0 THEN '-' ELSE '+' END,
          abs(\(column)) / 3600, abs(\(column)) / 60 % 60) END
    """
  }

  /// The value in mg/dL, rounded as in `Quantity.displayed`. A value that was measured in mg/dL is unchanged.
  /// A ketone value is not converted, since the factor is that of glucose.
  private static let milligrams = """
    CASE WHEN s.kind = \(ReadingKind.ketone.rawValue) THEN NULL WHEN r.unit = 0 THEN r.value
        ELSE round(r.value * \(Quantity.milligramsPerDecilitreInMillimole)) END
    """
  private static let millimoles = """
    CASE WHEN r.unit = 1 THEN r.value WHEN s.kind <> \(ReadingKind.ketone.rawValue) THEN
        (CAST(round(r.value * 1000) AS INTEGER) * 2000 + \(factor)) / (2 * \(factor)) / 10.0 END
    """
  private static let factor = Quantity.milligramsPerDecilitreIn100000Millimoles

  private static var marks: String {
    StoredMarks.names.map { "CASE WHEN r.marks & \($0.bit) THEN '\($0.name),' ELSE '' END" }
      .joined(separator: "\n        || ")
  }
}

/// The names and bits of marks in the first version of the schema. The type `ReadingMarks` is not used here:
/// a released schema never changes, even if the program adds marks.
private enum StoredMarks {
  static let names: [(bit: Int, name: String)] = [
    (1, "manual"), (2, "linked"), (4, "calibration"), (8, "control-solution"), (16, "at-limit"),
    (32, "doubtful-time"), (64, "clock-set-back"), (128, "before-meal"), (256, "after-meal"),
    (512, "fasting"),
    (1024, "bedtime"), (2048, "temperature-warning"), (4096, "calculator"),
  ]
}
