// SPDX-License-Identifier: Apache-2.0

/// What a service reports about the logbook behind a login.
public struct RemoteLogbook: Hashable, Sendable {
  /// The logbook's id, a UUID that no other logbook has.
  public var id: String
  /// The name for people.
  public var name: String
  /// Whether this login may change it.
  public var isWritable: Bool
  /// The maximum number of readings in one request.
  public var maxReadings: Int
  /// The maximum number of records in one request.
  public var maxRecords: Int
  /// What the login lacks of what an upload needs, in the service's own words; empty where nothing is missing or known.
  public var missingPermissions: [String]
  /// The service's latest position.
  public var position: String?
  /// The service's clock in UTC seconds; nil where it has none.
  public var time: Int64?

  /// A logbook behind a login.
  public init(
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
