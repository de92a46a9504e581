// SPDX-License-Identifier: Apache-2.0

import Logbook

/// Who wrote what is ours in a document last, so that a run knows its own writes when they come back.
struct NightscoutWriter: Hashable, Sendable {
  let node: String
  let run: String

  init(_ run: RunStamp) {
    node = run.node
    self.run = run.id
  }

  init?(_ own: JSONValue?) {
    guard let node = own?["node"]?.text, let run = own?["run"]?.text else { return nil }
    self.node = node
    self.run = run
  }

  var members: [String: JSONValue] { ["node": .text(node), "run": .text(run)] }
}
