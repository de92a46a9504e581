// SPDX-License-Identifier: Apache-2.0

import Testing

/// Where the tests of a check start, in a file with a name that SwiftPM looks for. Without it, SwiftPM writes one that also
/// starts tests of XCTest, for which it needs an index of all tests: a tenth of the time of compiling them.
@main
struct TestStart {
  static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
