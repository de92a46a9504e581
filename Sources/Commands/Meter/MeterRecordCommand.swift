// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import Meters

/// `glucoport meter record`: saves every exchange of one reading of a meter.
struct MeterRecordCommand: ClassifiedCommand {
  static let actionClass = ActionClass.local
  static let configuration = CommandConfiguration(
    commandName: "record", abstract: "Read a meter and save every exchange as a transcript.",
    discussion: """
      Nothing is stored. The transcript of a talk that fails is kept, too: it tells why. It holds the serial number and \
      all that the meter measured.
      """)

  @OptionGroup var meterOptions: MeterOptions

  @Argument(help: "The file to write; it must not be there yet.")
  var file: PathArgument

  @Flag(help: "Replace serial number and values, where the driver knows how.")
  var anonymise = false

  @Flag(help: "Say nothing on success.")
  var quiet = false

  func run() throws {
    Host.keepFilesPrivate()
    let output = Output()
    let recording = TranscriptRecording(to: file.path, isAnonymous: anonymise)
    let progress = ProgressMeter(output, isQuiet: quiet)
    let result = Result {
      // A driver's own ids may be known and its talk not: then a person who names it wants to find out.
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
    try tell(result, recording.transcript, output)
  }

  private func tell(
    _ result: Result<MeterContents, any Error>, _ transcript: Transcript?, _ output: Output
  ) throws {
    let exchanges = counted(transcript?.steps.count ?? 0, "exchange")
    switch result {
    case .success(let contents):
      if !quiet {
        output.line(
          "\(displayed(file.path)): \(exchanges), \(counted(contents.readings.count, "reading"))")
        if !anonymise {
          output.line("  it holds the serial number and all values: send it to nobody unasked")
        }
      }
      try output.finish()
    case .failure(let error):
      if transcript != nil {
        output.message(
          "glucoport: \(displayed(file.path)) keeps \(exchanges) before the failure")
      }
      throw error
    }
  }
}

/// How far the reading of a meter is.
enum MeterProgress {
  static func text(_ name: String, _ done: Int, _ total: Int?) -> String {
    "\(displayed(name)): \(grouped(done))\(total.map { " of \(grouped($0))" } ?? "")"
  }
}
