// SPDX-License-Identifier: Apache-2.0

// First, since it needs neither threads nor the parser. These take half of the time of a short run.
Glucoport.showVersionAlone()
// Before threads exist, which might read the environment at the same time.
Glucoport.muteRuntime()
// Before the first `await`: if no thread can start, the code after it never runs.
Glucoport.requireResources()
await Glucoport.main()
