// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandParts
import Logbook
import LogbookStore

/// `glucoport reading`: commands that hide readings and show them again.
struct ReadingCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    "reading", "Hide readings that do not count, and show them again.",
    """
    A reading never changes and is never deleted. Hidden readings are left out of lists, \
    exports and statistics, here and with the next upload on all other stores of the logbook.
    """,
    examples: "glucoport reading hide r1.smbg.time1772352960.67.0 --reason 'sugar on the finger'",
    "glucoport reading restore r1.smbg.time1772352960.67.0",
    subcommands: [ReadingHideCommand.self, ReadingRestoreCommand.self])
}

/// `glucoport reading hide`: hides one reading, or the readings of a device.
struct ReadingHideCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "hide",
    "Hide a reading, or the readings of a device, those of later imports, too.",
    examples: "glucoport reading hide r1.smbg.time1772352960.67.0 --reason 'sugar on the finger'",
    "glucoport reading hide --device SN-0001 --since 2026-05-01 --until 2026-05-08")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var choice: ReadingChoice

  @Option(help: ArgumentHelp("Why, for people.", valueName: "text"))
  var reason = ""

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.editor)
    let editor = WithdrawalEditor(store, at: Host.now())
    var line = ""
    if let id = choice.id {
      let isChanged = try editor.set(choice.reading(id, store), isHidden: true, reason: reason)
      line = isChanged ? "hidden: \(id)" : "unchanged: \(id) is hidden already"
    } else if let name = choice.device {
      let (since, until) = try choice.range(store)
      let hidden = try editor.hide(
        choice.device(name, store), since: since, until: until, reason: reason, guid: Host.randomUUID())
      line = "hidden: \(counted(hidden, "reading")) of \(displayed(name)), and those that come later"
    }
    if !choice.quiet { output.line(line) }
  }
}

/// `glucoport reading restore`: shows one reading, whatever hides it. For a device, it ends the rules that
/// hide its readings.
struct ReadingRestoreCommand: PrintingCommand {
  static let actionClass = ActionClass.deferrable
  static let configuration = CommandConfiguration(
    "restore", "Show a hidden reading again, or the hidden readings of a device.",
    "With --device, readings stay hidden that are hidden by themselves or by 'glucoport undo'.",
    examples: "glucoport reading restore r1.smbg.time1772352960.67.0",
    "glucoport reading restore --device SN-0001")

  @OptionGroup var storeOptions: StoreOptions
  @OptionGroup var choice: ReadingChoice

  func run(_ output: Output) throws {
    let store = try storeOptions.open(.editor)
    let editor = WithdrawalEditor(store, at: Host.now())
    var line = ""
    if let id = choice.id {
      let isChanged = try editor.set(choice.reading(id, store), isHidden: false, reason: "")
      line = isChanged ? "restored: \(id)" : "unchanged: \(id) is not hidden"
    } else if let name = choice.device {
      let (since, until) = try choice.range(store)
      let restored = try editor.restore(choice.device(name, store), since: since, until: until)
      guard restored.rules > 0 else {
        throw Failure(
          .missingInput,
          "\(displayed(name)): no such 'glucoport reading hide --device' holds; 'glucoport list --hidden' shows what is hidden"
        )
      }
      line = "restored: \(counted(restored.readings, "reading")) of \(displayed(name))"
    }
    if !choice.quiet { output.line(line) }
  }
}

/// The arguments that select readings: the id of one reading, or a device and a period.
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

  /// The period in shown times. The zone is needed only for times relative to the present, such as `7d`.
  func range(_ store: Store) throws -> (since: DeviceTime?, until: DeviceTime?) {
    let zone = try store.timezone()
    let range = [since, until].map { $0?.placedTime(zone: zone, now: Host.now()).time }
    if let since = range[0], let until = range[1], until <= since {
      throw Failure(.usage, "--until is not after --since, so no reading is between them")
    }
    return (range[0], range[1])
  }

  /// - Throws: `Failure` of category `missingInput` if no reading has this id.
  func reading(_ id: String, _ store: Store) throws -> StoredReading {
    guard let reading = try store.reading(at: id) else {
      throw Failure(
        .missingInput, "\(displayed(id)): no such reading; 'glucoport list --long' shows the ids")
    }
    return reading
  }

  /// The device that has this name or serial number.
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
