import type Docker from 'dockerode';
import type { LogLine } from '../../../model/invocation.ts';
import { NewestLines } from '../../../model/newest-lines.ts';
import type { Uuid } from '../../../model/record.ts';
import { type EngineEvent, EngineRefusal, type LogOptions } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { linesIn } from './output.ts';

/** The containers of a daemon, or the tasks of a swarm, whose logs are read in the same way. */
export type LogSource = 'containers' | 'tasks';

/** The event with which the log of an instance begins. */
const START_EVENT = { containers: 'start', tasks: 'running' };

/** Reads the newest lines of several instances, together at most as much as of one. */
export async function readLogs(
  connection: DockerConnection,
  source: LogSource,
  ids: readonly string[],
  options: LogOptions,
): Promise<LogLine[]> {
  const all = await Promise.all(ids.map((id) => logOf(connection, `/${source}/${id}/logs?`, id, options)));
  const merged = all.flat().sort((a, b) => a.atMs - b.atMs);
  const newest = new NewestLines();
  for (const line of merged.slice(-options.tail)) newest.add(line);
  return newest.reportedLines();
}

async function logOf(
  connection: DockerConnection,
  path: string,
  id: string,
  { sinceMs, tail, stderr }: LogOptions,
): Promise<LogLine[]> {
  try {
    const since = sinceMs > 0 ? { since: sinceMs / 1000 } : {};
    const query = { stdout: true, stderr, timestamps: true, tail, ...since };
    const lines = await linesIn(await connection.read(path, query));
    return lines.map((line) => ({ ...line, instance: id }));
  } catch (failure) {
    // It went meanwhile, and its output with it.
    if (failure instanceof EngineRefusal && failure.kind === 'missing') return [];
    throw connection.toEngineError(failure);
  }
}

/** Tells of each new output of the instances of a record, including instances that start later. */
export async function followLogs(
  connection: DockerConnection,
  options: {
    source: LogSource;
    recordId: Uuid;
    alive(): Promise<readonly string[]>;
    watch(onEvent: (event: EngineEvent) => void): Promise<() => void>;
    onNews(): void;
  },
): Promise<() => void> {
  const { source, recordId, onNews } = options;
  const followed = new Map<string, () => void>();
  let isOver = false;
  const follow = async (id: string, from: { since: number } | { tail: number }) => {
    if (followed.has(id)) return;
    followed.set(id, () => undefined);
    const stream = await connection.ask((docker) => {
      // As: the type of a task lacks its log, which is like the log of a container.
      const instance =
        source === 'tasks' ? (docker.getTask(id) as object as Docker.Container) : docker.getContainer(id);
      return instance.logs({ follow: true, stdout: true, stderr: true, ...from });
    });
    const end = () => {
      followed.delete(id);
      Object(stream).destroy?.();
    };
    if (isOver) return end();
    followed.set(id, end);
    stream.on('data', onNews);
    for (const event of ['end', 'close', 'error']) stream.once(event, () => followed.delete(id));
  };
  const followQuietly = (...followArguments: Parameters<typeof follow>) => {
    follow(...followArguments).catch(() => followed.delete(followArguments[0])); // it went meanwhile
  };
  const since = Date.now() / 1000;
  const unwatch = await options.watch((event) => {
    // Its last line was written since, or tells of nothing new.
    if (event.kind === 'instance' && event.recordId === recordId && event.action === START_EVENT[source])
      followQuietly(event.instanceId, { tail: 1 });
  });
  const stop = () => {
    isOver = true;
    unwatch();
    for (const end of followed.values()) end();
  };
  try {
    for (const id of await options.alive()) followQuietly(id, { since });
  } catch (failure) {
    stop();
    throw failure;
  }
  return stop;
}

/** Lines kept of all ended instances of a record. */
export const ENDED_LINES = 1_000;
const MAX_BYTES = 1024 * 1024;
/** Records of which lines are kept: the ones with the latest ends. */
const MAX_RECORDS = 50;

/** The ends of the logs of removed instances, which the engine removes with them: after an update they tell what the old ones did. */
export class EndedLogs {
  readonly #lines = new Map<Uuid, NewestLines>();

  keep(recordId: Uuid, lines: readonly LogLine[]): void {
    if (lines.length === 0) return;
    const newest = this.#lines.get(recordId) ?? new NewestLines(ENDED_LINES);
    for (const line of lines) newest.add(line);
    newest.cutTo(MAX_BYTES);
    this.#lines.delete(recordId);
    this.#lines.set(recordId, newest);
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > MAX_RECORDS && oldest !== undefined) this.#lines.delete(oldest);
  }

  /** @param present the instances that the engine still has: their lines come from it */
  linesOf(recordId: Uuid, { sinceMs, stderr, instanceId }: LogOptions, present: readonly string[]): LogLine[] {
    return (this.#lines.get(recordId)?.lines() ?? []).filter(
      ({ atMs, stream, instance = '' }) =>
        atMs >= sinceMs &&
        (stderr || stream !== 'stderr') &&
        (instanceId === undefined || instance === instanceId) &&
        !present.includes(instance),
    );
  }
}
