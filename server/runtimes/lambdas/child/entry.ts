/*
 * The bundle's first lines: it is loaded by a lambda's process, and ahead of everything else by the worker threads and Node
 * processes that a lambda starts.
 */

import { Socket } from 'node:net';
import type { OutboundRule } from '../../../model/outbound-rule.ts';
import { FrameReader, writeFrame } from '../process/frames.ts';
import type { OutboundNews } from '../process/process-messages.ts';
import { FrameType, type NewsAddress, type RulesHead } from '../process/protocol.ts';
import { OutboundCalls } from './outbound-calls.ts';
import { OutboundInterceptor } from './outbound-interceptor.ts';
import { propagatedContext, propagateToChildren } from './propagate-to-children.ts';

/** How processes that a lambda has started report calls to the emulator. Does not keep them alive. Call it before connections are watched. */
function reportToParent(
  { port, token }: NewsAddress,
  changeRules: (rules: readonly OutboundRule[]) => void,
): (news: OutboundNews, bytes?: Uint8Array) => void {
  const home = new Socket();
  const frames = new FrameReader(0);
  home.on('error', () => {});
  home.on('data', (chunk: Buffer) => {
    // As: the other end is the emulator's.
    for (const { type, head } of frames.push(chunk)) {
      if (type !== FrameType.rules) continue;
      changeRules((head as RulesHead).rules);
      // Who changed them waits until they hold.
      writeFrame(home, FrameType.rules, {});
    }
  });
  home.connect(port, '127.0.0.1').unref();
  writeFrame(home, FrameType.subprocess, { token });
  return (news, bytes) => {
    if (!home.destroyed) writeFrame(home, FrameType.outbound, news, bytes);
  };
}

const inherited = propagatedContext();
if (inherited) {
  const { news } = inherited.routes;
  const tell = news && reportToParent(news, (rules) => line.change(rules));
  const calls = new OutboundCalls((about, bytes) => tell?.(about, bytes));
  calls.traceOf = () => inherited.trace;
  const line: OutboundInterceptor = new OutboundInterceptor(calls, () => inherited.executionId);
  line.install(inherited.routes);
  propagateToChildren(
    __filename,
    () => ({ ...inherited, routes: line.routes }),
    (text) => process.stderr.write(`[terrarium] ${text}\n`),
  );
} else require('./bootstrap.ts');
