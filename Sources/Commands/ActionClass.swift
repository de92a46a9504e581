// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// Whether what a command does needs the remote. Every command is in exactly one class.
enum ActionClass: String {
  /// Concerns readings or records: done here at once, whatever the network does, and sent by a later upload.
  case deferrable
  /// Needs the remote now, and changes nothing here when that fails.
  case immediate
  /// Concerns this computer alone.
  case local
}

/// A command that says its class.
protocol ClassifiedCommand: ParsableCommand {
  static var actionClass: ActionClass { get }
}
