// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// What a document of a site holds.
public struct NightscoutContents {
  /// The reading, and what took it.
  public var reading: (Reading, Device)?
  /// The records, tombstones, too.
  public var records: [NightscoutRecord] = []
  /// Why it, or parts of it, are not taken.
  public var rejections: [String] = []
}

extension NightscoutDocument {
  /// What it holds as a document of this collection.
  public func contents(of collection: NightscoutCollection, _ zone: NightscoutZone) -> NightscoutContents {
    collection == .entries ? NightscoutEntry.contents(self, zone) : NightscoutTreatment.contents(self, zone)
  }
}
