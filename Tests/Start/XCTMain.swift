// SPDX-License-Identifier: Apache-2.0

import Testing

/// The entry point of the test program, in a file with a name that SwiftPM looks for. Without this file,
/// SwiftPM generates an entry point that also starts tests of XCTest. For them it needs an index of all
/// tests, which costs a tenth of the time of compiling them.
@main
struct TestStart {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
