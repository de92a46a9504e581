// SPDX-License-Identifier: Apache-2.0

extension SmartPixFormat {
  static let page = FormatPage(
    origin: [
      "from the disk of an Accu-Chek Smart Pix that has read a meter: the XML file"
    ],
    variants: [
      "one meter for each file",
      "mg/dL and mmol/L, as the file says for the meter; --unit where it names another one",
    ],
    languages: "every language; the elements have fixed names",
    reads: [
      "finger sticks with the serial number of the meter, LO and HI, tests of control solution "
        + "marked as such",
      "insulin 1, 2 and 3 by their number, carbohydrates",
    ],
    leaves: [
      "flags and events of the meter, which are counted",
      "statistics",
    ])
}
