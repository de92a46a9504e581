// SPDX-License-Identifier: Apache-2.0

import CoreMetrics
import Hummingbird
import HummingbirdTLS
import Logging
