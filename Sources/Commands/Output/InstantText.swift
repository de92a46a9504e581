// SPDX-License-Identifier: Apache-2.0

import Logbook

/// An instant in UTC seconds as text.
func instant(_ seconds: Int64) -> String { DeviceTime(seconds: seconds).text + "Z" }
