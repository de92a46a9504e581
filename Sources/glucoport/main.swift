// SPDX-License-Identifier: Apache-2.0

import CommandParts

// This comes first, since it needs neither threads nor the parser, which take half of the time of a short
// run.
Glucoport.showOnlyVersion()
// This must come before threads exist, which would get their own heaps.
if Host.arguments?.contains("serve") != true { Host.shareHeap() }
// This must come before threads exist, which might read the environment at the same time.
Glucoport.muteRuntime()
// This must come before the first `await`. If no thread can start, code after an `await` never runs.
Glucoport.requireResources()
await Glucoport.main()
