// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The zone for showing documents without an offset.
package struct NightscoutZone: Sendable {
  /// The zone of the logbook; nil for UTC.
  package let zone: LogbookZone?

  package init(zone: LogbookZone?) { self.zone = zone }

  /// The offset in force at an instant in UTC seconds.
  func offset(atUTC seconds: Int64) -> Int32 { zone?.offset(atUTC: seconds) ?? 0 }

  /// A state whose derived offset is computed with this zone, since a site knows only instants.
  ///
  /// - Parameter guid: the record; nil if only the logbook's zone applies.
  package func placed(_ state: RecordState, of guid: String? = nil) -> RecordState {
    guard state.placement.source.isDerived else { return state }
    var (state, zone) = (state, guid.flatMap { self.zone?.zone(ofRecord: $0) } ?? zone)
    state.placement = zone?.place(state.deviceTime) ?? Placement(utcOffset: 0, source: .zone)
    return state
  }

  /// The placement of a shown time.
  func place(_ shown: ShownTime) -> Placement {
    if let offset = shown.utcOffset { return Placement(utcOffset: offset, source: .stated) }
    var zone = zone
    return zone?.place(shown.deviceTime) ?? Placement(utcOffset: 0, source: .zone)
  }
}
