import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import type Docker from 'dockerode';

/** For the whole of a plain answer, for the head of a streamed one; what streams on is looked after by the beats of its engine. */
export const CALL_LIMIT_MS = 60_000;
/** A daemon that is well says at once that it is; of its version Podman asks other programs, for seconds on a busy machine. */
const BEAT_LIMIT_MS = 5_000;
/** Nothing is said before the registry has answered. */
const PULL_LIMIT_MS = 120_000;

type Modem = Docker['modem'];

/**
 * Gives every call of a modem a time-out, whoever makes it: ETIMEDOUT is what it fails with then.
 *
 * @returns ends the calls that wait for their answer, now: ECONNRESET
 */
export function limitCalls(modem: Modem): () => void {
  const dial = modem.dial.bind(modem);
  const waiting = new Set<(code: string) => void>();
  modem.dial = (options, callback) => {
    const abort = new AbortController();
    const end: NonNullable<typeof callback> = (failure, answer) => {
      clearTimeout(timer);
      if (waiting.delete(giveUp)) callback?.(failure, answer);
    };
    const giveUp = (code: string) => {
      if (!waiting.has(giveUp)) return;
      end(Object.assign(new Error('the call was given up'), { code }), null);
      abort.abort();
    };
    waiting.add(giveUp);
    // What has arrived while this process was busy is read first.
    const timer = setTimeout(() => setImmediate(giveUp, 'ETIMEDOUT'), limitOf(options.path)).unref();
    dial({ ...options, abortSignal: abort.signal }, end);
  };
  return () => {
    for (const giveUp of waiting) giveUp('ECONNRESET');
  };
}

function limitOf(path: string): number {
  if (/^\/_ping\b/.test(path)) return BEAT_LIMIT_MS;
  return path.startsWith('/images/create') ? PULL_LIMIT_MS : CALL_LIMIT_MS;
}

/** The modem waits for the end of a plain answer and hears of nothing else: one that breaks off fails its request here. */
export function failBrokenAnswers(agent: Agent): void {
  // Through here every request goes that an agent is given; its types leave it out.
  const through = agent as Agent & { addRequest(request: ClientRequest, ...rest: unknown[]): void };
  const addRequest = through.addRequest.bind(agent);
  through.addRequest = (request, ...rest) => {
    request.once('response', (response: IncomingMessage) => {
      response.once('close', () => {
        if (response.complete) return;
        request.emit('error', Object.assign(new Error('the answer broke off'), { code: 'ECONNRESET' }));
      });
    });
    addRequest(request, ...rest);
  };
}
