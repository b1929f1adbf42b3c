import { z } from 'zod';
import { jsonIn } from '../../../model/json.ts';
import { CHECK_ENDED, type EngineEvent } from '../engine.ts';
import type { DockerConnection } from './docker-connection.ts';
import { LABEL } from './labels.ts';

const message = z.looseObject({
  Action: z.string(),
  Actor: z.looseObject({ ID: z.string(), Attributes: z.record(z.string(), z.string()) }),
  timeNano: z.number(),
});

/** Tells of every change of the containers with some labels until the returned function is called or the daemon goes away. */
export async function watchInstances(
  connection: DockerConnection,
  owned: { label: string[] },
  onEvent: (event: EngineEvent) => void,
): Promise<() => void> {
  const filters = { ...owned, type: ['container' as const] };
  const stream = await connection.ask((docker) => docker.getEvents({ filters }));
  let isOver = false;
  let rest = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = isOver ? undefined : readEvent(line);
      if (event) onEvent(event);
    }
  });
  const lost = (failure?: Error) => {
    if (isOver) return;
    isOver = true;
    onEvent({ kind: 'lost', reason: connection.toEngineError(failure ?? { code: 'ECONNRESET' }).message });
  };
  // Every one of its errors: one without a listener ends the process.
  stream.on('error', lost);
  stream.once('end', () => lost());
  stream.once('close', () => lost());
  return () => {
    isOver = true;
    Object(stream).destroy?.();
  };
}

function readEvent(line: string): EngineEvent | undefined {
  const { data } = message.safeParse(jsonIn(line));
  if (!data) return undefined;
  const { Action, Actor, timeNano } = data;
  const recordId = Actor.Attributes[LABEL.record];
  if (recordId === undefined) return undefined;
  // `exec_create: sh -c ...` and the like are no changes.
  if (Action.startsWith('exec_') && Action !== CHECK_ENDED) return undefined;
  const atMs = Math.round(timeNano / 1e6);
  const exitCode = Actor.Attributes.exitCode;
  const action = Action === 'die' && exitCode !== undefined ? `die (exit code ${exitCode})` : Action;
  return { kind: 'instance', recordId, instanceId: Actor.ID, action, atMs };
}
