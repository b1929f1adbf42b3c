const CHUNK_CHARS = 128 * 1024;

/** Joins texts to chunks of a size that is fast to write. */
export function* chunksOf(texts: Iterable<string>): Generator<Buffer> {
  let chunk = '';
  for (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK_CHARS) continue;
    yield Buffer.from(chunk);
    chunk = '';
  }
  yield Buffer.from(chunk);
}
