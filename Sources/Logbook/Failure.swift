// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The category of a failure by what a caller can do about it. `Commands` maps each category to one exit
/// status.
public enum FailureCategory: String, Sendable {
  /// The input is not what it claims to be.
  case badInput
  /// A file or store does not exist.
  case missingInput
  /// A meter or remote cannot be reached.
  case unavailable
  /// The operation may succeed if it is tried again later.
  case temporary
  /// A meter or remote broke its protocol.
  case protocolViolation
  /// The system or a remote does not permit the operation.
  case permission
  /// Configuration is wrong, or the store is from a newer program.
  case configuration
  /// A file or folder cannot be created.
  case cannotCreate
  /// Reading or writing failed: a full disk, a broken device.
  case inputOutput
  /// The command line is wrong.
  case usage
}

extension FailureCategory {
  /// The category for an error of the system when a file cannot be opened or read.
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

/// Repeats a system call for as long as signals interrupt it (`EINTR`).
///
/// - Returns: the result of the call; if it is negative, `errno` has the reason.
package func uninterrupted<Count: SignedInteger>(_ call: () -> Count) -> Count {
  while true {
    let count = call()
    if count >= 0 || errno != EINTR { return count }
  }
}

/// Writes the entries of a folder to disk (`fsync`). Without this, a created or renamed file could lose its
/// name in a power failure.
///
/// - Throws: `Failure` of category `permission` or `inputOutput`.
package func synchroniseFolder(_ path: String) throws(Failure) {
  let descriptor = open(PathText.bytes(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  guard descriptor >= 0 else { throw Failure(systemCallOn: path, "the folder cannot be opened") }
  defer { close(descriptor) }
  // Some network file systems do not support this call (`EINVAL`), and they store the names of files reliably
  // without it.
  guard fsync(descriptor) == 0 || errno == EINVAL else {
    throw Failure(systemCallOn: path, "the folder cannot be written to disk")
  }
}

/// A failure with a message for people: what was attempted, on what, why it failed, and what to do.
public struct Failure: Error, CustomStringConvertible, Sendable {
  /// The category, from which `Commands` gets the exit status.
  public let category: FailureCategory
  /// The sentence for people.
  public let message: String
  /// The path of the store that caused the failure, or an empty text for a temporary copy. Nil if a store is
  /// not the cause.
  package private(set) var store: String?

  /// A failure of this category with its sentence.
  public init(_ category: FailureCategory, _ message: String) {
    self.category = category
    self.message = message
  }

  /// The same failure, with the store at `path` as its cause.
  package func of(store path: String) -> Failure {
    var failure = self
    failure.store = path
    return failure
  }

  /// The sentence for people.
  public var description: String { message }
}

extension Failure {
  /// The failure of a system call on a file, with the reason in `errno`. Without the right to do it, the
  /// category is `permission`.
  package init(systemCallOn path: String, _ what: String, _ category: FailureCategory = .inputOutput) {
    let reason = errno
    self.init(
      reason == EACCES || reason == EPERM ? .permission : category,
      "\(path): \(what): \(String(cString: strerror(reason)))")
  }
}
