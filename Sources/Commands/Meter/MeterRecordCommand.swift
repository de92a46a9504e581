// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Meters

/// `glucoport meter record`: saves every exchange of one reading of a meter.
struct MeterRecordCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Read a meter and save every exchange as a transcript.",
    discussion: helpText(
      """
      Nothing is stored. The transcript of a failed session is kept, because it shows why it \
      failed. A transcript contains the serial number and everything that the meter \
      measured.
      """,
      examples: "glucoport meter record session.transcript",
      "glucoport meter record --anonymise session.transcript"))

  @OptionGroup var meterOptions: MeterOptions

  @Argument(help: "The new file to write.")
  var file: PathArgument

  @Flag(help: "Replace serial number and values, if the driver can.")
  var anonymise = false

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func run() throws {
    Host.keepFilesPrivate()
    let output = Output()
    try ProtectedFiles(store: nil).refuse(file.path)
    let recording = TranscriptRecording(to: file.path, isAnonymous: anonymise)
    let progress = ProgressMeter(output, isQuiet: quiet)
    let result = Result {
      // A driver may list a model's ids although it cannot read it. A person who names the driver wants to
      // try.
      try MeterOpener(meterOptions).perform(
        allowsObstacle: meterOptions.driver != nil, wrap: recording.begin
      ) { meter, connection in
        recording.check(connection)
        connection.onProgress = { progress.show(MeterProgress.text(meter.place, $0, $1)) }
        return try meter.driver.init().read(connection)
      }
    }
    progress.clear()
    try recording.finish()
    try show(result, recording.transcript, output)
  }

  private func show(
    _ result: Result<MeterContents, any Error>, _ transcript: Transcript?, _ output: Output
  ) throws {
    let exchanges = counted(transcript?.steps.count ?? 0, "exchange")
    switch result {
    case .success(let contents):
      if !quiet {
        output.line(
          "\(displayed(file.path)): \(exchanges), \(counted(contents.readings.count, "reading"))")
        if !anonymise {
          output.line("  it contains the serial number and all values; share it only with people you trust")
        }
      }
      try output.finish()
    case .failure(let error):
      if transcript != nil {
        output.message(
          "glucoport: \(displayed(file.path)) contains \(exchanges) before the failure")
      }
      throw error
    }
  }
}

/// The progress of reading a meter.
enum MeterProgress {
  static func text(_ name: String, _ done: Int, _ total: Int?) -> String {
    "\(displayed(name)): \(grouped(done))\(total.map { " of \(grouped($0))" } ?? "")"
  }
}
