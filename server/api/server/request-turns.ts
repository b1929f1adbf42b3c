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
 * Handles the requests of each connection one after the other. node:http emits all pipelined requests of a packet at once, possibly
 * thousands in one turn of the event loop, which blocks other clients. Here the next request starts when the previous response is over and
 * other connections had their turn. A request on an idle connection starts immediately, without a listener of its own.
 */
export class RequestTurns {
  readonly #lines = new WeakMap<Socket, Line>();

  /** A request listener that passes each request on in its turn; never if the connection is closed by then. */
  schedule(listener: RequestListener): RequestListener {
    return (request, response) => {
      const line = this.#lineOf(request.socket);
      if (line.waiting.length === 0 && isIdle(line)) {
        line.current = response;
        listener(request, response);
      } else this.#take(request.socket, line, { begin: () => listener(request, response), response });
    };
  }

  /** Calls back when the connection has no open request; never if it is closed by then. */
  whenAnswered(socket: Socket, begin: () => void): void {
    this.#take(socket, this.#lineOf(socket), { begin });
  }

  /**
   * Calls back when invalid bytes can be refused: after the earlier responses. If a response has already started, the fault cannot be
   * reported and the connection is closed.
   */
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

  #take(socket: Socket, line: Line, turn: Turn): void {
    if (isIdle(line)) {
      this.#begin(socket, line, turn);
      return;
    }
    if (line.waiting.push(turn) === 1) this.#continueAfter(socket, line);
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
