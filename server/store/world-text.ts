import { crc32 } from 'node:zlib';
import { isJsonObject, type Json, memberOf } from '../model/json.ts';
import { inTurns } from './turns.ts';

/** What stands around the records of a world file, as `worldFileContent` lays it out. */
const RESOURCES_BEGIN = '\n  "resources": {\n';
const RESOURCES_END = '\n  }';
/** What stands before a record: its key. */
const KEY = / {4}"([\w-]+)": (?=\{)/y;
/** Nothing else than the end of a record is that far from the margin: inside a text a line break is written as `\n`. */
const RECORD_END = '\n    }';
/** Between two records. */
const BETWEEN = ',\n';
/** So much is made text at once: some dozens of records, which are parsed in a few milliseconds. */
const PIECE_BYTES = 64 * 1024;
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
    await inTurns(pieces(content, begin, end), (piece) => readPiece(piece, records));
    const { resources: _, ...rest } = head;
    return { head: rest, records };
  } catch {
    // What is wrong, and where, is said of the text as a whole.
    return undefined;
  }
}

/** The texts of all records between two places, some of them at a time. Throws unless a comma, and nothing else, stands between two of them. */
function* pieces(content: Buffer, begin: number, end: number): Generator<string> {
  for (let at = begin; at !== end; ) {
    const found = content.indexOf(RECORD_END, at + PIECE_BYTES);
    const pieceEnd = found < 0 || found > end ? end : found + RECORD_END.length;
    yield content.toString('utf8', at, pieceEnd);
    at = pieceEnd === end ? end : afterComma(content.toString('latin1', pieceEnd, pieceEnd + BETWEEN.length), pieceEnd);
    if (at > end) throw new Error('a comma too many');
  }
}

/** Each record is parsed by itself: a common object would make V8 keep every id as the name of a property, for as long as it runs. */
function readPiece(piece: string, records: Map<string, Json>): void {
  for (let at = 0; at < piece.length; ) {
    KEY.lastIndex = at;
    const key = KEY.exec(piece)?.[1];
    if (key === undefined) throw new Error('not our layout');
    const found = piece.indexOf(RECORD_END, at);
    const end = found < 0 ? piece.length : found + RECORD_END.length;
    const record: Json = JSON.parse(piece.slice(KEY.lastIndex, end));
    const id = memberOf(record, 'id');
    // By its own id where that is the same text: a key is a part of the piece, all of which would stay in memory with it.
    records.set(id === key ? id : key, record);
    at = end === piece.length ? end : afterComma(piece.slice(end, end + BETWEEN.length), end);
    if (at === piece.length && end !== piece.length) throw new Error('a comma too many');
  }
}

/** The place behind a comma and its line break. Throws unless that is what stands at `place`. */
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

/** The checksum of many bytes, in turns. */
export async function checksumOf(bytes: Buffer): Promise<number> {
  let crc = 0;
  const starts = Array.from({ length: Math.ceil(bytes.length / CHECKED_BYTES) }, (_, at) => at * CHECKED_BYTES);
  await inTurns(starts, (start) => {
    crc = crc32(bytes.subarray(start, start + CHECKED_BYTES), crc);
  });
  return crc;
}
