import { crc32 } from 'node:zlib';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import { yieldingForEach } from '../files/yielding.ts';

/** The text around the records of a world file, as `worldFileContent` writes it. */
const RESOURCES_BEGIN = '\n  "resources": {\n';
const RESOURCES_END = '\n  }';
const KEY = / {4}"([\w-]+)": (?=\{)/y;
/** Only the end of a record has this indentation: a text has no line breaks. */
const RECORD_END = '\n    }';
const BETWEEN = ',\n';
/** Size of the text that is parsed at once: some dozens of records, which take a few milliseconds. */
const PIECE_BYTES = 64 * 1024;
const CHECKED_BYTES = 1024 * 1024;

export interface WorldText {
  head: Json;
  /** Undefined if it has none, or if they cannot be records; the value is then in `head`. */
  records: Map<string, Json> | undefined;
}

/** Record by record, yielding to other tasks, if it has our layout; otherwise at once. Throws SyntaxError. */
export async function parseWorldText(content: Buffer): Promise<WorldText> {
  return (await parseRecords(content)) ?? parseWhole(content);
}

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
    await yieldingForEach(pieces(content, begin, end), (piece) => readPiece(piece, records));
    const { resources: _, ...rest } = head;
    return { head: rest, records };
  } catch {
    // The error and its position come from parsing the text as a whole.
    return undefined;
  }
}

/** The texts of all records between two positions, a few at a time. Throws unless they are separated by exactly one comma. */
function* pieces(content: Buffer, begin: number, end: number): Generator<string> {
  for (let at = begin; at !== end; ) {
    const found = content.indexOf(RECORD_END, at + PIECE_BYTES);
    const pieceEnd = found < 0 || found > end ? end : found + RECORD_END.length;
    yield content.toString('utf8', at, pieceEnd);
    at = pieceEnd === end ? end : afterComma(content.toString('latin1', pieceEnd, pieceEnd + BETWEEN.length), pieceEnd);
    if (at > end) throw new Error('a comma too many');
  }
}

/** Each record is parsed separately: a common object would make V8 keep every id as a property name until the process ends. */
function readPiece(piece: string, records: Map<string, Json>): void {
  for (let at = 0; at < piece.length; ) {
    KEY.lastIndex = at;
    const key = KEY.exec(piece)?.[1];
    if (key === undefined) throw new Error('not our layout');
    const found = piece.indexOf(RECORD_END, at);
    const end = found < 0 ? piece.length : found + RECORD_END.length;
    const record: Json = JSON.parse(piece.slice(KEY.lastIndex, end));
    const id = memberOf(record, 'id');
    // The own id if it is equal: the key is a slice of the text, which would keep all of it in memory.
    records.set(id === key ? id : key, record);
    at = end === piece.length ? end : afterComma(piece.slice(end, end + BETWEEN.length), end);
    if (at === piece.length && end !== piece.length) throw new Error('a comma too many');
  }
}

/** The position after a comma and its line break. Throws unless they are at `place`. */
function afterComma(found: string, place: number): number {
  if (found !== BETWEEN) throw new Error('not our layout');
  return place + BETWEEN.length;
}

function parseWhole(content: Buffer): WorldText {
  const value: Json = JSON.parse(content.toString('utf8'));
  const resources = memberOf(value, 'resources');
  if (!isJsonObject(value) || !isJsonObject(resources)) return { head: value, records: undefined };
  const { resources: _, ...head } = value;
  return { head, records: new Map(Object.entries(resources)) };
}

export async function checksumOf(bytes: Buffer): Promise<number> {
  let crc = 0;
  const starts = Array.from({ length: Math.ceil(bytes.length / CHECKED_BYTES) }, (_, at) => at * CHECKED_BYTES);
  await yieldingForEach(starts, (start) => {
    crc = crc32(bytes.subarray(start, start + CHECKED_BYTES), crc);
  });
  return crc;
}
