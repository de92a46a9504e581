// SPDX-License-Identifier: Apache-2.0

/// A member of an entry or a treatment of which the rules of this room know.
@frozen public struct NightscoutMember: Hashable, Sendable {
  /// Its place among `names`.
  public let place: Int

  @inlinable init(_ place: Int) { self.place = place }

  /// The member of this name; nil where the rules know none.
  public init?(name: String) {
    guard let place = Self.names.firstIndex(of: name) else { return nil }
    self.init(place)
  }

  /// Its name in a document.
  public var name: String { Self.names[place] }

  /// The names of all members: the columns to ask a table or a list of documents for.
  public static let names = [
    "type", "date", "dateString", "sgv", "mbg", "device", "utcOffset", "isValid",
    "eventType", "created_at", "timestamp", "mills", "identifier", "_id",
    "insulin", "carbs", "protein", "fat", "notes", "duration",
    "absolute", "rate", "percent", "relative", "enteredinsulin", "splitExt",
    "glucose", "glucoseType", "units", "isBasalInsulin", "durationInMilliseconds",
    "app", "subject",
  ]
}

extension NightscoutMember {
  /// The kind of an entry: `sgv`, `mbg`, `cal` and others.
  @inlinable public static var type: Self { Self(0) }
  /// When it was, in milliseconds since 1970.
  @inlinable public static var date: Self { Self(1) }
  /// When it was, in words.
  @inlinable public static var dateString: Self { Self(2) }
  /// A sensor's value in mg/dL.
  @inlinable public static var sgv: Self { Self(3) }
  /// A meter's value in mg/dL.
  @inlinable public static var mbg: Self { Self(4) }
  /// What took or entered it.
  @inlinable public static var device: Self { Self(5) }
  /// Minutes east of Greenwich.
  @inlinable public static var utcOffset: Self { Self(6) }
  /// `false` in what is deleted.
  @inlinable public static var isValid: Self { Self(7) }
  /// The kind of a treatment.
  @inlinable public static var eventType: Self { Self(8) }
  /// When a treatment was, in words.
  @inlinable public static var createdAt: Self { Self(9) }
  /// The same, as some uploaders write it.
  @inlinable public static var timestamp: Self { Self(10) }
  /// The same in milliseconds, as some uploaders write it.
  @inlinable public static var mills: Self { Self(11) }
  /// The document's key in API v3.
  @inlinable public static var identifier: Self { Self(12) }
  /// The key of the database.
  @inlinable public static var id: Self { Self(13) }
  /// Units of a bolus.
  public static var insulin: Self { Self(14) }
  /// Grams of carbohydrates.
  public static var carbs: Self { Self(15) }
  /// Grams of protein.
  public static var protein: Self { Self(16) }
  /// Grams of fat.
  public static var fat: Self { Self(17) }
  /// The text.
  public static var notes: Self { Self(18) }
  /// Minutes.
  public static var duration: Self { Self(19) }
  /// A basal rate in U/h.
  public static var absolute: Self { Self(20) }
  /// The same, as some uploaders write it.
  public static var rate: Self { Self(21) }
  /// The change of a basal rate in percent.
  public static var percent: Self { Self(22) }
  /// The rate of the extended part of a bolus in U/h.
  public static var relative: Self { Self(23) }
  /// All units of a combination bolus.
  public static var enteredInsulin: Self { Self(24) }
  /// The share of its extended part in percent.
  public static var splitExtended: Self { Self(25) }
  /// A blood glucose value.
  public static var glucose: Self { Self(26) }
  /// How it was measured: `Finger`, `Sensor`, `Manual`.
  public static var glucoseType: Self { Self(27) }
  /// The unit of glucose values.
  @inlinable public static var units: Self { Self(28) }
  /// Whether a dose is of long-acting insulin.
  public static var isBasalInsulin: Self { Self(29) }
  /// A duration in milliseconds.
  public static var milliseconds: Self { Self(30) }
  /// The program that wrote the document.
  public static var app: Self { Self(31) }
  /// The login that wrote it; only API v3 notes it.
  public static var subject: Self { Self(32) }
}
