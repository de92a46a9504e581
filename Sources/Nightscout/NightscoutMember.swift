// SPDX-License-Identifier: Apache-2.0

/// A member of an entry or a treatment that this module reads.
@frozen package struct NightscoutMember: Hashable, Sendable {
  /// The index of the member in `names`.
  package let place: Int

  @inlinable init(_ place: Int) { self.place = place }

  /// The member with this name; nil if this module does not read it.
  package init?(name: String) {
    guard let place = Self.names.firstIndex(of: name) else { return nil }
    self.init(place)
  }

  package var name: String { Self.names[place] }

  /// The names of all members that this module reads, in a table or in documents.
  package static let names = [
    "type", "date", "dateString", "sgv", "mbg", "device", "utcOffset", "isValid",
    "eventType", "created_at", "timestamp", "mills", "identifier", "_id",
    "insulin", "carbs", "protein", "fat", "notes", "duration",
    "absolute", "rate", "percent", "relative", "enteredinsulin", "splitExt",
    "glucose", "glucoseType", "units", "isBasalInsulin", "durationInMilliseconds",
    "app", "subject", "enteredBy", "isSMB", "automatic", "insulinType", "insulinInjections", "key600",
    "insulinName", "insulinDIA", "eventTime",
  ]
}

extension NightscoutMember {
  /// The kind of an entry: `sgv`, `mbg`, `cal` and others. In treatments, AAPS writes the kind of a bolus
  /// into this member, such as `SMB`.
  @inlinable package static var type: Self { Self(0) }
  /// The time in milliseconds since 1970.
  @inlinable package static var date: Self { Self(1) }
  /// The time of an entry as text.
  @inlinable package static var dateString: Self { Self(2) }
  /// A sensor's value in mg/dL.
  @inlinable package static var sgv: Self { Self(3) }
  /// A meter's value in mg/dL.
  @inlinable package static var mbg: Self { Self(4) }
  /// The device or program that measured or entered the value.
  @inlinable package static var device: Self { Self(5) }
  /// The UTC offset in minutes.
  @inlinable package static var utcOffset: Self { Self(6) }
  /// Whether the document is valid. In a deleted document, the member is `false`.
  @inlinable package static var isValid: Self { Self(7) }
  /// The kind of a treatment.
  @inlinable package static var eventType: Self { Self(8) }
  /// The time of a treatment as text.
  @inlinable package static var createdAt: Self { Self(9) }
  /// An alternative name of `created_at`, from some uploaders.
  @inlinable package static var timestamp: Self { Self(10) }
  /// The time of a treatment in milliseconds, from some uploaders.
  @inlinable package static var mills: Self { Self(11) }
  /// The document's identifier in API v3.
  @inlinable package static var identifier: Self { Self(12) }
  /// The document's identifier in the database.
  @inlinable package static var id: Self { Self(13) }
  /// The units of a bolus.
  package static var insulin: Self { Self(14) }
  /// Grams of carbohydrates.
  package static var carbs: Self { Self(15) }
  /// Grams of protein.
  package static var protein: Self { Self(16) }
  /// Grams of fat.
  package static var fat: Self { Self(17) }
  /// The text that a person wrote.
  package static var notes: Self { Self(18) }
  /// The duration in minutes.
  package static var duration: Self { Self(19) }
  /// A basal rate in U/h.
  package static var absolute: Self { Self(20) }
  /// An alternative name of `absolute`, from some uploaders.
  package static var rate: Self { Self(21) }
  /// The change of a basal rate, in percent.
  package static var percent: Self { Self(22) }
  /// The rate of a bolus's extended part in U/h.
  package static var relative: Self { Self(23) }
  /// The total units of a combination bolus, including its extended part.
  package static var enteredInsulin: Self { Self(24) }
  /// The share of a combination bolus that is extended, in percent.
  package static var splitExtended: Self { Self(25) }
  /// The glucose value in a treatment.
  package static var glucose: Self { Self(26) }
  /// How the glucose was measured: `Finger`, `Sensor` or `Manual`.
  package static var glucoseType: Self { Self(27) }
  /// The unit of glucose values.
  @inlinable package static var units: Self { Self(28) }
  /// Whether the dose is of long-acting insulin.
  package static var isBasalInsulin: Self { Self(29) }
  /// A duration in milliseconds.
  package static var milliseconds: Self { Self(30) }
  /// The program that wrote the document.
  package static var app: Self { Self(31) }
  /// The login that wrote the document. Only API v3 stores it.
  package static var subject: Self { Self(32) }
  /// The person or program that entered a treatment.
  package static var enteredBy: Self { Self(33) }
  /// Whether AAPS gave the dose as a super micro bolus.
  package static var isMicroBolus: Self { Self(34) }
  /// Whether Loop gave the dose automatically.
  package static var isAutomatic: Self { Self(35) }
  /// The name of the insulin.
  package static var insulinType: Self { Self(36) }
  /// The injections of a dose with several insulins, as JSON text.
  package static var insulinInjections: Self { Self(37) }
  /// The identifier of a pump's event, such as `BG8025B458`. The uploader of Medtronic's 600 series writes
  /// it.
  package static var pumpKey: Self { Self(38) }
  /// The name that a person gave the insulin in Spike.
  package static var insulinName: Self { Self(39) }
  /// The hours for which the insulin works, from Spike.
  package static var insulinHours: Self { Self(40) }
  /// The time of a treatment that a program sends to a site, which stores it as `created_at`.
  package static var eventTime: Self { Self(41) }
}
