// SPDX-License-Identifier: Apache-2.0

package import Logbook

extension StoredReading {
  /// What makes it the reading it is, in any store.
  package var identity: ReadingIdentity {
    ReadingIdentity(
      device: device, kind: kind, positionKind: positionKind, position: position, valueBucket: valueBucket,
      occurrence: occurrence)
  }
}
