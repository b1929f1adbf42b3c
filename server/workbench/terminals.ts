import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { takeConnection } from '../http/upgrades.ts';
import { PlatformError } from '../model/errors.ts';
import { TERMINAL_PROTOCOL } from '../model/terminal-words.ts';
import { Terminal, type TerminalOptions, type TerminalTimes } from './terminal.ts';

/** Each is a process in a container, and a connection to its engine. */
const MAX_OPEN = 10;
const TIMES: TerminalTimes = { checkMs: 5_000, idleMs: 30 * 60_000 };
/** Of one message: a page cuts what is pasted into smaller ones. */
const MESSAGE_LIMIT_BYTES = 256 * 1024;

/** The terminals that are open. */
export class Terminals {
  readonly #open = new Set<Terminal>();
  readonly #options: { nowMs(): number; onFault(fault: unknown): void };
  #isStopped = false;

  constructor(options: { nowMs(): number; onFault(fault: unknown): void }) {
    this.#options = options;
  }

  /** Goes on with a request as a WebSocket. Throws 426 when it asked for none, 429 when too many are open, 503 at the end. */
  async open(request: IncomingMessage, options: Pick<TerminalOptions, 'openShell' | 'size' | 'demand'>): Promise<void> {
    // Most platforms never open one.
    const { WebSocketServer } = await import('ws');
    if (this.#isStopped) throw new PlatformError(503, 'the platform is stopping', { headers: { 'Retry-After': '5' } });
    if (this.#open.size >= MAX_OPEN) {
      const message = `${MAX_OPEN} terminals are open: close one, then open this one`;
      throw new PlatformError(429, message, { headers: { 'Retry-After': '5' } });
    }
    const connection = takeConnection(request);
    if (!connection) {
      const message = `a terminal is a WebSocket of the protocol ${TERMINAL_PROTOCOL}`;
      throw new PlatformError(426, message, { headers: { Upgrade: 'websocket', Connection: 'Upgrade' } });
    }
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: MESSAGE_LIMIT_BYTES,
      handleProtocols: (offered) => offered.has(TERMINAL_PROTOCOL) && TERMINAL_PROTOCOL,
    });
    server.handleUpgrade(request, connection.socket, connection.head, (socket: WebSocket) => {
      const terminal = new Terminal({ ...options, socket, times: TIMES, nowMs: this.#options.nowMs });
      this.#open.add(terminal);
      void terminal.ended.catch(this.#options.onFault).finally(() => this.#open.delete(terminal));
    });
  }

  /** Ends all, and every later one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const open = [...this.#open];
    for (const terminal of open) terminal.end('closing', 'The platform is stopping.');
    await Promise.allSettled(open.map(({ ended }) => ended));
  }
}
