// SPDX-License-Identifier: Apache-2.0

/// A service's report about the logbook of a login.
package struct RemoteLogbook: Hashable, Sendable {
  /// The logbook's id, a UUID that no other logbook has.
  package var id: String
  /// The name for people.
  package var name: String
  /// Whether this login may change the logbook.
  package var isWritable: Bool
  /// The maximum number of readings in one request.
  package var maxReadings: Int
  /// The maximum number of records in one request.
  package var maxRecords: Int
  /// Permissions for an upload that the login lacks, in the service's words; empty if none is missing or they are
  /// unknown.
  package var missingPermissions: [String]
  /// The service's latest position.
  package var position: String?
  /// The service's clock in UTC seconds; nil if it has none.
  package var time: Int64?

  /// The logbook of a login.
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
