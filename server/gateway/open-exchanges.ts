import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';

/** The exchanges that are not over yet, by connection. */
export class OpenExchanges {
  /** Oldest first. */
  readonly #bySocket = new Map<Socket, Exchange[]>();
  readonly #events = new EventEmitter();
  readonly #onOver: (exchange: Exchange) => void;
  #count = 0;

  /** @param onOver told of each exchange once it is over, however it ended */
  constructor(onOver: (exchange: Exchange) => void) {
    this.#onOver = onOver;
  }

  /** Watches a new connection: its end is the end of its exchanges, of those too whose turn to answer never came. */
  follow(socket: Socket): void {
    if (this.#bySocket.has(socket)) return; // its bytes are read a second time
    const exchanges: Exchange[] = [];
    this.#bySocket.set(socket, exchanges);
    socket.on('close', () => {
      this.#bySocket.delete(socket);
      for (const exchange of [...exchanges]) this.#close(exchange, exchanges);
    });
  }

  add(exchange: Exchange): void {
    const exchanges = this.#bySocket.get(exchange.request.socket);
    if (!exchanges) return; // its connection is gone already
    exchanges.push(exchange);
    this.#count++;
    exchange.response.on('close', () => this.#close(exchange, exchanges));
  }

  /** The newest exchange of a connection that is not over. */
  findLast(socket: Socket): Exchange | undefined {
    return this.#bySocket.get(socket)?.at(-1);
  }

  /** Calls back once all exchanges of a connection are over; never when that is closed by then. */
  whenAnswered(socket: Socket, then: () => void): void {
    const last = this.findLast(socket);
    if (last) last.response.once('close', () => this.whenAnswered(socket, then));
    else if (!socket.destroyed) then();
  }

  /** Asks those to end that would not by themselves. */
  goAway(): void {
    for (const exchanges of this.#bySocket.values()) for (const exchange of [...exchanges]) exchange.goAway();
  }

  /** Closes every connection. */
  cut(): void {
    for (const socket of this.#bySocket.keys()) socket.destroy();
  }

  /** Resolves when there is none. */
  async none(): Promise<void> {
    while (this.#count > 0) await once(this.#events, 'none');
  }

  #close(exchange: Exchange, exchanges: Exchange[]): void {
    const at = exchanges.indexOf(exchange);
    if (at < 0) return;
    exchanges.splice(at, 1);
    this.#count--;
    this.#onOver(exchange);
    if (this.#count === 0) this.#events.emit('none');
  }
}
