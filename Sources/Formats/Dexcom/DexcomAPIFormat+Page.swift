// SPDX-License-Identifier: Apache-2.0

extension DexcomAPIFormat {
  static let page = FormatPage(
    origin: [
      "https://developer.dexcom.com: an app of your own, and its answer in a pipe: curl … | glucoport"
        + " import -"
    ],
    variants: [
      "versions 2 and 3: egvs, calibrations, events"
    ],
    languages: "English only; the members have fixed names",
    reads: [
      "sensor readings, by the transmitter's counter where there is one",
      "calibrations, finger sticks",
      "insulin, carbohydrates, exercise, health events, notes",
    ],
    leaves: [
      "deleted events, which are counted",
      "alerts, data ranges, devices",
      "the trend",
    ])
}
