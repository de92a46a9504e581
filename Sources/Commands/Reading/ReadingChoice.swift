// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logbook
import LogbookStore

/// The readings for `reading hide` and `reading restore`: one by its id, or those of a device.
struct ReadingChoice: ParsableArguments {
  @Argument(help: "The id of a reading, as 'glucoport list --long' shows it.")
  var id: String?

  @Option(
    help: ArgumentHelp("All readings of this device: its serial number, or its name.", valueName: "device"))
  var device: String?

  @Option(
    help: ArgumentHelp("With --device: only readings shown from this time on.", valueName: "time"),
    transform: TimeArgument.parse)
  var since: TimeArgument?

  @Option(
    help: ArgumentHelp("With --device: only readings shown before this time.", valueName: "time"),
    transform: TimeArgument.parse)
  var until: TimeArgument?

  @Flag(help: "Print nothing on success.")
  var quiet = false

  func validate() throws {
    guard (id == nil) != (device == nil) else {
      throw ValidationError("Name one reading by its id, or a device with --device.")
    }
    if id != nil, since != nil || until != nil {
      throw ValidationError("--since and --until need --device.")
    }
  }

  /// The range in shown times, which are the same in every zone.
  func range(_ store: Store) throws -> (since: DeviceTime?, until: DeviceTime?) {
    let zone = try store.timezone()
    let range = [since, until].map { $0?.placed(zone: zone, now: Host.now()).time }
    if let since = range[0], let until = range[1], until <= since {
      throw Failure(.usage, "--until is not after --since, so no reading is between them")
    }
    return (range[0], range[1])
  }

  /// The reading with the id.
  func reading(_ id: String, _ store: Store) throws -> StoredReading {
    guard let reading = try store.reading(at: id) else {
      throw Failure(
        .missingInput, "\(displayed(id)): no such reading; 'glucoport list --long' shows the ids")
    }
    return reading
  }

  /// The device with the name.
  func device(_ name: String, _ store: Store) throws -> Device {
    let devices = try store.devices(named: name)
    guard let device = devices.first else {
      throw Failure(
        .missingInput, "\(displayed(name)): no such device; 'glucoport list --long' shows the devices")
    }
    guard devices.count == 1 else {
      throw Failure(
        .usage,
        "\(displayed(name)): \(devices.count) devices have this name; use the serial number of one of them")
    }
    return device
  }
}
