import { connect } from 'node:net';
import type { Instance } from './engine.ts';

/** An instance on this machine answers at its own address within this time, or cannot be reached there. */
const DIRECT_TIMEOUT_MS = 200;
/** An engine's proxy accepts a connection and closes it at once if the container does not listen. */
const PROXY_PAUSE_MS = 50;

type Attempt = 'open' | 'refused' | 'unreachable';

/** Checks if something in the instances of one record listens on a port. */
export class PortCheck {
  /** Once an instance was reached itself, its engine's proxy is not asked: that accepts connections for ports that no process listens on. */
  #isDirect = false;

  /** Asks the instance itself where that can be reached, else its published port. */
  async opens(instance: Instance, containerPort: number, timeoutMs: number): Promise<boolean> {
    const published = instance.addresses.find((address) => address.containerPort === containerPort);
    if (!published) return false;
    if (instance.ipAddress !== undefined && published.host === '127.0.0.1') {
      const direct = await attempt(instance.ipAddress, containerPort, Math.min(timeoutMs, DIRECT_TIMEOUT_MS), 0);
      if (direct !== 'unreachable') this.#isDirect = true;
      if (this.#isDirect) return direct === 'open';
    }
    return (await attempt(published.host, published.port, timeoutMs, PROXY_PAUSE_MS)) === 'open';
  }
}

function attempt(host: string, port: number, timeoutMs: number, pauseMs: number): Promise<Attempt> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: timeoutMs });
    const end = (result: Attempt) => {
      socket.destroy();
      resolve(result);
    };
    // On a busy machine a timer can fire although the answer is there: that is read first.
    const endUnlessAnswered = (result: Attempt) => setImmediate(end, result);
    socket.once('connect', () => {
      if (pauseMs === 0) end('open');
      else setTimeout(endUnlessAnswered, pauseMs, 'open');
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      end(code === 'ECONNREFUSED' || code === 'ECONNRESET' ? 'refused' : 'unreachable');
    });
    socket.once('timeout', () => endUnlessAnswered('unreachable'));
    for (const event of ['close', 'end']) socket.once(event, () => end('refused'));
  });
}
