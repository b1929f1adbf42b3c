import { connect } from 'node:net';
import type { Instance } from './engine.ts';

/** An instance on this machine answers at its own address within this time, or cannot be reached there. */
const DIRECT_TIMEOUT_MS = 200;
/** An engine's own proxy accepts at once and closes at once when nobody listens behind it. */
const PROXY_PAUSE_MS = 50;

type Attempt = 'open' | 'refused' | 'unreachable';

/** Does something in the instance listen on a port? Asks the instance itself where that can be reached, else its published port. */
export async function portOpens(instance: Instance, containerPort: number, timeoutMs: number): Promise<boolean> {
  const published = instance.addresses.find((one) => one.containerPort === containerPort);
  if (!published) return false;
  if (instance.ipAddress !== undefined && published.host === '127.0.0.1') {
    const direct = await attempt(instance.ipAddress, containerPort, Math.min(timeoutMs, DIRECT_TIMEOUT_MS), 0);
    if (direct !== 'unreachable') return direct === 'open';
  }
  return (await attempt(published.host, published.port, timeoutMs, PROXY_PAUSE_MS)) === 'open';
}

function attempt(host: string, port: number, timeoutMs: number, pauseMs: number): Promise<Attempt> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (result: Attempt) => {
      socket.destroy();
      resolve(result);
    };
    socket.once('connect', () => {
      if (pauseMs === 0) end('open');
      else setTimeout(end, pauseMs, 'open');
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      end(code === 'ECONNREFUSED' || code === 'ECONNRESET' ? 'refused' : 'unreachable');
    });
    socket.once('timeout', () => end('unreachable'));
    for (const event of ['close', 'end']) socket.once(event, () => end('refused'));
  });
}
