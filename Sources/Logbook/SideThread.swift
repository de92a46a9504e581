// SPDX-License-Identifier: Apache-2.0

import Dispatch

/// A state that one job at a time works on, on a thread beside the caller's.
///
/// Whoever hands the state over keeps no part of it, and uses objects that are taken out of it only while nothing is begun.
package final class SideThread<State>: @unchecked Sendable {
  // Safe: the state is touched on the queue alone, which does one thing after the other, and what it refers to by those
  // alone who hold to the rule above.
  private var state: State
  private let queue: DispatchQueue

  /// - Parameter name: what debuggers call the thread.
  package init(_ state: State, name: String) {
    self.state = state
    queue = DispatchQueue(label: name)
  }

  /// Begins a job and returns at once. Jobs come in the order in which they were begun.
  package func begin(_ job: @escaping @Sendable (inout State) -> Void) {
    queue.async { [self] in job(&state) }
  }

  /// Waits for the jobs that were begun, then uses what they left.
  package func afterwards<Value>(_ use: (inout State) throws -> Value) rethrows -> Value {
    try queue.sync { try use(&state) }
  }
}
