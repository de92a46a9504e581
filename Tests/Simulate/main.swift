// SPDX-License-Identifier: Apache-2.0

import Simulation

try await Schedules.main()
