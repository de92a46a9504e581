// SPDX-License-Identifier: Apache-2.0

import Glibc
import Logbook

/// The kernel's information about a device, in files that every user may read.
struct SystemDevice {
  private let device: PluggedDevice

  init(_ device: PluggedDevice) { self.device = device }

  /// The device with all information that the kernel has about it.
  var pluggedDevice: PluggedDevice {
    var described = device
    described.manufacturer = SystemFiles.line(folder + "/manufacturer")
    described.product = SystemFiles.line(folder + "/product")
    described.serial = SystemFiles.line(folder + "/serial")
    let drivers = interfaceFolders.compactMap { SystemFiles.linkName($0 + "/driver") }
    described.kernelDrivers = Array(Set(drivers)).sorted()
    described.terminal = terminalName.map { "/dev/" + $0 }
    described.mayOpenNode = SystemFiles.mayReadAndWrite(device.node)
    described.mayOpenTerminal = described.terminal.map(SystemFiles.mayReadAndWrite) ?? false
    return described
  }

  /// Refuses a device with a mounted disk. Detaching the kernel's driver would damage files that are open on
  /// the disk.
  func refuseMounted() throws(Failure) {
    let mounts = SystemFiles.text("/proc/self/mounts").split(separator: "\n").map { $0.split(separator: " ") }
    for disk in disks {
      let used = mounts.first { $0.count > 1 && $0[0].hasPrefix("/dev/" + disk) }
      guard let used else { continue }
      throw Failure(
        .unavailable,
        "opening the meter: its disk /dev/\(disk) is mounted at \(used[1]); run: umount \(used[1])")
    }
  }

  private var folder: String { "/sys/bus/usb/devices/" + device.port }

  private var interfaceFolders: [String] {
    SystemFiles.names(folder).filter { $0.hasPrefix(device.port + ":") }.sorted().map { folder + "/" + $0 }
  }

  /// The name of the device's serial terminal. For a chip with its own kernel driver, the terminal's folder
  /// is in the folder of the interface. For the communications class, it is in the folder `tty`.
  private var terminalName: String? {
    for interface in interfaceFolders {
      let names = SystemFiles.names(interface).sorted()
      if let name = names.first(where: { $0.hasPrefix("ttyUSB") }) { return name }
      if names.contains("tty"), let name = SystemFiles.names(interface + "/tty").min() { return name }
    }
    return nil
  }

  /// The names of the device's disks. The kernel has them below
  /// `interface/host0/target0:0:0/0:0:0:0/block/sda`.
  private var disks: [String] {
    var folders = interfaceFolders
    for prefix in ["host", "target", "", "block"] {
      folders = folders.flatMap { folder in
        SystemFiles.names(folder).filter { prefix.isEmpty ? $0.contains(":") : $0.hasPrefix(prefix) }
          .map { folder + "/" + $0 }
      }
    }
    return folders.flatMap(SystemFiles.names)
  }
}

/// The small files in which the kernel describes devices. A missing file counts as empty, since a device may
/// lack a name, for example.
private enum SystemFiles {
  private static let maxBytes = 65536

  static func text(_ path: String) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 4096)
    while text.count < maxBytes {
      let count = uninterrupted { read(descriptor, &piece, piece.count) }
      guard count > 0 else { break }
      text += piece[..<count]
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The first line of a file, without the line break; empty if the file cannot be read.
  static func line(_ path: String) -> String {
    String(text(path).prefix { !$0.isNewline })
  }

  static func names(_ folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// The last component of a link's target; nil if there is no link.
  static func linkName(_ path: String) -> String? {
    var target = [UInt8](repeating: 0, count: 1024)
    let count = target.withUnsafeMutableBytes { bytes -> Int in
      guard let start = bytes.baseAddress else { return -1 }
      return readlink(path, start.assumingMemoryBound(to: CChar.self), bytes.count)
    }
    guard count > 0 else { return nil }
    return String(decoding: target[..<count], as: UTF8.self).split(separator: "/").last.map(String.init)
  }

  /// Whether this process may open the file for reading and writing.
  static func mayReadAndWrite(_ path: String) -> Bool { access(path, R_OK | W_OK) == 0 }
}
