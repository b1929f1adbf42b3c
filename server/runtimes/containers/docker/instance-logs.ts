import type { LogLine } from '../../../model/invocation.ts';
import type { Uuid } from '../../../model/record.ts';
import { EngineRefusal, type LogOptions } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { ownedBy } from './labels.ts';
import { linesIn, StampedLines } from './output.ts';
import { watchInstances } from './watch-instances.ts';

export async function readLogs(
  connection: DockerConnection,
  ids: readonly string[],
  { sinceMs, tail, stderr }: LogOptions,
): Promise<LogLine[]> {
  const all = await Promise.all(ids.map((id) => logOf(connection, id, { sinceMs, tail, stderr })));
  const merged = all.flat().sort((one, other) => one.atMs - other.atMs);
  return tail === undefined ? merged : merged.slice(Math.max(0, merged.length - tail));
}

async function logOf(
  connection: DockerConnection,
  id: string,
  { sinceMs, tail, stderr }: Omit<LogOptions, 'tail'> & { tail: number | undefined },
): Promise<LogLine[]> {
  try {
    const since = sinceMs > 0 ? { since: sinceMs / 1000 } : {};
    const query = { stdout: true, stderr, timestamps: true, ...since, ...(tail !== undefined && { tail }) };
    const lines = await linesIn(await connection.read(`/containers/${id}/logs?`, query));
    return lines.map((line) => ({ ...line, instance: id }));
  } catch (failure) {
    // It went meanwhile, and its output with it.
    if (failure instanceof EngineRefusal && failure.kind === 'missing') return [];
    throw connection.toEngineError(failure);
  }
}

/** Delivers each new line of the instances of a record, including instances that start later. */
export async function followLogs(
  connection: DockerConnection,
  worldId: Uuid,
  recordId: Uuid,
  onLine: (instanceId: string, line: LogLine) => void,
): Promise<() => void> {
  const followed = new Map<string, () => void>();
  let isOver = false;
  const follow = async (id: string, sinceMs: number | undefined) => {
    if (followed.has(id)) return;
    followed.set(id, () => undefined);
    const since = sinceMs === undefined ? await startOf(connection, id) : sinceMs / 1000;
    const reader = new StampedLines((line) => onLine(id, line));
    const stream = await connection.ask((docker) =>
      docker.getContainer(id).logs({ follow: true, stdout: true, stderr: true, timestamps: true, since }),
    );
    const end = () => {
      followed.delete(id);
      Object(stream).destroy?.();
    };
    if (isOver) return end();
    followed.set(id, end);
    stream.on('data', (chunk: Buffer) => reader.push(chunk));
    for (const event of ['end', 'close', 'error']) stream.once(event, () => followed.delete(id));
  };
  const followQuietly = (id: string, sinceMs?: number) => {
    follow(id, sinceMs).catch(() => followed.delete(id)); // it went meanwhile
  };
  const startedAtMs = Date.now();
  const unwatch = await watchInstances(connection, ownedBy(worldId), (event) => {
    if (event.kind === 'instance' && event.recordId === recordId && event.what === 'start') {
      followQuietly(event.instanceId);
    }
  });
  const present = await connection.ask((docker) => docker.listContainers({ filters: ownedBy(worldId, recordId) }));
  for (const { Id } of present) followQuietly(Id, startedAtMs);
  return () => {
    isOver = true;
    unwatch();
    for (const end of followed.values()) end();
  };
}

/** What is written around the start may bear an earlier time than the start itself. */
const START_MARGIN_MS = 1_000;

async function startOf(connection: DockerConnection, id: string): Promise<number> {
  const { State: state } = await connection.ask((docker) => docker.getContainer(id).inspect());
  const lastEndMs = Date.parse(state.FinishedAt);
  return Math.max(0, Date.parse(state.StartedAt) - START_MARGIN_MS, lastEndMs) / 1000;
}
