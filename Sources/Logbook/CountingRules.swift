// SPDX-License-Identifier: Apache-2.0

/// People's decisions about which items count, prepared for `CountedOnce`.
package struct CountingRules: Hashable, Sendable {
  /// Two items that a person declared to be the same dose, meal or measurement.
  package struct Joined: Hashable, Sendable {
    /// The id of the item that is left out.
    let leftOut: String
    /// What the verdict on the kept item states about the item that is left out.
    let repetition: Repetition
    /// The id of the item that is kept.
    let kept: String
    let keptSource: CountingSource

    /// Pairs two visible items. The item that `precedes` the other item is kept.
    package init(_ first: CountableItem, _ second: CountableItem) {
      let (kept, other) = first.precedes(second) ? (first, second) : (second, first)
      (leftOut, repetition) = (other.id, Repetition(other))
      (self.kept, keptSource) = (kept.id, kept.source)
    }
  }

  private struct SourcePair: Hashable, Sendable {
    let first: String
    let second: String
  }

  fileprivate struct DecidedPeriod: Hashable, Sendable {
    let kind: CountableItem.Kind
    let since: Int64
    let until: Int64
    let source: String

    func holds(_ kind: CountableItem.Kind, _ shown: Int64) -> Bool {
      self.kind == kind && since <= shown && shown < until
    }
  }

  /// The maximum number of decisions that are used. The number is far above the decisions of a person, and
  /// limits the work that a remote can cause.
  package static let maxDecisions = 500

  /// The decisions that are used, without those with the choice `rule`.
  package let decisions: [CountDecision]
  private var separateSources: [SourcePair] = []
  private var separateItems: Set<SourcePair> = []
  private var ranges: [DecidedPeriod] = []
  private var joined: [String: Joined] = [:]
  private var keepers: [String: [Repetition]] = [:]
  private let isOff: Bool
  /// The finger sticks that are copies of a sensor's values.
  package var sensorCopies = SensorCopies()
  /// The items that a source states a second time in another export.
  package var ownCopies = OwnCopies()
  /// The items that are other states of items that a person edited.
  package var editedItems = EditedItems()
  /// The items that two sources state with different amounts.
  package var otherAmounts = OtherAmounts()
  /// The meals that a program computed from fat and protein.
  package var computedMeals = ComputedMeals()
  /// Whether the items of each kind have only one source, in the period for which the copies were determined.
  /// False if this was not determined.
  package var hasSingleSources = false

  /// The rule of `CountedOnce`, changed by people's decisions.
  ///
  /// - Parameter joined: the pairs of items that a person declared to be the same, if both items are visible.
  package init(_ decisions: [CountDecision] = [], joined: [Joined] = []) {
    let all = decisions.filter { $0.choice != .rule }.sorted { $0.guid < $1.guid }
    self.decisions = Array(all.prefix(Self.maxDecisions))
    isOff = false
    for decision in self.decisions {
      switch decision.subject {
      case .sources(let first, let second) where decision.choice == .both:
        separateSources.append(SourcePair(first: first, second: second))
      case .items(let first, let second) where decision.choice == .both:
        separateItems.insert(SourcePair(first: first, second: second))
      case .range(let kind, let since, let until):
        ranges.append(
          DecidedPeriod(
            kind: kind, since: since?.seconds ?? .min, until: until?.seconds ?? .max, source: decision.source)
        )
      default: break
      }
    }
    // If ranges overlap, the shorter range applies.
    ranges.sort { left, right in
      left.length != right.length ? left.length < right.length : left.source < right.source
    }
    for pair in joined.prefix(Self.maxDecisions) {
      self.joined[pair.leftOut] = pair
      keepers[pair.kept, default: []].append(pair.repetition)
    }
  }

  private init(isOff: Bool) {
    decisions = []
    self.isOff = isOff
  }

  /// Counts every item, even if it repeats an item of another source.
  package static let all = CountingRules(isOff: true)

  /// Whether repetitions are left out.
  package var isOn: Bool { !isOff }

  /// Whether the period for which the copies were determined has no item that repeats another one.
  package var findsNothing: Bool {
    hasSingleSources && joined.isEmpty && editedItems == EditedItems() && sensorCopies == SensorCopies()
      && ownCopies == OwnCopies() && otherAmounts == OtherAmounts() && computedMeals == ComputedMeals()
  }

  /// The verdict that follows without a comparison with other sources. A person's decision, a sensor's value
  /// or a copy in the same source can determine it. Nil if the other items near the item's time determine it.
  func verdict(of item: CountableItem) -> CountVerdict? {
    if isOff { return .counts(alsoIn: []) }
    if !isChosen(item.kind, item.source, shown: item.shown) { return .notChosen }
    if let pair = joined[item.id] { return .repeats(pair.kept, pair.keptSource) }
    if let verdict = editedItems.verdict(on: item) { return verdict }
    if let sensor = sensorCopies.sensor(of: item) { return .sensorValue(sensor) }
    if let original = ownCopies.original(of: item) { return .repeats(original, item.source) }
    if let verdict = otherAmounts.verdict(on: item) { return verdict }
    return computedMeals.contains(item) ? .computed : nil
  }

  /// Whether a source counts for a kind at a shown time. If a person chose a source for it, no other source
  /// counts.
  package func isChosen(_ kind: CountableItem.Kind, _ source: CountingSource, shown: Int64) -> Bool {
    ranges.first { $0.holds(kind, shown) }.map { source.isNamed($0.source) } ?? true
  }

  /// Whether a person declared two items to be separate, so that both count.
  func separates(_ left: CountableItem, _ right: CountableItem) -> Bool {
    if !separateItems.isEmpty {
      let (first, second) = left.id < right.id ? (left.id, right.id) : (right.id, left.id)
      if separateItems.contains(SourcePair(first: first, second: second)) { return true }
    }
    return isSeparate(left.source, right.source)
  }

  /// Whether a person decided `both` for two sources, so that their items always count separately. The
  /// decision `both` also settles doubts about items with different amounts. The decision `once` does not
  /// settle such doubts.
  package func isSeparate(_ left: CountingSource, _ right: CountingSource) -> Bool {
    separateSources.contains { pair in
      left.isNamed(pair.first) && right.isNamed(pair.second)
        || left.isNamed(pair.second) && right.isNamed(pair.first)
    }
  }

  /// The repetitions that the verdict on the item with this id lists. These are items that a person joined
  /// with it, its copies in the same source, and items of other sources with another amount.
  func repetitionsJoined(to id: String) -> [Repetition] {
    (keepers[id] ?? []) + ownCopies.statements(about: id) + otherAmounts.statements(about: id)
  }
}

extension CountingRules.DecidedPeriod {
  fileprivate var length: UInt64 {
    UInt64(bitPattern: Int64(truncatingIfNeeded: until &- since))
  }
}

/// The source of an item for counting once: a format or driver, and the program or device within it. Two
/// items of one source count separately, except for the copies in `OwnCopies`.
package struct CountingSource: Hashable, Sendable {
  /// How a source got its data. If items of several sources describe the same dose, meal or measurement, the
  /// source with the earliest of these cases counts.
  package enum Role: Int, Sendable {
    /// The memory of the device that measured or gave the dose, such as a meter, a pump or a pen.
    case memory
    /// The app in which a person typed the data.
    case app
    /// A program that collects the data of other programs.
    case collector
    /// glucoport itself: a person typed the data into it.
    case typed
    /// The source of a record without known origin.
    case unknown
  }

  /// The id of the format, the driver or the kind of remote; empty if it is unknown.
  package let format: String
  /// The program or device that wrote the items, by its name in the source; empty if the source names none.
  package let part: String
  /// How the source of an item got its data, which follows from `format` and the device.
  package let role: Role

  /// Whether the rows of the source can have ids. The rows of a table whose columns a person named have none.
  var canHaveIDs: Bool { format != "generic" }

  /// Whether the ids of doses and meals of a format contain their amounts, so that a corrected amount has
  /// another id. Apple Health states no ids in its exports.
  package static func idsContainAmounts(_ format: String) -> Bool { formatsWithAmountsInIDs.contains(format) }

  /// The formats for which `idsContainAmounts` is true.
  package static let formatsWithAmountsInIDs: Set<String> = ["apple-health"]

  /// A source of records.
  package init(format: String, part: String = "") {
    (self.format, self.part) = (format, part)
    role = Self.role(of: format)
  }

  /// The source of a device's readings. Its role is that of the device's format. A device with a serial
  /// number has the role `memory` instead of `app`.
  package init(_ device: Device) {
    format = device.format
    // Without a serial number, the model is the name of the app or phone. Records of the same source have
    // this name as `part`, too.
    part =
      device.serial.isEmpty
      ? device.model
      : [device.vendor, device.model, device.serial].filter { !$0.isEmpty }.joined(separator: " ")
    let role = Self.role(of: device.format)
    self.role = role == .app && !device.serial.isEmpty ? .memory : role
  }

  /// The source of records without provenance. `CountableItem` distinguishes such records by the versions of
  /// their ids.
  package static let unknown = CountingSource(format: "")

  /// The name in messages and settings: `mysugr`, or `apple-health/Anna's iPhone`.
  package var text: String { part.isEmpty ? format : "\(format)/\(part)" }

  /// Whether a name in a decision means this source. The name is `format`, or `text` with the format and the
  /// part. The part without the format is not enough, since a phone can have an app with the name of a
  /// format.
  package func isNamed(_ word: String) -> Bool {
    guard !format.isEmpty else { return false }
    let word = word.lowercased()
    return word == format || word == text.lowercased()
  }

  /// Formats of programs that collect the data of other programs.
  private static let collectors: Set<String> = [
    "apple-health", "cgm-entries", "clarity", "diasend", "fhir", "generic", "glooko", "health-auto-export",
    "librelinkup", "libreview", "nightscout", "openmhealth", "sidiary", "tidepool",
  ]
  /// Collectors that return glucose values of other programs without the original kind, so that a sensor's
  /// value can look like a finger stick.
  private static let sensorRelays: Set<String> = ["apple-health", "health-auto-export", "tidepool"]
  /// Formats and drivers that read the memory of devices.
  private static let memories: Set<String> = [
    "accu-chek-360", "accu-chek-guide", "accu-chek-mobile", "bluetooth-glucose", "carelink", "carelink-cloud",
    "dexcom-g4", "freestyle-insulinx", "freestyle-libre", "freestyle-neo", "glucomen-areo", "glucometerutils",
    "onetouch-ultra2",
    "onetouch-ultraeasy", "onetouch-verio", "onetouch-verio-iq", "smart-pix", "taidoc", "tandem",
    "true-metrix",
  ]
  /// Formats of items typed into glucoport.
  private static let typed: Set<String> = ["glucoport", "typed"]
  /// Formats of apps and of data sets. A format that is in no list has the same role, for example one of a
  /// later version of the program. `contour` is the app and the driver: meters of the driver have serial
  /// numbers.
  private static let apps: Set<String> = [
    "contour", "cronometer", "d1namo", "dexcom-api", "dexcom-share", "diabetes-m", "diaguard", "glimp",
    "glucose-buddy", "gluroo", "juggluco", "juggluco-ng", "levels", "libre-desktop", "lingo", "mylife",
    "mysugr", "nutrisense", "ohiot1dm", "shanghai", "sibio", "sibionics", "xdrip",
  ]

  /// The ids of the formats, drivers and kinds of remotes with each role. Each registered id is in one list.
  package static let statedRoles: [Role: Set<String>] = [
    .memory: memories, .app: apps, .collector: collectors, .typed: typed,
  ]
  /// The collectors for which `mayRelaySensors` is true.
  package static var statedRelays: Set<String> { sensorRelays }

  /// Whether finger sticks of this source may be copies of a sensor's values; see `SensorCopies`.
  package var mayRelaySensors: Bool { Self.sensorRelays.contains(format) }

  private static func role(of format: String) -> Role {
    if format.isEmpty { return .unknown }
    if collectors.contains(format) { return .collector }
    if memories.contains(format) { return .memory }
    return typed.contains(format) ? .typed : .app
  }
}

extension Device {
  /// Whether this sensor's values are used, and not those of `other`, at times for which both have values. As
  /// in `CountedOnce`, a device's own memory comes first, then apps, then collectors. Programs that relay the
  /// values of other programs come last. If the sources are equal in this order, the names decide, so that
  /// every store has the same order.
  package func precedes(_ other: Device) -> Bool {
    let (mine, theirs) = (CountingSource(self), CountingSource(other))
    if mine.role != theirs.role { return mine.role.rawValue < theirs.role.rawValue }
    if mine.mayRelaySensors != theirs.mayRelaySensors { return theirs.mayRelaySensors }
    return (format, vendor, model, serial) < (other.format, other.vendor, other.model, other.serial)
  }
}

/// Doses and meals that a person edited, and that their app states with another amount in another export.
/// Only the edit counts.
///
/// The ids of such an app contain amounts, so a corrected amount makes another record; see
/// `CountingSource.idsContainAmounts(_:)`. At the end of an import, the store finds out that an export shows
/// a record of the same second as corrected. It states this in a withdrawal, which stays in the store after
/// an undo of the import. The records of one second are one dose or meal if all of them except one were
/// corrected so.
package struct EditedItems: Hashable, Sendable {
  /// A record of one second.
  package struct State: Sendable {
    /// The record as an item; nil for a hidden or deleted record, and for one without an amount.
    let item: CountableItem?
    /// When a person edited the record; nil if it has the content that an export states.
    let editedAt: Int64?
    /// Whether an export shows that the record was corrected.
    let wasCorrected: Bool

    package init(_ item: CountableItem?, editedAt: Int64?, wasCorrected: Bool) {
      (self.item, self.editedAt, self.wasCorrected) = (item, editedAt, wasCorrected)
    }
  }

  /// The id of the item that counts, by the id of the item that is left out.
  private var kept: [String: String] = [:]

  /// An empty value: no item is left out.
  package init() {}

  /// Finds the states that are left out.
  ///
  /// - Parameters:
  ///   - seconds: for each second of an app, all of its records of one kind, also the hidden and the deleted
  ///     ones.
  ///   - rules: people's decisions. A source that a person declared to be separate from itself counts whole.
  package init(_ seconds: some Sequence<[State]>, _ rules: CountingRules) {
    for states in seconds where states.count(where: { !$0.wasCorrected }) <= 1 {
      let edited = states.filter { $0.item != nil && $0.editedAt != nil }
      if edited.isEmpty { continue }
      // An edit of another field, such as a note, is not a statement about the amount.
      let amounts = edited.filter { $0.item?.amountEditedAt != nil }
      let present = states.first { $0.item != nil && !$0.wasCorrected }
      guard let last = Self.last(amounts)?.item ?? present?.item ?? Self.last(edited)?.item else { continue }
      for item in states.compactMap(\.item) where item.id != last.id && !rules.separates(item, last) {
        kept[item.id] = last.id
      }
    }
  }

  /// The state that was edited last. Every store must choose the same one, so equal times are ordered by ids.
  private static func last(_ edited: [State]) -> State? {
    edited.max { ($0.editedAt ?? 0, $0.item?.id ?? "") < ($1.editedAt ?? 0, $1.item?.id ?? "") }
  }

  /// Whether an item is another state of an edited one.
  package func leavesOut(_ item: CountableItem) -> Bool { kept[item.id] != nil }

  /// The verdict on an item; nil for an item that is not left out.
  func verdict(on item: CountableItem) -> CountVerdict? {
    kept[item.id].map { .edited($0, item.source) }
  }
}
