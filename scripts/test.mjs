// `npm test`: the tests of every change, as two sequences side by side: what needs a browser, and what does not. Containers change the
// machine's networks, and Chromium stops loading a page when networks change: so the window's journeys get a network of their own where
// possible, and otherwise end before the first container starts.
// What takes longer is in scripts/test-all.mjs.
import { hasOwnNetwork, inOwnNetwork, playwright, report, run, vitest } from './test-parts.mjs';

const window = run('window', inOwnNetwork(playwright('window')), ['browser']);
if (!hasOwnNetwork) await window;
const engines = run('engines', vitest('1-engines'), ['containers']);
const others = engines.then(() => run('others', vitest('2-lambdas', '3-platform', '3-window')));
await Promise.all([window, others]);
report();
