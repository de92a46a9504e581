// SPDX-License-Identifier: Apache-2.0

extension LibreDesktopFormat {
  static let page = FormatPage(
    origin: [
      "FreeStyle Libre software for Windows and Mac, with the reader connected: File > Export Data"
    ],
    variants: [
      "tab-separated text with or without the name above",
      "with semicolons (Spanish)",
      "CSV of FreeStyle Libre Pro",
    ],
    languages: "English, German, Spanish",
    reads: [
      "sensor history, scans, finger sticks, ketones by the reader's own number",
      "rapid and long-acting insulin, carbohydrates, food, notes",
    ],
    leaves: [
      "changes of the clock, which are counted",
      "the name of the person",
    ])
}
