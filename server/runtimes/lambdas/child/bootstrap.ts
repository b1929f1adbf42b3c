/* A lambda's process (D-142): loads it, and calls its handler once per invoke frame. What not every lambda needs loads on first use. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { monotonicMs } from '../../../system/clock.ts';
import type { CallTimes } from '../pool/scale-up-policy.ts';
import { FrameReader, writeFrame } from '../process/frames.ts';
import type { SentHead } from '../process/process-messages.ts';
import {
  type BeganRow,
  CALLS_FD,
  CONTROL_FD,
  type CommandHeads,
  FrameType,
  type InvokeHead,
  type LoadHead,
  OUTCOME_KINDS,
  OutcomeFlag,
  type OutcomeRow,
} from '../process/protocol.ts';
import { CallNumbers } from './call-numbers.ts';
import { hideFolders, messageOf } from './error-text.ts';
import { eventAndContext } from './event-and-context.ts';
import { EventLoopDrain } from './event-loop-drain.ts';
import { loadHandler, offerModules, offerPlugAndPlay } from './load-handler.ts';
import { OutboundCalls } from './outbound-calls.ts';
import { OutboundInterceptor } from './outbound-interceptor.ts';
import { clockAheadMs, platformNow, showPlatformClock } from './platform-date.ts';
import { ProcessorDelay } from './processor-delay.ts';
import { propagateToChildren } from './propagate-to-children.ts';
import { type Handler, type HandlerOutcome, runHandler } from './run-handler.ts';
import { type TraceHeaders, traceHeadersOf } from './trace-headers.ts';

// Captured at start, because a lambda may replace the globals of its own process.
const { stdout, stderr, platform, pid } = process;
const measuresCoverage = Boolean(process.env.NODE_V8_COVERAGE);
const kill = process.kill.bind(process);
const [, childFile = ''] = process.argv;
const NativePromise = Promise;
const { setImmediate, setInterval, setTimeout, clearTimeout } = globalThis;
const memoryUsage = process.memoryUsage.bind(process);
const { max, round } = Math;
const { parse } = JSON;
const cpuUsage = process.cpuUsage.bind(process);
const eventLoopUtilization = performance.eventLoopUtilization.bind(performance);

/** An event has the size of a request body; the gateway applies that limit (D-185), this one only has to be above it. */
const EVENT_LIMIT_BYTES = 256 * 1024 * 1024;

const MEMORY_INTERVAL_MS = 200;

/** After that time, a spare is not one of many that start for calls which are about to come. */
const CALM_MS = 1_000;

/** Time between sending the returned value and the end of the call in the emulator. */
const TIMEOUT_MARGIN_MS = 50;

const control = new Socket({ fd: CONTROL_FD, readable: false, writable: true });
const calls = new Socket({ fd: CALLS_FD, readable: true, writable: false });
let handler: Handler | undefined;
let resultLimitBytes = 0;
let current = 0;

/** A call that the handler works for, even after its response. */
interface HandlerCall {
  number: number;
  executionId: string;
  /** The handler's context, as JSON without the last brace. */
  contextJson: string;
  hasResponded: boolean;
}

let currentCall: HandlerCall | undefined;
const handlerCalls = new AsyncLocalStorage<HandlerCall>();
const callOfContext = handlerCalls.getStore.bind(handlerCalls);

/** Returns the call that started the code which runs now; for code started outside of calls, such as a pool's, the current call. */
function activeCall(): HandlerCall | undefined {
  return callOfContext() ?? currentCall;
}

let hasSubprocesses = false;
/** The last call that has started a program or a thread. */
let lastStarter = 0;
/** Values at the start of the call: milliseconds with and without work, bytes of output. */
let before = { atMs: 0, computedMs: 0, idleMs: 0, outputBytes: 0 };
let late: NodeJS.Timeout | undefined;
let ready: { head: InvokeHead; body: Buffer }[] = [];
/** The last call that has written something, and the last that is over for the emulator. */
let lastLoud = 0;
let lastClosed = 0;
/** While the outcome of the call is known and not sent yet. */
let sendOutcome: (() => void) | undefined;
/** The call of the lambda that each outbound call belongs to: it may go on after the handler has answered. */
const callOf = new Map<number, number>();
const outboundCalls = new OutboundCalls((update, bytes) => {
  const sender = update.method === undefined ? undefined : activeCall();
  if (sender) callOf.set(update.id, sender.number);
  const number = callOf.get(update.id);
  // A module's own timer can send a request between calls: it belongs to none.
  if (number === undefined) return;
  send(FrameType.outbound, { ...update, number, ...(sender?.hasResponded && { lateOf: sender.executionId }) }, bytes);
  if (update.ended) callOf.delete(update.id);
});
outboundCalls.hint = hint;
outboundCalls.traceOf = (): TraceHeaders | undefined => {
  const call = activeCall();
  return call && traceHeadersOf(call.executionId, headersOf(call));
};
const nothingLeft = new EventLoopDrain(calls, control);
const delay = new ProcessorDelay();

const callNumbers = new CallNumbers((request, ruleId) => send(FrameType.countCall, { request, ruleId }));
const line = new OutboundInterceptor(outboundCalls, () => activeCall()?.executionId, callNumbers);

function send(
  type: number,
  head: SentHead | BeganRow | OutcomeRow | Record<string, never>,
  body?: Uint8Array | string,
): void {
  writeFrame(control, type, head, body);
}

function note(text: string): void {
  if (current > 0) send(FrameType.note, { number: current, message: text, writtenBytes: outputBytes() });
}

const noted = new Set<string>();

function hint(text: string): void {
  if (noted.has(text)) return;
  noted.add(text);
  note(text);
}

/** The emulator is gone: so is this process, with everything it started. */
function leave(): void {
  kill(platform === 'win32' ? pid : -pid, 'SIGKILL');
}

async function load(head: LoadHead): Promise<void> {
  try {
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, head.env);
    process.chdir(head.folder);
    hideFolders([head.folder, dirname(head.file)], head.home, head.env.TMPDIR);
    process.argv = [process.execPath, head.file];
    resultLimitBytes = head.resultLimitBytes;
    nothingLeft.watchTimers();
    showPlatformClock(head.clockAheadMs);
    line.install(head.outbound);
    const { origin } = head;
    propagateToChildren(
      childFile,
      () => ({
        origin,
        routes: line.routes,
        clockAheadMs: clockAheadMs(),
        executionId: activeCall()?.executionId,
        trace: outboundCalls.traceOf(),
      }),
      note,
      reportSubprocess,
    );
    if (head.modules !== undefined) offerModules(head.modules);
    if (head.plugAndPlay !== undefined) offerPlugAndPlay(head.plugAndPlay);
    if (head.isDebugged) reportInspector();
    if (head.reportsMemoryOverMb !== undefined) reportMemory(head.reportsMemoryOverMb);
    handler = await loadHandler(head.file, head.exportName);
    send(FrameType.loaded, {});
  } catch (thrown) {
    await flushed();
    send(FrameType.loadFailed, { message: messageOf(thrown) });
  }
}

/** From the first subprocess on, the emulator looks for leftovers when this process ends; at first only for those whose ids it knows. */
function reportSubprocess(child?: ChildProcess): void {
  if (child?.pid !== undefined) {
    const { pid } = child;
    send(FrameType.subprocess, { pid });
    child.once('exit', () => send(FrameType.subprocess, { pid, ended: true }));
  } else if (!hasSubprocesses) send(FrameType.subprocess, {});
  hasSubprocesses = true;
  lastStarter = current;
}

/** Ahead of the lambda's code: a breakpoint may be in that. */
function reportInspector(): void {
  // Here, not at the top: no other lambda needs it.
  const url = (require('node:inspector') as typeof import('node:inspector')).url();
  if (url !== undefined) send(FrameType.inspecting, { url });
}

/** Until it uses less again. Not while its code computes: that ends at the limit of its heap. */
function reportMemory(overMb: number): void {
  let isOver = false;
  setInterval(() => {
    const { heapTotal, external } = memoryUsage();
    const usedMb = (heapTotal + external) / 1024 ** 2;
    if (usedMb > overMb || isOver) send(FrameType.memory, { usedMb });
    isOver = usedMb > overMb;
  }, MEMORY_INTERVAL_MS).unref();
}

/** From outside, garbage looks like memory in use. */
function collect(): void {
  const { setFlagsFromString } = require('node:v8') as typeof import('node:v8');
  setFlagsFromString('--expose-gc');
  const { runInNewContext } = require('node:vm') as typeof import('node:vm');
  runInNewContext('gc')();
  send(FrameType.collected, {});
}

function take(head: InvokeHead, body: Buffer): void {
  ready.push({ head, body });
  goOn(head.closed);
}

/** Continues after the output of a call has been read. */
function goOn(closed: number): void {
  if (closed > lastClosed) lastClosed = closed;
  beginNext();
}

function recall(): void {
  const numbers = ready.map(({ head }) => head.number);
  ready = [];
  send(FrameType.recalled, { numbers });
}

function beginNext(): void {
  // Output goes another way than outcomes: its call is only known while one call writes at a time.
  if (!handler || current > 0 || lastClosed < lastLoud) return;
  const next = ready.shift();
  if (!next) return;
  const { head, body } = next;
  const deadlineMs = platformNow() + head.timeoutMs;
  current = head.number;
  const { number, executionId, context: contextJson } = head;
  currentCall = { number, executionId, contextJson, hasResponded: false };
  // Before the handler: only a process that ends before this may be replaced silently.
  send(FrameType.began, [head.number, rounded(monotonicMs())]);
  control.uncork();
  if (control.writableLength > 0) control.write('', () => invoke(head, body, deadlineMs));
  else invoke(head, body, deadlineMs);
}

function invoke(head: InvokeHead, body: Buffer, deadlineMs: number): void {
  if (!handler || !currentCall) return;
  const [event, context] = eventAndContext(body, head, deadlineMs);
  line.renew();
  nothingLeft.begin();
  before = {
    atMs: monotonicMs(),
    computedMs: computedMs(),
    idleMs: eventLoopUtilization().idle,
    outputBytes: outputBytes(),
  };
  const release = head.stopsFirst ? stopAtFirstLine(handler) : undefined;
  handlerCalls.run(currentCall, runHandler, handler, event, context, {
    limitBytes: resultLimitBytes,
    whenNothingIsLeft: (then) => nothingLeft.wait(then),
    beforeTimeout: (then) => {
      send(FrameType.returned, {});
      late = setTimeout(then, max(0, head.timeoutMs - TIMEOUT_MARGIN_MS)).unref();
    },
    note,
    hint,
    callInfo: head.place,
    done: (outcome) => void answer(head.number, outcome),
  });
  release?.();
}

const HANDED_OVER = '__terrariumHandler';

/** Stops an attached debugger at the handler's first line in its next call. The returned function removes the breakpoint. */
function stopAtFirstLine({ exportedFunction }: Handler): () => void {
  // Here, not at the top: no other lambda needs it.
  const { Session } = require('node:inspector') as typeof import('node:inspector');
  const session = new Session();
  session.connect();
  session.post('Debugger.enable');
  Object.defineProperty(globalThis, HANDED_OVER, { value: exportedFunction, configurable: true });
  session.post('Runtime.evaluate', { expression: `globalThis.${HANDED_OVER}` }, (_error, answer) => {
    const objectId = answer?.result?.objectId;
    // As: the inspector knows it, Node's types do not.
    const stop = 'Debugger.setBreakpointOnFunctionCall' as 'Debugger.setBreakpoint';
    if (objectId !== undefined) session.post(stop, { objectId } as never);
  });
  Reflect.deleteProperty(globalThis, HANDED_OVER);
  return () => session.disconnect();
}

function headersOf({ contextJson }: HandlerCall): Record<string, string> {
  // As: the emulator has written it.
  return (parse(`${contextJson}}`) as { headers: Record<string, string> }).headers;
}

function computedMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

function timesSince(begin: typeof before): CallTimes {
  const ranMs = monotonicMs() - begin.atMs;
  const took = computedMs() - begin.computedMs;
  const waitedMs = eventLoopUtilization().idle - begin.idleMs;
  return {
    ranMs: rounded(ranMs - delay.within(ranMs - took - waitedMs)),
    computedMs: rounded(took),
    waitedMs: rounded(waitedMs),
  };
}

/** To microseconds: a number with all its digits takes longer to write and to read than all the others of a head. */
function rounded(ms: number): number {
  return round(ms * 1000) / 1000;
}

function outputBytes(): number {
  return stdout.bytesWritten + stderr.bytesWritten;
}

async function answer(number: number, { head, body, trace }: HandlerOutcome): Promise<void> {
  // The emulator ends its processes with a signal, after which Node.js would write no coverage.
  if (measuresCoverage) (require('node:v8') as typeof import('node:v8')).takeCoverage();
  const atMs = rounded(monotonicMs());
  sendOutcome = () => {
    sendOutcome = undefined;
    current = 0;
    line.endRecords();
    if (currentCall) currentCall.hasResponded = true;
    currentCall = undefined;
    const { ranMs, computedMs, waitedMs } = timesSince(before);
    const hasWritten = outputBytes() !== before.outputBytes;
    if (hasWritten) lastLoud = number;
    const beginsNext = ready.length > 0 && !hasWritten;
    // With the news that the next one begins it is one write, which wakes the emulator once.
    if (beginsNext) control.cork();
    const kind = OUTCOME_KINDS.indexOf(head.kind);
    const goesOn = lastStarter === number || nothingLeft.hasLeftTimer();
    const flags = (hasWritten ? OutcomeFlag.hasWritten : 0) + (goesOn ? OutcomeFlag.goesOn : 0);
    const row: OutcomeRow = [number, kind, atMs, ranMs, computedMs, waitedMs, flags];
    if (head.failure) row.push(head.failure, head.message ?? '');
    else if (head.contentType !== undefined) row.push(head.contentType);
    send(FrameType.outcome, row, body);
    if (beginsNext)
      setImmediate(() => {
        beginNext();
        control.uncork(); // perhaps nothing was left to begin
      });
  };
  clearTimeout(late);
  nothingLeft.end();
  await undefined; // output that the handler prints before it returns belongs to the call
  if (trace) stderr.write(`${trace}\n`);
  await flushed();
  sendOutcome?.();
}

/** Output that the emulator could not take at once has to be there before the outcome is. */
async function flushed(): Promise<void> {
  for (const stream of [stdout, stderr]) {
    if (stream.writableLength > 0) await new NativePromise((resolve) => stream.write('', resolve));
  }
}

process.on('uncaughtExceptionMonitor', (error, origin) => {
  const kind = origin === 'unhandledRejection' ? 'unhandled rejection' : 'uncaught exception';
  send(FrameType.uncaught, { message: `${kind}: ${messageOf(error)}` });
});

// A handler that ends its process at once after its outcome: the outcome came first (D-138).
process.on('exit', () => {
  sendOutcome?.();
  control.uncork();
});

const frames = new FrameReader(EVENT_LIMIT_BYTES);
calls.on('data', (chunk: Buffer) => {
  for (const { type, head, body } of frames.push(chunk)) {
    // As: both ends of the channel are ours, and this is the emulator's end.
    if (type === FrameType.load) void load(head as LoadHead);
    else if (type === FrameType.invoke) take(head as InvokeHead, body);
    else if (type === FrameType.recall) recall();
    else if (type === FrameType.collect) collect();
    else if (type === FrameType.goOn) goOn((head as CommandHeads['goOn']).closed);
    else if (type === FrameType.callNumber) callNumbers.take(head as CommandHeads['callNumber']);
    else if (type === FrameType.rules) line.change((head as CommandHeads['rules']).rules);
    else if (type === FrameType.clock) showPlatformClock((head as CommandHeads['clock']).aheadMs);
  }
});
for (const stream of [control, calls]) stream.on('error', leave).on('close', leave);
// Every lambda's calls go by it; a process that waits for its lambda has the time.
if (process.argv[2] === 'spare')
  setImmediate(() => {
    for (const name of ['https', 'child_process', 'worker_threads', 'timers/promises']) require(`node:${name}`);
    require('http-parser-js');
    outboundCalls.trace();
    handlerCalls.run({ number: 0, executionId: '', contextJson: '{', hasResponded: true }, () => {}); // its first use takes half a millisecond
    send(FrameType.ready, {});
    // The first TLS connection reads the certificates of all authorities, which takes about 20 ms.
    setTimeout(() => {
      if (resultLimitBytes === 0) (require('node:tls') as typeof import('node:tls')).createSecureContext();
    }, CALM_MS).unref();
  });
