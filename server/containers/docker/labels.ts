import type { Owner } from '../../machine/owner.ts';
import type { Uuid } from '../../model/ids.ts';
import type { Instance, Workload } from '../engine.ts';

/** What everything made here carries: whose it is. What lacks the world's label is never touched. */
export const LABEL = {
  world: 'terrarium.world',
  /** Which process made it, and where its world is kept: an `Owner` in JSON. */
  owner: 'terrarium.owner',
  record: 'terrarium.record',
  environment: 'terrarium.environment',
  provider: 'terrarium.provider',
  kind: 'terrarium.kind',
  revision: 'terrarium.revision',
  volume: 'terrarium.volume',
} as const;

/** A world, and who runs it; without an owner nobody can tell later whether what it made is still wanted. */
export interface WorldMark {
  worldId: Uuid;
  owner?: Owner | undefined;
}

/** What everything of a world carries. */
export function marksOf({ worldId, owner }: WorldMark): Record<string, string> {
  return { [LABEL.world]: worldId, ...(owner && { [LABEL.owner]: JSON.stringify(owner) }) };
}

/** The labels of an instance: the record's own, and ours, which win. */
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

/** What an instance's labels tell of it. */
export function identityIn(labels: Readonly<Record<string, string>>): Pick<Instance, 'recordId' | 'kind' | 'revision'> {
  return {
    recordId: labels[LABEL.record] ?? '',
    kind: labels[LABEL.kind] === 'job' ? 'job' : 'container',
    revision: labels[LABEL.revision] ?? '',
  };
}

/** The engine's filter for what belongs to a world, or to one of its records. */
export function ownedBy(worldId: Uuid, recordId?: Uuid): { label: string[] } {
  const world = `${LABEL.world}=${worldId}`;
  return { label: recordId === undefined ? [world] : [world, `${LABEL.record}=${recordId}`] };
}
