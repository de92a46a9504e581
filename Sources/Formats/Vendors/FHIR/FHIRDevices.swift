// SPDX-License-Identifier: Apache-2.0

import Logbook
import Nightscout

/// The Device resources of an input, by the references to them in Observations.
struct FHIRDevices {
  /// The maximum number of devices to keep, more than any export has. References to further devices are not
  /// resolved.
  private static let maxDevices = 10_000
  private static let maxReference = 512
  /// The longest name or serial number in scalars.
  private static let maxName = 100

  private var devices: [String: Device] = [:]
  /// For each reference to a DeviceMetric, the reference to its Device.
  private var sources: [String: String] = [:]

  /// Adds a Device or a DeviceMetric.
  ///
  /// - Parameter url: the `fullUrl` of the entry; empty without one.
  mutating func add(_ resource: JSONValue, url: String) {
    guard devices.count + sources.count < Self.maxDevices, let type = resource["resourceType"]?.text else {
      return
    }
    let names = [url, resource["id"]?.text.map { "\(type)/\($0)" } ?? ""].filter {
      !$0.isEmpty && $0.utf8.count <= Self.maxReference
    }
    for name in names {
      if type == "DeviceMetric" {
        sources[name] = resource["source"]?["reference"]?.text
      } else {
        devices[name] = Self.device(resource)
      }
    }
  }

  /// The device of an Observation: a Device that the Observation contains, or one that was added before.
  /// Without a reference, the displayed text is the model. An unknown vendor or model is empty.
  ///
  /// - Returns: nil for a reference to an unknown Device. If the readings were stored without it, an input
  ///   with the Device would give them another identity.
  func device(of observation: JSONValue) -> Device? {
    guard let reference = observation["device"] else { return Self.unnamed }
    guard let target = reference["reference"]?.text else {
      return Device(vendor: "", model: Self.bounded(reference["display"]?.text), format: FHIRFormat.id)
    }
    if target.hasPrefix("#") {
      return Self.contained(String(target.dropFirst()), in: observation).map(Self.device)
    }
    return device(target) ?? found(target, in: sources).flatMap(device)
  }

  private func device(_ reference: String) -> Device? { found(reference, in: devices) }

  /// The value for a reference. The reference may be a full URL or relative to a server.
  private func found<Value>(_ reference: String, in table: [String: Value]) -> Value? {
    guard reference.utf8.count <= Self.maxReference else { return nil }
    if let known = table[reference] { return known }
    let parts = reference.split(separator: "/")
    return parts.count > 2 ? table[parts.suffix(2).joined(separator: "/")] : nil
  }

  private static func contained(_ id: String, in observation: JSONValue) -> JSONValue? {
    observation["contained"]?.items?.first {
      $0["resourceType"]?.text == "Device" && $0["id"]?.text == id
    }
  }

  private static let unnamed = Device(vendor: "", model: "", format: FHIRFormat.id)

  /// The vendor, model and serial number that a Device states. Its name is in `deviceName` in R4 and in
  /// `name` in R5.
  private static func device(_ resource: JSONValue) -> Device {
    let names = (resource["deviceName"]?.items ?? []) + (resource["name"]?.items ?? [])
    let name = names.first { $0["type"]?.text == "user-friendly-name" } ?? names.first
    let type = resource["type"]?.items?.first ?? resource["type"]
    let texts = [name?["name"], name?["value"], resource["modelNumber"], type?["text"]]
    let model = texts.lazy.map { bounded($0?.text) }.first { !$0.isEmpty } ?? ""
    return Device(
      vendor: bounded(resource["manufacturer"]?.text), model: model,
      serial: bounded(resource["serialNumber"]?.text), format: FHIRFormat.id)
  }

  private static func bounded(_ text: String?) -> String {
    let scalars = (text ?? "").unicodeScalars.prefix(maxName).filter { $0.value >= 0x20 && $0.value != 0x7F }
    let short = String(String.UnicodeScalarView(scalars))
    return Field.withText(short) { $0.trimmed.text }
  }
}
