import type { LogLine } from '../../../model/invocation.ts';
import type { Uuid } from '../../../model/record.ts';
import { EngineRefusal, type LogOptions } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { ownedBy } from './labels.ts';
import { linesIn } from './output.ts';
import { watchInstances } from './watch-instances.ts';

export async function readLogs(
  connection: DockerConnection,
  ids: readonly string[],
  options: LogOptions,
): Promise<LogLine[]> {
  const { tail } = options;
  const all = await Promise.all(ids.map((id) => logOf(connection, id, options)));
  const merged = all.flat().sort((a, b) => a.atMs - b.atMs);
  return tail === undefined ? merged : merged.slice(Math.max(0, merged.length - tail));
}

async function logOf(
  connection: DockerConnection,
  id: string,
  { sinceMs, tail, stderr }: LogOptions,
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

/** Tells of each new output of the instances of a record, including instances that start later. */
export async function followLogs(
  connection: DockerConnection,
  worldId: Uuid,
  recordId: Uuid,
  onNews: () => void,
): Promise<() => void> {
  const followed = new Map<string, () => void>();
  let isOver = false;
  const follow = async (id: string, from: { since: number } | { tail: number }) => {
    if (followed.has(id)) return;
    followed.set(id, () => undefined);
    const stream = await connection.ask((docker) =>
      docker.getContainer(id).logs({ follow: true, stdout: true, stderr: true, ...from }),
    );
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
  const unwatch = await watchInstances(connection, ownedBy(worldId), (event) => {
    // Its last line was written since, or tells of nothing new.
    if (event.kind === 'instance' && event.recordId === recordId && event.action === 'start')
      followQuietly(event.instanceId, { tail: 1 });
  });
  const present = await connection.ask((docker) => docker.listContainers({ filters: ownedBy(worldId, recordId) }));
  for (const { Id } of present) followQuietly(Id, { since });
  return () => {
    isOver = true;
    unwatch();
    for (const end of followed.values()) end();
  };
}
