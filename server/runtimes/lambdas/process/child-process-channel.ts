import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { ZodError, z } from 'zod';
import { MAX_CAPTURED_BYTES } from '../../../model/exchange-record.ts';
import type { OutboundRule } from '../../../model/outbound-rule.ts';
import { FrameError, FrameReader, writeFrame } from './frames.ts';
import { countCallHead, type OutboundNews, subprocessReport } from './process-messages.ts';
import { type CallNumberHead, FrameType, type NewsAddress } from './protocol.ts';

export type NewsListener = (from: object, news: OutboundNews, bytes: Uint8Array) => void;

const hello = z.object({ token: z.uuid() });

/** A process that does not confirm its rules within this time is stopped; it receives them before its next call. */
const MOST_HEARING_MS = 1_000;

/** The listener of a token, and the connections of its processes, each with its callbacks for confirmed rules. */
interface Place {
  listener: NewsListener;
  heard: Map<Socket, (() => void)[]>;
  /** Set after the rules have changed: a process that connects now has started with the earlier ones. */
  rules?: readonly OutboundRule[];
}

/** Where threads and Node processes of lambdas report their calls (D-200): a lambda's process may block while it waits for them. */
export class ChildProcessChannel {
  readonly #places = new Map<string, Place>();
  /** Returns the number of a call that a rule has matched. */
  readonly #countCall: (ruleId: string) => number;
  #server: Server | undefined;

  constructor(countCall: (ruleId: string) => number) {
    this.#countCall = countCall;
  }

  async open(): Promise<void> {
    const server = createServer((socket) => this.#welcome(socket));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    server.unref();
  }

  /** Opens an address for one process: until `close`, messages to it go to the listener. */
  place(listener: NewsListener): {
    address: NewsAddress | undefined;
    changeRules(rules: readonly OutboundRule[]): Promise<void>;
    close(): void;
  } {
    const token = randomUUID();
    const place: Place = { listener, heard: new Map() };
    this.#places.set(token, place);
    // As: a listening TCP server has such an address.
    const port = (this.#server?.address() as AddressInfo | null | undefined)?.port;
    return {
      address: port === undefined ? undefined : { port, token },
      changeRules: async (rules) => {
        place.rules = rules;
        await Promise.all([...place.heard].map(([socket, waiting]) => changeRules(socket, waiting, rules)));
      },
      close: () => {
        this.#places.delete(token);
        for (const socket of place.heard.keys()) socket.destroy();
      },
    };
  }

  close(): void {
    this.#server?.close();
    for (const { heard } of this.#places.values()) for (const socket of heard.keys()) socket.destroy();
  }

  #welcome(socket: Socket): void {
    const frames = new FrameReader(MAX_CAPTURED_BYTES);
    let place: Place | undefined;
    socket.unref().on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const { type, head, body } of frames.push(chunk)) {
          if (!place) place = this.#introduce(socket, hello.parse(head).token);
          else if (type === FrameType.rules) place.heard.get(socket)?.shift()?.();
          else if (type === FrameType.countCall) {
            const { request, ruleId } = countCallHead.parse(head);
            const answer: CallNumberHead = { request, number: this.#countCall(ruleId) };
            writeFrame(socket, FrameType.callNumber, answer);
          } else place.listener(socket, subprocessReport.parse(head), body);
          if (!place) return void socket.destroy();
        }
      } catch (thrown) {
        socket.destroy();
        if (!(thrown instanceof FrameError || thrown instanceof ZodError)) throw thrown;
      }
    });
  }

  #introduce(socket: Socket, token: string): Place | undefined {
    const place = this.#places.get(token);
    if (!place) return undefined;
    const waiting: (() => void)[] = [];
    place.heard.set(socket, waiting);
    if (place.rules) void changeRules(socket, waiting, place.rules);
    socket.once('close', () => {
      place.heard.delete(socket);
      for (const go of waiting) go();
    });
    return place;
  }
}

/** Resolves when the other end has confirmed, has ended, or does not respond. */
async function changeRules(socket: Socket, waiting: (() => void)[], rules: readonly OutboundRule[]): Promise<void> {
  writeFrame(socket, FrameType.rules, { rules });
  const heard = new Promise<void>((resolve) => waiting.push(resolve));
  await Promise.race([heard, wait(MOST_HEARING_MS, undefined, { ref: false })]);
}
