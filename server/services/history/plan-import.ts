import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { codeToRun } from '../../model/code-to-run.ts';
import { parseEnvelope, parseProperties } from '../../model/envelope.ts';
import { PlatformError, reasonOf } from '../../model/errors.ts';
import { isJsonObject, type JsonObject, jsonIn } from '../../model/json.ts';
import { pointerTo } from '../../model/patch/pointer.ts';
import type { ResourcesById, StoredResource, Uuid, WorldView } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { describeResource, pathOf } from '../../model/resource-path.ts';
import type { WriteConstraints } from '../../model/resource-type.ts';
import { actionsOf } from '../../model/rules/actions.ts';
import { ORGANIZATION } from '../../model/rules/hierarchy.ts';
import { HIDDEN, hasHidden, unmaskedRecord } from '../../model/rules/masking.ts';
import { newlyNamed } from '../../model/rules/references.ts';
import { hashedProperties } from '../../model/rules/secrets.ts';
import { USER } from '../../model/type-names.ts';
import { isIdentity } from '../../model/types/group.ts';
import { parseForeignWorld } from '../../storage/world/world-file.ts';
import type { PastWorld } from '../../storage/world/world-history.ts';
import { WorldIndex } from '../../storage/world/world-index.ts';
import { changesBetween } from '../../storage/world/world-patch.ts';
import { optionalMembers } from '../resources/record-builder.ts';
import { type ArchivedLog, fileOf, MANIFEST, manifestSchema, WORLD } from './archive.ts';
import { withOtherIds } from './history-service.ts';

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
export async function planImport(path: string, present: ResourcesById, { logs, constraints }: ArchiveTarget) {
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

  const ownRoot = rootOf(present);
  const ids = new Map([
    [root.id, ownRoot.id],
    [root.owner, ownRoot.owner],
  ]);
  const resources = new Map<Uuid, StoredResource>();
  for (const record of archive.world.resources.values()) {
    const renamed = withOtherIds(record, ids);
    // Root stays the root of this platform, regardless of the archive.
    const existingOwner = renamed.id === ownRoot.owner ? present.get(ownRoot.owner) : undefined;
    resources.set(renamed.id, existingOwner ?? unmaskedRecord(renamed, present.get(renamed.id)));
  }
  const world = await validateWorld(resources, present, constraints);
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
    throw refused(reasonOf(error), error);
  }
}

function rootOf(resources: ResourcesById): StoredResource {
  const roots = [...resources.values()].filter(({ parent }) => parent === null);
  const [root] = roots;
  if (!root || roots.length > 1 || root.type !== ORGANIZATION)
    throw new Error('its world must have exactly one root organization');
  if (root.name !== 'root') throw new Error(`its root organization is called '${root.name}', not 'root'`);
  if (resources.get(root.owner)?.type !== USER) throw new Error('its world has no root user');
  return root;
}

/** Larger than any usable world, and small enough for memory. */
const MAX_WORLD_BYTES = 512 * 1024 * 1024;
const MAX_MANIFEST_BYTES = 1024 * 1024;
const MAX_FILES = 100;

interface ArchiveContent {
  world: PastWorld;
  /** Records by the names of their logs; not checked yet. */
  records: ReadonlyMap<string, { key: Uuid; record: JsonObject }[]>;
}

/** Reads an archive and checks that it is whole. Throws 400 if it is damaged or foreign. @param logs names of the logs to read */
async function readArchive(path: string, logs: readonly string[]): Promise<ArchiveContent> {
  const zip = await openPromise(path, { autoClose: false }).catch((error: unknown) => {
    throw refused('the file is not a ZIP archive, or it is incomplete', error);
  });
  try {
    return await readZip(zip, logs);
  } catch (error) {
    if (error instanceof PlatformError) throw error;
    throw refused(reasonOf(error), error);
  } finally {
    zip.close();
  }
}

async function readZip(zip: ZipFile, logs: readonly string[]): Promise<ArchiveContent> {
  if (zip.entryCount > MAX_FILES)
    throw refused(`it has too many files (${zip.entryCount}) and was not created by Terrarium`);
  const entries = new Map<string, Entry>();
  for await (const entry of zip.eachEntry()) {
    if (entries.has(entry.fileName)) throw refused(`${entry.fileName} is in it twice`);
    entries.set(entry.fileName, entry);
  }
  const manifestEntry = entries.get(MANIFEST);
  if (!manifestEntry) throw refused(`it has no ${MANIFEST}, so it was not created by Terrarium`);
  const { content } = await readEntry(zip, manifestEntry, MAX_MANIFEST_BYTES);
  const manifest = manifestSchema.safeParse(jsonIn(content.toString('utf8')));
  if (!manifest.success) throw refused(`its ${MANIFEST} does not match this version of Terrarium`);
  entries.delete(MANIFEST);

  const { files } = manifest.data;
  const missing = Object.keys(files).find((name) => !entries.has(name));
  if (missing !== undefined) throw refused(`${missing} is missing`);
  const extracted = new Map<string, Buffer>();
  for (const [name, entry] of entries) {
    const expected = Object.hasOwn(files, name) ? files[name] : undefined;
    if (!expected) throw refused(`${name} is not in its manifest`);
    const isWanted = name === WORLD || logs.some((log) => name === fileOf(log));
    const { sha256, content } = await readEntry(zip, entry, isWanted ? MAX_WORLD_BYTES : 0);
    if (sha256 !== expected.sha256) throw refused(`${name} is damaged: its SHA-256 differs from the manifest`);
    if (isWanted) extracted.set(name, content);
  }
  const world = extracted.get(WORLD);
  if (!world) throw refused(`it has no ${WORLD}`);
  return {
    world: worldIn(world),
    records: new Map(logs.map((log) => [log, recordsIn(log, extracted.get(fileOf(log)))])),
  };
}

/** Reads a file of the ZIP archive. @param keepBytes how many of its bytes may be kept in memory; 0 discards all */
async function readEntry(zip: ZipFile, entry: Entry, keepBytes: number): Promise<{ sha256: string; content: Buffer }> {
  if (keepBytes > 0 && entry.uncompressedSize > keepBytes) {
    throw refused(`${entry.fileName} is over ${keepBytes / 1024 / 1024} MiB`);
  }
  const hash = createHash('sha256');
  // Joining all chunks at the end would block the event loop. yauzl checks their total length.
  const content = Buffer.allocUnsafe(keepBytes > 0 ? entry.uncompressedSize : 0);
  let at = 0;
  for await (const chunk of await zip.openReadStreamPromise(entry)) {
    hash.update(chunk);
    if (keepBytes > 0) at += chunk.copy(content, at);
  }
  return { sha256: hash.digest('hex'), content };
}

function worldIn(content: Buffer): PastWorld {
  try {
    return parseForeignWorld(content);
  } catch (error) {
    throw refused(`${WORLD} is not a valid world: ${reasonOf(error)}`, error);
  }
}

function recordsIn(log: string, content: Buffer = Buffer.alloc(0)) {
  const lines = content.toString('utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const value = jsonIn(line);
    if (!isJsonObject(value) || typeof value.key !== 'string' || !isJsonObject(value.record)) {
      throw refused(`a line of ${fileOf(log)} is not a valid record`);
    }
    return { key: value.key, record: value.record };
  });
}

function refused(reason: string, cause?: unknown): PlatformError {
  return new PlatformError('invalid_archive', `the archive cannot be imported: ${reason}. Nothing was changed.`, {
    cause,
  });
}

interface WorldConstraints extends WriteConstraints {
  hashPassword(password: string): Promise<string>;
}

/** Validates an imported world like requests (D-215), except for records that are unchanged here (D-096). Names and parents are checked before. */
async function validateWorld(
  records: ResourcesById,
  present: ResourcesById,
  constraints: WorldConstraints,
): Promise<Map<Uuid, StoredResource>> {
  const parsed = new Map<Uuid, StoredResource>();
  for (const record of records.values()) {
    const existing = present.get(record.id);
    const isSame = existing !== undefined && isDeepStrictEqual(existing, record);
    parsed.set(
      record.id,
      isSame ? existing : await blaming(record, records, () => parsedRecord(record, existing, constraints)),
    );
  }
  const view = WorldIndex.indexOf(parsed.values());
  const valid = new Map<Uuid, StoredResource>();
  for (const record of parsed.values()) {
    const existing = present.get(record.id);
    const isSame = record === existing;
    valid.set(
      record.id,
      isSame ? record : await blaming(record, records, () => validated(record, existing, view, constraints)),
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
  const body = { name: record.name, ...optionalMembers(record), properties: record.properties };
  const { resource_type: _type, id: _id, ...written } = parseEnvelope(body, type);
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
    const unknown = [...add, ...remove].find((id) => !isIdentity(view.find(id)));
    if (unknown)
      throw new PlatformError(
        'invalid_archive',
        `${pointerTo([action], '/grants')}: ${unknown} is not the id of a user or group`,
      );
  }
}

async function blaming<T>(record: StoredResource, world: ResourcesById, check: () => T | Promise<T>): Promise<T> {
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
