// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook

/// A file on the command line. Its name need not be UTF-8; shells complete it.
struct PathArgument: ExpressibleByArgument {
  static var defaultCompletionKind: CompletionKind { .file() }

  /// The path in the form of `PathText`.
  let path: String

  init(argument: String) { path = argument }
}
