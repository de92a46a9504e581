// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Writes readings as data points of Open mHealth with bodies of `omh:blood-glucose`, in one JSON array. The
/// header has all parts of the identity in the member `glucoport`.
package struct OpenMHealthWriter: ReadingDocumentWriter {
  /// The reason why an export leaves out a reading: the schema cannot represent it.
  package enum Omission: ReadingOmission {
    /// The reading is a ketone value or control solution.
    case otherSubstance
    /// The reading is LO or HI.
    case beyondRange
    case withdrawn

    /// The name of a left-out reading, in the singular.
    package var noun: String {
      switch self {
      case .otherSubstance: "ketone or control-solution reading"
      case .beyondRange: "LO or HI reading"
      case .withdrawn: "hidden reading"
      }
    }
  }

  private var isFirst = true
  private var identity = GlucoportJSONLine()

  package init() {}

  /// The text before the first data point.
  package var header: String { "[" }
  /// The text after the last data point.
  package var footer: String { "\n]\n" }

  /// The reason why a reading is left out; nil if it is written.
  package static func omission(of reading: GlucoportReading) -> Omission? {
    if reading.kind == .ketone || reading.marks.contains(.controlSolution) { return .otherSubstance }
    if reading.isWithdrawn { return .withdrawn }
    return reading.measurement.quantity == nil ? .beyondRange : nil
  }

  /// Appends a reading that is not left out.
  package mutating func append(_ item: GlucoportReading, to out: inout [UInt8]) {
    guard let quantity = item.measurement.quantity else { return }
    out.append(contentsOf: (isFirst ? "\n" : ",\n").utf8)
    isFirst = false
    let time = item.deviceTime.zonedText(item.placement)
    out.append(contentsOf: #"{"header":{\#(Self.header(item, time)),"glucoport":"#.utf8)
    identity.begin()
    GlucoportItem.reading(item).write(inBothUnits: false, to: &identity)
    out.append(contentsOf: identity.bytes)
    out.append(contentsOf: "}},".utf8)
    out.append(contentsOf: #""body":{\#(Self.body(item, quantity, time))}}"#.utf8)
  }

  private static func header(_ item: GlucoportReading, _ time: String) -> String {
    let identity = ReadingIdentity(
      device: item.device, kind: item.kind, positionKind: item.positionKind, position: item.position,
      valueBucket: item.valueBucket, occurrence: item.occurrence)
    let source = [item.device.vendor, item.device.model].filter { !$0.isEmpty }.joined(separator: " ")
    let modality = item.marks.contains(.manual) ? "self-reported" : "sensed"
    return #""id":"\#(identity.uuid)","creation_date_time":"\#(time)","#
      + #""schema_id":{"namespace":"omh","name":"blood-glucose","version":"4.0"},"#
      + #""acquisition_provenance":{"source_name":\#(jsonText(source.isEmpty ? item.device.format : source)),"#
      + #""source_creation_date_time":"\#(time)","modality":"\#(modality)"}"#
  }

  private static func body(_ item: GlucoportReading, _ quantity: Quantity, _ time: String) -> String {
    let source = item.kind == .smbg ? "capillary blood" : "interstitial fluid"
    var members = [
      #""blood_glucose":{"value":\#(plainNumber(quantity.number)),"unit":"\#(quantity.unit.name)"}"#,
      #""effective_time_frame":{"date_time":"\#(time)"}"#, #""specimen_source":"\#(source)""#,
    ]
    let meals: [(mark: ReadingMarks, word: String)] = [
      (.fasting, "fasting"), (.beforeMeal, "before meal"), (.afterMeal, "after meal"),
    ]
    if let word = meals.first(where: { item.marks.contains($0.mark) })?.word {
      members.append(#""temporal_relationship_to_meal":"\#(word)""#)
    }
    if item.marks.contains(.bedtime) {
      members.append(#""temporal_relationship_to_sleep":"before sleeping""#)
    }
    return members.joined(separator: ",")
  }
}
