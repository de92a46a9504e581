// SPDX-License-Identifier: Apache-2.0

/// What a run takes from its host.
package struct UploadEnvironment: Sendable {
  /// The host's clock in UTC seconds.
  package var now: @Sendable () -> Int64
  /// A random UUID, in lower case.
  package var makeID: @Sendable () -> String
  /// A random number from 0 up to, not including, 1.
  package var jitter: @Sendable () -> Double
  /// Whether the time that the run was given is over.
  package var isOutOfTime: @Sendable () -> Bool
  /// Whether as many bytes went over the wire as the run may send and fetch.
  package var isOutOfBytes: @Sendable () -> Bool

  /// A host with these ways.
  package init(
    now: @escaping @Sendable () -> Int64, makeID: @escaping @Sendable () -> String,
    jitter: @escaping @Sendable () -> Double, isOutOfTime: @escaping @Sendable () -> Bool = { false },
    isOutOfBytes: @escaping @Sendable () -> Bool = { false }
  ) {
    self.now = now
    self.makeID = makeID
    self.jitter = jitter
    self.isOutOfTime = isOutOfTime
    self.isOutOfBytes = isOutOfBytes
  }
}
