// `npm test`: the tests of every change, one part after another: each part alone keeps two processors busy, and what waits for a busy
// machine would sooner or later wait too long. Containers change the machine's networks, and Chromium stops loading a page when networks
// change: so the window's journeys get a network of their own where possible, and come before the first container.
// What takes longer is in scripts/test-all.mjs.
import { inOwnNetwork, lacks, playwright, report, run, vitest } from './test-parts.mjs';

await run('window', inOwnNetwork(playwright('window')), ['browser']);
// Tests with containers first: much of them is waiting, which others fill.
await run('platform', vitest(...(lacks('containers') ? [] : ['1-engines']), '2-platform', '3-window'));
report();
