// `npm test`: the tests of every change, one part after another: each part alone keeps two processors busy, and what waits for a busy
// machine would sooner or later wait too long. Containers change the machine's networks, and Chromium stops loading a page when networks
// change: so the window's journeys get a network of their own where possible, and come before the first container.
// What takes longer is in scripts/test-all.mjs.
import { inOwnNetwork, playwright, report, run, vitest } from './test-parts.mjs';

await run('window', inOwnNetwork(playwright('window')), ['browser']);
await run('engines', vitest('1-engines'), ['containers']);
await run('others', vitest('2-lambdas', '3-platform', '3-window'));
report();
