import { setImmediate as nextTurn } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { Uuid } from '../model/ids.ts';
import type { StoredResource, World } from '../model/record.ts';
import { parseWith } from '../model/validate.ts';
import { checksumText } from './checked-line.ts';
import { reasonOf, StoreError } from './store-error.ts';

/** How long, and how much, one slice of the snapshot may be made without letting others have their turn. */
const SLICE_MS = 1;
const SLICE_CHARS = 128 * 1024;

/**
 * The world in memory. Resources are in a Map, oldest first, because copying its values takes a millisecond at 100,000
 * resources; of a plain object it takes seventy.
 */
export interface LiveWorld {
  readonly id: Uuid;
  /** The last commit that it contains; 0 as created. */
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

/** The order in which a record's members are written, whatever order its changes left them in. */
const memberOrder = Object.keys(storedResource.shape);

const header = { format: z.literal(1), id, seq: z.int().nonnegative().default(0) };
const checkedWorldFile = z.object({ ...header, resources: z.custom<World['resources']>() });
const editedWorldFile = z.strictObject({ ...header, resources: z.record(id, storedResource) });

const RESOURCES_BEGIN = '{\n  "resources": {\n';
const RESOURCES_END = '\n  }\n}';
const CHECKSUM = /,\n {2}"checksum": "([0-9a-f]{8})"\n}\n$/;
/** Length of the end of a file that CHECKSUM matches. */
const CHECKSUM_BYTES = 29;

/**
 * The text of `world.json`: readable, two spaces deep, always in the same order, its last member a checksum of
 * everything before it. It comes in slices, and after each the event loop has a turn.
 *
 * @param records taken at one moment; records never change in place, so the slices are one consistent world
 */
export async function* worldFileContent(
  id: Uuid,
  seq: number,
  records: Iterable<StoredResource>,
): AsyncGenerator<Uint8Array> {
  let crc = 0;
  const encode = (text: string) => {
    const bytes = Buffer.from(text);
    crc = crc32(bytes, crc);
    return bytes;
  };
  let text = `{\n  "format": 1,\n  "id": ${JSON.stringify(id)},\n  "seq": ${seq},\n  "resources": {`;
  let separator = '\n';
  let sliceEndMs = performance.now() + SLICE_MS;
  for (const record of records) {
    const wrapped = JSON.stringify({ resources: { [record.id]: inOrder(record) } }, null, 2);
    text += separator + wrapped.slice(RESOURCES_BEGIN.length, -RESOURCES_END.length);
    separator = ',\n';
    if (text.length < SLICE_CHARS && performance.now() < sliceEndMs) continue;
    yield encode(text);
    text = '';
    await nextTurn();
    sliceEndMs = performance.now() + SLICE_MS;
  }
  yield encode(`${text}\n  }`);
  yield Buffer.from(`,\n  "checksum": "${checksumText(crc)}"\n}\n`);
}

function inOrder(record: StoredResource): Record<string, unknown> {
  const members: Record<string, unknown> = { ...record };
  return Object.fromEntries(memberOrder.map((name) => [name, members[name]]));
}

/**
 * Reads `world.json`. A file with its checksum is as it was written. One without is taken for edited by hand, and each
 * record is checked against the shape that a record has.
 *
 * @param path how messages name it
 * @throws StoreError when it is damaged or foreign
 */
export function parseWorldFile(path: string, content: Buffer): LiveWorld {
  try {
    return liveWorld(readWorld(content));
  } catch (error) {
    throw new StoreError(
      path,
      `cannot be used as a world: ${reasonOf(error)}. Nothing was changed. Bring the file back from a copy; ` +
        'or repair it by hand and remove its "checksum" member, so that the edited text is taken as it is; ' +
        'or move the whole data folder away to start a new world.',
      { cause: error },
    );
  }
}

/** The same for a file from elsewhere, of which each record is checked whatever its checksum says. Throws what is wrong with it. */
export function parseForeignWorld(content: Buffer): LiveWorld {
  const { checksum: _, ...world } = parseWith(z.looseObject({}), JSON.parse(content.toString('utf8')));
  return liveWorld(parseWith(editedWorldFile, world));
}

function liveWorld({ id, seq, resources }: Pick<World, 'id' | 'resources'> & { seq: number }): LiveWorld {
  const world: LiveWorld = { id, seq, resources: new Map(Object.entries(resources)) };
  for (const [key, record] of world.resources) {
    if (record.id !== key) throw new Error(`/resources/${key}/id is another id: ${record.id}`);
  }
  return world;
}

function readWorld(content: Buffer): z.output<typeof checkedWorldFile> | z.output<typeof editedWorldFile> {
  const tail = CHECKSUM.exec(content.subarray(-CHECKSUM_BYTES).toString('latin1'));
  const isWhole = tail?.[1] === checksumText(crc32(content.subarray(0, -CHECKSUM_BYTES)));
  if (tail && !isWhole) throw new Error('its content does not match its checksum');
  const value: unknown = JSON.parse(content.toString('utf8'));
  return isWhole ? parseWith(checkedWorldFile, value) : parseWith(editedWorldFile, value);
}
