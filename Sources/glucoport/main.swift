// SPDX-License-Identifier: Apache-2.0

import Commands

// Before the first `await`: without a thread nobody would go on behind it.
Glucoport.requireThreads()
await Glucoport.main()
