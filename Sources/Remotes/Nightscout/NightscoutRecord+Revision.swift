// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

extension NightscoutRecord {
  /// The mark of its state.
  var revision: String { NightscoutRevision(state, identifier: identifier).text(guid: guid) }

  /// The record as the port gives it.
  var remote: RemoteRecord { RemoteRecord(guid: guid, revision: revision, state: state) }
}
