// SPDX-License-Identifier: Apache-2.0

/// A record from an import, before the store knows whether it is new.
public struct ImportedRecord: Sendable {
  /// The kind of record.
  public var kind: RecordKind
  /// The shown time of the entry.
  public var deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  public var placement: Placement
  /// The content.
  public var fields: RecordFields
  /// The export's own id of this record; empty when it has none.
  public var sourceID: String
  /// The device or account of the row, which is part of the identity if there is no source id.
  public var owner: String
  /// The program or device that wrote it, if the export names one. It is part of the provenance; see `Provenance.source`.
  public var source: String
  /// The `sourceID` of the record to which this one belongs; empty for an entry.
  public var entrySourceID: String
  /// The identity that a glucoport export states.
  public var guid: String?
  /// The identity of the entry to which it belongs, if the export states it.
  public var entryGuid: String?
  /// The origin that an export with identities states; nil if the export does not know it.
  public var provenance: Provenance?
  /// Whether it is a tombstone.
  public var deleted: Bool
  /// Its line of the input, from 1.
  public var line: Int64

  /// A record of an export without identities.
  public init(
    kind: RecordKind, at deviceTime: DeviceTime, placement: Placement, fields: RecordFields,
    sourceID: String = "", owner: String = "", source: String = "", line: Int64
  ) {
    self.kind = kind
    self.deviceTime = deviceTime
    self.placement = placement
    self.fields = fields
    self.sourceID = sourceID
    self.owner = owner
    self.source = source
    self.entrySourceID = ""
    self.guid = nil
    self.entryGuid = nil
    self.provenance = nil
    self.deleted = false
    self.line = line
  }
}
