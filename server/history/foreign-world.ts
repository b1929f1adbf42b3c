import { isDeepStrictEqual } from 'node:util';
import { actionsOf } from '../model/actions.ts';
import { parseEnvelope, parseProperties } from '../model/envelope.ts';
import { PlatformError } from '../model/errors.ts';
import type { Uuid } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { HIDDEN } from '../model/masking.ts';
import { newlyNamed } from '../model/named-resources.ts';
import { pointerTo } from '../model/pointer.ts';
import type { StoredResource } from '../model/record.ts';
import { typeOf } from '../model/registry.ts';
import { pathOf } from '../model/resource-path.ts';
import type { WriteLaws } from '../model/resource-type.ts';
import { hashedProperties } from '../model/secrets.ts';
import type { WorldView } from '../model/world-view.ts';
import { inTurns } from '../store/turns.ts';
import { WorldIndex } from '../store/world-index.ts';

type Resources = ReadonlyMap<Uuid, StoredResource>;

/** What a request would be held to. */
export interface WorldLaws extends WriteLaws {
  hashPassword(password: string): Promise<string>;
}

/** Laid over some resources, whatever has become of them meanwhile. Others have their turn while it is made. */
export async function viewOf(resources: Iterable<StoredResource>): Promise<WorldView> {
  const index = new WorldIndex();
  await inTurns(resources, (after) => index.apply(index.prepare([{ after }])));
  return index;
}

/**
 * The records of a world from elsewhere as requests would have made them (D-215): each passes its schema and the rules of its type,
 * and names what is there. Ids, owners and times stay. Names and places have been checked before.
 *
 * What the present world has just so passes again without a question: it may have gone stale since (D-096). Nor is it one that an
 * endpoint or a rule names what was deleted (D-130, D-076).
 *
 * @throws PlatformError 400 that says which record, where in it, and why
 */
export async function lawfulWorld(
  records: Resources,
  present: Resources,
  laws: WorldLaws,
): Promise<Map<Uuid, StoredResource>> {
  const parsed = new Map<Uuid, StoredResource>();
  /** What the present world has just so. */
  const same = new Set<StoredResource>();
  await inTurns(records.values(), async (record) => {
    const kept = present.get(record.id);
    const isSame = kept !== undefined && isDeepStrictEqual(kept, record);
    if (isSame) same.add(kept);
    parsed.set(record.id, isSame ? kept : await blaming(record, records, () => parsedRecord(record, kept, laws)));
  });
  const view = await viewOf(parsed.values());
  const lawful = new Map<Uuid, StoredResource>();
  await inTurns(parsed.values(), async (record) => {
    const kept = present.get(record.id);
    lawful.set(
      record.id,
      same.has(record) ? record : await blaming(record, records, () => admitted(record, kept, view, laws)),
    );
  });
  return lawful;
}

/** A record through its schema. A password that is not the one here is taken for what a request has: the password itself. */
async function parsedRecord(
  record: StoredResource,
  kept: StoredResource | undefined,
  { hashPassword }: WorldLaws,
): Promise<StoredResource> {
  const type = typeOf(record);
  const { name, description, tags, variables } = record;
  const body = JSON.parse(JSON.stringify({ name, description, tags, variables })); // without what is undefined
  const { resource_type: _type, id: _id, ...written } = parseEnvelope({ ...body, properties: record.properties }, type);
  const properties: JsonObject = { ...parseProperties(type, written.properties), ...serverKept(record) };
  for (const hashed of hashedProperties(type)) {
    const value = properties[hashed];
    const isKnown = value === HIDDEN || value === kept?.properties[hashed];
    if (typeof value === 'string' && !isKnown) properties[hashed] = await hashPassword(value);
  }
  return { ...record, ...written, properties };
}

/** What the server stores beside what clients write. */
function serverKept({ type, properties }: StoredResource): JsonObject {
  const names = typeOf({ type }).hidden ?? [];
  return Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name)));
}

function admitted(
  record: StoredResource,
  kept: StoredResource | undefined,
  view: WorldView,
  laws: WorldLaws,
): StoredResource {
  const type = typeOf(record);
  demandGrants(record, view);
  const before = kept?.type === record.type ? kept : undefined;
  newlyNamed(view, record, before, ({ fact }) => fact.whenGone === 'keeps');
  const parent = view.find(record.parent ?? record.id) ?? record;
  const context = { ...laws, view, parent, ...(before && { previous: before }) };
  const { properties, companions = [] } = type.admit?.(record, context) ?? { properties: record.properties };
  if (companions.length > 0) throw new PlatformError(400, 'asks for further resources, which a world already has');
  return { ...record, properties: { ...properties, ...serverKept(record) } };
}

/** Rights are about known actions, and given to users and groups that are there (D-119, D-074). */
function demandGrants(record: StoredResource, view: WorldView): void {
  for (const [action, { add = [], remove = [] }] of Object.entries(record.grants ?? {})) {
    if (!actionsOf(record).has(action)) throw new PlatformError(400, `/grants: '${action}' is no action of it (D-116)`);
    const stranger = [...add, ...remove].find((id) => {
      const found = view.find(id);
      return !found || !['users', 'groups'].includes(typeOf(found).word);
    });
    if (stranger) throw new PlatformError(400, `${pointerTo([action], '/grants')} names no user or group: ${stranger}`);
  }
}

/** What a check refuses is told of the record. */
async function blaming<T>(record: StoredResource, world: Resources, check: () => T | Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (cause) {
    if (!(cause instanceof PlatformError)) throw cause;
    const path = pathOf(record, (id) => world.get(id));
    const details = (cause.details ?? []).map(({ pointer, message }) => ({
      pointer: pointerTo(['resources', record.id]) + pointer,
      message,
    }));
    throw new PlatformError(
      400,
      `the archive cannot be imported: ${typeOf(record).noun} ${path}: ${cause.message}. Nothing was changed.`,
      {
        details: details.length > 0 ? details : [{ pointer: `/resources/${record.id}`, message: cause.message }],
        cause,
      },
    );
  }
}
