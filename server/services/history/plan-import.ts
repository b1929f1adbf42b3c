import { codeToRun } from '../../model/code-to-run.ts';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { describeResource } from '../../model/resource-path.ts';
import { ORGANIZATION } from '../../model/rules/hierarchy.ts';
import { hasHidden, unmaskedRecord } from '../../model/rules/masking.ts';
import { USER } from '../../model/type-names.ts';
import { changesBetween, sharingRecords } from '../../storage/world/world-difference.ts';
import { WorldIndex } from '../../storage/world/world-index.ts';
import type { ArchivedLog } from './archive.ts';
import { validateWorld, type WorldConstraints } from './foreign-world.ts';
import { readArchive } from './read-archive.ts';

type Resources = ReadonlyMap<Uuid, StoredResource>;

export interface ArchiveTarget {
  constraints: WorldConstraints;
  logs: readonly ArchivedLog[];
}

/**
 * Plans an import: the new world, missing records of logs, and notes about it (resources whose hidden values are unknown here and must be
 * set again, and code that will run). Records must meet the same rules as requests (D-215), except policies. The root organization and the
 * root user keep their password and keys, and known hidden values are kept.
 * @throws PlatformError 400 with the reason for a damaged or foreign file
 */
export async function planImport(path: string, present: Resources, { logs, constraints }: ArchiveTarget) {
  const imported = logs.filter(({ loadParser }) => loadParser);
  const archive = await readArchive(
    path,
    imported.map(({ name }) => name),
  );
  const parsed = imported.map(async ({ name, log, loadParser }) => {
    const parse = await loadParser?.();
    const records = archive.records.get(name) ?? [];
    return records.map(({ key, record }) => ({ name, log, key, record: checked(() => parse?.(record) ?? record) }));
  });
  const records = (await Promise.all(parsed)).flat();
  const root = checked(() => rootOf(archive.world.resources));
  requireSound(archive.world.resources);

  const ownRoot = rootOf(present);
  const ids: [Uuid, Uuid][] = [
    [root.id, ownRoot.id],
    [root.owner, ownRoot.owner],
  ];
  const resources = new Map<Uuid, StoredResource>();
  for (const record of archive.world.resources.values()) {
    const renamed = withIds(record, ids);
    // Root stays the root of this platform, regardless of the archive.
    const existingOwner = renamed.id === ownRoot.owner ? present.get(ownRoot.owner) : undefined;
    resources.set(renamed.id, existingOwner ?? unmaskedRecord(renamed, present.get(renamed.id)));
  }
  const world = sharingRecords(await validateWorld(resources, present, constraints), present);
  const changed = changesBetween(present, world).put.map(({ id }) => id);
  const runs = changed.length > 0 ? codeToRun(WorldIndex.indexOf(world.values()), changed) : [];
  const hidden = [...world.values()].filter(hasHidden).map((record) => describeResource(record, (id) => world.get(id)));
  return {
    world,
    seq: archive.world.seq,
    added: records.filter(({ log, key }) => log.get(key) === undefined),
    hidden,
    ...(runs.length > 0 && { runs }),
  };
}

/** Runs a check; its error is the reason why the archive is refused. */
function checked<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    const reason = reasonOf(error);
    throw new PlatformError('invalid_archive', `the archive cannot be imported: ${reason}. Nothing was changed.`, {
      cause: error,
    });
  }
}

function rootOf(resources: Resources): StoredResource {
  const roots = [...resources.values()].filter(({ parent }) => parent === null);
  const [root] = roots;
  if (!root || roots.length > 1 || root.type !== ORGANIZATION)
    throw new Error('its world must have exactly one root organization');
  if (root.name !== 'root') throw new Error(`its root organization is called '${root.name}', not 'root'`);
  if (resources.get(root.owner)?.type !== USER) throw new Error('its world has no root user');
  return root;
}

/** Throws unless every resource has a known type, a possible parent below the root, and a unique name. */
function requireSound(resources: Resources): void {
  const names = new Set<string>();
  const sound = new Set<Uuid>();
  const requireRecord = (record: StoredResource): void => {
    const type = typeOf(record);
    const scope = type.nameScope === 'world' ? '' : record.parent;
    const name = JSON.stringify([type.collection, scope, record.name]);
    if (names.has(name)) throw new Error(`there are two ${type.collection} '${record.name}' in one place`);
    names.add(name);
    const path: Uuid[] = [];
    for (let at = record; at.parent !== null && !sound.has(at.id); ) {
      if (path.includes(at.id)) throw new Error(`${at.id} is below itself`);
      path.push(at.id);
      const parent = resources.get(at.parent);
      if (!parent) throw new Error(`the parent of ${typeOf(at).singular} '${at.name}' is missing`);
      if (!typeOf(at).parents.includes(typeOf(parent).collection)) {
        throw new Error(
          `${typeOf(at).singular} '${at.name}' cannot be below ${typeOf(parent).singular} '${parent.name}'`,
        );
      }
      at = parent;
    }
    for (const id of path) sound.add(id);
  };
  for (const record of resources.values()) checked(() => requireRecord(record));
}

function withIds(record: StoredResource, ids: readonly (readonly [from: Uuid, to: Uuid])[]): StoredResource {
  const changed = ids.filter(([from, to]) => from !== to);
  if (changed.length === 0) return record;
  const text = changed.reduce((at, [from, to]) => at.replaceAll(from, to), JSON.stringify(record));
  return JSON.parse(text); // one id for another leaves it a record
}
