// SPDX-License-Identifier: Apache-2.0

/// What a service reports about the logbook behind a login.
package struct RemoteLogbook: Hashable, Sendable {
  /// The logbook's id, a UUID that no other logbook has.
  package var id: String
  /// The name for people.
  package var name: String
  /// Whether this login may change it.
  package var isWritable: Bool
  /// The maximum number of readings in one request.
  package var maxReadings: Int
  /// The maximum number of records in one request.
  package var maxRecords: Int
  /// What the login lacks of what an upload needs, in the service's own words; empty where nothing is missing or known.
  package var missingPermissions: [String]
  /// The service's latest position.
  package var position: String?
  /// The service's clock in UTC seconds; nil where it has none.
  package var time: Int64?

  /// A logbook behind a login.
  package init(
    id: String, name: String, isWritable: Bool, maxReadings: Int, maxRecords: Int,
    missingPermissions: [String] = [], position: String? = nil, time: Int64? = nil
  ) {
    self.id = id
    self.name = name
    self.isWritable = isWritable
    self.maxReadings = maxReadings
    self.maxRecords = maxRecords
    self.missingPermissions = missingPermissions
    self.position = position
    self.time = time
  }
}
