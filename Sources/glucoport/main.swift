// SPDX-License-Identifier: Apache-2.0

import Commands

await Glucoport.main()
