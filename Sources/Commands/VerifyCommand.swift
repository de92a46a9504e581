// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore
import Remotes
import Sync

/// `glucoport verify`: compares the store with the server.
struct VerifyCommand: AsyncParsableCommand, ClassifiedCommand {
  static let actionClass = ActionClass.immediate
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compare the store with the server.",
    discussion: helpText(
      """
      Lists every reading and record that differs. Nothing is changed on either side without \
      --fix.
      """,
      examples: "glucoport verify",
      "glucoport verify --fix"))

  @OptionGroup var storeOptions: StoreOptions

  @Flag(
    help: "Queue again what the remote lacks or was changed here, and download what is missing or different.")
  var fix = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(help: "Print nothing if there are no differences.")
  var quiet = false

  func run() async throws {
    let output = Output()
    let store = try storeOptions.open(fix ? .sync : .reader)
    _ = try store.requireRemote()
    guard let lock = try UploadLock.take(storePath: store.path) else {
      throw Failure(.temporary, "\(store.path): an upload of this store is running; try again later")
    }
    defer { lock.release() }
    // Read after taking the lock: the remote may have changed meanwhile.
    let setting = try store.requireRemote()
    try setting.refusePurged()
    let meter = ProgressMeter(output, isQuiet: quiet || json)
    defer { meter.clear() }
    let summary = try await setting.access.ask(in: store.timezone()) { remote in
      guard let session = VerifySession(store, remote, named: setting.access.url) else {
        throw Failure(
          .configuration,
          "\(setting.access.url): this kind of server has no digests, so it cannot be compared with a store"
        )
      }
      meter.show("comparing…")
      session.onProgress = { meter.show("compared \($0) of \(counted($1, "reading", "readings"))") }
      try await session.compare()
      if fix { try LateFailure.marking { try session.fix(at: Host.now()) } }
      return session.summary
    }
    meter.clear()
    try LateFailure.marking { try show(summary, output) }
  }

  private func show(_ summary: VerifySummary, _ output: Output) throws {
    if json {
      try output.json(VerifyObject(summary, isFixed: fix))
    } else if !quiet || summary.differences > 0 {
      for line in VerifyText.lines(summary, isFixed: fix) { output.line(line) }
    }
    try output.finish()
    try ExitStatus.of(summary, isFixed: fix).end()
  }
}
