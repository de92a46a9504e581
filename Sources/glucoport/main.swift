// SPDX-License-Identifier: Apache-2.0

import Commands

// Without threads and without the parser, which together take half of a short run.
Glucoport.showVersionAlone()
// Before there are threads, which might read the environment at the same time.
Glucoport.muteRuntime()
// Before the first `await`: without a thread nobody would go on behind it.
Glucoport.requireResources()
await Glucoport.main()
