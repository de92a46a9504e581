// SPDX-License-Identifier: Apache-2.0

/// The services of the host for a run.
package struct UploadEnvironment: Sendable {
  /// The host's clock in UTC seconds.
  package var now: @Sendable () -> Int64
  /// A random UUID, in lower case.
  package var makeID: @Sendable () -> String
  /// A random number from 0 up to, not including, 1.
  package var jitter: @Sendable () -> Double
  /// Whether the run's time limit has passed.
  package var isOutOfTime: @Sendable () -> Bool
  /// Whether the run has transferred its maximum number of bytes.
  package var isOutOfBytes: @Sendable () -> Bool

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
