// SPDX-License-Identifier: Apache-2.0

import Logbook
import SQLiteRows

/// A reading that is being sorted by time. It contains no references, so copies of millions of such values
/// are cheap.
struct OrderedReading: BitwiseCopyable {
  /// The reading. Its `device` is the index of its series in the `SeriesList`.
  let reading: Reading
  /// The instant in UTC seconds.
  let utc: Int64
  /// The value in tenths of mmol/L, a code for LO or HI, or 0; see `Reading.valueBucket`.
  let valueBucket: Int64
  /// The number of the ingest that stored the reading.
  let ingest: Int64
  /// Whether the remote has the reading.
  let isUploaded: Bool
  /// Whether a withdrawal hides the reading.
  let isWithdrawn: Bool

  /// The SQL columns that `init` reads, for a reading `r`.
  static let columns = """
    r.series, r.position, r.value_bucket, r.occurrence, \(StoredOffset.columns("r")), r.ingest, r.uploaded, \(Withdrawn.reading)
    """

  /// The SQL expression for the instant of a reading `r`, in UTC seconds.
  static let instant = "r.device_time - \(StoredOffset.sql("r"))"

  /// The SQL condition that the instant of a reading `r` is between the first two parameters. With BETWEEN,
  /// SQLite computes the instant only once. A damaged row without an instant meets the condition, so that
  /// reading it reports the damage.
  static let isWithin = "coalesce(\(instant) BETWEEN ?1 AND ?2, TRUE)"

  /// Reads a row; nil if the series of the reading is not listed.
  @inline(__always)
  init?(_ row: RawStatement, in list: SeriesList) throws(DamagedRow) {
    let place = StoredPlace(row, from: 0)
    guard let series = list.place(of: place.series) else { return nil }
    reading = try row.reading(at: place, of: list.stored[series], from: 4)
    utc = reading.deviceTime.seconds - Int64(reading.placement.utcOffset)
    valueBucket = place.valueBucket
    ingest = row.integer(12)
    isUploaded = row.integer(13) != 0
    isWithdrawn = row.integer(14) != 0
  }

  /// Whether this reading is listed before another one, with the oldest first. They are compared by instant,
  /// then by series, then by the rest of the identity.
  @inline(__always)
  func precedes(_ other: OrderedReading) -> Bool {
    if utc != other.utc { return utc < other.utc }
    let (mine, theirs) = (reading, other.reading)
    if mine.device != theirs.device { return mine.device.number < theirs.device.number }
    if mine.position != theirs.position { return mine.position < theirs.position }
    if valueBucket != other.valueBucket { return valueBucket < other.valueBucket }
    return mine.occurrence < theirs.occurrence
  }
}

/// The order of a listing: oldest or newest first.
struct ListOrder {
  let isDescending: Bool

  /// The keyword for ORDER BY in SQL.
  var direction: String { isDescending ? "DESC" : "ASC" }

  /// Whether one reading is listed before another.
  @inline(__always)
  func isFirst(_ one: OrderedReading, _ other: OrderedReading) -> Bool {
    isDescending ? other.precedes(one) : one.precedes(other)
  }

  /// Whether one instant is listed before another one; false if they are equal.
  @inline(__always)
  func isFirst(_ one: Int64, _ other: Int64) -> Bool { isDescending ? one > other : one < other }
}

/// A source of readings in the order of the listing.
protocol ReadingSource: AnyObject {
  /// The next reading that the listing has not taken yet; nil at the end.
  var head: OrderedReading? { get }
  /// The instant of `head`, which can be read without copying a large value.
  var instant: Int64? { get }
  /// Moves `head` to the following reading; returns false at the end.
  func advance() throws -> Bool
}
