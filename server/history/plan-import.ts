import { codeToRun } from '../model/code-to-run.ts';
import type { CommitResource } from '../model/commit.ts';
import { PlatformError } from '../model/errors.ts';
import { ORGANIZATION } from '../model/hierarchy.ts';
import type { Uuid } from '../model/ids.ts';
import type { KeyedLog } from '../model/keyed-log.ts';
import { hasHidden, unmaskedRecord } from '../model/masking.ts';
import { reasonOf } from '../model/reason.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { pathOf } from '../model/resource-path.ts';
import { USER } from '../model/type-names.ts';
import { inTurns } from '../store/turns.ts';
import { changesInTurns, sharingRecords } from '../store/world-difference.ts';
import { lawfulWorld, viewOf, type WorldLaws } from './foreign-world.ts';
import { readArchive } from './read-archive.ts';
import type { TimeMachine } from './time-machine.ts';

type Resources = ReadonlyMap<Uuid, StoredResource>;

/** Where an archive is to go. */
export interface ArchiveTarget {
  machine: TimeMachine;
  laws: WorldLaws;
  leads: KeyedLog<object>;
  /** Throws for what is no lead. */
  parseLead(value: unknown): object;
}

/**
 * The world that an archive makes of the present one, the leads that are not there yet, and what there is to tell: resources whose
 * hidden values are not known here either, so that they have to be set anew, and what of the code in it runs from then on. Its
 * records are held to what a request would be (D-215), but policies are not asked. The root organization and the root user stay who
 * they are here, with password and keys; hidden values stay what they are here.
 *
 * @throws PlatformError 400 with the reason for a damaged or foreign file
 */
export async function planImport(path: string, target: ArchiveTarget) {
  const { machine, leads } = target;
  const archive = await readArchive(path);
  const parsed = archive.leads.map(({ key, record }) => ({ key, record: checked(() => target.parseLead(record)) }));
  const present = machine.store.world.resources;
  const root = checked(() => rootOf(archive.world.resources));
  await demandSound(archive.world.resources);

  const own = rootOf(present);
  const ids: [Uuid, Uuid][] = [
    [root.id, own.id],
    [root.owner, own.owner],
  ];
  const resources = new Map<Uuid, StoredResource>();
  await inTurns(archive.world.resources.values(), (record) => {
    const renamed = withIds(record, ids);
    // Whatever the archive says of him, root is who he is here.
    const kept = renamed.id === own.owner ? present.get(own.owner) : undefined;
    resources.set(renamed.id, kept ?? unmaskedRecord(renamed, present.get(renamed.id)));
  });
  const world = await sharingRecords(await lawfulWorld(resources, present, target.laws), present);
  const changed = (await changesInTurns(present, world)).put.map(({ id }) => id);
  const runs = changed.length > 0 ? codeToRun(await viewOf(world.values()), changed) : [];
  const hidden: CommitResource[] = [];
  await inTurns(world.values(), (one) => hasHidden(one) && hidden.push(described(one, world)));
  return {
    world,
    seq: archive.world.seq,
    added: parsed.filter(({ key }) => leads.get(key) === undefined),
    hidden,
    ...(runs.length > 0 && { runs }),
  };
}

/** Lets a check speak: what it throws is why the archive is refused. */
function checked<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    const reason = reasonOf(error);
    throw new PlatformError(400, `the archive cannot be imported: ${reason}. Nothing was changed.`, { cause: error });
  }
}

function rootOf(resources: Resources): StoredResource {
  const roots = [...resources.values()].filter(({ parent }) => parent === null);
  const [root] = roots;
  if (!root || roots.length > 1 || root.type !== ORGANIZATION)
    throw new Error('its world has not one root organization');
  if (root.name !== 'root') throw new Error(`its root organization is called '${root.name}', not 'root'`);
  if (resources.get(root.owner)?.type !== USER) throw new Error('its world has no root user');
  return root;
}

/** Throws unless every resource is of a known type, stands below the root on what its type may stand on, and has its name for itself. */
async function demandSound(resources: Resources): Promise<void> {
  const names = new Set<string>();
  const sound = new Set<Uuid>();
  const demandRecord = (record: StoredResource): void => {
    const type = typeOf(record);
    const scope = type.nameScope === 'world' ? '' : record.parent;
    const name = JSON.stringify([type.word, scope, record.name]);
    if (names.has(name)) throw new Error(`there are two ${type.word} '${record.name}' in one place`);
    names.add(name);
    const path: Uuid[] = [];
    for (let at = record; at.parent !== null && !sound.has(at.id); ) {
      if (path.includes(at.id)) throw new Error(`${at.id} stands below itself`);
      path.push(at.id);
      const parent = resources.get(at.parent);
      if (!parent) throw new Error(`the parent of ${typeOf(at).noun} '${at.name}' is missing`);
      if (!typeOf(at).parents.includes(typeOf(parent).word)) {
        throw new Error(`${typeOf(at).noun} '${at.name}' cannot stand below ${typeOf(parent).noun} '${parent.name}'`);
      }
      at = parent;
    }
    for (const id of path) sound.add(id);
  };
  await inTurns(resources.values(), (record) => checked(() => demandRecord(record)));
}

/** A record in which ids are replaced wherever they stand. */
function withIds(record: StoredResource, ids: readonly (readonly [from: Uuid, to: Uuid])[]): StoredResource {
  const changed = ids.filter(([from, to]) => from !== to);
  if (changed.length === 0) return record;
  const text = changed.reduce((at, [from, to]) => at.replaceAll(from, to), JSON.stringify(record));
  return JSON.parse(text); // one id for another leaves it a record
}

function described(record: StoredResource, world: Resources): CommitResource {
  const { id, type, name } = record;
  return { id, type, name, path: pathOf(record, (parent) => world.get(parent)) };
}
