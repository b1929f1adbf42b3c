import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The number of waiting requests at which a connection is paused. */
const MAX_WAITING = 32;

interface Turn {
  begin(): void;
  response?: ServerResponse;
}

interface Line {
  /** The response to the latest request that was started; it may be over. */
  current: ServerResponse | undefined;
  waiting: Turn[];
  /** Set while the connection is paused. */
  resume: (() => void) | undefined;
}

/**
 * Starts the next request of a connection when the previous response is over and other connections had their turn: node:http emits all
 * pipelined requests of a packet at once, possibly thousands, which would block other clients.
 */
export class RequestTurns {
  readonly #lines = new WeakMap<Socket, Line>();

  /** A request listener that passes each request on in its turn; never if the connection is closed by then. */
  schedule(listener: RequestListener): RequestListener {
    return (request, response) => this.#take(request.socket, { begin: () => listener(request, response), response });
  }

  /** Calls back when the connection has no open request; never if it is closed by then. */
  whenAnswered(socket: Socket, begin: () => void): void {
    this.#take(socket, { begin });
  }

  /** Calls back when invalid bytes can be refused, after the earlier responses. If their response has started, closes the connection. */
  whenRefusable(socket: Socket, refuse: () => void): void {
    const line = this.#lineOf(socket);
    const queued = line.waiting.at(-1);
    if (queued) {
      if (queued.response?.req.complete === false) line.waiting.pop();
    } else if (line.current && !line.current.closed && !line.current.req.complete) {
      if (line.current.headersSent) socket.destroy();
      else refuse();
      return;
    }
    this.whenAnswered(socket, refuse);
  }

  #lineOf(socket: Socket): Line {
    let line = this.#lines.get(socket);
    if (!line) {
      line = { current: undefined, waiting: [], resume: undefined };
      this.#lines.set(socket, line);
    }
    return line;
  }

  #take(socket: Socket, turn: Turn): void {
    const line = this.#lineOf(socket);
    if (isIdle(line)) this.#begin(socket, line, turn);
    else if (line.waiting.push(turn) === 1) this.#continueAfter(socket, line);
    if (line.waiting.length > MAX_WAITING) suspend(socket, line);
  }

  #begin(socket: Socket, line: Line, turn: Turn): void {
    line.current = turn.response;
    if (line.waiting.length > 0) this.#continueAfter(socket, line);
    turn.begin();
  }

  #continueAfter(socket: Socket, line: Line): void {
    line.current?.once('close', () => setImmediate(() => this.#next(socket, line)));
  }

  #next(socket: Socket, line: Line): void {
    if (socket.destroyed) return;
    const turn = line.waiting.shift();
    if (line.waiting.length === 0) release(socket, line);
    if (turn) this.#begin(socket, line, turn);
  }
}

function isIdle({ current, waiting }: Line): boolean {
  return !current || (current.closed && waiting.length === 0);
}

/** Pauses reading. node:http resumes it whenever a request has been parsed. */
function suspend(socket: Socket, line: Line): void {
  if (line.resume) return;
  line.resume = () => socket.pause();
  socket.on('resume', line.resume).pause();
}

function release(socket: Socket, line: Line): void {
  if (!line.resume) return;
  socket.off('resume', line.resume).resume();
  line.resume = undefined;
}
