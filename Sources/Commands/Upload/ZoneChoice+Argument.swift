// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
package import Sync

extension ZoneChoice: ExpressibleByArgument {}
