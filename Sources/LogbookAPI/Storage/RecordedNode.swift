// SPDX-License-Identifier: Apache-2.0

package import Logbook

/// A node with its latest run, as a storage recorded it.
package struct RecordedNode: Sendable {
  /// The number of the node in its logbook.
  package let id: Int64
  private let runNumber: Int64
  private let runID: String
  private let lastSeq: Int64

  /// - Parameter lastSeq: the number of the last change that the node made; 0 without one.
  package init(id: Int64, runNumber: Int64, runID: String, lastSeq: Int64) {
    self.id = id
    self.runNumber = runNumber
    self.runID = runID
    self.lastSeq = lastSeq
  }

  /// Whether a run is the recorded one. False for a later run, which is recorded next.
  ///
  /// - Parameters:
  ///   - position: the number of the last position that the run has seen; 0 without one.
  ///   - hidesOwn: whether the node's own changes are hidden from it. Then the first request of a run must know all of
  ///     them. Otherwise a copy of the node's store made some, or an answer was lost, and the node needs another id to
  ///     see them.
  /// - Throws: `ServiceError.nodeReused` for an earlier run, or another one with this number.
  package func isRecorded(
    _ run: RunStamp, position: Int64, hidesOwn: Bool
  ) throws(ServiceError) -> Bool {
    if runNumber == run.number, runID == run.id { return true }
    guard runNumber < run.number, lastSeq <= position || !hidesOwn else { throw .nodeReused }
    return false
  }
}
