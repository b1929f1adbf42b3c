import { randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { ZodError, z } from 'zod';
import { MAX_CAPTURED_BYTES } from '../../../model/exchange-record.ts';
import type { OutboundRule } from '../../../model/outbound-rule.ts';
import { FrameError, FrameReader, writeFrame } from './frames.ts';
import { countCallHead, type OutboundNews, subprocessReport } from './process-messages.ts';
import { type CallNumberHead, FrameType, type NewsAddress } from './protocol.ts';

export type NewsListener = (from: object, update: OutboundNews, bytes: Uint8Array) => void;

const hello = z.object({ token: z.uuid() });

/** A process that does not confirm its rules within this time is stopped; it receives them before its next call. */
const CONFIRMATION_LIMIT_MS = 1_000;

/** The listener of a token, and the connections of its processes, each with its callbacks for confirmed rules. */
interface Registration {
  listener: NewsListener;
  waitingCallbacks: Map<Socket, (() => void)[]>;
  /** Set after the rules have changed: a process that connects now has started with the earlier ones. */
  rules?: readonly OutboundRule[];
}

/** Receives the calls of threads and Node processes of lambdas (D-200): a lambda's process may block while it waits for them. */
export class ChildProcessChannel {
  readonly #registrations = new Map<string, Registration>();
  /** Returns the number of a call that a rule has matched. */
  readonly #countCall: (ruleId: string) => number;
  readonly #confirmationLimitMs: number;
  #server: Server | undefined;

  constructor(countCall: (ruleId: string) => number, confirmationLimitMs = CONFIRMATION_LIMIT_MS) {
    this.#countCall = countCall;
    this.#confirmationLimitMs = confirmationLimitMs;
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
  register(listener: NewsListener): {
    address: NewsAddress | undefined;
    changeRules(rules: readonly OutboundRule[]): Promise<void>;
    close(): void;
  } {
    const token = randomUUID();
    const registration: Registration = { listener, waitingCallbacks: new Map() };
    this.#registrations.set(token, registration);
    // As: a listening TCP server has such an address.
    const port = (this.#server?.address() as AddressInfo | null | undefined)?.port;
    return {
      address: port === undefined ? undefined : { port, token },
      changeRules: async (rules) => {
        registration.rules = rules;
        await Promise.all(
          [...registration.waitingCallbacks].map(([socket, waiting]) => this.#changeRules(socket, waiting, rules)),
        );
      },
      close: () => {
        this.#registrations.delete(token);
        for (const socket of registration.waitingCallbacks.keys()) socket.destroy();
      },
    };
  }

  close(): void {
    this.#server?.close();
    for (const { waitingCallbacks } of this.#registrations.values())
      for (const socket of waitingCallbacks.keys()) socket.destroy();
  }

  #welcome(socket: Socket): void {
    const frames = new FrameReader(MAX_CAPTURED_BYTES);
    let registration: Registration | undefined;
    socket.unref().on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      try {
        for (const { type, head, body } of frames.push(chunk)) {
          if (!registration) registration = this.#introduce(socket, hello.parse(head).token);
          else if (type === FrameType.rules) registration.waitingCallbacks.get(socket)?.shift()?.();
          else if (type === FrameType.countCall) {
            const { request, ruleId } = countCallHead.parse(head);
            const answer: CallNumberHead = { request, number: this.#countCall(ruleId) };
            writeFrame(socket, FrameType.callNumber, answer);
          } else registration.listener(socket, subprocessReport.parse(head), body);
          if (!registration) return void socket.destroy();
        }
      } catch (thrown) {
        socket.destroy();
        if (!(thrown instanceof FrameError || thrown instanceof ZodError)) throw thrown;
      }
    });
  }

  #introduce(socket: Socket, token: string): Registration | undefined {
    const registration = this.#registrations.get(token);
    if (!registration) return undefined;
    const waiting: (() => void)[] = [];
    registration.waitingCallbacks.set(socket, waiting);
    if (registration.rules) void this.#changeRules(socket, waiting, registration.rules);
    socket.once('close', () => {
      registration.waitingCallbacks.delete(socket);
      for (const go of waiting) go();
    });
    return registration;
  }

  /** Resolves when the other end has confirmed, has ended, or does not respond. */
  async #changeRules(socket: Socket, waiting: (() => void)[], rules: readonly OutboundRule[]): Promise<void> {
    writeFrame(socket, FrameType.rules, { rules });
    const whenReceived = new Promise<void>((resolve) => waiting.push(resolve));
    await Promise.race([whenReceived, wait(this.#confirmationLimitMs, undefined, { ref: false })]);
  }
}
