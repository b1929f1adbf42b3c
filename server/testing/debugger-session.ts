import { pathToFileURL } from 'node:url';
import { WebSocket } from 'ws';

interface Message {
  id?: number;
  method?: string;
  error?: { message: string };
}

/** A debugger client for tests, using the inspector protocol. */
export class DebuggerSession {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number | string, { resolve(): void; reject(failure: Error): void }>();
  readonly #loadedScripts = new Set<string>();
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  #lastId = 0;

  /** @param url the inspector address of the process */
  static async attach(url: string): Promise<DebuggerSession> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('error', () => reject(new Error(`nothing listens at ${url}`)));
    });
    const session = new DebuggerSession(socket);
    await session.#ask('Debugger.enable');
    return session;
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.addEventListener('close', () => resolve()));
    socket.addEventListener('message', ({ data }) => {
      // All messages of the inspector protocol have this format.
      const { id, method, error } = JSON.parse(String(data)) as Message;
      const key = id ?? method ?? '';
      if (id === undefined) this.#loadedScripts.add(String(key));
      const waiter = this.#waiting.get(key);
      this.#waiting.delete(key);
      if (error) waiter?.reject(new Error(error.message));
      else waiter?.resolve();
    });
  }

  /** @param line from 0 */
  breakAt(file: string, line: number): Promise<void> {
    return this.#ask('Debugger.setBreakpointByUrl', { url: pathToFileURL(file).href, lineNumber: line });
  }

  /** Resolves when the process is paused at a breakpoint. */
  paused(): Promise<void> {
    const method = 'Debugger.paused';
    if (this.#loadedScripts.has(method)) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiting.set(method, { resolve, reject }));
  }

  /** Resumes the process. */
  async close(): Promise<void> {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    this.#socket.close();
    await this.closed;
  }

  #ask(method: string, params: object = {}): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}
