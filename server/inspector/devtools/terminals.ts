import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { takeConnection } from '../../api/server/upgrades.ts';
import { PlatformError } from '../../model/errors.ts';
import type { Uuid } from '../../model/record.ts';
import { TERMINAL_PROTOCOL } from '../../model/terminal-protocol.ts';
import { Terminal, type TerminalOptions } from './terminal.ts';

/** Each is a process in a container, and a connection to its engine. */
const MAX_OPEN = 10;
const MAX_OF_ONE_USER = 4;
/** Largest message: a page splits longer pasted text. */
const MESSAGE_LIMIT_BYTES = 256 * 1024;

export class Terminals {
  /** With the id of the user who opened it. */
  readonly #open = new Map<Terminal, Uuid>();
  readonly #onFault: (fault: unknown) => void;
  #isStopped = false;

  constructor(onFault: (fault: unknown) => void) {
    this.#onFault = onFault;
  }

  /** Upgrades a request to a WebSocket. Throws 426 if it did not request one, 429 if too many are open, 503 when the platform stops. */
  async open(
    request: IncomingMessage,
    { userId, ...options }: Pick<TerminalOptions, 'openShell' | 'size' | 'requirePermission'> & { userId: Uuid },
  ): Promise<void> {
    // Most platforms never open one.
    const { WebSocketServer } = await import('ws');
    if (this.#isStopped)
      throw new PlatformError('stopping', 'the platform is stopping', { headers: { 'Retry-After': '5' } });
    const ofUser = [...this.#open.values()].filter((openUserId) => openUserId === userId).length;
    if (this.#open.size >= MAX_OPEN || ofUser >= MAX_OF_ONE_USER) {
      const message = `${ofUser >= MAX_OF_ONE_USER ? `${ofUser} of your` : MAX_OPEN} terminals are open. Close one of them first.`;
      throw new PlatformError('too_many_connections', message, { headers: { 'Retry-After': '5' } });
    }
    const connection = takeConnection(request);
    if (!connection) {
      const message = `a terminal is a WebSocket of the protocol ${TERMINAL_PROTOCOL}`;
      throw new PlatformError('websocket_required', message, {
        headers: { Upgrade: 'websocket', Connection: 'Upgrade' },
      });
    }
    const server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: MESSAGE_LIMIT_BYTES,
      handleProtocols: (offered) => offered.has(TERMINAL_PROTOCOL) && TERMINAL_PROTOCOL,
    });
    server.handleUpgrade(request, connection.socket, connection.head, (socket: WebSocket) => {
      const terminal = new Terminal({ ...options, socket });
      this.#open.set(terminal, userId);
      void terminal.ended.catch(this.#onFault).finally(() => this.#open.delete(terminal));
    });
  }

  /** Ends all, and every later one. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const open = [...this.#open.keys()];
    for (const terminal of open) terminal.end('closing', 'The platform is stopping.');
    await Promise.allSettled(open.map(({ ended }) => ended));
  }
}
