// SPDX-License-Identifier: Apache-2.0

import Logbook

/// An instant in UTC seconds, as people and programs read it.
func instant(_ seconds: Int64) -> String { DeviceTime(seconds: seconds).text + "Z" }

/// An instant as the value of a JSON member; null without one.
func instantMember(_ seconds: Int64?) -> String { seconds.map { "\"\(instant($0))\"" } ?? "null" }
