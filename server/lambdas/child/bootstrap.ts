/*
 * What runs in a lambda's process (D-142): waits for a lambda, loads it, and calls its handler once per invoke frame.
 * Bundled into one CommonJS file by scripts/build-child.mjs. Everything that is not needed by every lambda loads on first use.
 */
import { Socket } from 'node:net';
import { dirname } from 'node:path';
import { performance } from 'node:perf_hooks';
import { monotonicMs } from '../../machine/clock.ts';
import { FrameReader, writeFrame } from '../frames.ts';
import type { CallTimes } from '../pool-growth.ts';
import type { SentHead } from '../process-messages.ts';
import {
  type BeganRow,
  CALLS_FD,
  CONTROL_FD,
  FrameType,
  type GoOnHead,
  type InvokeHead,
  type LoadHead,
  OUTCOME_KINDS,
  type OutcomeRow,
  type RulesHead,
} from '../protocol.ts';
import { hideFolders, messageOf } from './error-text.ts';
import { eventAndContext } from './event.ts';
import { loadHandler } from './load-handler.ts';
import { NothingLeft } from './nothing-left.ts';
import { handDown } from './offspring.ts';
import { OutboundCalls } from './outbound-calls.ts';
import { OutboundLine } from './outbound-line.ts';
import { ProcessorDelay } from './processor-delay.ts';
import { type Handler, type HandlerOutcome, runHandler } from './run-handler.ts';
import { stopAtFirstLine } from './stop-at-first-line.ts';
import { type TraceHeaders, traceHeadersOf } from './trace-headers.ts';

// Taken at start: a lambda may replace the globals of its own process.
const { stdout, stderr, platform, pid } = process;
const kill = process.kill.bind(process);
const [, childFile = ''] = process.argv;
const NativePromise = Promise;
const { setImmediate } = globalThis;
const { now } = Date;
const { round } = Math;
const { parse } = JSON;
const cpuUsage = process.cpuUsage.bind(process);
const eventLoopUtilization = performance.eventLoopUtilization.bind(performance);

/** An event has the size of a request body; the gateway holds that limit (D-185), this one only has to be above it. */
const EVENT_LIMIT_BYTES = 256 * 1024 * 1024;

const control = new Socket({ fd: CONTROL_FD, readable: false, writable: true });
const calls = new Socket({ fd: CALLS_FD, readable: true, writable: false });
let handler: Handler | undefined;
let resultLimitBytes = 0;
/** Number of the call that runs now; 0 between calls. */
let current = 0;
/** Its execution id. */
let executionId: string | undefined;
/** The context that it was given, as JSON without the last brace. */
let given = '{';
/** Has it ever started a process or a thread? */
let hasOffspring = false;
/** What there was when it began: milliseconds with and without work, bytes of output. */
let before = { atMs: 0, computedMs: 0, idleMs: 0, outputBytes: 0 };
/** Calls that lie ready. */
let ready: { head: InvokeHead; body: Buffer }[] = [];
/** The last call that has written something, and the last that is over for the emulator. */
let lastLoud = 0;
let lastClosed = 0;
/** While the outcome of the call is known and not sent yet. */
let sendOutcome: (() => void) | undefined;
/** The call of the lambda that each outbound call belongs to: it may go on after the handler has answered. */
const callOf = new Map<number, number>();
const outboundCalls = new OutboundCalls((news, bytes) => {
  if (news.method !== undefined && current > 0) callOf.set(news.id, current);
  const number = callOf.get(news.id);
  // What is sent between calls belongs to none.
  if (number === undefined) return;
  send(FrameType.outbound, { ...news, number }, bytes);
  if (news.ended) callOf.delete(news.id);
});
outboundCalls.traceOf = (): TraceHeaders | undefined =>
  current > 0 && executionId !== undefined ? traceHeadersOf(executionId, headersGiven()) : undefined;
const nothingLeft = new NothingLeft(calls, control);
const delay = new ProcessorDelay();

const line = new OutboundLine(outboundCalls, () => (current > 0 ? executionId : undefined));

function send(
  type: number,
  head: SentHead | BeganRow | OutcomeRow | Record<string, never>,
  body?: Uint8Array | string,
): void {
  writeFrame(control, type, head, body);
}

/** A line for the log of the call that runs. */
function note(text: string): void {
  if (current > 0) send(FrameType.note, { number: current, message: text, writtenBytes: outputBytes() });
}

const noted = new Set<string>();

/** The same, but once in a process. */
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
    hideFolders([head.folder, dirname(head.file)], head.home);
    process.argv = [process.execPath, head.file];
    resultLimitBytes = head.resultLimitBytes;
    nothingLeft.watchTimers();
    line.install(head.outbound);
    const { origin } = head;
    handDown(
      childFile,
      () => ({ origin, routes: line.routes, executionId, trace: outboundCalls.traceOf() }),
      note,
      tellOffspring,
    );
    if (head.isDebugged) tellInspector();
    handler = await loadHandler(head.file, head.exportName);
    send(FrameType.loaded, {});
  } catch (thrown) {
    await flushed();
    send(FrameType.loadFailed, { message: messageOf(thrown) });
  }
}

/** To tell it once is enough: from then on the emulator looks for what is left when this process ends. */
function tellOffspring(): void {
  if (hasOffspring) return;
  hasOffspring = true;
  send(FrameType.offspring, {});
}

/** Ahead of the lambda's code: a breakpoint may be in that. */
function tellInspector(): void {
  // Here, not at the top: no other lambda needs it.
  const url = (require('node:inspector') as typeof import('node:inspector')).url();
  if (url !== undefined) send(FrameType.inspecting, { url });
}

/** From outside, garbage looks like what the lambda holds. */
function collect(): void {
  const { setFlagsFromString } = require('node:v8') as typeof import('node:v8');
  setFlagsFromString('--expose-gc');
  const { runInNewContext } = require('node:vm') as typeof import('node:vm');
  runInNewContext('gc')();
  send(FrameType.collected, {});
}

/** Takes a call, which begins at once or when those before it are over. */
function take(head: InvokeHead, body: Buffer): void {
  ready.push({ head, body });
  goOn(head.closed);
}

/** What that call has written has been read. */
function goOn(closed: number): void {
  if (closed > lastClosed) lastClosed = closed;
  beginNext();
}

/** They are somebody else's now. */
function withdraw(): void {
  const numbers = ready.map(({ head }) => head.number);
  ready = [];
  send(FrameType.withdrawn, { numbers });
}

function beginNext(): void {
  // Output goes another way than outcomes: whose it is can only be told while nobody else writes.
  if (!handler || current > 0 || lastClosed < lastLoud) return;
  const next = ready.shift();
  if (!next) return;
  const { head, body } = next;
  const deadlineMs = now() + head.timeoutMs;
  current = head.number;
  ({ executionId } = head);
  given = head.context;
  // Ahead of the handler: whoever dies without having begun may be replaced silently, and nobody else may be.
  send(FrameType.began, [head.number, rounded(monotonicMs())]);
  control.uncork();
  if (control.writableLength > 0) control.write('', () => invoke(head, body, deadlineMs));
  else invoke(head, body, deadlineMs);
}

function invoke(head: InvokeHead, body: Buffer, deadlineMs: number): void {
  if (!handler) return;
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
  runHandler(handler, event, context, {
    limitBytes: resultLimitBytes,
    whenNothingIsLeft: (then) => nothingLeft.wait(then),
    note,
    hint,
    place: head.place,
    done: (outcome) => void answer(head.number, outcome),
  });
  release?.();
}

function headersGiven(): Record<string, string> {
  // As: the emulator has written it.
  return (parse(`${given}}`) as { headers: Record<string, string> }).headers;
}

/** By this process so far. */
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
  const atMs = rounded(monotonicMs());
  sendOutcome = () => {
    sendOutcome = undefined;
    current = 0;
    const { ranMs, computedMs, waitedMs } = timesSince(before);
    const hasWritten = outputBytes() !== before.outputBytes;
    if (hasWritten) lastLoud = number;
    const goesOn = ready.length > 0 && !hasWritten;
    // With the news that the next one begins it is one write, which wakes the emulator once.
    if (goesOn) control.cork();
    const kind = OUTCOME_KINDS.indexOf(head.kind);
    const row: OutcomeRow = [number, kind, atMs, ranMs, computedMs, waitedMs, hasWritten ? 1 : 0];
    if (head.failure) row.push(head.failure, head.message ?? '');
    send(FrameType.outcome, row, body);
    if (goesOn)
      setImmediate(() => {
        beginNext();
        control.uncork(); // perhaps nothing was left to begin
      });
  };
  nothingLeft.end();
  await undefined; // what the handler prints before it returns is its own, too
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
    // As: both ends of the channel are ours, and this is the emulator's.
    if (type === FrameType.load) void load(head as LoadHead);
    else if (type === FrameType.invoke) take(head as InvokeHead, body);
    else if (type === FrameType.withdraw) withdraw();
    else if (type === FrameType.collect) collect();
    else if (type === FrameType.goOn) goOn((head as GoOnHead).closed);
    else if (type === FrameType.rules) line.change((head as RulesHead).rules);
  }
});
for (const stream of [control, calls]) stream.on('error', leave).on('close', leave);
// Every lambda's calls go by it; a process that waits for its lambda has the time.
if (process.argv[2] === 'spare')
  setImmediate(() => {
    for (const name of ['https', 'child_process', 'worker_threads']) require(`node:${name}`);
    require('http-parser-js');
    outboundCalls.trace();
    send(FrameType.ready, {});
  });
