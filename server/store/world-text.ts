import { crc32 } from 'node:zlib';
import { isJsonObject, type Json, memberOf } from '../model/json.ts';
import { inTurns } from './turns.ts';

/** What stands around the records of a world file, as `worldFileContent` lays it out. */
const RESOURCES_BEGIN = '\n  "resources": {\n';
const RESOURCES_END = '\n  }';
/** Nothing else than the end of a record is that far from the margin: inside a text a line break is written as `\n`. */
const RECORD_END = '\n    }';
/** Between two records. */
const BETWEEN = ',\n';
const CHECKED_BYTES = 1024 * 1024;

/** The JSON of a world file: its records one by one, and the members beside them. */
export interface WorldText {
  head: Json;
  /** Undefined where it has none, or none that could be records; whatever stands there is in `head` then. */
  records: Map<string, Json> | undefined;
}

/**
 * Parses the text of a world. One that is laid out as ours is read record by record, in turns with whatever else there is to do;
 * one that somebody has laid out anew, at once.
 *
 * @throws SyntaxError when it is no JSON
 */
export async function parseWorldText(content: Buffer): Promise<WorldText> {
  return (await parseRecords(content)) ?? parseWhole(content);
}

/** Undefined unless the text is laid out as ours. */
async function parseRecords(content: Buffer): Promise<WorldText | undefined> {
  const headEnd = content.indexOf(RESOURCES_BEGIN);
  const begin = headEnd + RESOURCES_BEGIN.length;
  const end = headEnd < 0 ? -1 : content.lastIndexOf(RESOURCES_END);
  if (end < begin) return undefined;
  const records = new Map<string, Json>();
  try {
    const head: Json = JSON.parse(
      `${content.toString('utf8', 0, headEnd)}\n  "resources": {}${content.toString('utf8', end + RESOURCES_END.length)}`,
    );
    if (!isJsonObject(head)) return undefined;
    await inTurns(pieces(content, begin, end), (piece) => {
      for (const [id, record] of Object.entries<Json>(JSON.parse(`{${piece}}`))) records.set(id, record);
    });
    const { resources: _, ...rest } = head;
    return { head: rest, records };
  } catch {
    // What is wrong, and where, is said of the text as a whole.
    return undefined;
  }
}

/** The texts of the records between two places, each with its key. Throws unless commas, and nothing else, stand between them. */
function* pieces(content: Buffer, begin: number, end: number): Generator<string> {
  for (let at = begin; at !== end; ) {
    const found = content.indexOf(RECORD_END, at);
    const pieceEnd = found < 0 || found > end ? end : found + RECORD_END.length;
    yield content.toString('utf8', at, pieceEnd);
    at = pieceEnd === end ? end : pieceEnd + BETWEEN.length;
    if (pieceEnd !== end && content.toString('latin1', pieceEnd, at) !== BETWEEN) throw new Error('not our layout');
    if (at > end) throw new Error('a comma too many');
  }
}

function parseWhole(content: Buffer): WorldText {
  const value: Json = JSON.parse(content.toString('utf8'));
  const resources = memberOf(value, 'resources');
  if (!isJsonObject(value) || !isJsonObject(resources)) return { head: value, records: undefined };
  const { resources: _, ...head } = value;
  return { head, records: new Map(Object.entries(resources)) };
}

/** The checksum of many bytes, in turns. */
export async function checksumOf(bytes: Buffer): Promise<number> {
  let crc = 0;
  const starts = Array.from({ length: Math.ceil(bytes.length / CHECKED_BYTES) }, (_, at) => at * CHECKED_BYTES);
  await inTurns(starts, (start) => {
    crc = crc32(bytes.subarray(start, start + CHECKED_BYTES), crc);
  });
  return crc;
}
