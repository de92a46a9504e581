// SPDX-License-Identifier: Apache-2.0

import Simulation

await Schedules.main()
