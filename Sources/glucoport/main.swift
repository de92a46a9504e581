// SPDX-License-Identifier: Apache-2.0

import CommandParts

// This call comes first, since it needs neither threads nor the parser, which take half of the time of a
// short run.
Glucoport.showOnlyVersion()
// This must come before threads exist, since each of them would otherwise get its own heap.
if Host.arguments?.contains("serve") != true { Host.shareHeap() }
// This changes the environment. So it must come before threads exist, which might read the environment at the
// same time.
Glucoport.muteRuntime()
// This must come before the task. If no thread can start, a task never runs.
Glucoport.requireResources()
// This is a task, since an `await` here would end the main thread at the first wait. At the end of a thread,
// the C library reads the unwind tables of the whole program. 1 MiB of them then stays in memory.
Task.detached { await Glucoport.main() }
Glucoport.waitForSignals()
