// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Runs waiting work on a separate thread, since there are only as many threads for tasks as processors.
enum Apart {
  static func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result(catching: work)) }.start()
    }
  }
}
