// SPDX-License-Identifier: Apache-2.0

public import Logbook

extension StoredReading {
  /// What makes it the reading it is, in any store.
  public var identity: ReadingIdentity {
    ReadingIdentity(
      device: device, kind: kind, axis: axis, position: position, level: level, occurrence: occurrence)
  }
}
