// `npm test`: what every change needs, without a container engine. The parts run one after another, because each of them alone keeps two
// processors busy. Chromium stops loading a page when the machine's networks change, for example because another program starts a
// container: so the journeys get a network of their own where possible. scripts/test-all.mjs runs the second tier.
import { FIRST_TIER } from './test-machine.mjs';
import { inOwnNetwork, playwright, report, run, vitest } from './test-parts.mjs';

await run('window', inOwnNetwork(playwright('window')), ['browser']);
await run('platform', vitest('fast', 'window'));
report(FIRST_TIER);
