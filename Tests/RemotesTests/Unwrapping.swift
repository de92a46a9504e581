// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

@testable import Remotes

extension RecordVerdict {
  /// The revision of an accepted change; nil for any other verdict.
  var acceptedRevision: String? { if case .accepted(let revision) = self { revision } else { nil } }
}

extension JSONValue {
  /// The members of an object; nil for anything else.
  var members: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}
