// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

extension NightscoutRecord {
  /// The revision of its state.
  var revision: String { NightscoutRevision(state, identifier: identifier).text(guid: guid) }

  /// The record for the port.
  var remote: RemoteRecord { RemoteRecord(guid: guid, revision: revision, state: state) }
}
