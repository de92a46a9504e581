// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

let package = Package(
  name: "embedding",
  dependencies: [.package(name: "glucoport", path: "../..")],
  targets: [
    .executableTarget(
      name: "embedding",
      dependencies: [
        .product(name: "Formats", package: "glucoport"),
        .product(name: "Logbook", package: "glucoport"),
        .product(name: "Meters", package: "glucoport"),
      ])
  ]
)
