// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Work that waits, on its own thread: the threads of tasks are as few as the processors.
enum Apart {
  static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result(catching: work)) }.start()
    }
  }
}
