// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The kind of a failure, by what a caller can do about it. `Commands` maps each to one exit status.
public enum FailureCategory: String, Sendable {
  /// The input is not what it claims to be.
  case badInput
  /// A file or store does not exist.
  case missingInput
  /// A meter or remote cannot be reached.
  case unavailable
  /// Try again later.
  case temporary
  /// A meter or remote broke its protocol.
  case protocolViolation
  /// The system or a remote does not permit it.
  case permission
  /// Configuration is wrong, or the store is from a newer program.
  case configuration
  /// Something cannot be created.
  case cannotCreate
  /// Reading or writing failed: a full disk, a broken device.
  case inputOutput
  /// The command line is wrong.
  case usage
}

extension FailureCategory {
  /// The category of the system's error when it does not open or read a file.
  ///
  /// - Parameter code: the value of `errno`.
  package init(unreadableFile code: Int32) {
    switch code {
    case ENOENT, ENOTDIR: self = .missingInput
    case EACCES, EPERM: self = .permission
    default: self = .inputOutput
    }
  }
}

/// Repeats a call of the system while signals interrupt it.
///
/// - Returns: what the call returned; if that is negative, `errno` has the reason.
package func uninterrupted<Count: SignedInteger>(_ call: () -> Count) -> Count {
  while true {
    let count = call()
    if count >= 0 || errno != EINTR { return count }
  }
}

/// A failure with a message for people: what was attempted, with what, why it failed, and what to do.
public struct Failure: Error, CustomStringConvertible, Sendable {
  /// What a caller can do about it.
  public let category: FailureCategory
  /// The sentence for people.
  public let message: String

  /// A failure of this category with its sentence.
  public init(_ category: FailureCategory, _ message: String) {
    self.category = category
    self.message = message
  }

  /// The sentence for people.
  public var description: String { message }
}
