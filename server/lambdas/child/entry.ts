/*
 * The bundle's first lines: it is loaded by a lambda's process, and ahead of everything else by the worker threads and Node
 * processes that a lambda starts.
 */
import { handDown, inheritance } from './offspring.ts';
import { OutboundCalls } from './outbound-calls.ts';
import { OutboundLine } from './outbound-line.ts';
import { tellHome } from './tell-home.ts';

const inherited = inheritance();
if (inherited) {
  const { news } = inherited.routes;
  const tell = news && tellHome(news, (rules) => line.change(rules));
  const calls = new OutboundCalls((about, bytes) => tell?.(about, bytes));
  calls.traceOf = () => inherited.trace;
  const line: OutboundLine = new OutboundLine(calls, () => inherited.executionId);
  line.install(inherited.routes);
  handDown(
    __filename,
    () => ({ ...inherited, routes: line.routes }),
    (text) => process.stderr.write(`[terrarium] ${text}\n`),
  );
} else require('./bootstrap.ts');
