import type { Uuid } from '../../../model/record.ts';
import type { Owner } from '../../../system/owner.ts';
import type { Instance, Workload } from '../engine.ts';

/** The labels of everything that Terrarium makes in an engine. It never touches anything without the world's label. */
export const LABEL = {
  world: 'terrarium.world',
  /** The process that created it and the folder of its world: an `Owner` in JSON. */
  owner: 'terrarium.owner',
  record: 'terrarium.record',
  environment: 'terrarium.environment',
  provider: 'terrarium.provider',
  kind: 'terrarium.kind',
  revision: 'terrarium.revision',
  volume: 'terrarium.volume',
} as const;

/** A world, and who runs it; without an owner it is impossible to tell later whether its resources are still in use. */
export interface WorldMark {
  worldId: Uuid;
  owner?: Owner | undefined;
}

export function marksOf({ worldId, owner }: WorldMark): Record<string, string> {
  return { [LABEL.world]: worldId, ...(owner && { [LABEL.owner]: JSON.stringify(owner) }) };
}

export function labelsOf(world: WorldMark, workload: Workload): Record<string, string> {
  return {
    ...workload.labels,
    ...marksOf(world),
    [LABEL.record]: workload.recordId,
    [LABEL.environment]: workload.environmentId,
    [LABEL.provider]: workload.providerId,
    [LABEL.kind]: workload.kind,
    [LABEL.revision]: workload.revision,
  };
}

export function identityIn(labels: Readonly<Record<string, string>>): Pick<Instance, 'recordId' | 'kind' | 'revision'> {
  return {
    recordId: labels[LABEL.record] ?? '',
    kind: labels[LABEL.kind] === 'job' ? 'job' : 'container',
    revision: labels[LABEL.revision] ?? '',
  };
}

export function ownedBy(worldId: Uuid, recordId?: Uuid): { label: string[] } {
  const world = `${LABEL.world}=${worldId}`;
  return { label: recordId === undefined ? [world] : [world, `${LABEL.record}=${recordId}`] };
}
