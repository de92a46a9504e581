// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Records as treatments, with the complete state of each record in addition to the members that other programs read.
package enum NightscoutTreatment {
  /// The members of each kind that other programs read, with the field that receives their edits.
  package static func fields(_ kind: RecordKind) -> [(member: NightscoutMember, field: String)] {
    kind.fields.compactMap { field in
      field.treatmentMember.flatMap(NightscoutMember.init(name:)).map { (member: $0, field: field.name) }
    }
  }

  /// The type of event, which never changes.
  package static func eventType(_ state: RecordState) -> String {
    // A kind that this program does not know is named on the site.
    guard let details = state.kind.details else { return state.kind.rawValue }
    guard state.kind == .insulin else { return details.treatmentEvent }
    return switch state.fields.subtype {
    case "", "rapid": details.treatmentEvent
    case "basal" where state.fields["rate"] != nil && state.fields["minutes"] != nil: "Temp Basal"
    default: "Insulin"
    }
  }

  package static func milliseconds(_ state: RecordState) -> Int64 {
    (state.deviceTime.seconds - Int64(state.placement.utcOffset)) * 1000
  }

  /// Why a site refuses a document with the time of a state; nil if it accepts it.
  package static func refusal(_ state: RecordState) -> String? {
    milliseconds(state) > NightscoutTime.minMilliseconds
      ? nil : "Nightscout accepts no time before the year 2000"
  }

  /// The offset in minutes, the server's precision.
  package static func minutes(_ state: RecordState) -> Int64 { Int64(state.placement.utcOffset) / 60 }

  /// The members of a state that other programs read.
  package static func shown(_ state: RecordState) -> [String: JSONValue] {
    guard !state.isDeleted else { return [:] }
    var shown: [String: JSONValue] = [:]
    for (member, field) in fields(state.kind) {
      switch state.fields[field] {
      case .number(let number): shown[member.name] = .number(number)
      case .text(let text) where !text.isEmpty: shown[member.name] = .text(text)
      default: break
      }
    }
    if state.kind == .insulin { hideFromCalculators(&shown, state) }
    if case .number(let servings)? = state.fields["servings"], state.kind == .food {
      let text = [plainNumber(servings) + (servings == 1 ? " serving" : " servings"), shown["notes"]?.text]
      shown["notes"] = .text(text.compactMap(\.self).joined(separator: " · "))
    }
    return shown
  }

  /// Every program treats `insulin` as a rapid bolus and computes its remaining effect. Other insulin is written as
  /// text only.
  private static func hideFromCalculators(_ shown: inout [String: JSONValue], _ state: RecordState) {
    let subtype = state.fields.subtype
    if subtype == "basal", shown["absolute"] != nil, shown["duration"] != nil, shown["insulin"] == nil {
      return
    }
    shown["absolute"] = nil
    shown["duration"] = nil
    guard subtype != "", subtype != "rapid" else { return }
    let units = shown.removeValue(forKey: "insulin")?.number.map { "\(plainNumber($0)) U " } ?? ""
    shown["notes"] = .text(
      [units + subtype, shown["notes"]?.text].compactMap(\.self).joined(separator: " · "))
  }

  /// The members of a new document for one record.
  ///
  /// - Parameter shift: milliseconds by which it is moved away from another document of the type.
  package static func members(
    _ part: NightscoutPart, identifier: String, shift: Int64, _ writer: NightscoutWriter
  ) -> [String: JSONValue] {
    let date = milliseconds(part.state) + shift
    var part = part
    part.seen = shown(part.state)
    var members = part.seen
    part.seen["created_at"] = .text(NightscoutTime.utcText(date))
    members["identifier"] = .text(identifier)
    members["app"] = .text(NightscoutDocument.app)
    members["eventType"] = .text(eventType(part.state))
    members["date"] = .number(Double(date))
    // Without it, the running site ignores a dose that arrives 15 minutes late in its computation of active insulin.
    members["mills"] = .number(Double(date))
    members["created_at"] = part.seen["created_at"]
    members["utcOffset"] = .number(Double(minutes(part.state)))
    members["enteredBy"] = .text(NightscoutDocument.app)
    members[NightscoutDocument.ownName] = own([part], writer)
    return members
  }

  /// The members of a treatment that act or that people read. A deleted treatment must not have them.
  package static let acting = [
    "insulin", "carbs", "protein", "fat", "absolute", "rate", "percent", "relative", "duration", "glucose",
    "notes",
  ]

  /// The members that make a document inactive.
  package static func cleared(_ document: NightscoutDocument) -> [String: JSONValue] {
    var blank: [String: JSONValue] = [:]
    for name in acting {
      if let value = document[name], value != .null, value != .number(0) { blank[name] = .null }
    }
    return blank
  }

  /// Our member with these parts.
  package static func own(_ parts: [NightscoutPart], _ writer: NightscoutWriter) -> JSONValue {
    .object(writer.members.merging(["parts": .list(parts.map(\.json))]) { $1 })
  }

  /// The parts in a document.
  package static func parts(_ document: NightscoutDocument) -> [NightscoutPart] {
    NightscoutPart.parts(document.own?["parts"])
  }
}
