import type { Uuid } from '../../../model/record.ts';
import type { DockerConnection } from './docker-connection.ts';
import { LABEL, marksOf, type WorldMark } from './labels.ts';

/** Makes the network of an environment unless it exists (D-049). */
export function ensureNetwork(
  connection: DockerConnection,
  world: WorldMark,
  environmentId: Uuid,
  options: { Name: string; Driver: 'bridge' } | { Name: string; Driver: 'overlay'; Attachable: true },
): Promise<void> {
  const { Name } = options;
  return inTurn(Name, async () => {
    if (await connection.askTolerantly((docker) => docker.getNetwork(Name).inspect(), 'missing')) return;
    const Labels = { ...marksOf(world), [LABEL.environment]: environmentId };
    await connection.askTolerantly(
      (docker) => docker.createNetwork({ ...options, CheckDuplicate: true, Labels }),
      'conflict',
    );
  });
}

const lastSteps = new Map<string, Promise<void>>();

/** A network is created and removed by one step after the other, also if several connections lead to the same daemon. */
export function inTurn(name: string, step: () => Promise<void>): Promise<void> {
  const done = (lastSteps.get(name) ?? Promise.resolve()).then(step);
  const ended = done
    .catch(() => undefined)
    .then(() => {
      if (lastSteps.get(name) === ended) lastSteps.delete(name);
    });
  lastSteps.set(name, ended);
  return done;
}

/** Removes a network; `locked`: Docker 20.10 has miscounted its endpoints, and keeps it, although it is empty, until the engine is restarted. */
export async function removeNetwork(connection: DockerConnection, id: string): Promise<'gone' | 'used' | 'locked'> {
  const isGone = await connection.askTolerantly((docker) =>
    docker
      .getNetwork(id)
      .remove()
      .then(() => true),
  );
  if (isGone) return 'gone';
  const [network, containers] = await Promise.all([
    connection.askTolerantly((docker) => docker.getNetwork(id).inspect(), 'missing'),
    connection.ask((docker) => docker.listContainers({ all: true, filters: { network: [id] } })),
  ]);
  if (!network) return 'gone';
  const isEmpty = containers.length === 0 && Object.keys(network.Containers ?? {}).length === 0;
  // What uses a network of a swarm may be on another node.
  return isEmpty && network.Scope === 'local' ? 'locked' : 'used';
}
