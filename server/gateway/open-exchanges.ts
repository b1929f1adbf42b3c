import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';

export class OpenExchanges {
  readonly #bySocket = new Map<Socket, Exchange | undefined>();
  readonly #events = new EventEmitter();
  readonly #onOver: (exchange: Exchange) => void;
  #count = 0;

  constructor(onOver: (exchange: Exchange) => void) {
    this.#onOver = onOver;
  }

  /** Watches a new connection, because its end also ends its exchange. */
  follow(socket: Socket): void {
    if (this.#bySocket.has(socket)) return; // its bytes are parsed a second time
    this.#bySocket.set(socket, undefined);
    socket.on('close', () => {
      const exchange = this.#bySocket.get(socket);
      this.#bySocket.delete(socket);
      if (exchange) this.#close(exchange);
    });
  }

  add(exchange: Exchange): void {
    const { socket } = exchange.request;
    if (!this.#bySocket.has(socket)) return; // its connection is already closed
    this.#bySocket.set(socket, exchange);
    this.#count++;
    exchange.response.on('close', () => {
      if (this.#bySocket.get(socket) !== exchange) return; // the end of the connection ended the exchange
      this.#bySocket.set(socket, undefined);
      this.#close(exchange);
    });
  }

  goAway(): void {
    for (const exchange of [...this.#bySocket.values()]) exchange?.goAway();
  }

  cut(): void {
    for (const socket of this.#bySocket.keys()) socket.destroy();
  }

  async none(): Promise<void> {
    while (this.#count > 0) await once(this.#events, 'none');
  }

  #close(exchange: Exchange): void {
    this.#count--;
    this.#onOver(exchange);
    if (this.#count === 0) this.#events.emit('none');
  }
}
