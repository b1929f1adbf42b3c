/*
 * The bundle's first lines: it is loaded by a lambda's process, and ahead of everything else by the worker threads and Node
 * processes that a lambda starts.
 */
import { handDown, inheritance } from './offspring.ts';
import { OutboundCalls } from './outbound-calls.ts';
import { OutboundLine } from './outbound-line.ts';

const inherited = inheritance();
if (inherited) {
  const line = new OutboundLine(new OutboundCalls(() => {}), () => inherited.executionId);
  line.install(inherited.routes);
  handDown(
    __filename,
    () => inherited,
    (text) => process.stderr.write(`[terrarium] ${text}\n`),
  );
} else require('./bootstrap.ts');
