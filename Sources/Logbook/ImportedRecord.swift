// SPDX-License-Identifier: Apache-2.0

/// A record as an import brings it, before the store knows whether it is new.
public struct ImportedRecord: Sendable {
  /// What the record is about.
  public var kind: RecordKind
  /// The shown time of the entry.
  public var deviceTime: DeviceTime
  /// What places the shown time on the UTC line.
  public var placement: Placement
  /// The content.
  public var fields: RecordFields
  /// The export's own id of this record; empty when it has none.
  public var sourceID: String
  /// Device or account to which the row belongs: a part of the identity where there is no source id.
  public var owner: String
  /// The program or device that wrote it, where the export names one: a part of the provenance; see `Provenance.source`.
  public var source: String
  /// The record to which this one belongs, by that one's `sourceID`; empty for an entry.
  public var entrySourceID: String
  /// A glucoport export states the identity itself.
  public var guid: String?
  /// The identity of the entry to which it belongs, where the export states it.
  public var entryGuid: String?
  /// Where it came from, of a record whose identity the export states; nil where the export does not know.
  public var provenance: Provenance?
  /// Whether it is a tombstone.
  public var deleted: Bool
  /// Its line of the input, from 1.
  public var line: Int64

  /// A record of an export that states no identity.
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
