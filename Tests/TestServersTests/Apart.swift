// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs blocking work on a separate thread. Swift has only one thread for tasks per processor, so blocking
/// work in a task would stop other tests.
enum Apart {
  static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result(catching: work)) }.start()
    }
  }
}
