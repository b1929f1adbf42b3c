import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { ZodError, z } from 'zod';
import { MAX_CAPTURED_BYTES } from '../model/exchange-record.ts';
import type { OutboundRule } from '../model/outbound-rule.ts';
import { FrameError, FrameReader, writeFrame } from './frames.ts';
import { offspringNews } from './process-messages.ts';
import { FrameType, type NewsAddress, type OffspringNews } from './protocol.ts';

/** Whom news of what a process has started is told. */
export type NewsListener = (from: object, news: OffspringNews, bytes: Uint8Array) => void;

const hello = z.object({ token: z.uuid() });

/**
 * Where worker threads and Node processes that lambdas start tell of the calls they make (D-200): their lambda's own channel cannot
 * be shared, and its process may stand still while it waits for them. It listens on the loopback address; who does not know the
 * token of a lambda's process is sent away.
 */
export class OffspringDoor {
  readonly #listeners = new Map<string, { listener: NewsListener; sockets: Set<Socket> }>();
  #server: Server | undefined;

  /** Resolves once it listens. */
  async open(): Promise<void> {
    const server = createServer((socket) => this.#welcome(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    server.unref();
  }

  /** A place of its own for one process: until `close` what is told there goes to the listener. */
  place(listener: NewsListener): {
    address: NewsAddress | undefined;
    changeRules(rules: readonly OutboundRule[]): void;
    close(): void;
  } {
    const token = randomUUID();
    const sockets = new Set<Socket>();
    this.#listeners.set(token, { listener, sockets });
    // As: a listening TCP server has such an address.
    const port = (this.#server?.address() as AddressInfo | null | undefined)?.port;
    return {
      address: port === undefined ? undefined : { port, token },
      changeRules: (rules) => {
        for (const socket of sockets) writeFrame(socket, FrameType.rules, { rules });
      },
      close: () => {
        this.#listeners.delete(token);
        for (const socket of sockets) socket.destroy();
      },
    };
  }

  close(): void {
    this.#server?.close();
    for (const { sockets } of this.#listeners.values()) for (const socket of sockets) socket.destroy();
  }

  #welcome(socket: Socket): void {
    const frames = new FrameReader(MAX_CAPTURED_BYTES);
    let listener: NewsListener | undefined;
    socket.unref().on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const { head, body } of frames.push(chunk)) {
          if (listener) listener(socket, offspringNews.parse(head), body);
          else listener = this.#introduce(socket, hello.parse(head).token);
          if (!listener) return void socket.destroy();
        }
      } catch (thrown) {
        socket.destroy();
        if (!(thrown instanceof FrameError || thrown instanceof ZodError)) throw thrown;
      }
    });
  }

  #introduce(socket: Socket, token: string): NewsListener | undefined {
    const place = this.#listeners.get(token);
    place?.sockets.add(socket);
    socket.once('close', () => place?.sockets.delete(socket));
    return place?.listener;
  }
}
