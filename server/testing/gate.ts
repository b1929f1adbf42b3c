import { createServer, type Server, type ServerResponse } from 'node:http';
import { listenAt } from '../api/server/listening.ts';

/** Source of a handler that waits at the gate whose URL is its event, and returns the response. */
export const WAIT_AT_GATE = `
  const http = require('http');
  exports.run = (event, context, callback) => {
    http.get(event, (res) => { let text = ''; res.on('data', (d) => { text += d }).on('end', () => callback(null, text)) });
  };
`;

/** A server that keeps its clients waiting until the test releases them, for lambdas that must take exactly as long as needed. */
export class Gate {
  url = '';
  readonly #server: Server;
  #heldResponses: ServerResponse[] = [];
  #waiters: (() => void)[] = [];

  static async open(): Promise<Gate> {
    const gate = new Gate();
    gate.url = `http://127.0.0.1:${(await listenAt(gate.#server, { host: '127.0.0.1', port: 0 })).port}/`;
    return gate;
  }

  private constructor() {
    this.#server = createServer((_request, response) => {
      this.#heldResponses.push(response);
      for (const waiter of this.#waiters) waiter();
    });
  }

  /** Number of waiting clients. */
  get waiting(): number {
    return this.#heldResponses.length;
  }

  /** Resolves when at least this number of clients wait. */
  async waitForClients(count: number): Promise<void> {
    while (this.#heldResponses.length < count) await new Promise<void>((resolve) => this.#waiters.push(resolve));
  }

  /** Releases all waiting clients. */
  release(answer = 'through'): void {
    for (const response of this.#heldResponses.splice(0)) response.end(answer);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
