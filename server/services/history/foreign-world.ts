import { isDeepStrictEqual } from 'node:util';
import { parseEnvelope, parseProperties } from '../../model/envelope.ts';
import { PlatformError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { pointerTo } from '../../model/patch/pointer.ts';
import type { StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { pathOf } from '../../model/resource-path.ts';
import type { WriteConstraints } from '../../model/resource-type.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { HIDDEN } from '../../model/rules/masking.ts';
import { newlyNamed } from '../../model/rules/named-resources.ts';
import { hashedProperties } from '../../model/rules/secrets.ts';
import { WorldIndex } from '../../storage/world/world-index.ts';

type Resources = ReadonlyMap<Uuid, StoredResource>;

export interface WorldConstraints extends WriteConstraints {
  hashPassword(password: string): Promise<string>;
}

/** Validates an imported world like requests (D-215), except for records that are unchanged here (D-096). Names and parents are checked before. */
export async function validateWorld(
  records: Resources,
  present: Resources,
  constraints: WorldConstraints,
): Promise<Map<Uuid, StoredResource>> {
  const parsed = new Map<Uuid, StoredResource>();
  const same = new Set<StoredResource>();
  for (const record of records.values()) {
    const existing = present.get(record.id);
    const isSame = existing !== undefined && isDeepStrictEqual(existing, record);
    if (isSame) same.add(existing);
    parsed.set(
      record.id,
      isSame ? existing : await blaming(record, records, () => parsedRecord(record, existing, constraints)),
    );
  }
  const view = WorldIndex.indexOf(parsed.values());
  const valid = new Map<Uuid, StoredResource>();
  for (const record of parsed.values()) {
    const existing = present.get(record.id);
    valid.set(
      record.id,
      same.has(record) ? record : await blaming(record, records, () => validated(record, existing, view, constraints)),
    );
  }
  return valid;
}

/** Validates a record by its schema. A password that differs from the current one counts as plain text, like in a request. */
async function parsedRecord(
  record: StoredResource,
  existing: StoredResource | undefined,
  { hashPassword }: WorldConstraints,
): Promise<StoredResource> {
  const type = typeOf(record);
  const { name, description, tags, variables } = record;
  const body = JSON.parse(JSON.stringify({ name, description, tags, variables })); // without what is undefined
  const { resource_type: _type, id: _id, ...written } = parseEnvelope({ ...body, properties: record.properties }, type);
  const properties: JsonObject = { ...parseProperties(type, written.properties), ...serverKept(record) };
  for (const hashed of hashedProperties(type)) {
    const value = properties[hashed];
    const isKnown = value === HIDDEN || value === existing?.properties[hashed];
    if (typeof value === 'string' && !isKnown) properties[hashed] = await hashPassword(value);
  }
  return { ...record, ...written, properties };
}

function serverKept({ type, properties }: StoredResource): JsonObject {
  const names = typeOf({ type }).hidden ?? [];
  return Object.fromEntries(Object.entries(properties).filter(([name]) => names.includes(name)));
}

function validated(
  record: StoredResource,
  existing: StoredResource | undefined,
  view: WorldView,
  constraints: WorldConstraints,
): StoredResource {
  const type = typeOf(record);
  requireGrants(record, view);
  const before = existing?.type === record.type ? existing : undefined;
  newlyNamed(view, record, before, ({ fact }) => fact.onDelete === 'keeps');
  const parent = view.find(record.parent ?? record.id) ?? record;
  const context = { ...constraints, view, parent, ...(before && { previous: before }) };
  const { properties, derived = [] } = type.validate?.(record, context) ?? { properties: record.properties };
  if (derived.length > 0)
    throw new PlatformError('invalid_archive', 'would create further resources, but a world is complete');
  return { ...record, properties: { ...properties, ...serverKept(record) } };
}

/** Grants must name known actions, and existing users and groups (D-119, D-074). */
function requireGrants(record: StoredResource, view: WorldView): void {
  for (const [action, { add = [], remove = [] }] of Object.entries(record.grants ?? {})) {
    if (!actionsOf(record).has(action))
      throw new PlatformError('invalid_archive', `/grants: '${action}' is not an action of the resource (D-116)`);
    const unknown = [...add, ...remove].find((id) => {
      const found = view.find(id);
      return !found || !['users', 'groups'].includes(typeOf(found).collection);
    });
    if (unknown)
      throw new PlatformError(
        'invalid_archive',
        `${pointerTo([action], '/grants')}: ${unknown} is not the id of a user or group`,
      );
  }
}

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
      'invalid_archive',
      `the archive cannot be imported: ${typeOf(record).singular} ${path}: ${cause.message}. Nothing was changed.`,
      {
        details: details.length > 0 ? details : [{ pointer: `/resources/${record.id}`, message: cause.message }],
        cause,
      },
    );
  }
}
