/**
 * Durable records outside the world's history: credentials, asynchronous results, leads. They are appended, not committed,
 * so undoing a change of the world never brings a revoked key back. The store implements it, on disk or in memory.
 */
export interface KeyedLog<T> {
  get(key: string): T | undefined;
  /** Oldest first (a key put again keeps its place). */
  entries(): IterableIterator<[string, T]>;
  readonly size: number;
  /** Visible to `get` at once; resolves when durable by the store's fsync policy. */
  put(key: string, record: T): Promise<void>;
  /** Resolves to whether there was such a record. */
  remove(key: string): Promise<boolean>;
}
