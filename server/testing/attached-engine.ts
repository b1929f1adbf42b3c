import { DockerEngine } from '../runtimes/containers/docker/docker-engine.ts';
import { EngineConnection } from '../runtimes/containers/engine-connection.ts';
import { connectForTests, newWorldId } from './engine.ts';
import type { EngineServer } from './engine-server.ts';

/** A connection of a platform to a server that answers like an engine, the states that it had, and the errors of this process. */
export type AttachedEngine = ReturnType<typeof attachedEngine>;

export function attachedEngine({ url }: EngineServer) {
  const states: string[] = [];
  const faults: unknown[] = [];
  const open = async () => new DockerEngine({ worldId: newWorldId(), connection: connectForTests(url) });
  const connection = new EngineConnection(
    { address: url, open },
    {
      onInstances: () => undefined,
      onEvent: () => undefined,
      onState: ({ state }) => states.push(state.kind),
      onFault: (fault) => faults.push(fault),
    },
  );
  return { connection, states, faults };
}
