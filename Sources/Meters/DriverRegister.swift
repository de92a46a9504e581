// SPDX-License-Identifier: Apache-2.0

public import Logbook

/// All drivers. If several drivers know a device, they are tried in the order of the list.
public enum DriverRegister {
  /// The drivers. A driver that is not in this list is not used.
  public static let all: [any MeterDriver.Type] = [
    ContourDriver.self,
    FreeStyleLibreDriver.self,
    FreeStyleNeoDriver.self,
    FreeStyleInsuLinxDriver.self,
    OneTouchVerioDriver.self,
    OneTouchVerioIQDriver.self,
    OneTouchUltraEasyDriver.self,
    OneTouchUltra2Driver.self,
    DexcomG4Driver.self,
    AccuChekGuideDriver.self,
    AccuChekMobileDriver.self,
    TaiDocDriver.self,
    TrueMetrixDriver.self,
    GlucoMenDriver.self,
    BluetoothGlucoseDriver.self,
  ]

  /// The driver that `--driver` and the format of an import name by this id; nil for an unknown id.
  public static func driver(_ id: String) -> (any MeterDriver.Type)? { all.first { $0.id == id } }
}
