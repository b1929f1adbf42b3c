/*
 * The bundle's first lines: it is loaded by a lambda's process, and ahead of everything else by the worker threads and Node
 * processes that a lambda starts.
 */

import { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import type { OutboundRule } from '../../../model/outbound-rule.ts';
import { FrameReader, writeFrame } from '../process/frames.ts';
import type { OutboundNews } from '../process/process-messages.ts';
import { type CommandHeads, FrameType, type NewsAddress } from '../process/protocol.ts';
import { CallNumbers } from './call-numbers.ts';
import { OutboundCalls } from './outbound-calls.ts';
import { OutboundInterceptor } from './outbound-interceptor.ts';
import { showPlatformClock } from './platform-date.ts';
import type { startProgramProxy } from './program-proxy.ts';
import { orderedProxy } from './program-variables.ts';
import { propagatedContext, propagateToChildren } from './propagate-to-children.ts';
import { isRefusal } from './rule-error.ts';

/** Connects a process that a lambda has started to the emulator, without keeping it alive. Call it before connections are watched. */
function reportToParent(
  { port, token }: NewsAddress,
  changeRules: (rules: readonly OutboundRule[]) => void,
): { report: (update: OutboundNews, bytes?: Uint8Array) => void; callNumbers: CallNumbers } {
  const home = new Socket();
  const frames = new FrameReader(0);
  const callNumbers = new CallNumbers((request, ruleId) => writeFrame(home, FrameType.countCall, { request, ruleId }));
  home.on('error', () => {});
  home.on('data', (chunk: Buffer) => {
    // As: the other end is the emulator's.
    for (const { type, head } of frames.push(chunk)) {
      if (type === FrameType.callNumber) callNumbers.take(head as CommandHeads['callNumber']);
      if (type !== FrameType.rules) continue;
      changeRules((head as CommandHeads['rules']).rules);
      // Who changed them waits until they hold.
      writeFrame(home, FrameType.rules, {});
    }
  });
  home.connect(port, '127.0.0.1').unref();
  writeFrame(home, FrameType.subprocess, { token });
  const report = (update: OutboundNews, bytes?: Uint8Array): void => {
    if (!home.destroyed) writeFrame(home, FrameType.outbound, update, bytes);
  };
  return { report, callNumbers };
}

const inherited = propagatedContext();
if (inherited) {
  // The outbound rules apply to Node.js without the proxy; a library that uses it would be recorded twice.
  for (const name of inherited.proxyVariables ?? []) delete process.env[name];
  showPlatformClock(inherited.clockAheadMs);
  const order = orderedProxy();
  let executionId = (): string | undefined => inherited.executionId;
  const { reportAddress } = inherited.routes;
  const parent = reportAddress && reportToParent(reportAddress, (rules) => line.change(rules));
  const calls = new OutboundCalls((update, bytes) => parent?.report(update, bytes));
  if (!order) calls.traceOf = () => inherited.trace;
  const line: OutboundInterceptor = new OutboundInterceptor(calls, () => executionId(), parent?.callNumbers);
  line.install(inherited.routes);
  if (order) executionId = loadProxy().startProgramProxy(order, { calls, isRefusal });
  else
    propagateToChildren(
      __filename,
      () => ({ ...inherited, routes: line.routes }),
      (text) => process.stderr.write(`[terrarium] ${text}\n`),
    );
} else require('./bootstrap.ts');

/** Beside this bundle (scripts/build-child.mjs), not in it: few lambdas start programs. */
function loadProxy(): { startProgramProxy: typeof startProgramProxy } {
  const file: string = join(dirname(__filename), 'lambda-program-proxy.cjs');
  return require(file);
}
