// SPDX-License-Identifier: Apache-2.0

/// The help of a command below its abstract: an optional explanation, and two command lines to copy.
func helpText(_ explanation: String = "", examples first: String, _ second: String) -> String {
  let examples = ["Examples:", "  " + first, "  " + second].joined(separator: "\n")
  return explanation.isEmpty ? examples : explanation + "\n\n" + examples
}
