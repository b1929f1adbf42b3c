import type { WebSocket } from 'ws';
import { terminalWord } from '../../api/routes/containers.ts';
import { PlatformError, toPlatformError } from '../../model/errors.ts';
import { jsonIn } from '../../model/json.ts';
import type { TerminalEnd } from '../../model/terminal-protocol.ts';
import type { Shell, TerminalSize } from '../../runtimes/containers/engine.ts';
import { monotonicMs } from '../../system/clock.ts';

/** Number of sent bytes that the viewer may not have shown yet: a shell that prints faster waits. */
const AHEAD_BYTES = 256 * 1024;
const CLOSES = { exited: 1000, stopped: 1000, idle: 1000, lost: 1011, refused: 1008, closing: 1001 } as const;
/** For a viewer to close its side as well. */
const CLOSE_WAIT_MS = 1_000;
/** Interval at which the viewer's presence and permission are checked. */
const CHECK_MS = 5_000;
/** A shell without input for this time is closed. */
const IDLE_MS = 30 * 60_000;

export interface TerminalOptions {
  socket: WebSocket;
  openShell(size: TerminalSize): Promise<Shell>;
  size: TerminalSize;
  /** Throws PlatformError once the viewer may not type any more. */
  requirePermission(): void;
}

/** A shell in an instance, connected to a client until either ends. */
export class Terminal {
  /** Resolves when both have ended; rejects with a fault of the platform's own, then. */
  readonly ended: Promise<void>;
  readonly #options: TerminalOptions;
  readonly #socket: WebSocket;
  #shell: Shell | undefined;
  #size: TerminalSize;
  #sentBytes = 0;
  #shownBytes = 0;
  #typedMs: number;
  #isHeard = true;
  #isOver = false;
  readonly #timer: NodeJS.Timeout;

  constructor(options: TerminalOptions) {
    const { socket } = options;
    this.#options = options;
    this.#socket = socket;
    this.#size = options.size;
    this.#typedMs = monotonicMs();
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
    socket.on('error', () => {}); // its close is what matters
    socket.on('pong', () => {
      this.#isHeard = true;
    });
    socket.on('message', (data: Buffer, isTyped) =>
      isTyped ? this.#type(data) : this.#receive(data.toString('utf8')),
    );
    this.ended = this.#run();
  }

  end(ended: TerminalEnd['ended'], message: string, exitCode?: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const ending: TerminalEnd = { ended, message, ...(exitCode !== undefined && { exitCode }) };
    this.#socket.resume();
    this.#socket.send(JSON.stringify(ending), () => this.#socket.close(CLOSES[ended]));
    setTimeout(() => this.#socket.terminate(), CLOSE_WAIT_MS).unref();
  }

  async #run(): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    this.#socket.pause(); // input that arrives meanwhile is for the shell
    try {
      this.#shell = await this.#options.openShell(this.#size);
      this.#socket.resume();
      this.#show(this.#shell);
    } catch (failure) {
      this.end('refused', toPlatformError(failure).message);
      if (!(failure instanceof PlatformError)) throw failure;
    } finally {
      this.#socket.resume();
      await closed;
      this.#isOver = true;
      clearInterval(this.#timer);
      await this.#shell?.end();
    }
  }

  #show(shell: Shell): void {
    const { stream } = shell;
    let hasEnded = false;
    stream.on('data', (bytes: Buffer) => {
      if (this.#isOver) return;
      this.#sentBytes += bytes.length;
      this.#socket.send(bytes, () => this.#isAhead || stream.resume());
      if (this.#isAhead) stream.pause();
    });
    stream.once('end', () => {
      hasEnded = true;
      void shell.ending().then(({ exitCode, isInstanceGone }) => {
        if (isInstanceGone) this.end('stopped', 'The container has stopped.', exitCode);
        else this.end('exited', `The shell has ended${exitCode ? ` with exit code ${exitCode}` : ''}.`, exitCode);
      });
    });
    stream.once('close', () => {
      if (!hasEnded) this.end('lost', 'The container engine no longer responds.');
    });
  }

  /** True if the viewer has not yet shown much of the output. The viewer may never report anything as shown. */
  get #isAhead(): boolean {
    return Math.max(this.#sentBytes - this.#shownBytes, this.#socket.bufferedAmount) >= AHEAD_BYTES;
  }

  #type(bytes: Buffer): void {
    const stream = this.#shell?.stream;
    if (this.#isOver || !stream || !this.#mayStill()) return;
    this.#typedMs = monotonicMs();
    // A paused socket still emits the messages that it has already read.
    if (stream.destroyed || stream.write(bytes) || this.#socket.isPaused) return;
    this.#socket.pause();
    stream.once('drain', () => this.#socket.resume());
  }

  #receive(text: string): void {
    const message = terminalWord.safeParse(jsonIn(text));
    if (!message.success) {
      this.end('refused', 'The client sent an invalid message.');
    } else if ('columns' in message.data) {
      this.#size = message.data;
      void this.#shell?.resize(message.data);
    } else {
      this.#shownBytes = Math.min(message.data.shown, this.#sentBytes);
      if (!this.#isAhead) this.#shell?.stream.resume();
    }
  }

  #mayStill(): boolean {
    try {
      this.#options.requirePermission();
      return true;
    } catch (refusal) {
      this.end('refused', toPlatformError(refusal).message);
      return false;
    }
  }

  #check(): void {
    if (this.#isOver || !this.#mayStill()) return;
    if (monotonicMs() - this.#typedMs > IDLE_MS) {
      this.end('idle', `The shell was closed after ${Math.round(IDLE_MS / 60_000)} minutes without input.`);
      return;
    }
    // A socket that was paused here hears nothing.
    if (!this.#isHeard && !this.#socket.isPaused) this.#socket.terminate();
    else this.#socket.ping();
    this.#isHeard = false;
  }
}
