// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// Who wrote what is ours in a document last, so that a run knows its own writes when they come back.
package struct NightscoutWriter: Hashable, Sendable {
  /// The node's id.
  package let node: String
  /// The run's id.
  package let run: String

  init(node: String, run: String) { (self.node, self.run) = (node, run) }

  /// The writer that a run is.
  package init(_ run: RunStamp) {
    self.init(node: run.node, run: run.id)
  }

  /// The last writer of our member; nil for what is none.
  package init?(_ own: JSONValue?) {
    guard let node = own?["node"]?.text, let run = own?["run"]?.text else { return nil }
    self.init(node: node, run: run)
  }

  var members: [String: JSONValue] { ["node": .text(node), "run": .text(run)] }
}
