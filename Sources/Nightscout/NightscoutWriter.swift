// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// The last writer of our data in a document, so that a run recognises its own writes.
package struct NightscoutWriter: Hashable, Sendable {
  package let node: String
  package let run: String

  init(node: String, run: String) { (self.node, self.run) = (node, run) }

  /// The run as a writer.
  package init(_ run: RunStamp) {
    self.init(node: run.node, run: run.id)
  }

  /// The last writer in our member; nil for an invalid one.
  package init?(_ own: JSONValue?) {
    guard let node = own?["node"]?.text, let run = own?["run"]?.text else { return nil }
    self.init(node: node, run: run)
  }

  var members: [String: JSONValue] { ["node": .text(node), "run": .text(run)] }
}
