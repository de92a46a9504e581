// SPDX-License-Identifier: Apache-2.0

public import Logbook

extension Transcript {
  /// The driver of the session, and a meter that replays it, with the clock of the recording host.
  ///
  /// - Parameter name: the path, for errors.
  /// - Throws: `Failure` of `.badInput` for an unknown driver or model.
  public func replay(named name: String) throws(Failure) -> (
    driver: any MeterDriver.Type, meter: MeterConnection
  ) {
    guard let driver = DriverRegister.driver(driver) else {
      throw Failure(.badInput, "\(name): unknown driver '\(driver)'")
    }
    let model =
      driver.knownModel(vendorID, productID) ?? link.flatMap { driver.model(vendorID, productID, over: $0) }
    guard let model else {
      throw Failure(
        .badInput,
        "\(name): the driver '\(driver.id)' supports no meter with the USB ids "
          + MeterModel.ids(vendorID, productID))
    }
    let transport = ReplayedTransport(self)
    let start = startedAt
    let meter = MeterConnection(transport, model: model) { start + Int64(transport.milliseconds / 1000) }
    meter.elapsed = { .milliseconds(transport.milliseconds) }
    return (driver, meter)
  }
}
