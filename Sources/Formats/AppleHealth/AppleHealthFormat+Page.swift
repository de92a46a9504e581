// SPDX-License-Identifier: Apache-2.0

extension AppleHealthFormat {
  static let page = FormatPage(
    origin: [
      "in the Health app of the iPhone: your picture > Export All Health Data",
      "import the ZIP archive as it is",
    ],
    variants: [
      "export.xml alone or in its archive, of any size"
    ],
    languages: "every language of the phone; the file itself is in English",
    reads: [
      "glucose of every app or device, each as a separate device, before or after meals",
      "insulin, carbohydrates",
    ],
    leaves: [
      "all other health data, which are counted by type",
      "your date of birth and sex",
      "elements inside of a Correlation, which are in the file twice",
    ])
}
