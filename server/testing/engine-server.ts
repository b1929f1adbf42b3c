import { createServer, type ServerResponse } from 'node:http';
import { closeWithin, listenAt } from '../api/server/listening.ts';

export type Answer = (response: ServerResponse) => void;

export const json =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

/** A server that answers like a container engine without containers, and manages a swarm without services. */
export interface EngineServer {
  /** `tcp://...` */
  url: string;
  /** The paths with queries of all requests so far. */
  readonly requests: readonly string[];
  /** Replaces the answer to requests whose path with query matches. The latest call that matches applies. */
  answer(path: RegExp, answer: Answer): void;
  /** Removes all replaced answers. */
  reset(): void;
  stop(): Promise<void>;
}

const ANSWERS: readonly [RegExp, Answer][] = [
  [/^/, json([])],
  [/^\/_ping/, (response) => response.end('OK')],
  [/^\/version/, json({ Version: '1', KernelVersion: '', Components: [] })],
  [/^\/info/, json({ NCPU: 1, Swarm: { NodeID: 'node', ControlAvailable: true } })],
  [/^\/volumes/, json({ Volumes: [] })],
  [/^\/events/, (response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()],
];

export async function startEngineServer(): Promise<EngineServer> {
  let answers = [...ANSWERS];
  const requests: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    requests.push(url);
    answers.findLast(([path]) => path.test(url))?.[1](response);
  });
  const { port } = await listenAt(server, { host: '127.0.0.1', port: 0 });
  return {
    url: `tcp://127.0.0.1:${port}`,
    requests,
    answer: (path, answer) => void answers.push([path, answer]),
    reset() {
      answers = [...ANSWERS];
    },
    stop: () => closeWithin(server, 0),
  };
}
