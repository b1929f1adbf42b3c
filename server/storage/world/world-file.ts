import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { reasonOf } from '../../model/errors.ts';
import { type Json, memberOf } from '../../model/json.ts';
import type { StoredResource, Uuid } from '../../model/record.ts';
import { typeOf } from '../../model/registry.ts';
import { parseWith } from '../../model/rules/validate.ts';
import { checksumText, chunksOf } from '../files/checked-line.ts';
import { StoreError } from '../files/files.ts';

/** Resources are in a Map, oldest first, because copying a plain object takes seventy times as long. */
export interface LiveWorld {
  readonly id: Uuid;
  seq: number;
  readonly resources: Map<Uuid, StoredResource>;
}

const id = z.guid();
const storedResource = z.strictObject({
  id,
  type: z.string(),
  name: z.string(),
  description: z.string().exactOptional(),
  parent: id.nullable(),
  state: z.enum(['Active', 'Failed', 'Pending', 'Corrupt']),
  owner: id,
  created: z.strictObject({ by: id, at: z.iso.datetime() }),
  modified: z.strictObject({ action: z.enum(['create', 'update']), by: id, at: z.iso.datetime() }),
  properties: z.record(z.string(), z.json()),
  variables: z.record(z.string(), z.string()).exactOptional(),
  tags: z.array(z.string()).exactOptional(),
  grants: z
    .record(
      z.string(),
      z.strictObject({
        add: z.array(id).exactOptional(),
        remove: z.array(id).exactOptional(),
        value: z.json().exactOptional(),
      }),
    )
    .exactOptional(),
} satisfies Record<keyof StoredResource, z.ZodType>);

const memberOrder = Object.keys(storedResource.shape);

const header = { format: z.literal(1), id, seq: z.int().nonnegative().default(0) };
const checkedHead = z.object(header);
const editedWorldFile = z.strictObject({ ...header, resources: z.record(id, storedResource) });

const RESOURCES_BEGIN = '{\n  "resources": {\n';
const RESOURCES_END = '\n  }\n}';
const CHECKSUM = /,\n {2}"checksum": "([0-9a-f]{8})"\n}\n$/;
const CHECKSUM_BYTES = 29;

/** In a stable order, with a checksum as the last member. It can be written while the world changes: records never change in place. */
export function* worldFileContent(id: Uuid, seq: number, records: Iterable<StoredResource>): Generator<Uint8Array> {
  let crc = 0;
  for (const chunk of chunksOf(worldTexts(id, seq, records))) {
    crc = crc32(chunk, crc);
    yield chunk;
  }
  yield Buffer.from(`,\n  "checksum": "${checksumText(crc)}"\n}\n`);
}

function* worldTexts(id: Uuid, seq: number, records: Iterable<StoredResource>): Generator<string> {
  yield `{\n  "format": 1,\n  "id": ${JSON.stringify(id)},\n  "seq": ${seq},\n  "resources": {`;
  let separator = '\n';
  for (const record of records) {
    const wrapped = JSON.stringify({ resources: { [record.id]: inOrder(record) } }, null, 2);
    yield separator + wrapped.slice(RESOURCES_BEGIN.length, -RESOURCES_END.length);
    separator = ',\n';
  }
  yield '\n  }';
}

function inOrder(record: StoredResource): Record<string, unknown> {
  const members: Record<string, unknown> = { ...record };
  return Object.fromEntries(memberOrder.map((name) => [name, members[name]]));
}

/** A file without a valid checksum was edited: each record is validated. Throws StoreError if it is damaged or foreign. */
export function parseWorldFile(path: string, content: Buffer): LiveWorld {
  try {
    return readWorld(content);
  } catch (error) {
    throw new StoreError(
      path,
      `cannot be used as a world: ${reasonOf(error)}. Nothing was changed. Restore the file from a copy; or repair it and remove ` +
        'its "checksum" member, so that the edited text is accepted; or move the whole data folder away to start a new world.',
      { cause: error },
    );
  }
}

/** Parses a file from elsewhere: each record is validated whatever the checksum is. Throws the problem. */
export function parseForeignWorld(content: Buffer): LiveWorld {
  const { checksum: _, ...world } = parseWith(z.looseObject({}), JSON.parse(content.toString('utf8')));
  return editedWorld(world);
}

function readWorld(content: Buffer): LiveWorld {
  const tail = CHECKSUM.exec(content.subarray(-CHECKSUM_BYTES).toString('latin1'));
  const isChecked = tail?.[1] === checksumText(crc32(content.subarray(0, -CHECKSUM_BYTES)));
  const text: Json = JSON.parse(content.toString('utf8').replace(/^\uFEFF/, ''));
  if (!isChecked && memberOf(text, 'checksum') !== undefined)
    throw new Error('its content does not match its checksum');
  if (!isChecked) return editedWorld(text);
  const { id, seq } = parseWith(checkedHead, text);
  // The checksum shows that the content was written from records.
  return {
    id,
    seq,
    resources: new Map(Object.entries(memberOf(text, 'resources') ?? {})) as Map<Uuid, StoredResource>,
  };
}

function editedWorld(text: unknown): LiveWorld {
  const { id, seq, resources } = parseWith(editedWorldFile, text);
  const world = { id, seq, resources: new Map(Object.entries(resources)) };
  requireSound(world.resources);
  return world;
}

/** Throws unless every resource has its id, a known type, a unique name, and no parent or a possible one. */
function requireSound(resources: LiveWorld['resources']): void {
  const names = new Set<string>();
  const sound = new Set<Uuid>();
  for (const [key, record] of resources) {
    if (record.id !== key) throw new Error(`/resources/${key}/id is a different id: ${record.id}`);
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
  }
}
