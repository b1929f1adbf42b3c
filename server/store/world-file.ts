import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { Uuid } from '../model/ids.ts';
import { reasonOf } from '../model/reason.ts';
import type { StoredResource } from '../model/record.ts';
import { parseWith } from '../model/validate.ts';
import { checksumText } from './checked-line.ts';
import { StoreError } from './store-error.ts';
import { inSlices, inTurns } from './turns.ts';
import { checksumOf, parseWorldText, type WorldText } from './world-text.ts';

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
const checkedHead = z.object(header);
const editedRecords = z.object({ resources: z.record(id, storedResource) });
const editedWorldFile = z.strictObject({ ...header, ...editedRecords.shape });

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
  for await (const slice of inSlices(worldTexts(id, seq, records))) {
    crc = crc32(slice, crc);
    yield slice;
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

/**
 * Reads `world.json`. A file with its checksum is as it was written. One without is taken for edited by hand, and each
 * record is checked against the shape that a record has. Others have their turn meanwhile.
 *
 * @param path how messages name it
 * @throws StoreError when it is damaged or foreign
 */
export async function parseWorldFile(path: string, content: Buffer): Promise<LiveWorld> {
  try {
    return liveWorld(await readWorld(content));
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
export async function parseForeignWorld(content: Buffer): Promise<LiveWorld> {
  const { head, records } = await parseWorldText(content);
  const { checksum: _, ...ownHead } = parseWith(z.looseObject({}), head);
  return liveWorld(await editedWorld(ownHead, records));
}

/** Throws unless each record stands under its own id. */
function liveWorld(world: LiveWorld): LiveWorld {
  for (const [key, record] of world.resources)
    if (record.id !== key) throw new Error(`/resources/${key}/id is another id: ${record.id}`);
  return world;
}

async function readWorld(content: Buffer): Promise<LiveWorld> {
  const tail = CHECKSUM.exec(content.subarray(-CHECKSUM_BYTES).toString('latin1'));
  if (tail && tail[1] !== checksumText(await checksumOf(content.subarray(0, -CHECKSUM_BYTES))))
    throw new Error('its content does not match its checksum');
  const { head, records } = await parseWorldText(content);
  if (!tail) return editedWorld(head, records);
  const { id, seq } = parseWith(checkedHead, head);
  // As: the checksum says that these are what was once written from records.
  return { id, seq, resources: (records ?? new Map()) as Map<Uuid, StoredResource> };
}

/** Each record is checked as a part of the whole, so that what is wrong is told with its place. */
async function editedWorld(head: unknown, records: WorldText['records']): Promise<LiveWorld> {
  const { id, seq } = parseWith(editedWorldFile, records ? { ...Object(head), resources: {} } : head);
  const resources = new Map<Uuid, StoredResource>();
  await inTurns(records ?? [], ([key, record]) => {
    const checked = parseWith(editedRecords, { resources: { [key]: record } });
    for (const [own, one] of Object.entries(checked.resources)) resources.set(own, one);
  });
  return { id, seq, resources };
}
