/** Durable records that are not part of commits (credentials, results, leads): reverting never restores a revoked key. */
export interface KeyedLog<T> {
  get(key: string): T | undefined;
  /** Oldest first; replacing a record keeps its position. */
  entries(): IterableIterator<[string, T]>;
  readonly size: number;
  /** Visible to `get` immediately; resolves when durable according to the fsync policy of the store. */
  put(key: string, record: T): Promise<void>;
  remove(key: string): Promise<boolean>;
}
