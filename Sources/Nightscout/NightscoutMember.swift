// SPDX-License-Identifier: Apache-2.0

/// A member of an entry or a treatment that the rules of this room use.
@frozen package struct NightscoutMember: Hashable, Sendable {
  /// Its index in `names`.
  package let place: Int

  @inlinable init(_ place: Int) { self.place = place }

  /// The member with this name; nil for an unused one.
  package init?(name: String) {
    guard let place = Self.names.firstIndex(of: name) else { return nil }
    self.init(place)
  }

  package var name: String { Self.names[place] }

  /// The names of all members: the columns to request from a table or a list of documents.
  package static let names = [
    "type", "date", "dateString", "sgv", "mbg", "device", "utcOffset", "isValid",
    "eventType", "created_at", "timestamp", "mills", "identifier", "_id",
    "insulin", "carbs", "protein", "fat", "notes", "duration",
    "absolute", "rate", "percent", "relative", "enteredinsulin", "splitExt",
    "glucose", "glucoseType", "units", "isBasalInsulin", "durationInMilliseconds",
    "app", "subject", "enteredBy", "isSMB", "automatic", "insulinType", "insulinInjections", "key600",
  ]
}

extension NightscoutMember {
  /// The kind of an entry: `sgv`, `mbg`, `cal` and others. AAPS writes the kind of a bolus into it, such as `SMB`.
  @inlinable package static var type: Self { Self(0) }
  /// The time in milliseconds since 1970.
  @inlinable package static var date: Self { Self(1) }
  /// The time as text.
  @inlinable package static var dateString: Self { Self(2) }
  /// A sensor's value in mg/dL.
  @inlinable package static var sgv: Self { Self(3) }
  /// A meter's value in mg/dL.
  @inlinable package static var mbg: Self { Self(4) }
  /// The device or program that measured or entered it.
  @inlinable package static var device: Self { Self(5) }
  /// Minutes east of Greenwich.
  @inlinable package static var utcOffset: Self { Self(6) }
  /// `false` in deleted documents.
  @inlinable package static var isValid: Self { Self(7) }
  /// The kind of a treatment.
  @inlinable package static var eventType: Self { Self(8) }
  /// The time of a treatment as text.
  @inlinable package static var createdAt: Self { Self(9) }
  /// An alternative name of `created_at`, from some uploaders.
  @inlinable package static var timestamp: Self { Self(10) }
  /// The time of a treatment in milliseconds, from some uploaders.
  @inlinable package static var mills: Self { Self(11) }
  /// The document's key in API v3.
  @inlinable package static var identifier: Self { Self(12) }
  /// The key of the database.
  @inlinable package static var id: Self { Self(13) }
  /// Units of a bolus.
  package static var insulin: Self { Self(14) }
  /// Grams of carbohydrates.
  package static var carbs: Self { Self(15) }
  /// Grams of protein.
  package static var protein: Self { Self(16) }
  /// Grams of fat.
  package static var fat: Self { Self(17) }
  /// The person's text.
  package static var notes: Self { Self(18) }
  /// The duration in minutes.
  package static var duration: Self { Self(19) }
  /// A basal rate in U/h.
  package static var absolute: Self { Self(20) }
  /// An alternative name of `absolute`, from some uploaders.
  package static var rate: Self { Self(21) }
  /// The change of a basal rate in percent.
  package static var percent: Self { Self(22) }
  /// The rate of the extended part of a bolus in U/h.
  package static var relative: Self { Self(23) }
  /// The total units of a combination bolus.
  package static var enteredInsulin: Self { Self(24) }
  /// The share of its extended part in percent.
  package static var splitExtended: Self { Self(25) }
  /// A blood glucose value.
  package static var glucose: Self { Self(26) }
  /// The way of measuring: `Finger`, `Sensor`, `Manual`.
  package static var glucoseType: Self { Self(27) }
  /// The unit of glucose values.
  @inlinable package static var units: Self { Self(28) }
  /// Whether a dose is of long-acting insulin.
  package static var isBasalInsulin: Self { Self(29) }
  /// A duration in milliseconds.
  package static var milliseconds: Self { Self(30) }
  /// The program that wrote the document.
  package static var app: Self { Self(31) }
  /// The login that wrote it; only API v3 stores it.
  package static var subject: Self { Self(32) }
  /// The person or program that entered a treatment.
  package static var enteredBy: Self { Self(33) }
  /// Whether AAPS gave the dose as a super micro bolus.
  package static var isMicroBolus: Self { Self(34) }
  /// Whether Loop gave the dose automatically.
  package static var isAutomatic: Self { Self(35) }
  /// The name of the insulin of a dose.
  package static var insulinType: Self { Self(36) }
  /// The doses of several insulins, as JSON text.
  package static var insulinInjections: Self { Self(37) }
  /// The key that the uploader of Medtronic's 600 series gives an event of the pump, such as `BG8025B458`.
  package static var pumpKey: Self { Self(38) }
}
