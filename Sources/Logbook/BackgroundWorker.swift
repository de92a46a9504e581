// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A value of type `State`. Jobs use it one at a time, on another thread than the caller's.
///
/// A caller that passes a value to `init` keeps no reference to any part of it. It may use an object that a
/// job or `wait` returned from the value, but only while no job is pending.
package final class BackgroundWorker<State>: @unchecked Sendable {
  // `@unchecked` is safe: the state is only used on the queue, which runs one job at a time. Callers use
  // objects of the state only while no job is pending, as the rule above demands.
  private var state: State
  private let queue: DispatchQueue

  /// - Parameter name: the name of the thread in debuggers.
  package init(_ state: State, name: String) {
    self.state = state
    queue = DispatchQueue(label: name)
  }

  /// Starts a job and returns at once. Jobs run in the order in which they were started.
  package func begin(_ job: @escaping @Sendable (inout State) -> Void) {
    queue.async { [self] in job(&state) }
  }

  /// Runs a job, and waits for its result without blocking a thread.
  ///
  /// - Throws: errors of the job.
  package func run<Value: Sendable>(
    _ job: @escaping @Sendable (inout State) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      begin { state in continuation.resume(with: Result { try job(&state) }) }
    }
  }

  /// Waits until the started jobs have ended, then passes the state to `use` on the caller's thread.
  package func wait<Value>(_ use: (inout State) throws -> Value) rethrows -> Value {
    try queue.sync { try use(&state) }
  }
}
